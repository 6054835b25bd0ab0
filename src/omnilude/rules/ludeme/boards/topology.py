"""What lies next to what on a board: steps from each element, and rays that go on straight.

A step has every direction that fits it: classes such as Orthogonal and Diagonal, a compass
direction, and on round boards inwards, outwards and around. A ray goes on from step to step within
one direction, bending little at each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.rules.ludeme.boards.directions import (
    DIRECTIONS,
    FIRST_SPECIFIC,
    INDEX,
    name_angle,
)
from omnilude.rules.ludeme.boards.graph import (
    NEARLY_ZERO,
    Edge,
    Element,
    Face,
    Graph,
    Point,
    Vertex,
    distance_to_line,
    flat_distance,
)

KINDS = ("Vertex", "Edge", "Cell")
STRAIGHT_ENOUGH = 0.1
"""How far, as a share of their distance, two cells' common line may miss the edge between."""
INWARDS = 0.9
NEXT_TO = ("Orthogonal", "Adjacent", "All")


@dataclass(eq=False, slots=True)
class Step:
    start: Element
    end: Element
    kind: str  # of the end
    names: set[str]
    specific: tuple[str, ...] = ()  # those of its names that are no classes, in order


class Topology:
    """Everything is made when it is first asked for: most games use one kind of site."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lists = _StepLists(graph)
        self._rays: dict[str, Rays] = {}

    def rays(self, kind: str) -> Rays:
        if kind not in self._rays:
            self._rays[kind] = Rays(self, kind)
        return self._rays[kind]

    def neighbours(self, kind: str, number: int, relation: str) -> list[int]:
        """Sites of the same kind, clockwise from north."""
        if kind == "Edge" and relation in ("Diagonal", "OffDiagonal"):
            return []
        if kind == "Edge":
            relation = "All"
        found = self.lists[kind][number].get(relation, ())
        return [step.end.number for step in found if step.kind == kind]


class _StepLists(dict[str, list[dict[str, list["Step"]]]]):
    """By kind, number and direction, clockwise from north."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self._unit = graph.average_length()
        self._pivots = {id(vertex.pivot) for vertex in graph.vertices if vertex.pivot}
        self._curved = {
            frozenset((edge.a.number, edge.b.number)) for edge in graph.edges if edge.curved
        }

    def __missing__(self, kind: str) -> list[dict[str, list[Step]]]:
        lists = []
        for element in self._graph.elements(kind):
            collected = _Collector(element)
            for end, end_kind, names in _list_steps(element):
                collected.add(end, end_kind, names)
            collected.name_compass(self._unit)
            if self._pivots:
                collected.name_round(self._pivots, self._curved)
            collected.finish()
            lists.append(collected.lists)
        self[kind] = lists
        return lists


class _Collector:
    """The steps of one element."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.steps: list[Step] = []
        self.lists: dict[str, list[Step]] = {}
        self._known: dict[int, Step] = {}

    def add(self, end: Element, kind: str, names: tuple[str, ...]) -> None:
        known = self._known.get(id(end))
        if known:
            known.names.update(names)  # but it is not listed under them
            return
        step = Step(self.element, end, kind, set(names))
        self._known[id(end)] = step
        self.steps.append(step)
        for name in names:
            self.lists.setdefault(name, []).append(step)

    def name_compass(self, unit: float) -> None:
        coarse = [_name_step(step, unit, fine=False) for step in self.steps]
        fine = len(set(coarse)) < len(coarse)
        for step, plain in zip(self.steps, coarse, strict=True):
            name = _name_step(step, unit, fine=True) if fine else plain
            self._list(step, name)
            layer = {"U": "Upward", "D": "Downward"}.get(name[0], "SameLayer")
            self._list(step, layer)

    def name_round(self, pivots: set[int], curved: set[frozenset[int]]) -> None:
        if id(self.element) in pivots:
            for step in self.steps:
                self._list(step, "Out")
                self._list(step, "Rotational")
            return
        pivot = self.element.pivot
        if pivot is None:
            return
        for step in self.steps:
            if "Diagonal" in step.names:
                continue
            name = _name_round(step, pivot, curved)
            if name:
                self._list(step, name)
                self._list(step, "Rotational")

    def _list(self, step: Step, name: str) -> None:
        self.lists.setdefault(name, []).append(step)

    def finish(self) -> None:
        for name, steps in self.lists.items():
            for step in steps:
                step.names.add(name)
        for step in self.steps:
            specific = [name for name in step.names if INDEX[name] >= FIRST_SPECIFIC]
            step.specific = tuple(sorted(specific, key=INDEX.__getitem__))
        angles = {id(step): clockwise(step.start.point, step.end.point) for step in self.steps}
        self.steps.sort(key=lambda step: angles[id(step)])
        for steps in self.lists.values():
            if len(steps) > 1:
                steps.sort(key=lambda step: angles[id(step)])


def clockwise(start: Point, end: Point) -> float:
    """Angle from north; what is west of it by a hair counts as north."""
    score = pi / 2 - atan2(end[1] - start[1], end[0] - start[0]) + 0.0001
    while score < 0:
        score += 2 * pi
    return score


def _name_step(step: Step, unit: float, *, fine: bool) -> str:
    (ax, ay, az), (bx, by, bz) = step.start.point, step.end.point
    level = -1 if bz - az < -0.1 * unit else 1 if bz - az > 0.1 * unit else 0
    if level and flat_distance(step.start.point, step.end.point) < 0.1 * unit:
        return "D" if level < 0 else "U"
    angle = atan2(by - ay, bx - ax)
    if angle < 0:
        angle += 2 * pi
    return name_angle(angle, fine=fine, level=level)


def _name_round(step: Step, pivot: Vertex, curved: set[frozenset[int]]) -> str | None:
    start, end, centre = step.start.point, step.end.point, pivot.point
    along = _unit(_minus(end, start))
    inward = _unit(_minus(centre, start))
    dot = sum(a * b for a, b in zip(along, inward, strict=True))
    if dot > INWARDS:
        return "In"
    if dot < -INWARDS:
        return "Out"
    # Numbers of any kind are looked up as numbers of vertices: descriptions rely on it.
    if frozenset((step.start.number, step.end.number)) not in curved:
        return None
    u, v = _minus(end, centre), _minus(start, centre)
    return "CW" if u[0] * v[1] - u[1] * v[0] > NEARLY_ZERO else "CCW"


# --- which steps there are ---


def _list_steps(element: Element) -> Iterator[tuple[Element, str, tuple[str, ...]]]:
    if isinstance(element, Vertex):
        yield from _steps_from_vertex(element)
    elif isinstance(element, Edge):
        yield from _steps_from_edge(element)
    else:
        yield from _steps_from_face(element)


def _steps_from_vertex(vertex: Vertex) -> Iterator[tuple[Element, str, tuple[str, ...]]]:
    for edge in vertex.edges:
        yield edge.other(vertex), "Vertex", NEXT_TO
    for face in vertex.faces:
        if len(face.vertices) >= 4:
            best, nearest = None, float("inf")
            for other in face.vertices:
                if other is vertex:
                    continue
                apart = distance_to_line(face.point, vertex.point, other.point)
                if apart < nearest:
                    best, nearest = other, apart
            if best:
                yield best, "Vertex", ("Diagonal", "All")
    for edge in vertex.edges:
        yield edge, "Edge", NEXT_TO
    for face in vertex.faces:
        yield face, "Cell", NEXT_TO


def _steps_from_edge(edge: Edge) -> Iterator[tuple[Element, str, tuple[str, ...]]]:
    for vertex in (edge.a, edge.b):
        for other in vertex.edges:
            if other is not edge:
                yield other, "Edge", NEXT_TO
    for vertex in (edge.a, edge.b):
        yield vertex, "Vertex", NEXT_TO
    for face in (edge.left, edge.right, *edge.a.faces, *edge.b.faces):
        if face:
            yield face, "Cell", NEXT_TO


def _steps_from_face(face: Face) -> Iterator[tuple[Element, str, tuple[str, ...]]]:
    used = {id(face)}
    for edge in face.edges:
        across = edge.across(face)
        if across:
            used.add(id(across))
            yield across, "Cell", NEXT_TO
    for vertex in face.vertices:
        best, nearest = None, float("inf")
        for other in vertex.faces:
            if id(other) not in used:
                apart = distance_to_line(vertex.point, face.point, other.point)
                if apart < nearest:
                    best, nearest = other, apart
        if best:
            used.add(id(best))
            yield best, "Cell", ("Diagonal", "Adjacent", "All")
    for vertex in face.vertices:
        for other in vertex.faces:
            if id(other) not in used:
                used.add(id(other))
                yield other, "Cell", ("OffDiagonal", "Adjacent", "All")
    for vertex in face.vertices:
        if len(vertex.edges) != 3:
            continue
        leaving = next((edge for edge in vertex.edges if edge not in face.edges), None)
        if leaving is None:
            continue
        far = leaving.other(vertex)
        for other in far.faces:
            if id(other) in used:
                continue
            missed = distance_to_line(vertex.point, face.point, other.point)
            missed += distance_to_line(far.point, face.point, other.point)
            apart = flat_distance(face.point, other.point)
            if apart and missed / apart <= STRAIGHT_ENOUGH:
                used.add(id(other))
                yield other, "Cell", ("Diagonal", "All")
    for vertex in face.vertices:
        yield vertex, "Vertex", NEXT_TO
    for edge in face.edges:
        yield edge, "Edge", NEXT_TO


# --- rays ---


class Ray(NamedTuple):
    """Sites in a row, the first of which is where it starts."""

    sites: tuple[int, ...]
    opposite: int  # number of a ray, or -1


class Rays:
    """All rays of one kind, as the core traces them; lists are by direction and site."""

    def __init__(self, topology: Topology, kind: str) -> None:
        self.sites = len(topology.graph.elements(kind))
        counts = np.zeros((len(DIRECTIONS), self.sites), dtype=np.int32)
        ends: list[list[int]] = [[] for _ in DIRECTIONS]
        for site, by_name in enumerate(topology.lists[kind]):
            for name, steps in by_name.items():
                here = [step.end.number for step in steps if step.kind == kind]
                counts[INDEX[name], site] = len(here)
                ends[INDEX[name]] += here
        points = [element.point for element in topology.graph.elements(kind)]
        self.step_starts = np.zeros(counts.size + 1, dtype=np.int32)
        np.cumsum(counts, out=self.step_starts[1:])
        self.step_ends = np.array([end for one in ends for end in one], dtype=np.int32)
        self.tables: dict[str, NDArray[np.int32]] = _core.trace_rays(
            np.array(points, dtype=np.float64).reshape(-1, 3), self.step_starts, self.step_ends
        )

    def at(self, site: int, direction: int, *, distinct: bool = False) -> list[Ray]:
        """Clockwise from north; `distinct`: without those that only lead back from one of them."""
        which = "distinct" if distinct else "at"
        place = direction * self.sites + site
        first, last = self.tables[f"{which}_start"][place : place + 2]
        return [self.ray(int(number)) for number in self.tables[f"{which}_items"][first:last]]

    def ray(self, number: int) -> Ray:
        first, last = self.tables["start"][number : number + 2]
        sites = tuple(int(site) for site in self.tables["items"][first:last])
        return Ray(sites, int(self.tables["opposite"][number]))


def bend(a: Point, b: Point, c: Point) -> float:
    """The tangent of the turn at b on the way from a to c; infinite for a right angle or more."""
    v, u = _minus(b, a), _minus(c, b)
    dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    if dot <= 0:
        return float("inf")
    x = v[1] * u[2] - v[2] * u[1]
    y = v[2] * u[0] - v[0] * u[2]
    z = v[0] * u[1] - v[1] * u[0]
    return float((x * x + y * y + z * z) ** 0.5) / dot


def _minus(p: Point, q: Point) -> Point:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _unit(p: Point) -> Point:
    length = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) ** 0.5
    return p if length < NEARLY_ZERO else (p[0] / length, p[1] / length, p[2] / length)
