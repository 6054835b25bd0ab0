"""The pool of trees: equal to the reference search, independent of company, sound in its proofs."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude import LoadSettings, load
from omnilude.errors import SettingsError
from omnilude.games import Game, State
from omnilude.games.loading import load_text
from omnilude.search.pool import Analysis, SearchPool, search_uct
from omnilude.search.reference import WORD, RandomStream, ReferenceSearch, considered_visits
from omnilude.search.settings import SearchSettings, UctSettings
from searching import HashEvaluator, PlainEncoding

# Turns, simultaneous moves, chance, three roles, one role, hidden cards: all kinds.
GAMES = (
    "tic-tac-toe",
    "connect-four",
    "breakthrough-6x6",
    "pacman-3p",
    "tower",
    "connect-four-3p",
    "prisoners-dilemma",
    "eight-puzzle",
    "race-dice",
    "kuhn-poker",
)


def random_state(game: Game, plies: int, seed: int) -> State:
    """A position after some random moves in which some player has a choice."""
    random = np.random.default_rng(seed)
    state = last = game.initial()
    for _ in range(plies):
        if state.terminal:
            break
        if any(len(state.legal(role)) > 1 for role in game.players):
            last = state
        legal = [state.legal(role) for role in game.roles]
        state = state.play([moves[random.integers(len(moves))] for moves in legal])
    found = not state.terminal and any(len(state.legal(role)) > 1 for role in game.players)
    return state if found else last


def make_pool(game: Game, search: SearchSettings, trees: int = 8, seed: int = 0) -> SearchPool:
    return SearchPool(game, PlainEncoding(game), search, games=trees, seed=seed)  # type: ignore[arg-type]


@pytest.mark.sanitize
@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("name", GAMES)
def test_visits_are_those_of_the_reference(name: str, root: str) -> None:
    game = load(name)
    encoding, evaluator = PlainEncoding(game), HashEvaluator(game)

    def evaluate(state: State) -> tuple[np.ndarray, np.ndarray]:
        row = np.empty((1, encoding.size), dtype=np.float32)
        encoding.core.encode(state.block, row)
        return evaluator.one(row[0])

    search = SearchSettings(
        simulations=40,
        root=root,
        noise_fraction=0,
        temperature=0.7,
        temperature_moves=5,
        final_temperature=0.3,
        considered=4,
        policy_temperature=1.3,
    )  # type: ignore[arg-type]
    states = [random_state(game, plies, seed=plies) for plies in (0, 3, 7, 12)]
    choosing = [s for s in states if any(len(s.legal(role)) > 1 for role in game.players)]
    pool = make_pool(game, search, seed=5)
    plies = np.arange(len(choosing), dtype=np.uint32) * 4
    blocks = np.concatenate([state.block for state in choosing])
    analysis = pool.analyse(blocks, evaluator, plies=plies)
    reference = ReferenceSearch(game, evaluate, search, seed=5)
    for number, state in enumerate(choosing):
        root_node = reference.search(state, stream=number, ply=int(plies[number]))
        values = reference.values()
        assert int(analysis.simulations[number]) == root_node.visits - 1
        assert bool(analysis.proven[number]) == root_node.proven
        for player, role in enumerate(game.players):
            at = number * len(game.players) + player
            part = slice(analysis.offsets[at], analysis.offsets[at + 1])
            edges = root_node.choices.get(role, [])
            assert [edge.slot for edge in edges] == list(analysis.slots[part])
            assert [edge.visits for edge in edges] == list(analysis.visits[part])
            assert analysis.values[number, player] == pytest.approx(values[player], abs=1e-5)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", GAMES)
def test_playouts_are_mixed_into_leaves(name: str) -> None:
    game = load(name)
    encoding, evaluator = PlainEncoding(game), HashEvaluator(game)
    search = SearchSettings.for_play(30, playouts=5, playout_weight=0.3, max_length=60)
    seed, first_game = 3, 7
    seeds = RandomStream(0, 0)
    seeds.state = (seed * 0x9E3779B97F4A7C15 + first_game) & WORD
    known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def evaluate(state: State) -> tuple[np.ndarray, np.ndarray]:
        key = state.block.tobytes()
        if key not in known:
            row = np.empty((1, encoding.size), dtype=np.float32)
            encoding.core.encode(state.block, row)
            logits, values = evaluator.one(row[0])
            rewards = game.core.rollouts(state.block, 5, seeds._next(), 60)[0]
            mixed = np.float32(0.7) * values + np.float32(0.3) * rewards[list(game.players)]
            known[key] = logits, mixed
        return known[key]

    state = random_state(game, 4, seed=1)
    pool = SearchPool(
        game,
        encoding,  # type: ignore[arg-type]
        search,
        games=1,
        seed=seed,
        first_game=first_game,
    )
    analysis = pool.analyse(state.block, evaluator)
    root = ReferenceSearch(game, evaluate, search, seed=seed).search(state, stream=0, ply=0)
    visits = [edge.visits for role in game.players for edge in root.choices.get(role, [])]
    assert visits == list(analysis.visits)


def test_random_stream_of_the_reference_is_exact() -> None:
    # Values fixed once from the core's own stream: kuhn-poker's deal is drawn with it.
    stream = RandomStream(1, 2)
    assert all(0 <= stream.below(7) < 7 for _ in range(100))
    assert 0 <= stream.uniform() < 1


@given(st.integers(1, 40), st.integers(1, 300))
def test_sequential_halving_uses_every_simulation(considered: int, simulations: int) -> None:
    turns = considered_visits(considered, simulations)
    assert len(turns) == simulations
    # Played out: each turn finds an edge with exactly that many visits.
    visits = [0] * considered
    for turn in turns:
        assert turn in visits
        visits[visits.index(turn)] += 1


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


def solve(state: State, known: dict[State, float]) -> float:
    """The first role's exact value in a two-role game of turns."""
    if state not in known:
        if state.terminal:
            known[state] = state.reward[0]
        else:
            legal = [state.legal(role) for role in state.game.roles]
            mover = 0 if len(legal[0]) > 1 or str(legal[1][0]) == "noop" else 1
            best = max if mover == 0 else min
            known[state] = best(
                solve(state.play([a, b]), known) for a in legal[0] for b in legal[1]
            )
    return known[state]


@settings(max_examples=15, deadline=None)
@given(plies=st.integers(2, 7), seed=st.integers(0, 1000), root=st.sampled_from(["puct", "gumbel"]))
def test_what_is_proven_is_true(plies: int, seed: int, root: str) -> None:
    game = TIC_TAC_TOE
    state = random_state(game, plies, seed)
    search = SearchSettings(simulations=300, root=root, noise_fraction=0)  # type: ignore[arg-type]
    analysis = make_pool(game, search, 1).analyse(state.block, HashEvaluator(game, salt=seed % 7))
    if analysis.proven[0]:
        value = solve(state, {})
        assert analysis.values[0, 0] == pytest.approx(value)
        moves = [game.move(r, int(s)) for r, s in enumerate(analysis.moves[0])]
        assert solve(state.play(moves), {}) == pytest.approx(value)
    elif plies >= 6:
        pytest.fail("300 simulations must solve the end of this game")


TIC_TAC_TOE = load("tic-tac-toe")


def choose_an_end(first: tuple[int, int, int], second: tuple[int, int, int]) -> Game:
    """One move by c, who has the choice between two ends."""
    goals = "".join(
        f"(<= (goal {role} {goal}) (true (ended {end})))"
        for end, goals in (("left", first), ("right", second))
        for role, goal in zip("abc", goals, strict=True)
    )
    return load_text(
        f"""
        (role a) (role b) (role c)
        (init start)
        (<= (legal c left) (true start)) (<= (legal c right) (true start))
        (<= (legal a noop) (true start)) (<= (legal b noop) (true start))
        (<= (next (ended ?end)) (does c ?end))
        (<= terminal (true (ended ?end)))
        {goals}
        """
    )


@pytest.mark.parametrize(
    ("first", "second", "proven"),
    [
        ((100, 0, 0), (0, 100, 0), False),  # c has nothing to gain, and decides who wins
        ((100, 0, 0), (100, 0, 0), True),
        ((50, 0, 50), (0, 100, 0), True),
        ((50, 0, 100), (100, 0, 100), False),
        ((0, 0, 100), (100, 0, 0), True),
    ],
)
def test_proven_means_proven_for_everyone(
    first: tuple[int, int, int], second: tuple[int, int, int], proven: bool
) -> None:
    game = choose_an_end(first, second)
    search = SearchSettings.for_play(20)
    analysis = make_pool(game, search, 1).analyse(game.initial_states(1), HashEvaluator(game))
    assert bool(analysis.proven[0]) == proven


def test_analysis_knows_no_limit_of_length() -> None:
    game = TIC_TAC_TOE
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
    assert second.simulations[0] >= 60 or second.proven[0]
    assert evaluator.rows - before < 60
    fresh = make_pool(game, search, 1).analyse(block, evaluator)
    assert list(fresh.slots) == list(second.slots)


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


def test_signature() -> None:
    """A change of this number is a change of the search: say why in the commit."""
    digest = hashlib.sha256()
    for name in GAMES:
        game = load(name, LoadSettings(machine_code=False))  # the same lanes on any machine
        for root in ("puct", "gumbel"):
            search = SearchSettings(simulations=50, root=root, full_fraction=0.7, max_length=40)  # type: ignore[arg-type]
            pool = make_pool(game, search, 4, seed=11)
            pool.play()
            evaluator = HashEvaluator(game)
            while pool.counters["positions"] < 60:
                pool.step(evaluator)
            records = pool.drain()
            digest.update(records.moves.tobytes())
        uct = search_uct(game, random_state(game, 4, 1).block, UctSettings(iterations=100), seed=7)
        digest.update(uct.visits.tobytes())
    assert digest.hexdigest()[:16] == SIGNATURE


SIGNATURE = "33a87c64997e5a1d"


def test_players_that_choose_at_once_do_not_go_in_step() -> None:
    """Like players with like priors meet more than each other's like moves."""
    game = load("tower")
    state = game.initial()

    def evaluate(_: State) -> tuple[np.ndarray, np.ndarray]:
        slots = sum(game.slots(role) for role in game.players)
        return np.zeros(slots, dtype=np.float32), np.full(3, 0.5, dtype=np.float32)

    root = ReferenceSearch(game, evaluate, SearchSettings(simulations=64)).search(state)
    assert {len(edges) for edges in root.choices.values()} == {2}
    assert len(root.children) == 8


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
