"""Polygons that cut boards to shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

from omnilude.rules.ludeme.boards.graph import NEARLY_ZERO, is_clockwise

INFLATED = 0.1
"""Polygons grow so much before they cut, so that points on their sides are inside."""
HEX_TURNS = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))  # row, column
SQUARE_TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Polygon:
    points: tuple[Pair, ...]

    def contains(self, x: float, y: float) -> bool:
        inside = False
        for n, (x1, y1) in enumerate(self.points):
            x2, y2 = self.points[n - 1]
            spans = (y1 < y <= y2) or (y2 < y <= y1)
            if spans and (x1 <= x or x2 <= x):
                inside ^= x1 + (y - y1) / (y2 - y1) * (x2 - x1) < x
        return inside

    def inflated(self, amount: float = INFLATED) -> Polygon:
        """Grown, where the points run clockwise; shrunk where they run the other way."""
        moved = list(self.points)
        count = len(moved)
        for n in range(count):
            a, b, c = (self.points[(n + k) % count] for k in range(3))
            if is_clockwise((*a, 0.0), (*b, 0.0), (*c, 0.0)):
                u, w = _unit(b[0] - a[0], b[1] - a[1]), _unit(b[0] - c[0], b[1] - c[1])
            else:
                u, w = _unit(a[0] - b[0], a[1] - b[1]), _unit(c[0] - b[0], c[1] - b[1])
            dx = (u[0] * amount + w[0] * amount) * 0.5
            dy = (u[1] * amount + w[1] * amount) * 0.5
            moved[(n + 1) % count] = (b[0] + dx, b[1] + dy)
        return Polygon(tuple(moved))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Least x and y, greatest x and y."""
        if not self.points:
            return 0.0, 0.0, 0.0, 0.0
        xs, ys = zip(*self.points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


def repeat_by_turning(points: Sequence[Pair], turns: int) -> Polygon:
    """The points, and once more for each further turn about the origin."""
    if turns < 0:
        points = points[::-1]
    result, angle = list(points), 0.0
    for _ in range(1, abs(turns)):
        angle += 2 * pi / turns
        # The second number has the sine twice: descriptions rely on what comes of it.
        c, s = cos(angle), sin(angle)
        result += [(x * c - y * s, x * s + y * s) for x, y in points]
    return Polygon(tuple(result))


def outline_by_sides(
    sides: Sequence[int], steps: Sequence[tuple[float, float]] = SQUARE_TURNS
) -> Polygon:
    """Walks the sides one after another; each turns right, or left where it is negative."""
    row = column = 0.0
    points, step = [(column, row)], len(steps) - 1
    for side in sides:
        step = (step + (-1 if side < 0 else 1)) % len(steps)
        row, column = row + side * steps[step][0], column + side * steps[step][1]
        points.append((column, row))
    return Polygon(tuple(points))


def outline_by_hex_sides(sides: Sequence[int], place: Callable[[float, float], Pair]) -> Polygon:
    """The same on a board with six directions; sides are counted in cells."""
    step, row, column = 1, 0, 0
    points = [place(0, 0)]
    for n in range(max(5, len(sides))):
        side = sides[n % len(sides)]
        side = side + 1 if side < 0 else side - 1
        step = (step + (-1 if side < 0 else 1)) % 6
        if side > 0:
            row, column = row + side * HEX_TURNS[step][0], column + side * HEX_TURNS[step][1]
            points.append(place(row, column))
    return Polygon(tuple(points))


def _unit(x: float, y: float) -> Pair:
    length = hypot(x, y)
    return (x, y) if length < NEARLY_ZERO else (x / length, y / length)
