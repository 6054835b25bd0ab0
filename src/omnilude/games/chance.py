"""Random moves, in positions side by side.

The numbers that draw them may come by name: what is drawn depends on seed and keys, not on what was
drawn before. So a game of a match is the same whichever games are played beside it, and in
whichever thread.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omnilude.games.game import Batch

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def draw_uniform(seed: int, *keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers from [0, 1), one for each element of the keys, which are broadcast together."""
    value = np.full(np.broadcast_shapes(*(key.shape for key in keys)), seed, dtype=np.uint64)
    for key in keys:
        value = _mix(value + _GOLDEN) ^ key
    return (_mix(value + _GOLDEN) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def count_legal(batch: Batch) -> NDArray[np.int64]:
    """[states, roles]: how many legal moves each role has."""
    ends = batch.offsets.astype(np.int64)
    return (ends[1:] - ends[:-1]).reshape(batch.rewards.shape)


def pick_moves(batch: Batch, chances: NDArray[np.float64]) -> NDArray[np.int32]:
    """A legal slot for every role of every state, [states, roles]; -1 where there is none.

    `chances`, [states, roles] from [0, 1), say which: equal shares for all legal moves.
    """
    counts = count_legal(batch)
    picked = batch.offsets[:-1].reshape(counts.shape) + (chances * counts).astype(np.int64)
    padded = np.append(batch.moves, np.int32(-1))
    return np.where(counts > 0, padded[np.minimum(picked, len(batch.moves))], -1).astype(np.int32)


def _mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014); overflow is meant."""
    for shift, factor in _MIX:
        value = (value ^ (value >> shift)) * factor
    return value ^ (value >> np.uint64(31))
