"""The pool of trees against the reference search: visits, values, targets, moves, whole games."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude import load
from omnilude.games import Game, State
from omnilude.games.loading import load_text
from omnilude.search.pool import SearchPool
from omnilude.search.reference import WORD, RandomStream, ReferenceSearch, considered_visits
from omnilude.search.settings import SearchSettings
from searching import GAMES, HashEvaluator, PlainEncoding, make_pool, random_state

Evaluate = Callable[[State], tuple[np.ndarray, np.ndarray]]

loaded = cache(load)


def evaluate_with(game: Game, evaluator: HashEvaluator) -> Evaluate:
    encoding = PlainEncoding(game)

    def evaluate(state: State) -> tuple[np.ndarray, np.ndarray]:
        row = np.empty((1, encoding.size), dtype=np.float32)
        encoding.core.encode(state.block, row)
        return evaluator.one(row[0])

    return evaluate


@pytest.mark.sanitize
@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("name", GAMES)
def test_visits_are_those_of_the_reference(name: str, root: str) -> None:
    game = loaded(name)
    evaluator = HashEvaluator(game)
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
    reference = ReferenceSearch(game, evaluate_with(game, evaluator), search, seed=5)
    for number, state in enumerate(choosing):
        root_node = reference.search(state, stream=number, ply=int(plies[number]))
        values = reference.values()
        assert int(analysis.simulations[number]) == root_node.visits - 1
        assert bool(analysis.solved[number]) == root_node.solved
        assert set(np.flatnonzero(analysis.proven[number])) == root_node.proven
        assert list(analysis.moves[number]) == reference.choose()
        for player, role in enumerate(game.players):
            at = number * len(game.players) + player
            part = slice(analysis.offsets[at], analysis.offsets[at + 1])
            edges = root_node.choices.get(role, [])
            assert [edge.slot for edge in edges] == list(analysis.slots[part])
            assert [edge.visits for edge in edges] == list(analysis.visits[part])
            assert analysis.values[number, player] == pytest.approx(values[player], abs=1e-5)


# Games are cut after a few moves, so that most trees reach the limit of length.
SELF_PLAY: dict[str, dict[str, Any]] = {
    "puct": {"root": "puct", "temperature": 0.8},
    "puct as P3 has it": {"root": "puct", "first_play": "zero", "solver": False},
    "puct, trees kept": {"root": "puct", "reuse": True, "full_fraction": 0.7},
    "gumbel": {"considered": 4},
    "gumbel without solver": {"solver": False, "full_fraction": 0.7, "final_temperature": 0.5},
}


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", SELF_PLAY)
@pytest.mark.parametrize("name", GAMES)
def test_self_play_is_that_of_the_reference(name: str, kind: str) -> None:
    """Policy targets, moves and values of whole games, with noise and all."""
    game = loaded(name)
    changes = {"simulations": 12, "fast_simulations": 4, "max_length": 7, "temperature_moves": 4}
    search = SearchSettings(**changes, **SELF_PLAY[kind])
    evaluator = HashEvaluator(game)
    pool = make_pool(game, search, 1, seed=8)
    pool.play()
    while pool.counters["games"] < 2:
        pool.step(evaluator)
    records = pool.drain()
    reference = ReferenceSearch(game, evaluate_with(game, evaluator), search, seed=8)
    assert list(records.game_numbers[:2]) == [0, 1]
    for number in range(2):
        first, last = records.game_offsets[number : number + 2]
        positions, rewards = reference.play(number)
        assert len(positions) == last - first
        for n, position in enumerate(positions, first):
            assert records.states[n].tobytes() == position.state.block.tobytes()
            assert bool(records.full[n]) == position.full
            assert bool(records.solved[n]) == position.solved
            for player, role in enumerate(game.players):
                at = n * len(game.players) + player
                part = slice(records.policy_offsets[at], records.policy_offsets[at + 1])
                policy = [float(share) for share in position.policies.get(role, [])]
                assert list(records.policy_probs[part]) == pytest.approx(policy, abs=1e-5)
            values = [float(value) for value in position.values]
            assert list(records.q[n]) == pytest.approx(values, abs=1e-5)
            assert list(records.moves[n]) == position.moves
        assert list(records.rewards[number]) == pytest.approx(list(map(float, rewards)), abs=1e-5)
        assert records.final_states[number].tobytes() == reference.root.state.block.tobytes()


@pytest.mark.sanitize
@pytest.mark.parametrize("name", GAMES)
def test_playouts_are_mixed_into_leaves(name: str) -> None:
    game = loaded(name)
    encoding, evaluator = PlainEncoding(game), HashEvaluator(game)
    search = SearchSettings.for_play(30, playouts=5, playout_weight=0.3, max_length=60)
    seed, first_game = 3, 7
    seeds = RandomStream(0, 0)
    seeds.state = (seed * 0x9E3779B97F4A7C15 + first_game) & WORD
    known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    of_network = evaluate_with(game, evaluator)

    def evaluate(state: State) -> tuple[np.ndarray, np.ndarray]:
        key = state.block.tobytes()
        if key not in known:
            logits, values = of_network(state)
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
    """The same numbers as in core/tests/test_base.cpp."""
    stream = RandomStream(1, 2)
    assert [stream.below(1000) for _ in range(8)] == [828, 882, 421, 217, 963, 971, 563, 610]
    assert stream.below(3 << 62) == 10551732876988249698
    assert stream.uniform() == pytest.approx(0.9845159310870041, abs=1e-12)
    assert stream.gumbel() == pytest.approx(-0.509758656569772, abs=1e-12)
    assert stream.normal() == pytest.approx(0.4365733300275538, abs=1e-12)
    assert stream.gamma(0.5) == pytest.approx(0.5846238148893287, abs=1e-12)
    assert stream.gamma(3) == pytest.approx(2.498006791705003, abs=1e-12)
    last = RandomStream(12345678901234567890, WORD)
    assert [last.below(7) for _ in range(8)] == [1, 3, 6, 1, 4, 2, 0, 4]
    expected = [11584902417961987032, 524088977987450133, 6098459824425200982]
    assert [last.below(3 << 62) for _ in range(3)] == expected


@given(st.integers(1, 40), st.integers(1, 300))
def test_sequential_halving_uses_every_simulation(considered: int, simulations: int) -> None:
    turns = considered_visits(considered, simulations)
    assert len(turns) == simulations
    # Played out: each turn finds an edge with exactly that many visits.
    visits = [0] * considered
    for turn in turns:
        assert turn in visits
        visits[visits.index(turn)] += 1


def test_players_that_choose_at_once_do_not_go_in_step() -> None:
    """Like players with like priors meet more than each other's like moves."""
    game = loaded("tower")
    state = game.initial()

    def evaluate(_: State) -> tuple[np.ndarray, np.ndarray]:
        slots = sum(game.slots(role) for role in game.players)
        return np.zeros(slots, dtype=np.float32), np.full(3, 0.5, dtype=np.float32)

    root = ReferenceSearch(game, evaluate, SearchSettings(simulations=64)).search(state)
    assert {len(edges) for edges in root.choices.values()} == {2}
    assert len(root.children) == 8


PENNIES = """
(role random) (role even) (role odd) (role judge) (init (turn 1)) (next (turn 2))
(<= (legal ?r (show ?c)) (hand ?r) (coin ?c)) (hand even) (hand odd) (coin heads) (coin tails)
(legal random (toss 1)) (legal random (toss 2)) (legal judge watch)
(<= (next (shown ?r ?c)) (does ?r (show ?c)))
(<= terminal (true (turn 2)))
(<= same (true (shown even ?c)) (true (shown odd ?c)))
(<= (goal even 100) same) (<= (goal even 0) (not same))
(<= (goal odd 0) same) (<= (goal odd 100) (not same))
(<= (goal judge 100) (true (shown even heads))) (<= (goal judge 0) (true (shown even tails)))
"""
"""Two show coins at once, while chance has a say in nothing and one can only watch."""


def sure_of_heads(game: Game) -> Evaluate:
    """Who is even shows heads, and who is odd either."""
    even = game.roles.index("even")
    sure = [30.0 if str(game.move(even, slot)) == "(show heads)" else 0.0 for slot in range(2)]
    logits = np.array([*sure, 0, 0, 0], dtype=np.float32)
    return lambda _: (logits, np.full(3, 0.5, dtype=np.float32))


def test_moves_at_once_are_explored_against_what_the_others_mean_to_do() -> None:
    """One who is sure to show heads is explored all the same, but what it tries in its turns counts
    neither in the values of the other's moves nor in what the position is worth to a third."""
    game = load_text(PENNIES, name="pennies")
    search = SearchSettings(simulations=40, c_scale=0, temperature=0, final_temperature=0)
    reference = ReferenceSearch(game, sure_of_heads(game), search)
    root = reference.search(game.initial())
    even, odd = game.roles.index("even"), game.roles.index("odd")
    assert [edge.visits for edge in root.choices[even]] == [10, 10]
    assert [edge.visits for edge in root.choices[odd]] == [10, 10]
    q = {str(game.move(odd, edge.slot)): edge.sum / edge.visits for edge in root.choices[odd]}
    assert q == {"(show heads)": 0.0, "(show tails)": 1.0}
    assert reference.values()[1:] == pytest.approx([0.5, 1.0], abs=1e-6)  # the judge likes heads


@pytest.mark.sanitize
def test_choices_beside_chance_are_those_of_the_reference() -> None:
    game = load_text(PENNIES, name="pennies")
    evaluator = HashEvaluator(game)
    for seed in range(20):
        search = SearchSettings(simulations=5 + seed, temperature_moves=1)
        pool = make_pool(game, search, seed=seed)
        found = pool.analyse(game.initial().block, evaluator)
        reference = ReferenceSearch(game, evaluate_with(game, evaluator), search, seed=seed)
        root = reference.search(game.initial())
        visits = [e.visits for role in game.players for e in root.choices.get(role, [])]
        assert found.visits[: len(visits)].tolist() == visits
        assert found.values[0].tolist() == pytest.approx(reference.values(), abs=1e-6)
        assert found.moves[0].tolist() == reference.choose()


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 3))
def test_players_that_choose_at_once_take_turns_at_exploring(simulations: int, seed: int) -> None:
    game = loaded("tower")
    evaluator = HashEvaluator(game, salt=seed)
    analysis = make_pool(game, SearchSettings(simulations=simulations), seed=seed).analyse(
        game.initial().block, evaluator
    )
    visits = np.add.reduceat(analysis.visits, analysis.offsets[:-1].astype(int))
    assert visits.tolist() == [(simulations + 2 - place) // 3 for place in range(3)]
