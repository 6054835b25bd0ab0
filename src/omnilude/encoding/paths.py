"""Pairs of symbols that form simple paths or circles, and hence an order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Edge = tuple[str, str]
Path = tuple[str, ...]

MIN_LENGTH = 3
"""Two symbols are ordered by any fact about both: that says nothing."""


def find_long_paths(relations: Iterable[Iterable[Edge]]) -> tuple[list[Path], list[Path]]:
    """The paths of all these relations that are long enough to be an order; and the circles."""
    paths: dict[Path, None] = {}
    circles: dict[Path, None] = {}
    for edges in relations:
        found, closed = find_paths(edges)
        long = [path for path in found if len(path) >= MIN_LENGTH]
        # A score for each number of steps joins 1 to 3, 3 to 9, and most others to nothing more.
        if 2 * len(long) >= len(found):
            paths.update(dict.fromkeys(long))
        circles.update(dict.fromkeys(closed))
    return list(paths), list(circles)


def find_paths(edges: Iterable[Edge]) -> tuple[list[Path], list[Path]]:
    """The simple paths, or the circles, that a relation consists of; nothing if it is else.

    (24 24) at the end of a track is no step, and is left out. Each path must go one way
    throughout, or both ways throughout (neighbours): then the first fact says which is forward.
    Besides, a relation that orders all its symbols (less than) is the path that it implies.
    """
    steps = dict.fromkeys((a, b) for a, b in edges if a != b)
    neighbours: dict[str, dict[str, None]] = {}
    for a, b in steps:
        neighbours.setdefault(a, {}).setdefault(b)
        neighbours.setdefault(b, {}).setdefault(a)
    order = _total_order(list(steps), list(neighbours))
    if order:
        return [order], []
    if any(len(around) > 2 for around in neighbours.values()):
        return [], []
    found: list[Path] = []
    seen: set[str] = set()
    # Ends first: what they do not reach stands on circles.
    for start in sorted(neighbours, key=lambda symbol: len(neighbours[symbol])):
        if start not in seen:
            path = _walk(start, neighbours)
            seen.update(path)
            found.append(path)
    directed = [_direct(path, steps, neighbours) for path in found]
    if not all(directed):
        return [], []
    closed = [len(neighbours[path[0]]) == 2 for path in found]
    if any(closed):
        return [], directed if all(closed) else []
    return directed, []


def _walk(start: str, neighbours: Mapping[str, Mapping[str, None]]) -> Path:
    path = [start, next(iter(neighbours[start]))]
    while True:
        onwards = [n for n in neighbours[path[-1]] if n not in (path[-2], start)]
        if not onwards:
            return tuple(path)
        path.append(onwards[0])


def _direct(
    path: Path, steps: Mapping[Edge, None], neighbours: Mapping[str, Mapping[str, None]]
) -> Path:
    """The path in its direction; empty if it goes to and fro."""
    pairs = list(pairwise(path))
    if len(neighbours[path[0]]) == 2:
        pairs.append((path[-1], path[0]))
    forward = sum(pair in steps for pair in pairs)
    backward = sum((b, a) in steps for a, b in pairs)
    if (forward, backward) == (len(pairs), 0):
        return path
    if (forward, backward) == (0, len(pairs)):
        return path[::-1]
    if forward < len(pairs) or backward < len(pairs):
        return ()
    first = next(step for step in steps if step in pairs or step[::-1] in pairs)
    return path if first in pairs else path[::-1]


def _total_order(steps: Sequence[Edge], symbols: Sequence[str]) -> Path:
    count = len(symbols)
    if count < 3 or len(steps) != count * (count - 1) // 2:
        return ()
    after = dict.fromkeys(symbols, 0)
    for a, _ in steps:
        after[a] += 1
    order = sorted(symbols, key=lambda symbol: -after[symbol])
    # With count (count - 1) / 2 steps, these numbers of followers leave only the total order.
    return tuple(order) if [after[s] for s in order] == list(range(count))[::-1] else ()
