"""Text pictures of states: finds the fluents that fill a grid, whatever their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_CELL = re.compile(r"^\(([^\s()]+) (\d+) (\d+) ([^\s()]+)\)$")
_EMPTY = ("b", "blank", "empty")
MAX_SIDE = 40


@dataclass(frozen=True, slots=True)
class Grid:
    """A fluent with two numbers and a content, such as (cell 3 1 red), and how far they reach."""

    name: str
    columns: range
    rows: range
    signs: dict[str, str]  # by content


def find_grid(fluents: Iterable[str]) -> Grid | None:
    """The largest grid among fluents: of a game, or of one state if that is all there is."""
    cells: dict[str, set[tuple[int, int]]] = {}
    contents: dict[str, set[str]] = {}
    for fluent in fluents:
        match = _CELL.match(fluent)
        if match:
            name, x, y, content = match.groups()
            cells.setdefault(name, set()).add((int(x), int(y)))
            contents.setdefault(name, set()).add(content)
    if not cells:
        return None
    name, places = max(cells.items(), key=lambda item: len(item[1]))
    columns = range(min(x for x, _ in places), max(x for x, _ in places) + 1)
    rows = range(min(y for _, y in places), max(y for _, y in places) + 1)
    if len(places) < 2 or len(columns) > MAX_SIDE or len(rows) > MAX_SIDE:
        return None
    return Grid(name, columns, rows, _signs(sorted(contents[name])))


def draw_board(facts: Sequence[str], grid: Grid | None) -> str | None:
    """The board, one sign a cell, with the other facts below; None where there is no grid.

    Coordinates are drawn as they are: the first to the right, the second up.
    """
    grid = grid or find_grid(facts)
    if grid is None:
        return None
    cells: dict[tuple[int, int], str] = {}
    rest: list[str] = []
    for fact in facts:
        match = _CELL.match(fact)
        if match and match.group(1) == grid.name and match.group(4) in grid.signs:
            x, y = int(match.group(2)), int(match.group(3))
            # Two things on one cell: the first is drawn, both are listed.
            if (x, y) in cells:
                rest.append(fact)
            else:
                cells[x, y] = grid.signs[match.group(4)]
        else:
            rest.append(fact)
    lines = [
        f"{y:>3} " + " ".join(cells.get((x, y), ".") for x in grid.columns)
        for y in reversed(grid.rows)
    ]
    lines.append("    " + " ".join(str(x % 10) for x in grid.columns))
    legend = ", ".join(f"{sign} {content}" for content, sign in grid.signs.items() if sign != ".")
    return "\n".join([*lines, f"{grid.name}: {legend}", *rest])


def _signs(contents: Sequence[str]) -> dict[str, str]:
    """A different sign for each content: its own initial where that is free."""
    signs: dict[str, str] = {}
    spare = iter("#@*+%&=$~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    for content in contents:
        if content in _EMPTY:
            signs[content] = "."
            continue
        for sign in (content[0], content[0].upper(), *spare):
            if sign not in signs.values() and sign != ".":
                signs[content] = sign
                break
        else:
            signs[content] = "?"
    return signs
