"""The pool of trees: independent of company, self-play, kept trees, the cache, UCT."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from omnilude import LoadSettings, load
from omnilude.errors import SettingsError
from omnilude.games import Game
from omnilude.games.loading import load_text
from omnilude.search.pool import Analysis, SearchPool, search_uct
from omnilude.search.settings import SearchSettings, UctSettings
from searching import GAMES, HashEvaluator, PlainEncoding, make_pool, random_state


def same(a: Analysis, b: Analysis) -> bool:
    pairs = ((getattr(a, name), getattr(b, name)) for name in a.__slots__)
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


@pytest.mark.parametrize("name", ["connect-four", "pacman-3p", "race-dice"])
def test_positions_do_not_depend_on_company(name: str) -> None:
    """Alone or among others, with a cache or without: the same search."""
    game = load(name)
    states = np.concatenate([random_state(game, plies, plies).block for plies in range(1, 9)])
    streams = np.arange(8, dtype=np.uint64)
    search = SearchSettings(simulations=24)
    together = make_pool(game, search, 8).analyse(states, HashEvaluator(game))
    for i in range(8):
        pool = make_pool(game, SearchSettings(simulations=24, cache=0), 1)
        alone = pool.analyse(states[i : i + 1], HashEvaluator(game), streams=streams[i : i + 1])
        assert np.array_equal(alone.moves[0], together.moves[i])
        players = len(game.players)
        part = slice(together.offsets[i * players], together.offsets[(i + 1) * players])
        assert np.array_equal(alone.visits, together.visits[part])


def collect(pools: list[SearchPool], evaluator: HashEvaluator, games: int) -> dict[int, bytes]:
    """Finished games by number, as bytes, until there are enough of each pool's first ones."""
    found: dict[int, bytes] = {}
    for pool in pools:
        pool.play()
        while sum(number < games for number in found) < games * (1 + pools.index(pool)) / len(
            pools
        ):
            pool.step(evaluator)
            records = pool.drain()
            for g in range(records.games):
                part = slice(records.game_offsets[g], records.game_offsets[g + 1])
                text = records.moves[part].tobytes() + records.q[part].tobytes()
                found[int(records.game_numbers[g])] = text + records.rewards[g].tobytes()
    return {number: text for number, text in found.items() if number < games}


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_two_pools_play_the_games_of_one(root: str) -> None:
    game = load("connect-four-3p")
    search = SearchSettings(simulations=6, root=root, full_fraction=0.5)  # type: ignore[arg-type]
    encoding = PlainEncoding(game)
    one = [SearchPool(game, encoding, search, games=8, seed=3)]  # type: ignore[arg-type]
    two = [
        SearchPool(game, encoding, search, games=4, seed=3, first_game=first, stride=8)  # type: ignore[arg-type]
        for first in (0, 4)
    ]
    evaluator = HashEvaluator(game)
    assert collect(one, evaluator, 8) == collect(two, evaluator, 8)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", GAMES)
def test_self_play_records_are_consistent(name: str) -> None:
    game = load(name)
    search = SearchSettings(simulations=8, full_fraction=0.5, max_length=60)
    pool = make_pool(game, search, 16, seed=9)
    evaluator = HashEvaluator(game)
    pool.play()
    for _ in range(3000):
        pool.step(evaluator)
        if pool.counters["games"] >= 20:
            break
    records = pool.drain()
    assert records.games > 0
    players = len(game.players)
    assert records.policy_offsets.shape == (records.positions * players + 1,)
    batch = game.describe(records.states)
    assert not batch.terminal.any()
    for n in range(records.positions):
        for player, role in enumerate(game.players):
            legal = batch.legal(n, role)
            assert records.moves[n, role] in legal
            at = n * players + player
            part = slice(records.policy_offsets[at], records.policy_offsets[at + 1])
            if len(legal) > 1:
                assert list(records.policy_slots[part]) == list(legal)
                assert records.policy_probs[part].sum() == pytest.approx(1, abs=1e-4)
            else:
                assert part.start == part.stop
    ends = game.describe(records.final_states)
    for g in range(records.games):
        assert bool(ends.terminal[g]) != bool(records.cut[g])
        if ends.terminal[g]:
            assert list(records.rewards[g]) == [ends.rewards[g, role] for role in game.players]
    assert ((records.q >= 0) & (records.q <= 1 + 1e-5)).all()


def test_analysis_knows_no_limit_of_length() -> None:
    game = load("tic-tac-toe")
    search = SearchSettings.for_play(200, max_length=3)
    state = game.initial()
    for cell in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)"):
        mover = 0 if len(state.legal(0)) > 1 else 1
        moves = [state.legal(role)[0] for role in range(2)]
        moves[mover] = next(move for move in state.legal(mover) if str(move) == cell)
        state = state.play(moves)
    analysis = make_pool(game, search, 1).analyse(
        state.block, HashEvaluator(game), plies=np.array([4], dtype=np.uint32)
    )
    assert str(game.move(0, int(analysis.moves[0, 0]))) == "(mark 1 3)"


@pytest.mark.parametrize("name", ["tic-tac-toe", "prisoners-dilemma"])
def test_the_clock_is_seen_where_everything_is_settled(name: str) -> None:
    """A tree that is known to its end needs no evaluation, but time goes on."""
    game = load(name)
    state = random_state(game, 6, 1)
    uct = UctSettings(iterations=0, seconds=0.05)
    analysis = search_uct(game, state.block, uct)
    assert 0 < analysis.simulations[0] < 100_000_000  # not the four thousand million of no limit


@pytest.mark.parametrize("name", ["connect-four", "pacman-3p", "breakthrough-6x6"])
def test_trees_are_kept_between_moves(name: str) -> None:
    """A kept tree goes on where it was: fewer evaluations, and its statistics add up."""
    game = load(name)
    evaluator = HashEvaluator(game)
    search = SearchSettings.for_play(60, root="puct", reuse=True, cache=0)
    pool = make_pool(game, search, 1)
    state = random_state(game, 2, 1)
    first = pool.analyse(state.block, evaluator)
    before = evaluator.rows
    block = state.block.copy()
    game.advance(block, first.moves)
    second = pool.analyse(block, evaluator, plies=np.ones(1, dtype=np.uint32))
    assert second.simulations[0] >= 60 or second.solved[0]
    assert evaluator.rows - before < 60
    fresh = make_pool(game, search, 1).analyse(block, evaluator)
    assert list(fresh.slots) == list(second.slots)


def walk_in_a_triangle() -> Game:
    """For ever: every place is met again and again, at every depth of a tree."""
    return load_text(
        """
        (role me)
        (place r) (place a) (place b)
        (init (at r))
        (<= (legal me (go ?y)) (true (at ?x)) (place ?y) (distinct ?x ?y))
        (<= (next (at ?y)) (does me (go ?y)))
        (<= terminal (true (at nowhere)))
        (goal me 0)
        """
    )


@pytest.mark.sanitize
def test_what_is_kept_is_below_the_move() -> None:
    """Not below another node of the same state, deeper in the tree."""
    game = walk_in_a_triangle()
    for salt in range(8):
        for choice in range(2):
            search = SearchSettings.for_play(40, root="puct", reuse=True)
            pool, evaluator = make_pool(game, search, 1), HashEvaluator(game, salt)
            first = pool.analyse(game.initial_states(1), evaluator)
            if first.visits[choice] < 2:
                continue
            pool.change(SearchSettings.for_play(1, root="puct", reuse=True))
            block = game.initial_states(1)
            game.advance(block, first.slots[choice].reshape(1, 1))
            second = pool.analyse(block, evaluator, plies=np.ones(1, dtype=np.uint32))
            assert second.simulations[0] == first.visits[choice] - 1


@pytest.mark.sanitize
def test_a_kept_position_is_at_its_own_ply() -> None:
    """For the temperature, and for the limit of length, which was one move further."""
    game = walk_in_a_triangle()
    drawn = {"temperature": 5.0, "temperature_moves": 10, "max_length": 1}
    search = SearchSettings.for_play(40, root="puct", reuse=True, **drawn)
    for stream in np.arange(8, dtype=np.uint64).reshape(8, 1):
        pool, evaluator = make_pool(game, search, 1), HashEvaluator(game)
        first = pool.analyse(game.initial_states(1), evaluator, streams=stream)
        block = game.initial_states(1)
        game.advance(block, first.moves)
        late = np.array([20], dtype=np.uint32)
        second = pool.analyse(block, evaluator, streams=stream, plies=late)
        assert second.simulations[0] == 40
        assert second.moves[0, 0] == second.slots[second.visits.argmax()]


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_evaluations_are_forgotten_with_the_weights(root: str) -> None:
    game = load("connect-four")
    search = SearchSettings(simulations=30, root=root)  # type: ignore[arg-type]
    states = np.concatenate([random_state(game, plies, plies).block for plies in range(4)])
    expected = make_pool(game, search).analyse(states, HashEvaluator(game, salt=1))
    for told in (True, False):
        pool, evaluator = make_pool(game, search), HashEvaluator(game, salt=0)
        pool.analyse(states, evaluator)
        evaluator.salt = 1
        if told:
            pool.weights_changed()
        assert same(pool.analyse(states, evaluator), expected) == told


def test_identical_states_are_evaluated_once() -> None:
    game = load("connect-four")
    blocks = np.repeat(game.initial().block, 8, axis=0)
    pool = make_pool(game, SearchSettings(simulations=20, temperature=0), 8)
    pool.core.set_roots(blocks, np.zeros(8, dtype=np.uint64), np.zeros(8, dtype=np.uint32))
    assert pool.core.gather(pool.inputs) == 1  # the others wait for the same answer
    evaluator = HashEvaluator(game)
    pool = make_pool(game, SearchSettings(simulations=20, temperature=0), 8)
    found = pool.analyse(blocks, evaluator)
    alone = HashEvaluator(game)
    single = make_pool(game, SearchSettings(simulations=20, temperature=0)).analyse(
        blocks[:1], alone
    )
    assert evaluator.rows == alone.rows == pool.counters["evaluations"]
    assert pool.counters["cached"] >= 7 * evaluator.rows
    for number in range(8):
        part = slice(found.offsets[2 * number], found.offsets[2 * number + 1])
        assert found.visits[part].tolist() == single.visits[: single.offsets[1]].tolist()


def test_evaluations_are_forgotten_with_the_share_of_playouts() -> None:
    game = load("connect-four")
    blocks, evaluator = game.initial().block, HashEvaluator(game)
    search = SearchSettings(simulations=20)
    pool = make_pool(game, search)
    pool.analyse(blocks, evaluator)
    seen = evaluator.rows
    pool.analyse(blocks, evaluator)
    assert evaluator.rows == seen
    pool.change(replace(search, playouts=4, playout_weight=0.5))
    pool.analyse(blocks, evaluator)
    assert evaluator.rows > seen


def test_endless_games_end_at_the_limit() -> None:
    game = load("eight-puzzle")
    pool = make_pool(game, SearchSettings(simulations=30, max_length=5), 2, seed=1)
    evaluator = HashEvaluator(game)
    pool.play()
    while pool.counters["games"] < 4:
        pool.step(evaluator)
    records = pool.drain()
    assert records.cut.all()
    assert np.diff(records.game_offsets).max() <= 5


def test_archive_starts() -> None:
    game = load("connect-four")
    start = random_state(game, 6, 2)
    pool = make_pool(game, SearchSettings(simulations=4), 4)
    pool.core.set_starts(start.block, 1.0)
    pool.play()
    evaluator = HashEvaluator(game)
    while pool.counters["games"] < 4:
        pool.step(evaluator)
    records = pool.drain()
    for first in records.game_offsets[:-1]:
        assert records.states[first].tobytes() == start.block.tobytes()


@pytest.mark.sanitize
@pytest.mark.parametrize("name", [*GAMES[:5], "race-dice"])
def test_uct_is_the_same_with_any_threads(name: str) -> None:
    game = load(name)
    states = np.concatenate([random_state(game, i % 5, i).block for i in range(300)])
    uct = UctSettings(iterations=20, max_length=100)
    one, two = (search_uct(game, states, uct, seed=4, threads=threads) for threads in (1, 2))
    assert same(one, two)
    assert not same(one, search_uct(game, states, uct, seed=5))


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["connect-four", "tic-tac-toe", "pacman-3p", "race-dice"])
def test_uct_that_ends_when_its_moves_are_settled_makes_the_same(name: str) -> None:
    game = load(name)
    uct = UctSettings(iterations=200, max_length=100)
    shorter = 0
    for number in range(30):
        state = random_state(game, number % 6, number).block
        whole = search_uct(game, state, uct, seed=number)
        ended = search_uct(game, state, uct, seed=number, moves_only=True)
        players = list(game.players)
        assert (ended.moves[:, players] == whole.moves[:, players]).all()
        if whole.simulations[0]:
            assert 100 <= ended.simulations[0] <= 200 == whole.simulations[0]
        shorter += int(ended.simulations[0] < whole.simulations[0])
    assert shorter > 3


def test_uct_sees_what_wins_and_what_loses() -> None:
    game = load("connect-four")
    state = game.initial()
    for turn, column in enumerate("112233"):
        drop = f"(drop {column})"
        state = state.play([drop, "noop"] if turn % 2 == 0 else ["noop", drop])
    for playouts in (1, 8):
        analysis = search_uct(game, state.block, UctSettings(iterations=400, playouts=playouts))
        assert str(game.move(0, int(analysis.moves[0, 0]))) == "(drop 4)"
        assert analysis.values[0, 0] > 0.8


def test_uct_by_time_stops() -> None:
    game = load("connect-four")
    analysis = search_uct(game, game.initial_states(1), UctSettings(iterations=0, seconds=0.05))
    assert analysis.simulations[0] > 10


@pytest.mark.sanitize
@pytest.mark.parametrize(("goal", "best"), [(0, "go"), (100, "stop")])
@pytest.mark.parametrize("beyond", [["noop"], ["heads", "tails"]])
def test_uct_returns_where_nobody_has_a_choice_for_ever(
    goal: int, best: str, beyond: list[str]
) -> None:
    """Or where only chance has one: walks are cut as playouts are, and worth as much."""
    tosses = " ".join(f"(<= (legal random {toss}) (true gone))" for toss in beyond)
    game = load_text(
        f"""
        (role me) (role random)
        (init start)
        (<= (legal me stop) (true start)) (<= (legal me go) (true start))
        (<= (legal me noop) (true gone))
        (<= (legal random noop) (true start)) {tosses}
        (<= (next stopped) (does me stop))
        (<= (next gone) (does me go)) (<= (next gone) (true gone))
        (<= terminal (true stopped))
        (goal me {goal}) (goal random 0)
        """
    )
    uct = UctSettings(iterations=50, max_length=100)
    analysis = search_uct(game, game.initial_states(1), uct)
    assert analysis.simulations[0] == 50
    assert str(game.move(0, int(analysis.moves[0, 0]))) == best
    moves = [str(game.move(0, int(slot))) for slot in analysis.slots]
    q = dict(zip(moves, analysis.q, strict=True))
    assert q == pytest.approx({"stop": goal / 100, "go": 0.5})


def test_signature() -> None:
    """A change of these numbers is a change of the search: say why in the commit."""
    digest = hashlib.sha256()
    targets: dict[str, float] = {"puct": 0.0, "gumbel": 0.0}
    for name in GAMES:
        game = load(name, LoadSettings(machine_code=False))  # the same lanes on any machine
        for root in ("puct", "gumbel"):
            search = SearchSettings(
                simulations=50,
                root=root,  # type: ignore[arg-type]
                full_fraction=0.7,
                max_length=40,
                policy_temperature=1.25,
            )
            pool = make_pool(game, search, 4, seed=11)
            pool.play()
            evaluator = HashEvaluator(game)
            while pool.counters["positions"] < 60:
                pool.step(evaluator)
            records = pool.drain()
            digest.update(records.moves.tobytes())
            # Targets of Gumbel differ in their last digits between machines: no digest of them.
            weights = np.cos(np.arange(len(records.policy_probs)))
            targets[root] += float(records.policy_probs @ weights)
            states = [random_state(game, plies, plies) for plies in (0, 5)]
            blocks = np.concatenate([state.block for state in states])
            digest.update(make_pool(game, search, 2).analyse(blocks, evaluator).visits.tobytes())
        uct = search_uct(game, random_state(game, 4, 1).block, UctSettings(iterations=100), seed=7)
        digest.update(uct.visits.tobytes())
    assert digest.hexdigest()[:16] == SIGNATURE
    assert targets == pytest.approx(TARGETS, abs=1e-3)


SIGNATURE = "c56b75d502980a2f"
TARGETS = {"puct": -4.75480, "gumbel": -0.74138}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"simulations": 2.5}, "simulations must be a whole number"),
        ({"simulations": True}, "simulations must be a whole number"),
        ({"simulations": 5_000_000_000}, "simulations must be at most"),
        ({"c_puct": float("nan")}, "c_puct must be at least 0"),
        ({"c_scale": float("inf")}, "c_scale must be at most"),
        ({"policy_temperature": float("nan")}, "policy_temperature must be above 0"),
    ],
)
def test_numbers_that_the_core_cannot_take_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        SearchSettings(**changes)


def test_bad_input_is_refused() -> None:
    game = load("tic-tac-toe")
    with pytest.raises(SettingsError, match="simulations must be at least 1"):
        SearchSettings(simulations=0)
    with pytest.raises(SettingsError, match="root must be gumbel or puct"):
        SearchSettings(root="best")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="has no 'speed'"):
        SearchSettings.for_play(10, speed=3)
    with pytest.raises(SettingsError, match="iterations or of seconds"):
        UctSettings(iterations=0)
    pool = make_pool(game, SearchSettings())
    state = game.initial()
    while not state.terminal:
        state = state.play([state.legal(role)[0] for role in game.roles])
    with pytest.raises(ValueError, match="terminal position"):
        pool.analyse(state.block, HashEvaluator(game))
    with pytest.raises(ValueError, match="terminal position"):
        search_uct(game, state.block, UctSettings())
    with pytest.raises(ValueError, match="more positions than trees"):
        pool.analyse(game.initial_states(9), HashEvaluator(game))

    class Broken(HashEvaluator):
        def one(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            logits, values = super().one(row)
            return logits, values * np.float32(np.nan)

    class BrokenPolicy(HashEvaluator):
        def one(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            logits, values = super().one(row)
            return logits * np.float32(np.nan), values

    for broken in (Broken, BrokenPolicy):
        with pytest.raises(RuntimeError, match="not a number"):
            pool.analyse(game.initial_states(1), broken(game))
    with pytest.raises(SettingsError, match="playout_weight must be between 0 and 1"):
        SearchSettings(playout_weight=5)
    with pytest.raises(SettingsError, match="playouts must be at least 0"):
        SearchSettings(playouts=-1)


def test_settings_change_between_steps_only() -> None:
    game = load("tic-tac-toe")
    pool = make_pool(game, SearchSettings())
    pool.play()
    with pytest.raises(ValueError, match="rule of a search"):
        pool.change(SearchSettings(root="puct"))
    assert pool.core.gather(pool.inputs) > 0
    with pytest.raises(RuntimeError, match="under way"):
        pool.change(SearchSettings(playouts=8))
