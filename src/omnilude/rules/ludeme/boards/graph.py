"""The graph of a board: vertices, edges and faces in the plane (or in space), with their numbers.

Numbers of sites are part of a game's identity, so every operation keeps or makes them in a fixed
order. Vertices know their edges counter-clockwise, from just past west; faces list their vertices
clockwise. Elements are found by place within TOLERANCE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import atan2, hypot

TOLERANCE = 0.001
MERGED = 0.01
"""How near vertices of two graphs must be to become one."""
LONGEST_FACE = 32
"""Sides of a face at most."""
SAME_LEVEL = 0.0001
NEARLY_ZERO = 1e-7
MAX_ELEMENTS = 20_000

Point = tuple[float, float, float]


@dataclass(eq=False, slots=True)
class Vertex:
    number: int
    point: Point
    edges: list[Edge] = field(default_factory=list, repr=False)
    faces: list[Face] = field(default_factory=list, repr=False)
    pivot: Vertex | None = field(default=None, repr=False)

    def order_edges(self) -> None:
        x, y, _ = self.point
        keys = {}
        for edge in self.edges:
            other = edge.other(self).point
            keys[id(edge)] = atan2(other[1] - y, other[0] - x)
        self.edges.sort(key=lambda edge: keys[id(edge)])

    def order_faces(self) -> None:
        x, y, _ = self.point
        self.faces.sort(key=lambda face: atan2(face.point[1] - y, face.point[0] - x))


@dataclass(eq=False, slots=True)
class Edge:
    number: int
    a: Vertex
    b: Vertex
    left: Face | None = field(default=None, repr=False)
    right: Face | None = field(default=None, repr=False)
    curved: bool = False
    point: Point = (0.0, 0.0, 0.0)

    def other(self, vertex: Vertex) -> Vertex:
        return self.b if vertex is self.a else self.a

    def place(self) -> None:
        (ax, ay, az), (bx, by, bz) = self.a.point, self.b.point
        self.point = ((ax + bx) * 0.5, (ay + by) * 0.5, (az + bz) * 0.5)

    def across(self, face: Face) -> Face | None:
        """The face on the other side."""
        if self.left is face:
            return self.right
        return self.left if self.right is face else None

    @property
    def pivot(self) -> Vertex | None:
        return self.a.pivot or self.b.pivot


@dataclass(eq=False, slots=True)
class Face:
    number: int
    vertices: list[Vertex]
    edges: list[Edge]  # edge k joins vertices k and k + 1
    point: Point = (0.0, 0.0, 0.0)

    def place(self) -> None:
        x = y = z = 0.0
        for vertex in self.vertices:
            x, y, z = x + vertex.point[0], y + vertex.point[1], z + vertex.point[2]
        count = len(self.vertices)
        self.point = (x / count, y / count, z / count)

    @property
    def pivot(self) -> Vertex | None:
        return next((vertex.pivot for vertex in self.vertices if vertex.pivot), None)


Element = Vertex | Edge | Face


class Graph:
    """Elements are numbered by their place in the lists."""

    def __init__(self) -> None:
        self.vertices: list[Vertex] = []
        self.edges: list[Edge] = []
        self.faces: list[Face] = []
        self.regular = False
        """Made of squares, triangles or hexagons alone, by a generator that says so."""
        self._places: dict[tuple[int, int], list[Vertex]] = {}
        self._pairs: dict[tuple[int, int], Edge] = {}
        self._sets: dict[frozenset[int], list[Face]] = {}

    # --- looking up ---

    def find_vertex(self, x: float, y: float, z: float = 0.0) -> Vertex | None:
        """The vertex of the lowest number that is there."""
        found: Vertex | None = None
        column, row = _cell(x), _cell(y)
        for key in _around(column, row):
            for vertex in self._places.get(key, ()):
                near = coincide(vertex.point, (x, y, z), TOLERANCE)
                if near and (found is None or vertex.number < found.number):
                    found = vertex
        return found

    def find_edge(self, a: Vertex, b: Vertex) -> Edge | None:
        """The first edge between two vertices."""
        return self._pairs.get(_pair(a, b))

    def find_face(self, vertices: Sequence[Vertex]) -> Face | None:
        """A face with these vertices in this order, from any of them, in either sense."""
        for face in self._sets.get(frozenset(id(vertex) for vertex in vertices), ()):
            if same_cycle(face.vertices, vertices):
                return face
        return None

    # --- adding ---

    def add_vertex(self, x: float, y: float, z: float = 0.0) -> Vertex:
        if len(self.vertices) >= MAX_ELEMENTS:
            raise OverflowError(f"a board of more than {MAX_ELEMENTS} vertices")
        vertex = Vertex(len(self.vertices), (x, y, z))
        self.vertices.append(vertex)
        self._places.setdefault((_cell(x), _cell(y)), []).append(vertex)
        return vertex

    def find_or_add_vertex(self, x: float, y: float, z: float = 0.0) -> Vertex:
        return self.find_vertex(x, y, z) or self.add_vertex(x, y, z)

    def add_edge(self, a: Vertex, b: Vertex, *, curved: bool = False) -> Edge:
        edge = Edge(len(self.edges), a, b, curved=curved)
        edge.place()
        self.edges.append(edge)
        self._pairs.setdefault(_pair(a, b), edge)
        for vertex in (a, b):
            vertex.edges.append(edge)
            vertex.order_edges()
        return edge

    def find_or_add_edge(self, a: Vertex, b: Vertex, *, curved: bool = False) -> Edge:
        return self.find_edge(a, b) or self.add_edge(a, b, curved=curved)

    def find_or_add_face(self, vertices: Sequence[Vertex]) -> Face | None:
        """None where an edge is missing."""
        found = self.find_face(vertices)
        if found:
            return found
        face = Face(len(self.faces), list(vertices), [])
        for a, b in cyclic_pairs(vertices):
            edge = self.find_edge(a, b)
            if edge is None:
                return None
            face.edges.append(edge)
            if edge.a is a:
                edge.right = face
            else:
                edge.left = face
        face.place()
        self.faces.append(face)
        self._note_face(face)
        for vertex in vertices:
            vertex.faces.append(face)
        return face

    # --- making ---

    def make_faces(self, *, check: bool) -> None:
        """All faces anew, in the order of the vertices from which they are first found.

        `check`: no side but the last may cross an edge of a lower number.
        """
        self.clear_faces()
        # On a flat board a way round is the same from each of its vertices on.
        once = not check and len({vertex.point[2] for vertex in self.vertices}) <= 1
        known: set[tuple[int, int]] = set()
        for start in self.vertices:
            for edge in list(start.edges):
                if once and (id(edge.other(start)), id(start)) in known:
                    continue
                cycle = self._trace(start, edge, check)
                if not cycle:
                    continue
                if once and edge.other(start) is cycle[-1]:
                    known.update((id(a), id(b)) for a, b in cyclic_pairs(cycle))
                if signed_area(cycle) < 0 and not self.find_face(cycle):
                    self.find_or_add_face(cycle)

    def _trace(self, start: Vertex, edge: Edge, check: bool) -> list[Vertex] | None:
        cycle, current = [start], start
        while len(cycle) <= LONGEST_FACE:
            turned = self._turn(current, edge, start.point[2])
            if turned is None:
                return None
            edge, previous = turned, current
            current = edge.other(previous)
            if current is start:
                return cycle if len(cycle) >= 3 else None
            if current in cycle:
                return None
            cycle.append(current)
            if check and self._crosses(previous, current):
                return None
        return None

    @staticmethod
    def _turn(vertex: Vertex, edge: Edge, level: float) -> Edge | None:
        """The next edge counter-clockwise that stays on the level."""
        edges, a, b = vertex.edges, edge.a, edge.b
        for at, one in enumerate(edges):  # noqa: B007
            if (one.a is a and one.b is b) or (one.a is b and one.b is a):
                break
        for step in range(1, len(edges)):
            candidate = edges[(at + step) % len(edges)]
            if abs(candidate.other(vertex).point[2] - level) < SAME_LEVEL:
                return candidate
        return None

    def _crosses(self, a: Vertex, b: Vertex) -> bool:
        pair = _pair(a, b)
        for edge in self.edges:
            if _pair(edge.a, edge.b) == pair:
                return False
            ends = (edge.a.point, edge.b.point)
            if any(flat_distance(end, p.point) < TOLERANCE for end in ends for p in (a, b)):
                continue
            if segments_meet(a.point, b.point, *ends):
                return True
        return False

    def assemble(self) -> None:
        """Faces anew, and the faces of each vertex in order of angle."""
        for vertex in self.vertices:
            vertex.edges = []
        for edge in self.edges:
            edge.a.edges.append(edge)
            edge.b.edges.append(edge)
        for vertex in self.vertices:
            vertex.order_edges()
        self.make_faces(check=False)
        for vertex in self.vertices:
            vertex.faces = []
        for face in self.faces:
            for vertex in face.vertices:
                vertex.faces.append(face)
        for vertex in self.vertices:
            vertex.order_faces()

    def connect(self, pairs: Iterable[tuple[Vertex, Vertex]]) -> None:
        """Edges between those that are hardly farther apart than the ends of edges are."""
        threshold = 1.1 * self.average_length()
        for a, b in pairs:
            if a is not b and flat_distance(a.point, b.point) < threshold:
                self.find_or_add_edge(a, b)

    def connect_all(self) -> None:
        self.connect((a, b) for a in self.vertices for b in self.vertices)
        self.make_faces(check=True)

    # --- removing ---

    def clear_faces(self) -> None:
        self.faces, self._sets = [], {}
        for edge in self.edges:
            edge.left = edge.right = None
        for vertex in self.vertices:
            vertex.faces = []

    def remove_face(self, face: Face, *, trim: bool) -> None:
        """`trim`: edges that no face has any more go too; vertices stay."""
        orphans = []
        for edge in face.edges:
            if edge.left is face:
                edge.left = None
            if edge.right is face:
                edge.right = None
            if edge.left is None and edge.right is None:
                orphans.append(edge)
        for vertex in face.vertices:
            vertex.faces = [one for one in vertex.faces if one is not face]
        self.faces.remove(face)
        self._renumber(self.faces)
        self._index_faces()
        if trim:
            for edge in sorted(set(orphans), key=lambda one: -one.number):
                self.remove_edge(edge)

    def remove_edge(self, edge: Edge) -> None:
        for face in reversed([one for one in self.faces if edge in one.edges]):
            self.remove_face(face, trim=False)
        for vertex in (edge.a, edge.b):
            vertex.edges = [one for one in vertex.edges if one is not edge]
        self.edges.remove(edge)
        self._renumber(self.edges)
        self._index_edges()

    def remove_vertex(self, vertex: Vertex) -> None:
        for face in reversed([one for one in self.faces if vertex in one.vertices]):
            self.remove_face(face, trim=False)
        for edge in list(vertex.edges):
            self.remove_edge(edge)
        self.vertices.remove(vertex)
        self._renumber(self.vertices)
        self._index_vertices()
        self._index_edges()

    def trim(self) -> None:
        """Without edges that end nowhere (one round), and vertices without edges."""
        for edge in reversed(list(self.edges)):
            if len(edge.a.edges) == 1 or len(edge.b.edges) == 1:
                self.remove_edge(edge)
        pivots = {id(vertex.pivot) for vertex in self.vertices if vertex.pivot}
        for vertex in reversed(list(self.vertices)):
            if not vertex.edges and id(vertex) not in pivots:
                self.remove_vertex(vertex)

    # --- numbers and places ---

    def reorder(self, kinds: Sequence[str] = ("Vertex", "Edge", "Cell")) -> None:
        """Numbers from below to above, and from left to right."""

        def key(element: Element) -> float:
            return element.point[1] * 100 + element.point[0]

        if "Vertex" in kinds:
            self.vertices.sort(key=key)
        if "Edge" in kinds:
            self.edges.sort(key=key)
        if "Cell" in kinds:
            self.faces.sort(key=key)
        self.renumber_all()

    def renumber_all(self) -> None:
        for elements in (self.vertices, self.edges, self.faces):
            self._renumber(elements)
        self._index_vertices()
        self._index_edges()
        self._index_faces()

    def move(self, change: Callable[[Point], Point]) -> None:
        """Every vertex to another place; numbers and orders stay."""
        for vertex in self.vertices:
            vertex.point = change(vertex.point)
        for edge in self.edges:
            edge.place()
        for face in self.faces:
            face.place()
        self._index_vertices()

    def average_length(self) -> float:
        """Of the edges, in space; 0 where there are none."""
        if not self.edges:
            return 0.0
        total = 0.0
        for edge in self.edges:
            (ax, ay, az), (bx, by, bz) = edge.a.point, edge.b.point
            total += ((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2) ** 0.5
        return total / len(self.edges)

    def elements(self, kind: str) -> Sequence[Element]:
        kinds: dict[str, Sequence[Element]] = {
            "Vertex": self.vertices,
            "Edge": self.edges,
            "Cell": self.faces,
        }
        return kinds[kind]

    @staticmethod
    def _renumber(elements: Sequence[Element]) -> None:
        for number, element in enumerate(elements):
            element.number = number

    def _index_vertices(self) -> None:
        self._places = {}
        for vertex in self.vertices:
            key = (_cell(vertex.point[0]), _cell(vertex.point[1]))
            self._places.setdefault(key, []).append(vertex)

    def _index_edges(self) -> None:
        self._pairs = {}
        for edge in self.edges:
            self._pairs.setdefault(_pair(edge.a, edge.b), edge)

    def _index_faces(self) -> None:
        self._sets = {}
        for face in self.faces:
            self._note_face(face)

    def _note_face(self, face: Face) -> None:
        key = frozenset(id(vertex) for vertex in face.vertices)
        self._sets.setdefault(key, []).append(face)


# --- plane geometry ---


def coincide(p: Point, q: Point, tolerance: float) -> bool:
    return abs(p[0] - q[0]) + abs(p[1] - q[1]) + abs(p[2] - q[2]) < tolerance


def flat_distance(p: Point, q: Point) -> float:
    return hypot(p[0] - q[0], p[1] - q[1])


def signed_area(cycle: Sequence[Vertex]) -> float:
    """Below 0 where the vertices run clockwise."""
    total = 0.0
    for a, b in cyclic_pairs(cycle):
        total += a.point[0] * b.point[1] - b.point[0] * a.point[1]
    return total / 2


def segments_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    found = crossing(a, b, c, d)
    low, high = -NEARLY_ZERO, 1 + NEARLY_ZERO
    return found is not None and low <= found[0] <= high and low <= found[1] <= high


def crossing(a: Point, b: Point, c: Point, d: Point) -> tuple[float, float] | None:
    """Where two lines cross, as shares of the ways from a to b and from c to d."""
    lx, ly = b[0] - a[0], b[1] - a[1]
    nx, ny = d[0] - c[0], d[1] - c[1]
    mx, my = c[0] - a[0], c[1] - a[1]
    determinant = nx * ly - ny * lx
    if abs(determinant) < NEARLY_ZERO:
        return None
    scale = 1.0 / determinant
    return (nx * my - ny * mx) * scale, (lx * my - ly * mx) * scale


def distance_to_line(p: Point, a: Point, b: Point) -> float:
    """From the line through a and b, or from a where they are one."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    if abs(dx) + abs(dy) < NEARLY_ZERO:
        return flat_distance(p, a)
    across = (p[1] - a[1]) * dx - (p[0] - a[0]) * dy
    return float((across * across / (dx * dx + dy * dy)) ** 0.5)


def is_clockwise(a: Point, b: Point, c: Point) -> bool:
    """Straight on counts as clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]) < NEARLY_ZERO


def cyclic_pairs(items: Sequence[Vertex]) -> Iterator[tuple[Vertex, Vertex]]:
    for n, item in enumerate(items):
        yield item, items[(n + 1) % len(items)]


def same_cycle(one: Sequence[Vertex], other: Sequence[Vertex]) -> bool:
    if len(one) != len(other):
        return False
    at = next((n for n, vertex in enumerate(one) if vertex is other[0]), None)
    if at is None:
        return False
    size = len(one)
    return all(one[(at + n) % size] is other[n] for n in range(size)) or all(
        one[(at - n) % size] is other[n] for n in range(size)
    )


def _pair(a: Vertex, b: Vertex) -> tuple[int, int]:
    return (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))


def _cell(x: float) -> int:
    return round(x * 10)


def _around(column: int, row: int) -> Iterator[tuple[int, int]]:
    for c in (column - 1, column, column + 1):
        for r in (row - 1, row, row + 1):
            yield c, r
