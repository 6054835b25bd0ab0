"""Boards around a centre: rings, wheels, wedges, spirals, regular polygons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, hypot, pi, sin

from omnilude.rules.ludeme.boards.graph import Graph, Vertex
from omnilude.rules.ludeme.boards.polygon import Pair

Sample = tuple[float, float, float]  # angle, x, y


def make_regular_rings(
    sides: int,
    rings: int,
    *,
    cells: bool,
    midpoints: bool = True,
    join_midpoints: bool = True,
    join_corners: bool = False,
) -> Graph:
    """Polygons in one another, such as the boards of morris games."""
    graph = Graph()
    arc = 2 * pi / sides
    first = pi / 2 + (arc / 2 if sides % 2 == 0 else 0)
    for ring in range(rings):
        radius = 1 + 2 * ring if sides == 3 else 1 + ring
        corners = [
            (radius * cos(first + arc * n), radius * sin(first + arc * n)) for n in range(sides)
        ]
        made: list[Vertex] = []
        for n, (x, y) in enumerate(corners):
            made.append(graph.find_or_add_vertex(x, y))
            if midpoints:
                x2, y2 = corners[(n + 1) % sides]
                made.append(graph.find_or_add_vertex((x + x2) / 2, (y + y2) / 2))
        for n, vertex in enumerate(made):
            graph.add_edge(vertex, made[(n + 1) % len(made)])
    if (midpoints and join_midpoints) or join_corners:
        per_side = 2 if midpoints else 1
        per_ring = sides * per_side

        def join(number: int) -> None:
            if number + per_ring < len(graph.vertices):
                graph.add_edge(graph.vertices[number], graph.vertices[number + per_ring])

        for ring in range(rings - 1):
            for side in range(sides):
                number = ring * per_ring + side * per_side
                if join_corners:
                    join(number)
                if join_midpoints:
                    # Without midpoints this joins the next corners once more.
                    join(number + 1)
    graph.reorder()
    if cells:
        graph.make_faces(check=True)
    return graph


def make_circle(counts: Sequence[int], *, cells: bool, stagger: bool = False) -> Graph:
    """Rings of so many cells or vertices around a centre."""
    if cells:
        return _circle_of_cells(counts, stagger)
    if len(counts) == 1:
        return _polygon(counts[0], 1, cells=False)
    return _circle_of_vertices(counts, stagger)


def _ring_angles(count: int, ring: int, stagger: bool) -> list[float]:
    shift = pi / count if stagger and ring % 2 else 0.0
    return [pi / 2 + shift - 2 * pi * step / count for step in range(count)]


def _circle_of_cells(counts: Sequence[int], stagger: bool) -> Graph:
    graph = Graph()
    centre = graph.add_vertex(0.0, 0.0)
    samples: list[list[Sample]] = [[] for _ in range(len(counts) + 1)]
    for ring, signed in enumerate(counts):
        count = abs(signed)
        if count < 2:
            continue
        inner, outer = max(0.0, ring - 0.5), ring + 0.5
        for angle in _ring_angles(count, ring, stagger):
            while angle < -pi:
                angle += 2 * pi
            while angle > pi:
                angle -= 2 * pi
            samples[ring].append((angle, inner * cos(angle), inner * sin(angle)))
            samples[ring + 1].append((angle, outer * cos(angle), outer * sin(angle)))
    for ring_samples in samples:
        _sort_and_thin(ring_samples, 0.001)
    placed = [[graph.find_or_add_vertex(x, y) for _, x, y in ring] for ring in samples]
    for ring_vertices in placed:
        if len(ring_vertices) >= 2:
            for n, vertex in enumerate(ring_vertices):
                following = ring_vertices[(n + 1) % len(ring_vertices)]
                if vertex is not following:
                    graph.find_or_add_edge(vertex, following, curved=True)
    for ring, signed in enumerate(counts):
        count = abs(signed)
        if count < 2:
            continue
        inner, outer = max(0.0, ring - 0.5), ring + 0.5
        for angle in _ring_angles(count, ring, stagger):
            a = graph.find_or_add_vertex(inner * cos(angle), inner * sin(angle))
            b = graph.find_or_add_vertex(outer * cos(angle), outer * sin(angle))
            if a is not b:
                graph.find_or_add_edge(a, b)
    for vertex in graph.vertices:
        vertex.pivot = centre
    graph.make_faces(check=True)
    return graph


def _circle_of_vertices(counts: Sequence[int], stagger: bool) -> Graph:
    graph = Graph()
    if not counts:
        return graph
    rings = [0, *counts] if abs(counts[0]) > 1 else list(counts)
    samples: list[list[Sample]] = []
    for ring, signed in enumerate(rings):
        count = abs(signed)
        angles = _ring_angles(count, ring, stagger) if count else []
        made = [(angle, ring * cos(angle), ring * sin(angle)) for angle in angles]
        if ring:
            _sort_and_thin(made, 0.1)
        samples.append(made)
    placed = [[graph.find_or_add_vertex(x, y) for _, x, y in ring] for ring in samples]
    for ring in range(1, len(rings)):
        vertices = placed[ring]
        # A negative number means points that no edge of the ring joins.
        if rings[ring] >= 2 and len(vertices) >= 2:
            for n, vertex in enumerate(vertices):
                following = vertices[(n + 1) % len(vertices)]
                graph.find_or_add_edge(vertex, following, curved=True)
    for ring in range(len(rings) - 1):
        for (_, x, y), vertex in zip(samples[ring], placed[ring], strict=True):
            if ring == 0:
                for other in placed[1]:
                    graph.find_or_add_edge(vertex, other)
                continue
            scale = (ring + 1) / ring
            outer = graph.find_vertex(x * scale, y * scale)
            if outer:
                graph.find_or_add_edge(vertex, outer)
                if rings[0] == 0:
                    outer.pivot = vertex
    if rings[0] != 0:
        centre = graph.find_vertex(0.0, 0.0)
        for vertex in graph.vertices:
            vertex.pivot = centre
    return graph


def _sort_and_thin(samples: list[Sample], nearest: float) -> None:
    samples.sort(key=lambda sample: sample[0])
    for n in range(len(samples) - 1, 0, -1):
        (_, x, y), (_, x0, y0) = samples[n], samples[n - 1]
        if hypot(x - x0, y - y0) < nearest:
            del samples[n]


def make_target(rings: int) -> Graph:
    """Octagons in one another, each a cell of which only a strip below is seen."""
    graph = Graph()
    for ring in range(rings):
        angles = [pi / 2 + pi / 4 * n for n in range(8)]
        made = [
            graph.find_or_add_vertex((ring + 1) * cos(angle), (ring + 1) * sin(angle))
            for angle in angles
        ]
        for n, vertex in enumerate(made):
            graph.add_edge(vertex, made[(n + 1) % 8])
    graph.make_faces(check=True)
    for face in graph.faces:
        face.point = (0.0, 0.0 if face.number == 0 else -face.number - 0.5, 0.0)
    return graph


def make_wedge(rows: int, columns: int = 3) -> Graph:
    """A triangle with its tip above, whose rows all have as many points."""
    graph = Graph()
    middle = rows - 1
    graph.add_vertex(middle, middle)
    for r in range(1, rows):
        left, right = middle - r, middle + r
        for c in range(columns):
            graph.add_vertex(left + c / (columns - 1) * (right - left), middle - r)
    at = graph.vertices
    if rows > 1:
        for c in range(columns):
            graph.add_edge(at[0], at[1 + c])
    for r in range(1, rows):
        first = (r - 1) * columns + 1
        for c in range(columns - 1):
            graph.add_edge(at[first + c], at[first + c + 1])
        if r < rows - 1:
            for c in range(columns):
                graph.add_edge(at[first + c], at[first + columns + c])
    return graph


def make_regular(sides: int, *, cells: bool, star: bool = False) -> Graph:
    return _polygon(sides, (sides - 1) // 2 if star else 1, cells=cells)


def _polygon(sides: int, stride: int, *, cells: bool) -> Graph:
    graph = Graph()
    radius = sides / (2 * pi)
    first = pi / 4 if sides == 4 else pi / 2
    for n in range(sides):
        angle = first + n / sides * 2 * pi
        graph.add_vertex(radius * cos(angle), radius * sin(angle))
    for n in range(sides):
        graph.add_edge(graph.vertices[n], graph.vertices[(n + stride) % sides])
    if cells:
        graph.make_faces(check=True)
    graph.reorder()
    return graph


def make_spiral(turns: int, sites: int, *, clockwise: bool = True) -> Graph:
    base = _spiral_base(turns, sites)
    angles = [0.0]
    count = base
    for ring in range(1, turns + 2):
        angle = 2 * pi * ring
        if count:
            step = 2 * pi / count
            if ring <= 2 or ring % 2:
                angle -= step / 2
            for _ in range(count):
                angles.append(angle)
                angle += step
        if ring <= 2:
            count *= 2
    angles += [0.0] * max(0, sites + 1 - len(angles))
    for _ in range(2):
        for n in range(2, sites):
            angles[n] = (angles[n - 1] + angles[n + 1]) / 2
    if sites > 1:
        angles[1] -= 0.5 * (angles[2] - angles[1])
    graph = Graph()
    centre = graph.add_vertex(0.0, 0.0)
    for n in range(1, sites):
        angle = angles[n]
        x = -angle * cos(angle) if clockwise else angle * cos(angle)
        graph.add_vertex(x, angle * sin(angle))
    for a, b in pairwise(graph.vertices):
        graph.add_edge(a, b, curved=True)
    for vertex in graph.vertices:
        vertex.pivot = centre
    return graph


def _spiral_base(turns: int, sites: int) -> int:
    for base in range(1, sites):
        count, total = base, 1
        for ring in range(1, turns):
            total += count
            if total > sites:
                return base - 1
            if ring <= 2:
                count *= 2
    return 0


def make_repeated(
    rows: int,
    columns: int,
    column_step: Pair,
    row_step: Pair,
    shapes: Sequence[Sequence[Pair]],
) -> Graph:
    """Polygons laid again and again."""
    graph = Graph()
    for r in range(rows):
        for c in range(columns):
            x0 = c * column_step[0] + r * row_step[0]
            y0 = c * column_step[1] + r * row_step[1]
            for shape in shapes:
                for n, (x, y) in enumerate(shape):
                    x2, y2 = shape[(n + 1) % len(shape)]
                    a = graph.find_or_add_vertex(x0 + x, y0 + y)
                    b = graph.find_or_add_vertex(x0 + x2, y0 + y2)
                    graph.find_or_add_edge(a, b)
    graph.make_faces(check=False)
    graph.reorder()
    return graph
