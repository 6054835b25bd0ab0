"""Boards of several kinds of tiles, and of bricks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, radians, sin, sqrt

from omnilude.rules.ludeme.boards.graph import Graph
from omnilude.rules.ludeme.boards.lattices import HEXAGON, ROOT3, U, from_points, satellites
from omnilude.rules.ludeme.boards.polygon import Pair

BRICKS = ("Square", "Rectangle", "Limping", "Diamond", "Prism", "Spiral")


def _twelve(radius: float) -> tuple[Pair, ...]:
    return tuple(
        (radius * cos(pi / 12 + n / 12 * 2 * pi), radius * sin(pi / 12 + n / 12 * 2 * pi))
        for n in range(12)
    )


def _eighteen() -> tuple[Pair, ...]:
    """A hexagon, and around it the far corners of squares and triangles."""
    inner = ((-0.5, U), (0.5, U), (1.0, 0.0), (0.5, -U), (-0.5, -U), (-1.0, 0.0))
    far = (1 + U) / cos(radians(15))
    angles = [radians(15 + 30 * n) for n in range(12)]
    return (*inner, *((far * cos(angle), far * sin(angle)) for angle in angles))


_V = 1 + 2 / sqrt(2)
_OCTAGON = (
    *((0.5, _V / 2), (_V / 2, 0.5), (_V / 2, -0.5), (0.5, -_V / 2)),
    *((-0.5, -_V / 2), (-_V / 2, -0.5), (-_V / 2, 0.5), (-0.5, _V / 2)),
)
_SNUB_HEX = tuple(
    (x * 0.5, y * U)
    for x, y in (
        *((-1, 1), (1, 1), (2, 0), (1, -1), (-1, -1), (-2, 0), (-2, 2), (0, 2), (2, 2)),
        *((3, 1), (4, 0), (3, -1), (2, -2), (0, -2), (-2, -2), (-3, -1), (-4, 0), (-3, 1)),
    )
)
_P, _Q = 0.5, U
_SNUB_SQUARE = (
    *((-_P, -_P - _Q), (_P, -_P - _Q), (-_P - _Q, -_Q), (_P + _Q, -_Q), (0.0, -_P)),
    *((-2 * _P - _Q, 0.0), (-_Q, 0.0), (_Q, 0.0), (2 * _P + _Q, 0.0), (0.0, _P)),
    *((-_P - _Q, _Q), (_P + _Q, _Q), (-_P, _P + _Q), (_P, _P + _Q)),
)
_H = (1 + ROOT3) / 2
_LARGE = 1 / sqrt(2 - ROOT3)

Centre = Callable[[int, int], Pair]
TILINGS: dict[str, tuple[Centre, tuple[Pair, ...]]] = {
    "T3636": (
        lambda r, c: (2 * (c - 0.5 * r), ROOT3 * r),
        tuple((y, x) for x, y in HEXAGON),
    ),
    "T3464": (
        lambda r, c: ((3 + ROOT3) / 2 * (c - r), (1 + ROOT3) * (r + c) * 0.5),
        _eighteen(),
    ),
    "T33344": (
        lambda r, c: (c + 0.5 * r, r * (1 + ROOT3 / 2)),
        ((0, 0), (1, 0), (1, 1), (0, 1)),
    ),
    "T488": (lambda r, c: (c * _V, r * _V), _OCTAGON),
    "T4612": (
        lambda r, c: ((c - 0.5 * r) * 4.7320508, r * 4.7320508 * ROOT3 / 2),
        _twelve(_LARGE),
    ),
    "T31212": (
        lambda r, c: ((c - 0.5 * r) * 3.7320508, r * 3.7320508 * ROOT3 / 2),
        _twelve(_LARGE),
    ),
    "T33336": (lambda r, c: (c * 5 * 0.5 - r * 4 * 0.5, r * 2 * U + c * U), _SNUB_HEX),
    "T33434": (lambda r, c: (_H * (c - r), _H * (r + c)), _SNUB_SQUARE),
    "T333333_33434": (
        lambda r, c: ((1.5 + ROOT3) * (c - r), (2 + ROOT3) * (r + c) * 0.5),
        _eighteen(),
    ),
}
"""Where tiles have their centres, and their corners around these."""


def make_tiling(name: str, sizes: Sequence[int]) -> Graph:
    """One or two sizes."""
    centre, offsets = TILINGS[name]
    graph = from_points(satellites((centre(r, c) for r, c in _list_tiles(name, sizes)), offsets))
    if name != "T488":
        graph.reorder()
    return graph


def _list_tiles(name: str, sizes: Sequence[int]) -> list[tuple[int, int]]:
    a, b = sizes[0], sizes[-1]
    if name in ("T33344", "T488") or (name == "T3464" and len(sizes) > 1):
        return [(r, c) for r in range(a) for c in range(b)]
    if name == "T33434":
        return [(r, c) for r in range(a) for c in range(a)]
    rows = 2 * a - 1
    if name == "T3636" and len(sizes) > 1:
        return [(r, c) for r in range(rows) for c in range(2 * b - 1)]
    return [(r, c) for r in range(rows) for c in range(rows) if abs(r - c) <= a - 1]


# --- bricks ---


def make_bricks(shape: str, a: int, b: int, *, trim: bool = False) -> Graph:
    graph = Graph()
    if shape == "Spiral":
        _spiral_bricks(graph, a)
    elif shape in ("Diamond", "Prism"):
        _diamond_bricks(graph, a, 0 if shape == "Diamond" else b, trim)
    else:
        columns = 2 * (a + 1 if shape == "Limping" else b) + 1
        for r in range(a):
            for c in range(r % 2, columns, 2):
                _brick_or_half(graph, r, c, columns, trim)
    graph.reorder()
    return graph


def _diamond_bricks(graph: Graph, side: int, middle: int, trim: bool) -> None:
    columns = 2 * side
    for r in range(2 * side + 2 * middle):
        for c in range((r + 1) % 2, columns, 2):
            outside = r + c < side - 1 or c - r >= side or r + c >= 3 * side - 1 or r - c > side
            if not outside:
                _brick_or_half(graph, r, c, columns, trim)


def _spiral_bricks(graph: Graph, rings: int) -> None:
    _add_tile(graph, _half(rings - 1, rings - 1))
    for k in range(1, rings):
        for n in range(0, 2 * k, 2):
            _add_tile(graph, _upright(rings - k + n, rings - k - 1))
            _add_tile(graph, _brick(rings + k - 1, rings - k + n))
            _add_tile(graph, _upright(rings - k - 1 + n, rings + k - 1))
            _add_tile(graph, _brick(rings - k - 1, rings - k - 1 + n))


def _brick_or_half(graph: Graph, r: int, c: int, columns: int, trim: bool) -> None:
    if trim and c == 0:
        _add_tile(graph, _half(r, c + 1))
    elif trim and c >= columns - 1:
        _add_tile(graph, _half(r, c))
    else:
        _add_tile(graph, _brick(r, c))


def _brick(r: int, c: int) -> list[Pair]:
    return [(c, r), (c, r + 1), (c + 1, r + 1), (c + 2, r + 1), (c + 2, r), (c + 1, r)]


def _half(r: int, c: int) -> list[Pair]:
    return [(c, r), (c, r + 1), (c + 1, r + 1), (c + 1, r)]


def _upright(r: int, c: int) -> list[Pair]:
    return [(c, r), (c, r + 1), (c, r + 2), (c + 1, r + 2), (c + 1, r + 1), (c + 1, r)]


def _add_tile(graph: Graph, corners: list[Pair]) -> None:
    vertices = [graph.find_or_add_vertex(x, y) for x, y in corners]
    for n, vertex in enumerate(vertices):
        graph.find_or_add_edge(vertex, vertices[(n + 1) % len(vertices)])
    graph.find_or_add_face(vertices)
