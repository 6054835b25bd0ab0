"""Text pictures of states: finds the fluents that fill a grid, whatever their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CELL = re.compile(r"^\(([^\s()]+) (\d+) (\d+) ([^\s()]+)\)$")
MAX_SIDE = 40


def draw_board(facts: Sequence[str]) -> str | None:
    """A board with one sign a cell and the other facts below, or None where there is no grid.

    A grid is a fluent with two numbers and a content, such as (cell 3 1 red), that appears with
    at least two columns or rows. Coordinates are drawn as they are: columns to the right, rows up.
    """
    grids: dict[str, dict[tuple[int, int], str]] = {}
    rest: list[str] = []
    for fact in facts:
        match = _CELL.match(fact)
        if match:
            name, x, y, content = match.groups()
            grids.setdefault(name, {})[int(x), int(y)] = content
        else:
            rest.append(fact)
    if not grids:
        return None
    name, cells = max(grids.items(), key=lambda item: len(item[1]))
    xs = [x for x, _ in cells]
    ys = [y for _, y in cells]
    if max(xs) - min(xs) >= MAX_SIDE or max(ys) - min(ys) >= MAX_SIDE:
        return None
    low_x, low_y = min(1, *xs), min(1, *ys)
    signs = _signs(sorted(set(cells.values())))
    lines = []
    for y in range(max(ys), low_y - 1, -1):
        row = [signs.get(cells.get((x, y), ""), ".") for x in range(low_x, max(xs) + 1)]
        lines.append(f"{y:>3} " + " ".join(row))
    lines.append("    " + " ".join(str(x % 10) for x in range(low_x, max(xs) + 1)))
    legend = ", ".join(f"{sign} {content}" for content, sign in signs.items() if sign != ".")
    others = [f for other, grid in grids.items() if other != name for f in _facts(other, grid)]
    return "\n".join([*lines, f"{name}: {legend}", *sorted(rest + others)])


def _facts(name: str, grid: dict[tuple[int, int], str]) -> list[str]:
    return [f"({name} {x} {y} {content})" for (x, y), content in grid.items()]


def _signs(contents: Sequence[str]) -> dict[str, str]:
    """A different sign for each content: its own initial where that is free."""
    signs: dict[str, str] = {}
    spare = iter("#@*+%&=$~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    for content in contents:
        if content in ("b", "blank", "empty"):
            signs[content] = "."
            continue
        for sign in (content[0], content[0].upper(), *spare):
            if sign not in signs.values() and sign != ".":
                signs[content] = sign
                break
        else:
            signs[content] = "?"
    return signs
