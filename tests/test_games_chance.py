"""Random moves: drawn by name, from all legal ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude.games import Batch
from omnilude.games.chance import draw_uniform, pick_moves


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
