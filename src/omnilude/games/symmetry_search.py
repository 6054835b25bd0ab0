"""The search for symmetries: the group that the rules prove, and what play adds to it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.games.automorphisms import ColouredGraph, count_actions, find_generators
from omnilude.games.game import Game
from omnilude.games.permutations import Permutations, close_group
from omnilude.games.symmetry_candidates import propose_symmetries
from omnilude.games.symmetry_check import (
    Points,
    Positions,
    commutes,
    first_positions,
    seen_points,
)

ENUMERATED = 4096
"""Groups up to this order are listed in full; larger ones are known by generators."""
INSTANCES = 1_000_000
"""Ground instances, and literals of their normal form, that a graph is made of."""
MEMORY = 1 << 30
_EXTENDED = 512  # order up to which a group is extended by candidates
_UNSEEN = 0.1  # share of what a candidate moves that play need not have shown
_MUCH = 0.25  # share of the fluents that a candidate moves at least, unless it moves roles
_FEW = 48  # positions that a candidate must pass before it is tried on all


@dataclass(frozen=True, slots=True)
class Group:
    generators: Permutations  # [generators, points]
    elements: Permutations | None  # [order, points], the identity first; None if too many
    order: int
    graph: ColouredGraph | None  # None where it is too large

    def keys(self) -> set[bytes]:
        return set() if self.elements is None else {element.tobytes() for element in self.elements}


def prove_symmetries(game: Game, points: Points, seconds: float) -> Group:
    """The automorphisms of the rules, as they act on roles, slots and fluents."""
    stop = time.monotonic() + seconds
    graph = _rule_graph(game, points, True, seconds / 4)
    generators = _generators(graph, points, 0.8 * seconds)
    elements = close_group(generators, ENUMERATED)
    if elements is not None:
        return Group(generators, elements, len(elements), graph)
    assert graph is not None
    order = count_actions(graph, max(0.5, stop - time.monotonic()))
    return Group(generators, None, order or ENUMERATED + 1, graph)


def _rule_graph(game: Game, points: Points, ends: bool, seconds: float) -> ColouredGraph | None:
    """The graph of the rules, its points numbered as the game's; None where it is too large."""
    assert game.program is not None
    # As written first: splitting chooses an order in which conditions meet, which hides symmetries.
    for rules in (game.program.as_written, game.program.split):
        try:
            graph = _core.RuleGraph.make(
                rules.symbols, rules.code, seconds, MEMORY, INSTANCES, ends
            )
        except (_core.BudgetExceeded, MemoryError):
            continue
        number = _number_points(game, graph)
        if number is not None:
            colours = graph.colours()
            colours[: points.roles] -= np.array(game.chance, dtype=np.int32)
            everything = np.arange(len(colours), dtype=np.int32)
            everything[: points.count] = number
            ordered = np.empty_like(colours)
            ordered[everything] = colours
            return ColouredGraph(ordered, everything[graph.edges()], points.count)
    return None


def _number_points(game: Game, graph: _core.RuleGraph) -> NDArray[np.int32] | None:
    """The game's number of each of the graph's points; None where they are not the same ones.

    A grounding may find fewer or more fluents than the one that the circuit was made from.
    """
    assert isinstance(game.core, _core.CircuitGame)
    out = list(range(len(game.roles)))
    for role, moves in enumerate(graph.moves):
        out += [len(out) + game.core.find_move(role, move) for move in moves]
        if len(moves) != game.slots(role):
            return None
    numbers = {name: len(out) + number for number, name in enumerate(game.core.fluents)}
    out += [numbers.get(name, -1) for name in graph.fluents]
    if sorted(out) != list(range(len(game.roles) + _slots(game) + len(numbers))):
        return None
    return np.array(out, dtype=np.int32)


def _slots(game: Game) -> int:
    return sum(game.slots(role) for role in range(len(game.roles)))


def _generators(graph: ColouredGraph | None, points: Points, seconds: float) -> Permutations:
    """[generators, points]; the identity alone where there is no graph, or not the time."""
    found = find_generators(graph, seconds) if graph is not None else None
    if found is None or not len(found):
        return np.arange(points.count, dtype=np.int32)[None]
    return found


def extend_group(game: Game, points: Points, group: Group, sample: Positions, stop: float) -> Group:
    """The group that candidates make together with a given one; all commutes with the sample."""
    few = first_positions(sample, points, _FEW)
    search = _Search(game, points, sample, few, seen_points(points, sample), stop)
    if group.graph is not None:
        group = search.add(_weaker_rules(game, points, stop), group)
    if not game.percepts_used:  # who sees what is not tried out, so here only the rules can tell
        group = search.add(propose_symmetries(game), group)
    return group


@dataclass(frozen=True, slots=True)
class _Search:
    """Candidates, each tried on a few positions and then on all."""

    game: Game
    points: Points
    sample: Positions
    few: Positions
    seen: NDArray[np.bool_]  # [points]
    stop: float

    def accepts(self, candidate: Permutations) -> bool:
        return (
            self._testable(candidate)
            and commutes(self.game, self.points, candidate, self.few)
            and commutes(self.game, self.points, candidate, self.sample)
        )

    def _testable(self, candidate: Permutations) -> bool:
        """Whether play could refute it: has shown nearly all that moves, and much moves.

        Two cells that seldom decide a game could be exchanged unnoticed; a whole board not.
        """
        moved = candidate != np.arange(self.points.count)
        slots, fluents = np.split(moved, [self.points.first_fluent])
        seen_slots, seen_fluents = np.split(self.seen, [self.points.first_fluent])
        return bool(
            (slots & ~seen_slots).sum() <= _UNSEEN * slots.sum()
            and (fluents & ~seen_fluents).sum() <= _UNSEEN * fluents.sum()
            and (moved[: self.points.roles].any() or fluents.sum() >= _MUCH * seen_fluents.sum())
        )

    def add(self, candidates: Iterable[Permutations], group: Group) -> Group:
        known = group.keys()
        for candidate in candidates:
            if time.monotonic() > self.stop:
                break
            if candidate.tobytes() in known or not self.accepts(candidate):
                continue
            generators = np.concatenate([group.generators, candidate[None]])
            elements = close_group(generators, _EXTENDED)
            # Products of what commutes commute too, but it was only tried out: so try them out.
            if elements is not None and all(
                element.tobytes() in known
                or (time.monotonic() < self.stop and self.accepts(element))
                for element in elements
            ):
                group = Group(generators, elements, len(elements), group.graph)
                known = group.keys()
        return group


def _weaker_rules(game: Game, points: Points, stop: float) -> Permutations:
    """Symmetries of legal and next alone; if there are too many to try, they mean little."""
    left = max(0.1, stop - time.monotonic())
    generators = _generators(_rule_graph(game, points, False, left / 4), points, left / 2)
    elements = close_group(generators, ENUMERATED)
    return generators[:0] if elements is None else elements
