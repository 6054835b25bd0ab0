"""Random moves: drawn by name, from all legal ones, and with them the way from a position."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from omnilude.games import Batch, Game, load
from omnilude.games.chance import draw_uniform, go_astray, pick_moves
from omnilude.games.loading import load_text
from omnilude.games.statistics import random_play

STUCK = """
(role a) (role b) (init p) (<= (legal a go) (true p)) (next p) (<= terminal (true q))
(goal a 0) (goal b 0)
"""


def test_numbers_drawn_by_name_look_uniform() -> None:
    rows, columns = np.arange(2000, dtype=np.uint64)[:, None], np.arange(50, dtype=np.uint64)
    drawn = draw_uniform(5, rows, columns)
    assert drawn.shape == (2000, 50)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.bincount((drawn * 10).astype(int).ravel(), minlength=10)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 35  # chi-square, 9 degrees of freedom
    flat = drawn.ravel()
    assert abs(np.corrcoef(flat[:-1], flat[1:])[0, 1]) < 0.02
    assert not (draw_uniform(6, rows, columns) == drawn).any()


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12), st.floats(0, 0.999999))
@settings(max_examples=50, deadline=None)
def test_picked_moves_are_legal(counts: list[int], chance: float) -> None:
    counts = counts[: len(counts) // 2 * 2]
    moves = np.arange(sum(counts), dtype=np.int32)
    shape = (len(counts) // 2, 2)
    batch = Batch(
        np.zeros(shape[0], dtype=bool),
        np.zeros(shape, dtype=np.float32),
        np.append(0, np.cumsum(counts)).astype(np.uint32),
        moves,
        0,
    )
    picked = pick_moves(batch, np.full(shape, chance))
    for n in range(shape[0]):
        for role in range(2):
            legal = batch.legal(n, role)
            assert picked[n, role] in legal if len(legal) else picked[n, role] == -1


def list_next(game: Game, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[n, bytes]: what follows one position, [1, bytes], by each joint move."""
    legal = [game.describe(state).legal(0, role) for role in range(len(game.roles))]
    moves = np.array(list(product(*legal)), dtype=np.int32).reshape(-1, len(legal))
    after = np.repeat(state, len(moves), axis=0)
    game.advance(after, moves)
    return after


@pytest.mark.parametrize("name", ["tic-tac-toe", "pacman-3p", "kuhn-poker"])
def test_any_move_that_does_not_end_the_game_leads_astray(name: str) -> None:
    game, random = load(name), np.random.default_rng(1)
    state, ending = game.initial_states(1), 0
    for _ in range(7):
        after = list_next(game, state)
        going = after[~game.describe(after).terminal]
        ending += len(after) - len(going)
        states = np.repeat(state, 3000, axis=0)
        found = go_astray(game, states, random)
        assert (states == state).all()  # the caller's are left as they are
        stays = [state] if len(going) < len(after) else []
        assert as_set(found) == as_set(np.concatenate([going, *stays]))
        if not len(going):
            break
        state = going[[int(random.integers(len(going)))]]
    assert ending or name == "pacman-3p"


def as_set(states: NDArray[np.uint8]) -> set[bytes]:
    return {row.tobytes() for row in states}


def test_positions_that_are_over_or_stuck_stay() -> None:
    game = load_text(STUCK)
    stuck = game.initial_states(4)
    assert (go_astray(game, stuck, np.random.default_rng(0)) == stuck).all()
    over = load("tic-tac-toe")
    *_, last = random_play(over, 5, seed=0, max_length=9)
    assert last.batch.terminal.all()
    assert (go_astray(over, last.states, np.random.default_rng(0)) == last.states).all()
