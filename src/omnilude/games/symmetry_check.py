"""Whether a permutation of roles, slots and fluents commutes with play: tried out on positions.

For symmetries that the rules prove this is a check of the proof; for candidates it is all there
is, so it must have seen games end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.games.game import Batch, Game
from omnilude.games.permutations import Permutations, invert
from omnilude.games.statistics import random_play

_GAMES = 2048
_FIRST = 128  # games that are played at first
_MAX_LENGTH = 400


class Points:
    """Roles, then slots of each role, then fluents, as points that permutations act on."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.core, _core.CircuitGame)
        self.roles = len(game.roles)
        slots = [game.slots(role) for role in range(self.roles)]
        self.first_slot = self.roles + np.concatenate([[0], np.cumsum(slots)]).astype(np.int64)
        self.first_fluent = int(self.first_slot[-1])
        self.fluents = len(game.core.fluents)
        self.count = self.first_fluent + self.fluents

    def fluent_map(self, permutation: Permutations) -> NDArray[np.int32]:
        return permutation[self.first_fluent :] - np.int32(self.first_fluent)


def map_states(states: NDArray[np.uint8], inverse: NDArray[np.int32]) -> NDArray[np.uint8]:
    """States with fluents exchanged: fluent f is what fluent inverse[f] was; percepts are lost."""
    bits = np.unpackbits(states, axis=1, bitorder="little")
    image = np.zeros_like(bits)  # [states, 8 * state_bytes]
    image[:, : len(inverse)] = np.take(bits, inverse, axis=1)
    return np.packbits(image, axis=1, bitorder="little")


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of random play, and what follows in each of those where play goes on."""

    states: NDArray[np.uint8]  # [positions, state_bytes]
    terminal: NDArray[np.bool_]  # [positions]
    rewards: NDArray[np.float32]  # [positions, roles]
    legal: NDArray[np.int64]  # sorted: position * points + point, of every legal move
    moves: NDArray[np.int32]  # [positions, roles]: a legal joint move; -1 where play has ended
    after: NDArray[np.uint8]  # [positions, state_bytes]: after that move

    def __len__(self) -> int:
        return len(self.states)


class _Reservoir:
    """A uniform sample of at most `size` of all rows that it was offered."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self._size, self._random = size, random
        self._limit = 1.0
        self._kept: list[tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.int32]]] = []

    def offer(self, states: NDArray[np.uint8], moves: NDArray[np.int32]) -> None:
        # The rows with the lowest of random numbers are kept, whichever they are.
        keys = self._random.random(len(states))
        low = keys < self._limit
        self._kept.append((keys[low], states[low], moves[low]))
        if sum(len(part[0]) for part in self._kept) > 2 * self._size:
            self._prune()

    def _prune(self) -> None:
        keys, states, moves = map(np.concatenate, zip(*self._kept, strict=True))
        best = np.argsort(keys)[: self._size]
        self._kept = [(keys[best], states[best], moves[best])]
        if 0 < len(best) == self._size:
            self._limit = keys[best[-1]]

    def take(self) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """States and moves, in random order."""
        self._prune()
        _, states, moves = self._kept[0]
        return states, moves


def sample_positions(
    game: Game, points: Points, count: int, seconds: float, seed: int
) -> Positions:
    """About `count` positions of thousands of random games from the initial state.

    Ends are rare and say much: they are up to a half of the sample, each of another game.
    """
    stop = time.monotonic() + seconds
    random = np.random.default_rng([seed, count])
    ends, others = _Reservoir(count // 2, random), _Reservoir(count, random)
    played, seen, games = 0, 0, _FIRST
    while played < _GAMES or seen < count:
        for step in random_play(game, games, seed=seed, max_length=_MAX_LENGTH):
            made = np.full((len(step.states), points.roles), -1, dtype=np.int32)
            made[step.live] = step.moves
            terminal = step.batch.terminal
            ends.offer(step.states[terminal], made[terminal])
            others.offer(step.states[~terminal], made[~terminal])
            seen += len(made)
            if time.monotonic() > stop:
                break
        if time.monotonic() > stop:
            break
        played += games
        # Where time is short, a few games to their ends tell more than the beginnings of many.
        games, seed = max(_FIRST, min(played, _GAMES - played)), seed + 1
    (end_states, end_moves), (other_states, other_moves) = ends.take(), others.take()
    states = np.concatenate([end_states, other_states])[:count]
    moves = np.concatenate([end_moves, other_moves])[:count]
    order = random.permutation(len(states))
    return _describe(game, points, states[order], moves[order])


def _describe(
    game: Game, points: Points, states: NDArray[np.uint8], moves: NDArray[np.int32]
) -> Positions:
    batch = game.describe(states)
    live = moves[:, 0] >= 0
    after = states.copy()
    advanced = np.ascontiguousarray(states[live])
    game.advance(advanced, np.ascontiguousarray(moves[live]))
    after[live] = advanced
    legal = _legal_points(points, batch)
    return Positions(states, batch.terminal, batch.rewards, legal, moves, after)


def _legal_points(points: Points, batch: Batch) -> NDArray[np.int64]:
    """Sorted numbers, position * points + point, of the legal moves where play goes on."""
    positions = len(batch.terminal)
    ends = batch.offsets.astype(np.int64)
    owners = np.repeat(np.arange(positions * points.roles), ends[1:] - ends[:-1])
    position, role = np.divmod(owners, points.roles)
    found = position * points.count + points.first_slot[role] + batch.moves
    found = found[~batch.terminal[position]]
    found.sort()
    return found


def first_positions(positions: Positions, points: Points, count: int) -> Positions:
    """A smaller sample: it rules most candidates out at once."""
    last = int(np.searchsorted(positions.legal, count * points.count))
    return Positions(
        positions.states[:count],
        positions.terminal[:count],
        positions.rewards[:count],
        positions.legal[:last],
        positions.moves[:count],
        positions.after[:count],
    )


def seen_points(points: Points, positions: Positions) -> NDArray[np.bool_]:
    """[points]: slots that were legal somewhere, fluents that were true here and false there."""
    seen = np.ones(points.count, dtype=np.bool_)
    seen[points.roles : points.first_fluent] = False
    seen[positions.legal % points.count] = True
    bits = np.unpackbits(positions.states, axis=1, bitorder="little")[:, : points.fluents]
    seen[points.first_fluent :] = bits.any(axis=0) & ~bits.all(axis=0)
    return seen


def commutes(game: Game, points: Points, permutation: Permutations, positions: Positions) -> bool:
    """Whether legal moves, end, rewards and next states of all positions are mapped."""
    roles = permutation[: points.roles]
    inverse = invert(points.fluent_map(permutation))
    image = map_states(positions.states, inverse)
    batch = game.describe(image)
    if not np.array_equal(batch.terminal, positions.terminal):
        return False
    if not np.array_equal(batch.rewards[:, roles], positions.rewards):
        return False
    position, point = np.divmod(positions.legal, points.count)
    expected = position * points.count + permutation[point]
    expected.sort()
    if not np.array_equal(_legal_points(points, batch), expected):
        return False
    live = positions.moves[:, 0] >= 0
    moved = np.empty((int(live.sum()), points.roles), dtype=np.int32)
    for role, to in enumerate(roles):
        at = permutation[points.first_slot[role] + positions.moves[live, role]]
        moved[:, to] = at - points.first_slot[to]
    image = np.ascontiguousarray(image[live])
    game.advance(image, moved)
    # Percepts are not part of what is mapped: both sides lose them.
    keep = np.arange(points.fluents, dtype=np.int32)
    after = map_states(positions.after[live], inverse)
    return np.array_equal(map_states(image, keep), after)
