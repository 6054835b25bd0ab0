"""Rays of a board, traced one by one: what the core's tables are held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import tan

from omnilude.rules.ludeme.boards.directions import DIRECTIONS, FIRST_SPECIFIC, INDEX
from omnilude.rules.ludeme.boards.graph import Element
from omnilude.rules.ludeme.boards.topology import Step, Topology, bend, clockwise

BEND = tan(0.25)
OPPOSITE = tan(0.1)


@dataclass(eq=False, slots=True)
class Ray:
    """Sites in a row, the first of which is where it starts."""

    direction: int
    sites: tuple[int, ...]
    opposite: Ray | None = field(default=None, repr=False)


def make_rays(
    topology: Topology, kind: str
) -> tuple[list[dict[int, list[Ray]]], list[dict[int, list[Ray]]]]:
    elements = topology.graph.elements(kind)
    lists = [
        {name: [step for step in steps if step.kind == kind] for name, steps in by_name.items()}
        for by_name in topology.lists[kind]
    ]
    tracer = _Tracer(elements, lists)
    rays, distinct = [], []
    for number in range(len(elements)):
        stored = tracer.rays_from(number)
        by_direction: dict[int, list[Ray]] = {}
        for ray in stored:
            by_direction.setdefault(ray.direction, []).append(ray)
        _gather_rotational(by_direction)
        kept: dict[int, list[Ray]] = {}
        for direction, found in by_direction.items():
            chosen: list[Ray] = []
            for ray in found:
                if not any(one.opposite and one.opposite.sites == ray.sites for one in chosen):
                    chosen.append(ray)
            kept[direction] = chosen
        for table in (by_direction, kept):
            for found in table.values():
                found.sort(key=lambda ray: tracer.clockwise(ray.sites[0], ray.sites[1]))
        rays.append(by_direction)
        distinct.append(kept)
    return rays, distinct


def _gather_rotational(by_direction: dict[int, list[Ray]]) -> None:
    gathered = list(by_direction.get(INDEX["Rotational"], ()))
    for name in ("In", "Out", "CW", "CCW"):
        gathered += by_direction.get(INDEX[name], ())
    for n in range(len(gathered) - 1, -1, -1):
        sites = gathered[n].sites
        if any(m != n and o.sites[: len(sites)] == sites for m, o in enumerate(gathered)):
            del gathered[n]
    if gathered:
        by_direction[INDEX["Rotational"]] = gathered


class _Tracer:
    def __init__(self, elements: Sequence[Element], lists: list[dict[str, list[Step]]]) -> None:
        self.points = [element.point for element in elements]
        self.lists = lists
        self._next: dict[tuple[str, int, int], tuple[int, ...]] = {}
        self._clockwise: dict[tuple[int, int], float] = {}

    def clockwise(self, a: int, b: int) -> float:
        key = (a, b)
        if key not in self._clockwise:
            self._clockwise[key] = clockwise(self.points[a], self.points[b])
        return self._clockwise[key]

    def rays_from(self, number: int) -> list[Ray]:
        """All rays from a site, in the order of directions, each with its opposite."""
        stored: list[Ray] = []
        seen: set[tuple[int, tuple[int, ...]]] = set()
        straight: dict[tuple[int, int], bool] = {}

        def opposite(a: int, b: int) -> bool:
            if (a, b) not in straight:
                points = self.points
                straight[a, b] = bend(points[a], points[number], points[b]) < OPPOSITE
            return straight[a, b]

        for direction, name in enumerate(DIRECTIONS):
            for step in self.lists[number].get(name, ()):
                for sites in self._trace(name, (number, step.end.number)):
                    if (direction, sites) in seen:
                        continue
                    seen.add((direction, sites))
                    ray = Ray(direction, sites)
                    for other in stored:
                        if _pair_up(ray, other) or (
                            (ray.direction == other.direction or _both_specific(ray, other))
                            and opposite(ray.sites[1], other.sites[1])
                        ):
                            ray.opposite = ray.opposite or other
                            other.opposite = other.opposite or ray
                    stored.append(ray)
        return stored

    def _trace(self, name: str, sites: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The rays that begin so; more than one only where two ways are equally straight."""
        while True:
            following = self._following(name, sites[-2], sites[-1])
            if not following:
                yield sites
                return
            if len(following) == 1:
                if following[0] in sites:
                    yield sites
                    return
                sites = (*sites, following[0])
                continue
            for site in following:
                if site in sites:
                    yield sites
                else:
                    yield from self._trace(name, (*sites, site))
            return

    def _following(self, name: str, before: int, at: int) -> tuple[int, ...]:
        key = (name, before, at)
        if key not in self._next:
            self._next[key] = self._find_following(name, before, at)
        return self._next[key]

    def _find_following(self, name: str, before: int, at: int) -> tuple[int, ...]:
        candidates = self.lists[at].get(name, ())
        if name in ("CW", "CCW", "In", "Out"):
            return (candidates[0].end.number,) if candidates else ()
        best, found = BEND, list[int]()
        for step in candidates:
            turned = bend(self.points[before], self.points[at], step.end.point)
            if turned < best:
                best, found = turned, [step.end.number]
                if turned == 0.0:
                    break
            elif turned == best:
                found.append(step.end.number)
        return tuple(found)


def _pair_up(one: Ray, other: Ray) -> bool:
    pair = {DIRECTIONS[one.direction], DIRECTIONS[other.direction]}
    return pair in ({"CW", "CCW"}, {"In", "Out"})


def _both_specific(one: Ray, other: Ray) -> bool:
    return one.direction >= FIRST_SPECIFIC and other.direction >= FIRST_SPECIFIC
