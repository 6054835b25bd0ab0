"""Boards of squares, triangles and hexagons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import sqrt

import numpy as np

from omnilude.rules.ludeme.boards.graph import Graph, Vertex
from omnilude.rules.ludeme.boards.polygon import (
    Pair,
    Polygon,
    outline_by_hex_sides,
    outline_by_sides,
)

ROOT3 = sqrt(3)
U = ROOT3 / 2
HEXAGON: tuple[Pair, ...] = ((0, 1), (U, 0.5), (U, -0.5), (0, -1), (-U, -0.5), (-U, 0.5))
"""Corners around a centre, clockwise from the top."""
DIAGONALS = ("Implied", "Solid", "SolidNoSplit", "Alternating", "Concentric", "Radiating")


# --- squares ---


def make_rectangle(
    rows: int, columns: int, *, cells: bool, diagonals: str = "Implied", pyramidal: bool = False
) -> Graph:
    """Rows and columns of cells, or of vertices where these are played on."""
    rows, columns = rows + cells, columns + cells
    graph = Graph()
    grid = [[graph.add_vertex(c, r) for c in range(columns)] for r in range(rows)]
    for r in range(rows):
        for c in range(columns):
            if r + 1 < rows:
                graph.add_edge(grid[r][c], grid[r + 1][c])
            if c + 1 < columns:
                graph.add_edge(grid[r][c], grid[r][c + 1])
    if pyramidal:
        for layer in range(1, rows):
            for r in range(rows - layer):
                for c in range(columns - layer):
                    graph.find_or_add_vertex(layer / 2 + c, layer / 2 + r, layer / sqrt(2))
        join_at_distance_one(graph)
    draw_diagonals(graph, diagonals, (0, rows), (0, columns))
    graph.make_faces(check=False)
    graph.regular = True
    graph.reorder()
    return graph


def make_square_diamond(size: int, *, diagonals: str = "Implied") -> Graph:
    points = [
        (float(c), float(r))
        for r in range(2 * size)
        for c in range(2 * size)
        if r + c >= size - 1 and abs(c - r) <= size and r + c < 3 * size
    ]
    return _finish_squares(points, diagonals, (0, 2 * size), (0, 2 * size))


def make_square_shape(shape: Polygon, *, diagonals: str = "Implied") -> Graph:
    shape = shape.inflated()
    low_x, low_y, high_x, high_y = shape.bounds
    rows = (int(low_y) - 2, int(high_y) + 2)
    columns = (int(low_x) - 2, int(high_x) + 2)
    points = [
        (float(c), float(r))
        for r in range(rows[0], rows[1] + 1)
        for c in range(columns[0], columns[1] + 1)
        if shape.contains(c, r)
    ]
    return _finish_squares(points, diagonals, rows, columns)


def make_square_sides(sides: Sequence[int], *, diagonals: str = "Implied") -> Graph:
    return make_square_shape(outline_by_sides(sides), diagonals=diagonals)


def _finish_squares(
    points: list[Pair], diagonals: str, rows: tuple[int, int], columns: tuple[int, int]
) -> Graph:
    graph = from_points(points)
    draw_diagonals(graph, diagonals, rows, columns)
    graph.make_faces(check=False)
    graph.reorder()
    return graph


def draw_diagonals(
    graph: Graph, kind: str, rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    """Across the unit squares whose lower left corners are in these ranges, ends included."""
    middle = (int((rows[0] + rows[1]) / 2), int((columns[0] + columns[1]) / 2))
    if kind == "Implied":
        return
    if kind == "Radiating":
        reach = max((rows[1] - rows[0]) // 2, (columns[1] - columns[0]) // 2) + 1
        for n in range(reach):
            for dx, dy in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
                # The middle row is taken for x and the middle column for y.
                near = graph.find_vertex(middle[0] + n * dx, middle[1] + n * dy)
                far = graph.find_vertex(middle[0] + (n + 1) * dx, middle[1] + (n + 1) * dy)
                if near and far:
                    graph.find_or_add_edge(near, far)
        return
    for r in range(rows[0], rows[1] + 1):
        for c in range(columns[0], columns[1] + 1):
            corners = [graph.find_vertex(x, y) for x, y in _square(c, r)]
            if None in corners:
                continue
            a, b, d, e = (corner for corner in corners if corner is not None)
            if kind == "Solid":
                centre = graph.find_or_add_vertex(c + 0.5, r + 0.5)
                for corner in (a, b, d, e):
                    graph.find_or_add_edge(corner, centre)
            elif kind == "SolidNoSplit":
                graph.find_or_add_edge(a, d)
                graph.find_or_add_edge(b, e)
            elif kind == "Alternating":
                graph.find_or_add_edge(*((a, d) if (r + c) % 2 == 0 else (b, e)))
            else:  # Concentric
                falling = (r < middle[0]) == (c < middle[1])
                graph.find_or_add_edge(*((b, e) if falling else (a, d)))


def _square(c: int, r: int) -> tuple[Pair, Pair, Pair, Pair]:
    """Corners clockwise from the lower left."""
    return (c, r), (c, r + 1), (c + 1, r + 1), (c + 1, r)


# --- hexagons ---


def hex_centre(r: float, c: float) -> Pair:
    return ROOT3 * (c - 0.5 * r), 1.5 * r


def upright_hex_centre(r: float, c: float) -> Pair:
    return 1.5 * (c - r), ROOT3 * (r + c) * 0.5


def in_hexagon(r: int, c: int, size: int) -> bool:
    """Whether a cell is in the hexagon with so many cells a side."""
    return c <= size - 1 + r and r - c <= size - 1


def make_hexagon(size: int) -> Graph:
    graph = Graph()
    rows = 2 * size - 1
    cells = [[c for c in range(rows) if in_hexagon(r, c, size)] for r in range(rows)]
    zigzags: list[list[Vertex]] = []
    for r in range(size):
        zigzags.append(_zigzag(graph, r, cells[r], (4, 3), 2))
    for r in range(size - 1, rows):
        zigzags.append(_zigzag(graph, r, cells[r], (5, 0), 1))
    for zigzag in zigzags:
        for a, b in pairwise(zigzag):
            graph.add_edge(a, b)
    levels: list[tuple[float, float, Vertex, Vertex]] = []
    for r in range(rows):
        for n, c in enumerate(cells[r]):
            for lower, upper in ((4, 5), *(((2, 1),) if n == len(cells[r]) - 1 else ())):
                a, b = (_corner(graph, r, c, corner) for corner in (lower, upper))
                levels.append((a.point[1], a.point[0], a, b))
    for _, _, a, b in levels:
        graph.add_edge(a, b)
    graph.make_faces(check=False)
    graph.reorder()
    return graph


def _corner(graph: Graph, r: int, c: int, corner: int) -> Vertex:
    x, y = hex_centre(r, c)
    return graph.find_or_add_vertex(x + HEXAGON[corner][0], y + HEXAGON[corner][1])


def _zigzag(
    graph: Graph, r: int, columns: list[int], each: tuple[int, int], last: int
) -> list[Vertex]:
    vertices = [_corner(graph, r, c, corner) for c in columns for corner in each]
    vertices.append(_corner(graph, r, columns[-1], last))
    return vertices


def star_mask(r: int, c: int, size: int) -> bool:
    if r < size:
        return size <= c <= size + r
    if r <= 2 * size:
        return r - size <= c < 3 * size + 1
    if r <= 3 * size:
        return size <= c <= r + size
    return r - size <= c <= 3 * size


def make_hex_shape(shape: str, a: int, b: int) -> Graph:
    """Triangle, Rectangle, Star, Diamond, Prism of hexagons."""
    upright = shape in ("Diamond", "Prism")
    centre = upright_hex_centre if upright else hex_centre
    # Upright hexagons have their corners to the left and right.
    offsets = [(y, x) if upright else (x, y) for x, y in HEXAGON]
    cells = _list_cells(shape, a, b)
    graph = from_points(satellites((centre(r, c) for r, c in cells), offsets))
    graph.regular = True
    graph.reorder()
    return graph


def make_hex_polygon(shape: Polygon) -> Graph:
    shape = shape.inflated()
    low_x, low_y, high_x, high_y = shape.bounds
    centres = [
        hex_centre(r, c)
        for r in range(int(low_y) - 3, int(high_y) + 4)
        for c in range(int(low_x) - 3, int(high_x) + 4)
    ]
    graph = from_points(satellites((p for p in centres if shape.contains(*p)), HEXAGON))
    graph.regular = True
    graph.reorder()
    return graph


def make_hex_sides(sides: Sequence[int]) -> Graph:
    return make_hex_polygon(outline_by_hex_sides(sides, hex_centre))


def _list_cells(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    reach = {"Star": 4 * a + 1, "Prism": a + b - 1}.get(shape, max(a, b) + max(a, b))
    inside: Callable[[int, int], bool] = {
        "Triangle": lambda r, c: r <= c < a,
        "Rectangle": lambda r, c: r < a and (r + 1) // 2 <= c < b + r // 2,
        "Star": lambda r, c: star_mask(r, c, a),
        "Diamond": lambda r, c: r < a and c < a,
        "Prism": lambda r, c: abs(r - c) < a,
    }[shape]
    return [(r, c) for r in range(reach) for c in range(reach) if inside(r, c)]


# --- triangles ---


def tri_point(r: float, c: float) -> Pair:
    return c - 0.5 * r, U * r


def upright_tri_point(r: float, c: float) -> Pair:
    return U * (c - r), (r + c) * 0.5


def make_tri_hexagon(size: int, *, cells: bool) -> Graph:
    size += cells
    rows = 2 * size - 1
    graph = Graph()
    at: dict[tuple[int, int], Vertex] = {}
    for r in range(rows):
        for c in range(rows):
            if in_hexagon(r, c, size):
                at[r, c] = graph.add_vertex(*tri_point(r, c))

    def join(a: tuple[int, int], b: tuple[int, int]) -> None:
        if a in at and b in at:
            graph.add_edge(at[a], at[b])

    places = sorted(at)
    for r, c in places:
        join((r, c), (r, c + 1))
    for r, c in places:
        if r < size - 1:
            join((r, c), (r + 1, c))
            join((r, c), (r + 1, c + 1))
    for r, c in places:
        if r >= size:
            join((r, c), (r - 1, c - 1))
            join((r, c), (r - 1, c))
    graph.make_faces(check=False)
    graph.reorder()
    return graph


def make_tri_shape(shape: str, a: int, b: int, *, cells: bool) -> Graph:
    if shape != "Star":
        a, b = a + cells, b + cells
    place = upright_tri_point if shape in ("Diamond", "Prism") else tri_point
    graph = from_points([place(r, c) for r, c in _list_cells(shape, a, b)])
    graph.regular = True
    graph.reorder()
    return graph


def make_tri_polygon(shape: Polygon, margin: int = 2) -> Graph:
    shape = shape.inflated()
    low_x, low_y, high_x, high_y = shape.bounds
    points = [
        tri_point(r, c)
        for r in range(int(low_y) - margin, int(high_y) + margin + 1)
        for c in range(int(low_x) - margin, int(high_x) + margin + 1)
    ]
    graph = from_points([p for p in points if shape.contains(*p)])
    graph.regular = True
    graph.reorder()
    return graph


def make_tri_sides(sides: Sequence[int]) -> Graph:
    limping = len(sides) == 2 and sides[0] == sides[1] - 1
    shape = outline_by_hex_sides(sides, tri_point)
    return make_tri_polygon(shape, sides[0] if limping else 2)


# --- from points ---


def satellites(centres: Iterable[Pair], offsets: Sequence[Pair]) -> list[Pair]:
    """Points around centres, each once: of several at one place the first."""
    points: list[Pair] = []
    near: dict[tuple[int, int], list[Pair]] = {}
    for x0, y0 in centres:
        for dx, dy in offsets:
            x, y = x0 + dx, y0 + dy
            key = (round(x * 4), round(y * 4))
            around = [(key[0] + i, key[1] + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            if any((x - p) ** 2 + (y - q) ** 2 < 0.01 for k in around for p, q in near.get(k, ())):
                continue
            near.setdefault(key, []).append((x, y))
            points.append((x, y))
    return points


def from_points(points: Sequence[Pair]) -> Graph:
    """Points at a distance of one are joined. Places are rounded to 32 bits."""
    graph = Graph()
    vertices = [graph.add_vertex(float(np.float32(x)), float(np.float32(y))) for x, y in points]
    if points:
        table = np.array(points, dtype=np.float64)  # [n, 2]
        for a in range(len(points)):
            apart = np.hypot(table[a + 1 :, 0] - table[a, 0], table[a + 1 :, 1] - table[a, 1])
            for b in np.flatnonzero(np.abs(apart - 1) < 0.01):
                graph.find_or_add_edge(vertices[a], vertices[a + 1 + int(b)])
    graph.assemble()
    return graph


def join_at_distance_one(graph: Graph) -> None:
    for a in graph.vertices:
        for b in graph.vertices:
            (ax, ay, az), (bx, by, bz) = a.point, b.point
            apart = ((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2) ** 0.5
            if a is not b and abs(apart - 1) < 0.05:
                graph.find_or_add_edge(a, b)
