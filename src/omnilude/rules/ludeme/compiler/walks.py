"""Turtle walks over a board: F steps forward, L and R turn."""

from __future__ import annotations

from collections.abc import Sequence

from omnilude.rules.ludeme.boards.directions import RANK
from omnilude.rules.ludeme.boards.topology import Topology
from omnilude.rules.ludeme.compiler.context import GameContext

RELATIONS = ("All", "Orthogonal", "Diagonal", "Adjacent", "OffDiagonal")


def supported_directions(
    topology: Topology, kind: str, relation: str, site: int | None = None
) -> list[str]:
    """Specific directions that steps of a relation have: of a site as they come, else in order."""
    sites = range(len(topology.graph.elements(kind))) if site is None else (site,)
    names: list[str] = []
    for number in sites:
        listed = "All" if kind == "Edge" and relation != "Diagonal" else relation
        for step in topology.lists[kind][number].get(listed, ()):
            if step.kind != kind:
                continue
            for name in step.specific:
                if name not in names:
                    names.append(name)
    if site is None:
        names.sort(key=lambda one: RANK[one])
    return names


def _step(topology: Topology, kind: str, site: int, name: str) -> int:
    found = -1
    for step in topology.lists[kind][site].get(name, ()):
        if step.kind == kind:
            found = step.end.number
    return found


def follow(
    game: GameContext, kind: str, start: int, heading: int, turns: Sequence[str], ways: list[str]
) -> list[int]:
    """The sites of the walk, -1 from where it leaves the board."""
    sites, at = [], start
    for turn in turns:
        if turn == "F":
            at = _step(game.topology, kind, at, ways[heading]) if at >= 0 else -1
            sites.append(at)
        else:
            heading = (heading + (1 if turn == "R" else -1)) % len(ways)
    return sites


def walk_sites(game: GameContext, kind: str, turns: Sequence[str]) -> tuple[list[int], int]:
    """[sites, headings, steps] in one list, and how many headings there are."""
    ways = supported_directions(game.topology, kind, "Orthogonal")
    found: list[int] = []
    for site in range(game.count_sites(kind)):
        for heading in range(len(ways)):
            found += follow(game, kind, site, heading, turns, ways)
    return found, len(ways)


def walk_ends(
    game: GameContext, kind: str, walks: Sequence[Sequence[str]], *, rotations: bool
) -> list[list[int]]:
    """By site, where walks end that never leave the board."""
    ways = supported_directions(game.topology, kind, "Orthogonal")
    result = []
    for site in range(game.count_sites(kind)):
        ends: set[int] = set()
        for heading in range(len(ways) if rotations else 1):
            for turns in walks:
                sites = follow(game, kind, site, heading, turns, ways)
                if sites and -1 not in sites:
                    ends.add(sites[-1])
        result.append(sorted(ends))
    return result


__all__ = ["RELATIONS", "follow", "supported_directions", "walk_ends", "walk_sites"]
