"""What lies next to what on a board: steps from each element, and rays that go on straight.

A step has every direction that fits it: classes such as Orthogonal and Diagonal, a compass
direction, and on round boards inwards, outwards and around. A ray goes on from step to step within
one direction, bending less than BEND at each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import atan2, pi, tan

from omnilude.rules.ludeme.boards.directions import DIRECTIONS, FIRST_SPECIFIC, INDEX, name_angle
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
BEND = tan(0.25)
OPPOSITE = tan(0.1)
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


@dataclass(eq=False, slots=True)
class Ray:
    """Sites in a row, the first of which is where it starts."""

    direction: int
    sites: tuple[int, ...]
    opposite: Ray | None = field(default=None, repr=False)


@dataclass(slots=True)
class Topology:
    graph: Graph
    steps: dict[str, list[list[Step]]]  # by kind and number, clockwise from north
    lists: dict[str, list[dict[str, list[Step]]]]  # the same by direction
    rays: dict[str, list[dict[int, list[Ray]]]]  # by kind, number and direction
    distinct: dict[str, list[dict[int, list[Ray]]]]
    """Rays of a direction without those that only lead back from one that is there."""

    def neighbours(self, kind: str, number: int, relation: str) -> list[int]:
        """Sites of the same kind, clockwise from north."""
        if kind == "Edge" and relation in ("Diagonal", "OffDiagonal"):
            return []
        if kind == "Edge":
            relation = "All"
        found = self.lists[kind][number].get(relation, ())
        return [step.end.number for step in found if step.kind == kind]


def make_topology(graph: Graph, kinds: Sequence[str] = KINDS) -> Topology:
    """Steps of all elements; rays for those of these kinds."""
    topology = Topology(graph, {}, {}, {}, {})
    unit = graph.average_length()
    pivots = {id(vertex.pivot) for vertex in graph.vertices if vertex.pivot}
    curved = {frozenset((edge.a.number, edge.b.number)) for edge in graph.edges if edge.curved}
    for kind in KINDS:
        topology.steps[kind], topology.lists[kind] = [], []
        for element in graph.elements(kind):
            collected = _Collector(element)
            for end, end_kind, names in _list_steps(element):
                collected.add(end, end_kind, names)
            collected.name_compass(unit)
            if pivots:
                collected.name_round(pivots, curved)
            collected.finish()
            topology.steps[kind].append(collected.steps)
            topology.lists[kind].append(collected.lists)
    for kind in kinds:
        topology.rays[kind], topology.distinct[kind] = _make_rays(topology, kind)
    return topology


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
        self.steps.sort(key=lambda step: clockwise(step.start.point, step.end.point))
        for steps in self.lists.values():
            steps.sort(key=lambda step: clockwise(step.start.point, step.end.point))


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
    return name_angle(angle / (2 * pi), fine=fine, level=level)


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
            if missed / flat_distance(face.point, other.point) <= STRAIGHT_ENOUGH:
                used.add(id(other))
                yield other, "Cell", ("Diagonal", "All")
    for vertex in face.vertices:
        yield vertex, "Vertex", NEXT_TO
    for edge in face.edges:
        yield edge, "Edge", NEXT_TO


# --- rays ---


def _make_rays(
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
