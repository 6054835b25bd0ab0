"""Operators: boards made of boards. All keep numbers as far as they can; see each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, radians, sin

from omnilude.rules.ludeme.boards.graph import (
    MERGED,
    TOLERANCE,
    Graph,
    Point,
    Vertex,
    coincide,
    crossing,
)
from omnilude.rules.ludeme.boards.polygon import Pair, Polygon

# --- moving: all numbers stay ---


def shift(graph: Graph, dx: float, dy: float, dz: float = 0.0) -> Graph:
    graph.move(lambda p: (p[0] + dx, p[1] + dy, p[2] + dz))
    return graph


def scale(graph: Graph, sx: float, sy: float, sz: float = 1.0) -> Graph:
    graph.move(lambda p: (p[0] * sx, p[1] * sy, p[2] * sz))
    return graph


def rotate(graph: Graph, degrees: float) -> Graph:
    """Counter-clockwise, about the middle of what the vertices cover."""
    if not graph.vertices:
        return graph
    angle = radians(degrees)
    low_x, low_y, high_x, high_y = bounds(graph)
    px, py = low_x + (high_x - low_x) / 2, low_y + (high_y - low_y) / 2

    def turn(p: Point) -> Point:
        dx, dy = p[0] - px, p[1] - py
        x = px + dx * cos(angle) - dy * sin(angle)
        return x, py + dy * cos(angle) + dx * sin(angle), p[2]

    graph.move(turn)
    return graph


def skew(graph: Graph, amount: float) -> Graph:
    if graph.vertices:
        low = bounds(graph)[1]
        graph.move(lambda p: (p[0] + (p[1] - low) * amount, p[1], p[2]))
    return graph


def bounds(graph: Graph) -> tuple[float, float, float, float]:
    xs = [vertex.point[0] for vertex in graph.vertices]
    ys = [vertex.point[1] for vertex in graph.vertices]
    return min(xs), min(ys), max(xs), max(ys)


# --- putting together: the first graph's elements come first ---


def copy_parts(vertices: Sequence[Vertex], pairs: Iterable[tuple[Vertex, Vertex, bool]]) -> Graph:
    """A new graph of these vertices and edges, in their order; faces are found anew."""
    graph = Graph()
    twins = {id(vertex): graph.add_vertex(*vertex.point) for vertex in vertices}
    for vertex in vertices:
        if vertex.pivot:
            x, y, _ = vertex.pivot.point
            twins[id(vertex)].pivot = graph.find_vertex(x, y)
    for a, b, curved in pairs:
        graph.find_or_add_edge(twins[id(a)], twins[id(b)], curved=curved)
    graph.assemble()
    return graph


def merge(graphs: Sequence[Graph], *, connect: bool = False) -> Graph:
    """Vertices at the same place become one; faces are found anew."""
    survivors: list[Vertex] = []
    twin: dict[int, Vertex] = {}
    for graph in graphs:
        for vertex in graph.vertices:
            near = (one for one in survivors if coincide(one.point, vertex.point, MERGED))
            same = next(near, None)
            twin[id(vertex)] = same or vertex
            if same is None:
                survivors.append(vertex)
    for vertex in survivors:
        if vertex.pivot:
            vertex.pivot = twin.get(id(vertex.pivot), vertex.pivot)
    merged = copy_parts(
        survivors,
        ((twin[id(e.a)], twin[id(e.b)], e.curved) for graph in graphs for e in graph.edges),
    )
    if connect:
        merged.connect_all()
    return merged


def union(graphs: Sequence[Graph], *, connect: bool = False) -> Graph:
    """Side by side, nothing merged."""
    first, *others = graphs
    for graph in others:
        first.vertices += graph.vertices
        first.edges += graph.edges
        first.faces += graph.faces
    first.renumber_all()
    first.regular = False
    if connect:
        first.connect_all()
    return first


def intersect(graphs: Sequence[Graph]) -> Graph:
    """What of the first is in all the others too."""
    first, *others = graphs
    if not others:
        return first

    def shared(point: Point) -> bool:
        return all(
            any(coincide(vertex.point, point, MERGED) for vertex in graph.vertices)
            for graph in others
        )

    def joined(graph: Graph, p: Point, q: Point) -> bool:
        return any(
            (coincide(e.a.point, p, MERGED) and coincide(e.b.point, q, MERGED))
            or (coincide(e.a.point, q, MERGED) and coincide(e.b.point, p, MERGED))
            for e in graph.edges
        )

    kept = [vertex for vertex in first.vertices if shared(vertex.point)]
    inside = {id(vertex) for vertex in kept}
    for vertex in kept:
        vertex.pivot = None
    pairs = [
        (e.a, e.b, False)
        for e in first.edges
        if id(e.a) in inside
        and id(e.b) in inside
        and all(joined(graph, e.a.point, e.b.point) for graph in others)
    ]
    return copy_parts(kept, pairs)


def keep(graph: Graph, shape: Polygon, *, inside: bool = True) -> Graph:
    """What is inside a polygon, or what is outside (clip)."""
    if len(shape.points) < 3:
        return graph
    shape = shape.inflated()
    kept = [v for v in graph.vertices if shape.contains(v.point[0], v.point[1]) == inside]
    known = {id(vertex) for vertex in kept}
    for vertex in kept:
        vertex.pivot = None
    regular = graph.regular
    pairs = [(e.a, e.b, False) for e in graph.edges if id(e.a) in known and id(e.b) in known]
    result = copy_parts(kept, pairs)
    result.regular = regular and inside
    return result


# --- adding and taking away ---


def hole(graph: Graph, shape: Polygon) -> Graph:
    """Without the faces in a polygon."""
    if len(shape.points) >= 3:
        shape = shape.inflated()
        for face in reversed(list(graph.faces)):
            if shape.contains(face.point[0], face.point[1]):
                graph.remove_face(face, trim=True)
    return graph


def remove_inside(graph: Graph, shape: Polygon) -> Graph:
    for vertex in reversed(list(graph.vertices)):
        if shape.contains(vertex.point[0], vertex.point[1]):
            graph.remove_vertex(vertex)
    return graph


def remove_numbers(
    graph: Graph,
    *,
    cells: Sequence[int] = (),
    edges: Sequence[tuple[int, int]] = (),
    vertices: Sequence[int] = (),
    trim: bool = True,
) -> Graph:
    for number in sorted(cells, reverse=True):
        if number < len(graph.faces):
            graph.remove_face(graph.faces[number], trim=trim)
    for a, b in edges:
        if max(a, b) < len(graph.vertices):
            edge = graph.find_edge(graph.vertices[a], graph.vertices[b])
            if edge:
                graph.remove_edge(edge)
    for number in sorted(vertices, reverse=True):
        if number < len(graph.vertices):
            graph.remove_vertex(graph.vertices[number])
    return graph


def remove_places(
    graph: Graph,
    *,
    cells: Sequence[Sequence[Pair]] = (),
    edges: Sequence[tuple[Pair, Pair]] = (),
    vertices: Sequence[Pair] = (),
    trim: bool = True,
) -> Graph:
    for corners in cells:
        found = [graph.find_vertex(x, y) for x, y in corners]
        known = [vertex for vertex in found if vertex]
        face = graph.find_face(known) if len(known) == len(found) else None
        if face:
            graph.remove_face(face, trim=trim)
    for p, q in edges:
        a, b = graph.find_vertex(*p), graph.find_vertex(*q)
        edge = graph.find_edge(a, b) if a and b else None
        if edge:
            graph.remove_edge(edge)
    for x, y in vertices:
        vertex = graph.find_vertex(x, y)
        if vertex:
            graph.remove_vertex(vertex)
    return graph


def split_crossings(graph: Graph) -> Graph:
    """Vertices where edges cross, and where vertices lie on edges; faces anew."""
    while _split_one_crossing(graph):
        pass
    while _split_one_touch(graph):
        pass
    graph.make_faces(check=True)
    graph.regular = False
    return graph


def _split_one_crossing(graph: Graph) -> bool:
    for n, one in enumerate(graph.edges):
        pivot = one.b.pivot or one.a.pivot
        for other in graph.edges[n + 1 :]:
            pivot = pivot or other.a.pivot or other.b.pivot
            met = crossing(one.a.point, one.b.point, other.a.point, other.b.point)
            if met is None or not all(0.01 < share < 0.99 for share in met):
                continue
            (ax, ay, _), (bx, by, _) = one.a.point, one.b.point
            vertex = graph.add_vertex(ax + met[0] * (bx - ax), ay + met[0] * (by - ay))
            vertex.pivot = pivot
            graph.remove_edge(other)
            graph.remove_edge(one)
            for edge in (one, other):
                graph.find_or_add_edge(edge.a, vertex)
                graph.find_or_add_edge(vertex, edge.b)
            return True
    return False


def _split_one_touch(graph: Graph) -> bool:
    for edge in list(graph.edges):
        a, b, number = edge.a, edge.b, edge.number
        touched = [v for v in graph.vertices if v is not a and v is not b and _on(v, a, b)]
        for vertex in touched:
            vertex.pivot = edge.pivot or vertex.pivot
            # After the first the edge of this number may be another one.
            graph.remove_edge(graph.edges[number])
            graph.find_or_add_edge(a, vertex)
            graph.find_or_add_edge(vertex, b)
        if touched:
            return True
    return False


def _on(vertex: Vertex, a: Vertex, b: Vertex) -> bool:
    p, q, r = vertex.point, a.point, b.point
    way = [r[k] - q[k] for k in range(3)]
    length = sum(x * x for x in way)
    share = 0.0
    if length:
        share = max(0.0, min(1.0, sum((p[k] - q[k]) * way[k] for k in range(3)) / length))
    nearest = [q[k] + share * way[k] for k in range(3)]
    apart = sum((p[k] - nearest[k]) ** 2 for k in range(3)) ** 0.5
    far = [sum((p[k] - end[k]) ** 2 for k in range(3)) ** 0.5 for end in (q, r)]
    return bool(apart <= TOLERANCE and min(far) >= TOLERANCE)


def dual(graph: Graph) -> Graph:
    """A vertex for each face, joined where faces meet."""
    if not (graph.vertices and graph.edges and graph.faces):
        return graph
    result = Graph()
    for face in graph.faces:
        result.add_vertex(*face.point)
    for edge in graph.edges:
        if edge.left and edge.right:
            left, right = edge.left.number, edge.right.number
            result.add_edge(result.vertices[left], result.vertices[right])
    result.make_faces(check=False)
    result.reorder()
    return result


def subdivide(graph: Graph, kind: str, least: int = 1) -> Graph:
    """A vertex in every face of so many vertices, joined to all of them."""
    if kind == "Vertex":
        graph.make_faces(check=True)
    for face in reversed(list(graph.faces)):
        if len(face.vertices) >= least:
            centre = graph.add_vertex(*face.point)
            for vertex in face.vertices:
                graph.find_or_add_edge(centre, vertex)
    if kind == "Cell":
        graph.make_faces(check=True)
    else:
        graph.clear_faces()
    graph.regular = False
    return graph


def complete(graph: Graph, *, each_cell: bool = False) -> Graph:
    """Every two vertices joined, of the board or of each cell."""
    if each_cell:
        for face in graph.faces:
            for n, a in enumerate(face.vertices):
                for b in face.vertices[n + 1 :]:
                    graph.find_or_add_edge(a, b)
    else:
        graph.clear_faces()
        for edge in reversed(list(graph.edges)):
            graph.remove_edge(edge)
        for n, a in enumerate(graph.vertices):
            for b in graph.vertices[n + 1 :]:
                graph.add_edge(a, b)
        graph.make_faces(check=True)
    graph.regular = False
    return graph


def stack_layers(layers: Sequence[Graph]) -> Graph:
    """Equal boards above each other, each vertex joined to the one below."""
    first, *others = layers
    count = len(first.vertices)
    below = list(first.vertices)
    for level, graph in enumerate(others, start=1):
        shift(graph, 0.0, 0.0, float(level))
        first.vertices += graph.vertices
        first.edges += graph.edges
        first.renumber_all()
        for n in range(count):
            first.add_edge(below[n], graph.vertices[n])
        first.faces += graph.faces
        below = graph.vertices
    first.renumber_all()
    first.reorder()
    return first
