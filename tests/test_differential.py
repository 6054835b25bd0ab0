"""The engines against the reference interpreter, and batches against single states."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from comparing import ENGINES, compare_playout, load_engines
from omnilude.games import Game
from omnilude.rules.library import bundled_games, read_rulesheet

GAMES = bundled_games(".kif")
# The reference is too slow for whole games of these.
STEPS = {"othello": 16, "checkers": 20}
SEEDS = st.integers(0, 2**32 - 1)

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")


@cache
def engines(name: str) -> dict[str, Game]:
    return load_engines(read_rulesheet(GAMES[name]))


@cache
def oracle(name: str) -> reference.ReferenceGame:
    return reference.load(GAMES[name])


@pytest.mark.parametrize("name", GAMES)
def test_playouts_agree_with_the_reference(name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=4)
    @given(SEEDS)
    def run(seed: int) -> None:
        choices = random.Random(seed)
        compare_playout(oracle(name), engines(name), choices.randrange, STEPS.get(name, 120))

    run()


@cache
def states_of_all_ages(name: str) -> NDArray[np.uint8]:
    """[1024, state_bytes]: random play, in which lanes that end begin again."""
    game = engines(name)["machine code"]
    choices = np.random.default_rng(1)
    states = game.initial_states(64)
    out = []
    for _ in range(16):
        out.append(states.copy())
        moves, alive = random_moves(game, states, choices)
        game.advance(states, moves)
        states[~alive] = game.initial_states(1)
    return np.concatenate(out)


def random_moves(
    game: Game, states: NDArray[np.uint8], choices: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """A joint move for each state, any where there is none; and whether there was one."""
    batch = game.describe(states)
    alive = ~batch.terminal
    moves = np.zeros((len(states), len(game.roles)), np.int32)
    for i in range(len(states)):
        for role in range(len(game.roles)):
            legal = batch.legal(i, role)
            if len(legal):
                moves[i, role] = choices.choice(legal)
            else:
                alive[i] = False
    return moves, alive


@pytest.mark.sanitize
@pytest.mark.parametrize("engine", ["machine code", "width 1", "width 2", "width 4"])
@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four", "kuhn-poker", "pacman-3p", "hex-7x7"]
)
def test_a_batch_is_what_its_states_are(name: str, engine: str) -> None:
    """Sizes on both sides of the borders between words, lanes and blocks."""
    game = engines(name)[engine]
    pool = states_of_all_ages(name)

    @settings(deadline=None, derandomize=True, max_examples=12)
    @given(
        st.integers(1, 700) | st.sampled_from([1, 63, 64, 65, 255, 256, 257, 511, 512, 513]), SEEDS
    )
    def run(size: int, seed: int) -> None:
        choices = np.random.default_rng(seed)
        rows = choices.integers(0, len(pool), size)
        states = pool[rows]
        kept = states.copy()
        batch = game.describe(states)
        assert (states == kept).all()
        moves, _ = random_moves(game, states, choices)
        game.advance(states, moves)
        for i in {0, size - 1, *choices.integers(0, size, 12).tolist()}:
            alone = kept[i : i + 1].copy()
            single = game.describe(alone)
            assert single.terminal[0] == batch.terminal[i]
            assert (single.rewards[0] == batch.rewards[i]).all()
            for role in range(len(game.roles)):
                assert single.legal(0, role).tolist() == batch.legal(i, role).tolist()
            game.advance(alone, moves[i : i + 1])
            assert alone.tobytes() == states[i].tobytes()

    run()


@pytest.mark.sanitize
@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four", "kuhn-poker", "race-dice", "tower"]
)
def test_circuits_have_the_same_states_and_moves(name: str) -> None:
    """All circuits of a game number fluents and moves alike, so whole batches can be compared."""
    pool = states_of_all_ages(name)[:700]
    results = []
    for engine in ENGINES:
        if engine == "interpreter":
            continue
        game = engines(name)[engine]
        states = pool.copy()
        batch = game.describe(states)
        moves, _ = random_moves(game, states, np.random.default_rng(5))
        game.advance(states, moves)
        results.append((batch, moves, states))
    first, moves, states = results[0]
    for other, other_moves, other_states in results[1:]:
        assert (first.terminal == other.terminal).all()
        assert (first.rewards == other.rewards).all()
        assert (first.offsets == other.offsets).all()
        assert (first.moves == other.moves).all()
        assert (moves == other_moves).all()
        assert (states == other_states).all()


def test_an_empty_batch_is_nothing() -> None:
    game = engines("tic-tac-toe")["machine code"]
    states = game.initial_states(0)
    batch = game.describe(states)
    assert len(batch.terminal) == len(batch.moves) == 0
    game.advance(states, np.zeros((0, 2), np.int32))
