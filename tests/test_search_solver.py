"""What the search has solved and proven, against exhaustive play however ties are broken."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude import LoadSettings, load
from omnilude.games import Game, State
from omnilude.games.loading import load_text
from omnilude.search.pool import Analysis
from omnilude.search.settings import SearchSettings
from searching import HashEvaluator, make_pool, random_state

Rewards = tuple[Fraction, ...]  # by player
QUICK = LoadSettings(check_playouts=0)


def best_plays(state: State, known: dict[State, frozenset[Rewards]]) -> frozenset[Rewards]:
    """All that the players may get where everybody makes a move that is best to him; one of several
    that are equally good may be any. At most one role chooses at a time."""
    if state in known:
        return known[state]
    game = state.game
    legal = [state.legal(role) for role in game.roles]
    if state.terminal:
        found = {tuple(Fraction(round(100 * state.reward[role]), 100) for role in game.players)}
    else:
        children = [best_plays(state.play(joint), known) for joint in product(*legal)]
        choosing = [role for role in range(len(legal)) if len(legal[role]) > 1]
        assert len(choosing) <= 1
        if not choosing:
            found = set(children[0])
        elif game.chance[choosing[0]]:
            found = {
                tuple(sum(rewards) / len(children) for rewards in zip(*each, strict=True))
                for each in product(*children)
            }
        else:
            player = game.players.index(choosing[0])
            least = [min(rewards[player] for rewards in child) for child in children]
            found = {
                rewards
                for child in children
                for rewards in child
                if all(
                    rewards[player] >= low
                    for other, low in zip(children, least, strict=True)
                    if other is not child
                )
            }
    known[state] = frozenset(found)
    return known[state]


def check_proofs(analysis: Analysis, plays: frozenset[Rewards]) -> None:
    """Solved: as best play may go. Proven: as all best play goes."""
    values, proven = analysis.values[0], analysis.proven[0]
    if analysis.solved[0]:
        assert any(list(map(float, p)) == pytest.approx(list(values), abs=1e-5) for p in plays)
    else:
        assert not proven.any()
    for player in np.flatnonzero(proven):
        assert all(float(p[player]) == pytest.approx(values[player], abs=1e-5) for p in plays)


TIC_TAC_TOE = load("tic-tac-toe")


@settings(max_examples=15, deadline=None)
@given(plies=st.integers(2, 7), seed=st.integers(0, 1000), root=st.sampled_from(["puct", "gumbel"]))
def test_tic_tac_toe_is_solved_right(plies: int, seed: int, root: str) -> None:
    game = TIC_TAC_TOE
    state = random_state(game, plies, seed)
    search = SearchSettings(simulations=300, root=root, noise_fraction=0)  # type: ignore[arg-type]
    analysis = make_pool(game, search, 1).analyse(state.block, HashEvaluator(game, salt=seed % 7))
    known: dict[State, frozenset[Rewards]] = {}
    plays = best_plays(state, known)
    check_proofs(analysis, plays)
    if analysis.solved[0]:
        moves = [game.move(r, int(s)) for r, s in enumerate(analysis.moves[0])]
        assert best_plays(state.play(moves), known) == plays
    elif plies >= 6:
        pytest.fail("300 simulations must solve the end of this game")


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_of_solved_positions_only_the_best_moves_are_learnt(root: str) -> None:
    game, learnt = TIC_TAC_TOE, 0
    known: dict[State, frozenset[Rewards]] = {}
    search = SearchSettings(simulations=40, root=root)  # type: ignore[arg-type]
    pool = make_pool(game, search, 8, seed=3)
    pool.play()
    while pool.counters["positions"] < 400:
        pool.step(HashEvaluator(game))
    records = pool.drain()
    for n in np.flatnonzero(records.solved):
        state = State(game, records.states[n : n + 1].copy())
        plays = best_plays(state, known)
        for player, role in enumerate(game.players):
            part = slice(*records.policy_offsets[n * len(game.players) + player :][:2])
            slots, probs = records.policy_slots[part], records.policy_probs[part]
            moves = [str(state.legal(other)[0]) for other in game.roles]
            for slot in slots[probs > 0]:
                moves[role] = str(game.move(role, int(slot)))
                assert best_plays(state.play(moves), known) == plays
                learnt += 1
            assert len(slots) == 0 or probs.sum() == pytest.approx(1)
    assert learnt > 50


@pytest.mark.sanitize
def test_a_race_with_dice_is_solved_right() -> None:
    """Chance and choice in turns, from positions near the end."""
    game = load("race-dice")
    known: dict[State, frozenset[Rewards]] = {}
    solved = 0
    for seed in range(12):
        state = random_state(game, 60, seed)  # the last in which somebody has a choice
        search = SearchSettings(simulations=400, root="puct", noise_fraction=0)
        analysis = make_pool(game, search, 1).analyse(state.block, HashEvaluator(game))
        check_proofs(analysis, best_plays(state, known))
        solved += bool(analysis.solved[0])
    assert solved >= 4


def random_graph_game(seed: int) -> Game:
    """Three players and chance, to whom nodes belong, move over a random graph. What each gets at
    an end is one of three goals or any, or there is one winner."""
    random = np.random.default_rng(seed)
    inner, nodes = 8, 14
    facts: list[str] = []
    for node in range(inner):
        facts.append(f"(owner {node} {random.choice(['a', 'b', 'c', 'random'])})")
        ends = random.choice(np.arange(node + 1, nodes), size=random.integers(2, 4), replace=False)
        facts += [f"(edge {node} {end})" for end in ends]
    for node in range(inner, nodes):
        facts.append(f"(end {node})")
        goals = (
            random.choice([0, 50, 100], size=3),
            random.integers(100, size=3),
            100 * (np.arange(3) == random.integers(3)),
        )[seed % 3]
        facts += [f"(reward {node} {role} {goal})" for role, goal in zip("abc", goals, strict=True)]
    return load_text(
        f"""
        (role a) (role b) (role c) (role random)
        (init (at 0))
        (<= (legal ?who (go ?there)) (true (at ?here)) (owner ?here ?who) (edge ?here ?there))
        (<= (legal ?who noop) (role ?who) (true (at ?here)) (not (owner ?here ?who)))
        (<= (next (at ?there)) (does ?who (go ?there)))
        (<= terminal (true (at ?here)) (end ?here))
        (<= (goal ?who ?goal) (true (at ?here)) (reward ?here ?who ?goal))
        (goal random 0)
        {" ".join(facts)}
        """,
        settings=QUICK,
    )


@pytest.mark.sanitize
@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_random_games_of_three_with_chance_are_solved_right(root: str) -> None:
    some, all_of_them, undecided = 0, 0, 0
    for seed in range(90):
        game = random_graph_game(seed)
        search = SearchSettings(simulations=300, root=root, noise_fraction=0)  # type: ignore[arg-type]
        analysis = make_pool(game, search, 1).analyse(game.initial_states(1), HashEvaluator(game))
        plays = best_plays(game.initial(), {})
        check_proofs(analysis, plays)
        some += bool(analysis.solved[0] and not analysis.proven[0].all())
        all_of_them += bool(analysis.proven[0].all())
        undecided += bool(analysis.solved[0] and len(plays) > 1)
    assert min(some, all_of_them, undecided) >= 5


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
    ("first", "second", "solved"),
    [
        ((100, 0, 0), (0, 100, 0), False),  # c has nothing to gain, and decides who wins
        ((100, 0, 0), (100, 0, 0), True),
        ((50, 0, 50), (0, 100, 0), True),
        ((50, 0, 100), (100, 0, 100), True),  # c wins by either, and decides what a gets
        ((0, 0, 100), (100, 0, 100), True),
        ((0, 0, 100), (100, 0, 0), True),
    ],
)
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_win_proves_nothing_to_others(
    first: tuple[int, int, int], second: tuple[int, int, int], solved: bool, mirrored: bool
) -> None:
    """Whichever end is met first."""
    game = choose_an_end(second, first) if mirrored else choose_an_end(first, second)
    plays = best_plays(game.initial(), {})
    for salt in range(4):
        pool = make_pool(game, SearchSettings.for_play(20), 1)
        analysis = pool.analyse(game.initial_states(1), HashEvaluator(game, salt))
        assert bool(analysis.solved[0]) == solved
        assert bool(analysis.proven[0, 2]) == solved
        check_proofs(analysis, plays)
