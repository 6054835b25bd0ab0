"""Perft: how many sequences of joint moves there are, by length.

The number that two implementations of the same rules must agree on; a slip in any rule that
matters within the depth changes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from omnilude.errors import BudgetExceeded, SettingsError
from omnilude.games.game import Game

CHUNK = 8192
"""States expanded at once: enough to fill the lanes of an engine, few enough to stay in cache."""


def perft(game: Game, depth: int, *, chunk: int = CHUNK) -> list[int]:
    """Counts the sequences of exactly 1, 2, ... `depth` joint moves from the initial state.

    A sequence ends where the game does, so none passes through a terminal state; nor through one
    in which a role has no legal move. Sequences that lead to the same state count separately. The
    last move of the longest sequences is counted, not made.

    Depth first over chunks of states: memory grows with depth times `chunk`, not with the count.
    """
    counts = [0] * depth
    for level, children in _walk(game, depth, chunk):
        counts[level] += children.total
    return counts


def perft_ends(game: Game, depth: int, *, chunk: int = CHUNK) -> list[Counter[tuple[float, ...]]]:
    """How many sequences of 1, 2, ... `depth` joint moves end the game, by the roles' rewards.

    All moves are made, the last ones too: it takes as long as `perft` with one more.
    """
    ends: list[Counter[tuple[float, ...]]] = [Counter() for _ in range(depth)]
    for level, children in _walk(game, depth + (depth > 0), chunk):
        if level:
            over = children.batch.rewards[children.batch.terminal]
            ends[level - 1].update(tuple(row) for row in over.tolist())
    return ends


def _walk(game: Game, depth: int, chunk: int) -> Iterator[tuple[int, _Children]]:
    """States after 0, 1, ... `depth` - 1 joint moves, in batches, with what can follow them."""
    if depth < 0:
        raise SettingsError(f"depth must not be negative, but is {depth}")
    if chunk < 1:
        raise SettingsError(f"chunk must be at least 1, but is {chunk}")
    levels = [iter([game.initial_states(1)])] if depth else []
    while levels:
        states = next(levels[-1], None)
        if states is None:
            levels.pop()
            continue
        children = _Children(game, states)
        yield len(levels) - 1, children
        if len(levels) < depth:
            levels.append(children.expand(chunk))


class _Children:
    """All joint moves of a batch of states, numbered through; made only when asked for."""

    def __init__(self, game: Game, states: NDArray[np.uint8]) -> None:
        self.game = game
        self.states = states  # [states, state_bytes]
        self.batch = game.describe(states)
        offsets = self.batch.offsets.astype(np.int64)
        self.legal = np.diff(offsets).reshape(len(states), len(game.roles))
        self.legal[self.batch.terminal] = 0
        # Products of many roles' moves may not fit an integer: find that out in floating point.
        if self.legal.prod(axis=1, dtype=np.float64).sum() > 2**62:
            raise BudgetExceeded("too many joint moves to count", file=game.file)
        # [states]: number of joint moves of this and all earlier states
        self.ends: NDArray[np.int64] = self.legal.prod(axis=1).cumsum()

    @property
    def total(self) -> int:
        return int(self.ends[-1])

    def expand(self, chunk: int) -> Iterator[NDArray[np.uint8]]:
        """The states that the joint moves lead to, at most `chunk` at a time."""
        for first in range(0, self.total, chunk):
            yield self._make(first, min(first + chunk, self.total))

    def _make(self, first: int, last: int) -> NDArray[np.uint8]:
        """The children first to last - 1."""
        parents = slice(
            np.searchsorted(self.ends, first, side="right"),
            np.searchsorted(self.ends, last, side="left") + 1,
        )
        ends = self.ends[parents].clip(max=last)
        sizes = np.diff(ends, prepend=first)
        parent = np.repeat(np.arange(parents.start, parents.stop), sizes)
        # A child's number among its parent's is read as digits, one a role, of mixed radix.
        starts = self.ends[parents] - self.legal[parents].prod(axis=1)
        rest = np.arange(first, last) - np.repeat(starts, sizes)
        roles = len(self.game.roles)
        moves = np.empty((last - first, roles), dtype=np.int32)
        for role in reversed(range(roles)):
            place = self.batch.offsets[parent * roles + role].astype(np.int64)
            legal = self.legal[parents, role]
            if (legal > 1).any():
                radix = np.repeat(legal, sizes)
                place += rest % radix
                rest //= radix
            moves[:, role] = self.batch.moves[place]
        states = self.states[parent]
        self.game.advance(states, moves)
        return states
