"""Where the moves of a player live on the planes, as far as their own indices tell.

Networks may use it: the logit of (move 3 4 4 5) can be read from the cells (3, 4) and (4, 5) of a
feature map instead of from all of it. Nothing needs it: where nothing is found, a move is a slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude.encoding.chains import Chain
from omnilude.encoding.indices import Index, Indexed, IndexFinder, parse_term
from omnilude.encoding.layout import Axis, PlaneGroup
from omnilude.games import Game


@dataclass(frozen=True, slots=True, eq=False)
class MoveKind:
    """The moves of a player that differ in their indices alone, such as all (move _ _ _ _).

    With k slots and m indices each.
    """

    name: str
    slots: NDArray[np.int32]
    """[k], ascending"""
    indices: NDArray[np.int32]
    """[k, m]: each index in its own order: a number, or a place in a chain; on an axis of a group,
    the place on that axis, from 0."""
    axes: tuple[int, ...]
    """[m]: the axis of the group that each index lies on, or -1."""
    group: int
    """The group of planes that the kind lives on, or -1."""
    cells: NDArray[np.int32]
    """[k, c]: the cells of the group that a move names, as numbers in the group's shape: all runs
    of n indices that fit its n axes, from left to right."""


@dataclass(frozen=True, slots=True)
class MoveIndices:
    """All kinds of moves of one player; every slot is in exactly one."""

    role: int
    kinds: tuple[MoveKind, ...]


def find_moves(
    game: Game, chains: Sequence[Chain], groups: Sequence[PlaneGroup]
) -> tuple[MoveIndices, ...]:
    """By player."""
    terms = {
        role: [parse_term(game.core.move_name(role, slot)) for slot in range(game.slots(role))]
        for role in game.players
    }
    finder = IndexFinder((term for of in terms.values() for term in of), chains)
    return tuple(
        _find_kinds(role, [finder.index(term) for term in of], groups) for role, of in terms.items()
    )


def _find_kinds(role: int, moves: Sequence[Indexed], groups: Sequence[PlaneGroup]) -> MoveIndices:
    kinds: dict[tuple[object, ...], list[int]] = {}
    for slot, move in enumerate(moves):
        key = (move.pattern, tuple((index.path, index.domain) for index in move.indices))
        kinds.setdefault(key, []).append(slot)
    return MoveIndices(
        role,
        tuple(_make_kind(slots, [moves[s] for s in slots], groups) for slots in kinds.values()),
    )


def _make_kind(
    slots: Sequence[int], moves: Sequence[Indexed], groups: Sequence[PlaneGroup]
) -> MoveKind:
    columns = [list(column) for column in zip(*(move.indices for move in moves), strict=True)]
    # The group that takes most of the indices as cells, else one that has an axis for them.
    best, runs = -1, list[int]()
    for number, group in enumerate(groups):
        found = _find_runs(columns, group.axes)
        if len(found) * len(group.axes) > (len(runs) * len(groups[best].axes) if runs else 0):
            best, runs = number, found
    axes = [-1] * len(columns)
    if runs:
        for run in runs:
            axes[run : run + len(groups[best].axes)] = range(len(groups[best].axes))
    else:
        best, axes = _find_single_axes(columns, groups)
    indices = np.array([[i.value for i in move.indices] for move in moves], dtype=np.int32)
    for m, axis in enumerate(axes):
        if axis >= 0:
            indices[:, m] -= groups[best].axes[axis].first
    cells = np.zeros((len(slots), len(runs)), dtype=np.int32)
    for c, run in enumerate(runs):
        for a, length in enumerate(groups[best].shape):
            cells[:, c] = cells[:, c] * length + indices[:, run + a]
    return MoveKind(
        moves[0].pattern, np.array(slots, dtype=np.int32), indices, tuple(axes), best, cells
    )


def _span(column: Sequence[Index]) -> tuple[int, int, int]:
    values = [index.value for index in column]
    return column[0].domain, min(values), max(values)


def _find_runs(columns: Sequence[Sequence[Index]], axes: Sequence[Axis]) -> list[int]:
    """Where runs of indices begin that fit the axes, without overlaps."""
    runs: list[int] = []
    at = 0
    while at + len(axes) <= len(columns):
        pairs = zip(axes, columns[at:], strict=False)
        if all(axis.covers(*_span(column)) for axis, column in pairs):
            runs.append(at)
            at += len(axes)
        else:
            at += 1
    return runs


def _find_single_axes(
    columns: Sequence[Sequence[Index]], groups: Sequence[PlaneGroup]
) -> tuple[int, list[int]]:
    """An index alone, as in (drop 3), is on an axis if it has the range of that axis only."""
    for number, group in enumerate(groups):
        axes = []
        for column in columns:
            domain, low, high = _span(column)
            same = [
                a
                for a, axis in enumerate(group.axes)
                if (axis.domain, axis.first, axis.first + len(axis) - 1) == (domain, low, high)
            ]
            axes.append(same[0] if len(same) == 1 else -1)
        if any(axis >= 0 for axis in axes):
            return number, axes
    return -1, [-1] * len(columns)
