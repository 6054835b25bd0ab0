"""Regions that a board has by its shape: outer and inner, corners, sides, centre, phases, rows.

Every measure is taken for each kind of element on the final places of the elements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, floor, pi, radians, sin, sqrt

from omnilude.rules.ludeme.boards.graph import (
    Edge,
    Element,
    Graph,
    Point,
    Vertex,
    distance_to_line,
    is_clockwise,
)
from omnilude.rules.ludeme.boards.polygon import Polygon
from omnilude.rules.ludeme.boards.topology import KINDS

CONVEX, CONCAVE = 0.320, -0.25
"""Scores from which on a vertex of the perimeter is a corner."""
NEARBY_CORNER = 0.95
SPREAD = 0.6
"""Elements belong to one row while they are within so many units of its mean."""
ROW_ANGLES = (0, 15, 30, 45, 60)
COLUMN_TURNS = (90, 105, 120)
SIDES = ("E", "NE", "NE", "NE", "N", "NW", "NW", "NW", "W", "SW", "SW", "SW", "S", "SE", "SE", "SE")
MANY = 100
"""With so many elements of a kind the perimeter does not decide where the centre is."""


@dataclass(slots=True)
class Measures:
    """For one kind: regions by name, and row, column, layer, phase and label of each element."""

    regions: dict[str, list[int]] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def measure(graph: Graph) -> dict[str, Measures]:
    found = {kind: Measures() for kind in KINDS}
    marks = {kind: _Marks(len(graph.elements(kind))) for kind in KINDS}
    perimeters = list(_find_perimeters(graph))
    _mark_perimeter(graph, perimeters, marks)
    _mark_corners(graph, perimeters, marks)
    _mark_sides(graph, perimeters, marks)
    for kind in KINDS:
        elements = graph.elements(kind)
        _mark_extremes(elements, marks[kind])
        _mark_centre(elements, marks[kind])
        measures = found[kind]
        measures.regions = marks[kind].regions()
        measures.phases = _find_phases(elements)
    _mark_majors(graph, found["Cell"])
    angles = (0.0, 90.0)
    for kind in KINDS:
        elements = graph.elements(kind)
        if elements:
            angles = _find_rows(elements, found[kind], angles if kind == "Edge" else None)
    return found


class _Marks:
    """Names that elements of one kind bear."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.names: dict[str, set[int]] = {}

    def add(self, name: str, number: int) -> None:
        self.names.setdefault(name, set()).add(number)

    def has(self, name: str, number: int) -> bool:
        return number in self.names.get(name, ())

    def get(self, name: str) -> set[int]:
        return self.names.get(name, set())

    def regions(self) -> dict[str, list[int]]:
        return {name: sorted(numbers) for name, numbers in self.names.items()}


# --- the perimeter ---


def _find_perimeters(graph: Graph) -> Iterator[list[Vertex]]:
    """Walks around every part of the board, counter-clockwise; not around holes."""
    covered: set[int] = set()
    walks: list[list[Vertex]] = []
    while True:
        left = [vertex for vertex in graph.vertices if id(vertex) not in covered]
        if not left:
            break
        start = min(left, key=lambda vertex: vertex.point[0])
        walk = _walk_around(start)
        walks.append(walk)
        covered.update(id(vertex) for vertex in walk)
        outline = _outline(walk)
        for vertex in left:
            if outline.contains(vertex.point[0], vertex.point[1]):
                covered.add(id(vertex))
    for number in range(len(walks) - 1, -1, -1):
        x, y, _ = walks[number][0].point
        others = [walk for n, walk in enumerate(walks) if n != number]
        if any(_outline(walk).contains(x, y) for walk in others):
            del walks[number]
    yield from walks


def _outline(walk: Sequence[Vertex]) -> Polygon:
    return Polygon(tuple((vertex.point[0], vertex.point[1]) for vertex in walk))


def _walk_around(start: Vertex) -> list[Vertex]:
    if not start.edges:
        return [start]

    def downward(edge: Edge) -> float:
        end = edge.other(start).point
        return atan2(end[0] - start.point[0], -(end[1] - start.point[1]))

    edge, vertex, walk = min(start.edges, key=downward), start, list[Vertex]()
    while True:
        walk.append(vertex)
        previous, vertex = vertex, edge.other(vertex)
        edges = vertex.edges
        at = edges.index(edge)
        for step in range(1, len(edges)):
            edge = edges[(at + step) % len(edges)]
            if edge.other(vertex) is not previous:
                break
        if vertex is start:
            return walk


def _mark_perimeter(graph: Graph, walks: list[list[Vertex]], marks: dict[str, _Marks]) -> None:
    def mark(kind: str, element: Element) -> None:
        marks[kind].add("Perimeter", element.number)
        marks[kind].add("Outer", element.number)

    on_walk: set[int] = set()
    for walk in walks:
        for n, vertex in enumerate(walk):
            on_walk.add(id(vertex))
            mark("Vertex", vertex)
            edge = graph.find_edge(vertex, walk[(n + 1) % len(walk)])
            if edge:
                mark("Edge", edge)
                face = edge.left or edge.right
                if face:
                    mark("Cell", face)
    for face in graph.faces:
        if any(id(vertex) in on_walk for vertex in face.vertices):
            mark("Cell", face)
    for edge in graph.edges:
        outside = edge.left is None or edge.right is None
        if outside and id(edge.a) in on_walk and id(edge.b) in on_walk:
            mark("Edge", edge)
    for kind in KINDS:
        for element in graph.elements(kind):
            if not marks[kind].has("Outer", element.number):
                marks[kind].add("Inner", element.number)


# --- corners and sides ---


def _mark_corners(graph: Graph, walks: list[list[Vertex]], marks: dict[str, _Marks]) -> None:
    def mark(kind: str, element: Element, flag: str) -> None:
        marks[kind].add("Corners", element.number)
        marks[kind].add(flag, element.number)

    for walk in walks:
        convex, concave = _score_corners(walk)
        for n in convex:
            mark("Vertex", walk[n], "ConvexCorners")
        for n in concave:
            mark("Vertex", walk[n], "ConcaveCorners")
    corners = marks["Vertex"].get("Corners")
    for vertex in graph.vertices:
        if vertex.number not in corners:
            continue
        inward = marks["Vertex"].has("ConcaveCorners", vertex.number)
        flag = "ConcaveCorners" if inward else "ConvexCorners"
        between = [edge for edge in vertex.edges if edge.other(vertex).number in corners]
        for edge in between:
            mark("Edge", edge, flag)
            face = edge.left or edge.right
            if face:
                mark("Cell", face, flag)
        if between:
            continue
        for edge in vertex.edges:
            if not marks["Edge"].has("Perimeter", edge.number):
                continue
            mark("Edge", edge, flag)
            if inward:
                for face in vertex.faces:
                    outer = [
                        one for one in face.vertices if marks["Vertex"].has("Perimeter", one.number)
                    ]
                    if len(outer) == 1:
                        mark("Cell", face, "ConcaveCorners")
            else:
                beside = edge.left or edge.right
                if beside:
                    mark("Cell", beside, "ConvexCorners")


def _score_corners(walk: list[Vertex]) -> tuple[set[int], set[int]]:
    count = len(walk)
    if count < 6:
        return set(range(count)), set()
    raw = []
    for n, vertex in enumerate(walk):
        score = 0.0
        for k in range(1, 4):
            a, b = walk[(n - k) % count].point, walk[(n + k) % count].point
            apart = distance_to_line(vertex.point, a, b)
            score += (-apart if is_clockwise(a, vertex.point, b) else apart) / k
        raw.append(score)
    scores = [(4 * raw[n] + raw[(n + 1) % count] + raw[(n - 1) % count]) / 6 for n in range(count)]

    def neighbours(n: int) -> tuple[float, float]:
        return scores[(n - 1) % count], scores[(n + 1) % count]

    convex = {
        n for n in range(count) if scores[n] >= CONVEX and scores[n] >= max(neighbours(n)) - 0.001
    }
    for n in range(count):
        if n in convex:
            for m in ((n - 1) % count, (n + 1) % count):
                if scores[m] >= NEARBY_CORNER * scores[n]:
                    convex.add(m)
    concave = {
        n for n in range(count) if scores[n] <= CONCAVE and scores[n] <= min(neighbours(n)) + 0.001
    }
    return convex, concave


def _mark_sides(graph: Graph, walks: list[list[Vertex]], marks: dict[str, _Marks]) -> None:
    if not graph.vertices:
        return
    count = len(graph.vertices)
    middle_x = sum(vertex.point[0] for vertex in graph.vertices) / count
    middle_y = sum(vertex.point[1] for vertex in graph.vertices) / count
    sides: dict[int, set[str]] = {}
    for walk in walks:
        corners = [n for n, v in enumerate(walk) if marks["Vertex"].has("Corners", v.number)]
        for place, first in enumerate(corners):
            last = corners[(place + 1) % len(corners)]
            run = [walk[first]]
            n = first
            while True:
                n = (n + 1) % len(walk)
                run.append(walk[n])
                if n == last:
                    break
            x = sum(vertex.point[0] for vertex in run) / len(run)
            y = sum(vertex.point[1] for vertex in run) / len(run)
            angle = atan2(y - middle_y, x - middle_x)
            if angle < 0:
                angle += 2 * pi
            side = SIDES[floor((angle + pi / 16) / (pi / 8)) % 16]
            for vertex in run:
                sides.setdefault(vertex.number, set()).add(side)
    for vertex in graph.vertices:
        for side in sides.get(vertex.number, ()):
            marks["Vertex"].add(f"Side {side}", vertex.number)
    touching: list[tuple[str, Element, list[Vertex]]] = [
        *(("Edge", edge, [edge.a, edge.b]) for edge in graph.edges),
        *(("Cell", face, face.vertices) for face in graph.faces),
    ]
    for kind, element, vertices in touching:
        for vertex in vertices:
            for side in sides.get(vertex.number, ()):
                marks[kind].add(f"Side {side}", element.number)


# --- extremes, centre, phases ---


def _mark_extremes(elements: Sequence[Element], marks: _Marks) -> None:
    if not elements:
        return
    xs, ys = [e.point[0] for e in elements], [e.point[1] for e in elements]
    for name, values, extreme in (
        ("Top", ys, max(ys)),
        ("Bottom", ys, min(ys)),
        ("Left", xs, min(xs)),
        ("Right", xs, max(xs)),
    ):
        for number, value in enumerate(values):
            if abs(value - extreme) < 0.01:
                marks.add(name, number)


def _mark_centre(elements: Sequence[Element], marks: _Marks) -> None:
    reference = sorted(marks.get("Perimeter")) if len(elements) < MANY else []
    reference += sorted(marks.get("Corners"))
    points = [elements[number].point for number in reference]
    costs = [
        sum((e.point[0] - x) ** 2 + (e.point[1] - y) ** 2 for x, y, _ in points) for e in elements
    ]
    least = min([1_000_000.0, *costs])
    for number, cost in enumerate(costs):
        if abs(cost - least) < 0.0001:
            marks.add("Centre", number)


def _mark_majors(graph: Graph, measures: Measures) -> None:
    if not graph.faces:
        return
    most = max(len(face.vertices) for face in graph.faces)
    majors = [face.number for face in graph.faces if len(face.vertices) == most]
    measures.regions["Major"] = majors
    measures.regions["Minor"] = [face.number for face in graph.faces if len(face.vertices) != most]


def _touching(element: Element) -> list[int]:
    if isinstance(element, Vertex):
        return [edge.other(element).number for edge in element.edges]
    if isinstance(element, Edge):
        ends = (element.a, element.b)
        return [edge.number for end in ends for edge in end.edges if edge is not element]
    return [across.number for edge in element.edges if (across := edge.across(element))]


def _find_phases(elements: Sequence[Element]) -> list[int]:
    """Colours such that neighbours differ, as far as five suffice, given out greedily."""
    phases = [-1] * len(elements)
    around = [_touching(element) for element in elements]
    visited = [False] * len(elements)
    for first in range(len(elements)):
        if phases[first] >= 0:
            continue
        phases[first] = 0
        waiting = deque([first])
        while waiting:
            at = waiting.popleft()
            if visited[at]:
                continue
            taken = {phases[n] for n in around[at]}
            phases[at] = next((phase for phase in range(4) if phase not in taken), 4)
            visited[at] = True
            for n in around[at]:
                if not visited[n]:
                    seen = {phases[m] for m in around[n]} - {-1}
                    if len(seen) > 1:
                        waiting.appendleft(n)
                    else:
                        waiting.append(n)
    return phases


# --- rows, columns, labels ---


def _find_rows(
    elements: Sequence[Element], measures: Measures, angles: tuple[float, float] | None
) -> tuple[float, float]:
    """Fills in rows, columns, layers and labels; returns the angles of rows and columns."""
    grouping = _Grouping([element.point for element in elements])
    if angles is None:
        row_angle = min(ROW_ANGLES, key=lambda angle: grouping.error("row", angle))
        turned = [row_angle + turn for turn in COLUMN_TURNS]
        column_angle = min(turned, key=lambda angle: grouping.error("column", angle))
    else:
        row_angle, column_angle = int(angles[0]), int(angles[1])
    measures.rows = grouping.groups("row", row_angle)
    measures.columns = grouping.groups("column", column_angle)
    measures.layers = grouping.groups("layer", 0)
    layered = any(a != b for a, b in zip(measures.layers, measures.layers[1:], strict=False))
    measures.labels = _label(measures, layered)
    if len(set(measures.labels)) < len(measures.labels):
        _group_by_place([element.point for element in elements], measures)
        measures.labels = _label(measures, False)
    if isinstance(elements[0], Edge):
        measures.labels = [str(number) for number in range(len(elements))]
    return float(row_angle), float(column_angle)


def _label(measures: Measures, layered: bool) -> list[str]:
    labels = []
    for row, column, layer in zip(measures.rows, measures.columns, measures.layers, strict=True):
        letters = chr(ord("A") + column % 26)
        if column >= 26:
            letters = chr(ord("A") + column // 26 - 1) + letters
        labels.append(f"{letters}{row + 1}" + (f"/{layer}" if layered else ""))
    return labels


def _group_by_place(points: Sequence[Point], measures: Measures) -> None:
    for axis, numbers in ((1, measures.rows), (0, measures.columns)):
        values: list[float] = []
        for point in points:
            if point[2] == 0 and not any(abs(point[axis] - v) < 0.001 for v in values):
                values.append(point[axis])
        values.sort()
        for number, point in enumerate(points):
            for group, value in enumerate(values):
                if abs(point[axis] - value) < 0.001:
                    numbers[number] = group
                    break


class _Grouping:
    """Elements in lines: sorted by their distance from a line far away, then cut at gaps."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = points
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        self.x, self.y = min(xs), min(ys)
        self.width, self.height = max(xs) - self.x, max(ys) - self.y
        self.unit = (self.width + self.height) / 2 / sqrt(len(points))

    def error(self, what: str, angle: float) -> float:
        scores = self._scores(what, angle)
        buckets = self._buckets(scores)
        total = 0.0
        for bucket in buckets:
            mean = sum(scores[n] for n in bucket) / len(bucket)
            total += (mean - scores[bucket[-1]]) ** 2 / len(bucket)
        return total + 0.01 * len(buckets)

    def groups(self, what: str, angle: float) -> list[int]:
        numbers = [0] * len(self.points)
        for number, bucket in enumerate(self._buckets(self._scores(what, angle))):
            for n in bucket:
                numbers[n] = number
        return numbers

    def _scores(self, what: str, angle: float) -> list[float]:
        if what == "layer":
            return [point[2] for point in self.points]
        if what == "row":
            a = (self.x + self.width / 2, self.y - self.height)
        else:
            a = (self.x - self.width, self.y + self.height / 2)
        turn = radians(angle)
        start = (a[0], a[1], 0.0)
        end = (a[0] + self.width * cos(turn), a[1] + self.width * sin(turn), 0.0)
        return [distance_to_line(point, start, end) for point in self.points]

    def _buckets(self, scores: list[float]) -> list[list[int]]:
        buckets: list[list[int]] = []
        total = 0.0
        for n in sorted(range(len(scores)), key=lambda n: scores[n]):
            if not buckets or abs(scores[n] - total / len(buckets[-1])) > SPREAD * self.unit:
                buckets.append([])
                total = 0.0
            buckets[-1].append(n)
            total += scores[n]
        return buckets
