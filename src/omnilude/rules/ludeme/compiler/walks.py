"""Ways over a board: turtle walks (F steps forward, L and R turn), and how far sites are apart."""

from __future__ import annotations

from collections.abc import Sequence

from omnilude.rules.ludeme.boards.directions import COMPASS, RANK, SPATIAL_ORDER
from omnilude.rules.ludeme.boards.topology import Topology
from omnilude.rules.ludeme.compiler.context import GameContext

_RINGS = (COMPASS, SPATIAL_ORDER[1:9], SPATIAL_ORDER[10:18], ("D",), ("U",))
_ROUND = {
    "R": {"Out": "CW", "CW": "In", "In": "CCW", "CCW": "Out"},
    "L": {"Out": "CCW", "CW": "In", "In": "CW", "CCW": "Out"},
}
"""Turns on round boards; of CW and CCW both lead the same way in the reference system."""

RELATIONS = ("All", "Orthogonal", "Diagonal", "Adjacent", "OffDiagonal")


def supported_directions(
    topology: Topology, kind: str, relation: str, site: int | None = None
) -> list[str]:
    """Specific directions that steps of a relation have: of a site as they come, else in order."""
    sites = range(len(topology.graph.elements(kind))) if site is None else (site,)
    names: list[str] = []
    for number in sites:
        listed = relation
        if kind == "Edge" and relation not in ("Diagonal", "OffDiagonal"):
            listed = "All"
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
    name = walked_as(name)
    for step in topology.lists[kind][site].get(name, ()):
        if step.kind == kind:
            found = step.end.number
    return found


def walked_as(name: str) -> str:
    """The direction that steps are looked up by: the reference system takes one for another."""
    return "DSW" if name == "DNW" else name


def _turn(heading: str, turn: str, ways: Sequence[str]) -> str:
    """The next direction to the right or left that the board has, of the same family."""
    ring = next((ring for ring in _RINGS if heading in ring), ())
    name = heading
    for _ in range(16):
        if ring:
            name = ring[(ring.index(name) + (1 if turn == "R" else -1)) % len(ring)]
        else:
            name = _ROUND[turn][name]
        if name in ways:
            break
    return name


def follow(
    game: GameContext, kind: str, start: int, heading: str, turns: Sequence[str], ways: list[str]
) -> list[int]:
    """The sites of the walk, -1 from where it leaves the board."""
    sites, at = [], start
    for turn in turns:
        if turn == "F":
            at = _step(game.topology, kind, at, heading) if at >= 0 else -1
            sites.append(at)
        else:
            heading = _turn(heading, turn, ways)
    return sites


def walk_sites(game: GameContext, kind: str, turns: Sequence[str]) -> tuple[list[int], int]:
    """[sites, headings, steps] in one list, and how many headings there are."""
    ways = supported_directions(game.topology, kind, "Orthogonal")
    found: list[int] = []
    for site in range(game.count_sites(kind)):
        for heading in ways:
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
        for heading in ways if rotations else ways[:1]:
            for turns in walks:
                sites = follow(game, kind, site, heading, turns, ways)
                if sites and -1 not in sites:
                    ends.add(sites[-1])
        result.append(sorted(ends))
    return result


def _neighbours(topology: Topology, kind: str, site: int, relation: str) -> list[int]:
    if kind == "Edge":
        return topology.neighbours(kind, site, "All")
    found = topology.lists[kind][site].get(relation, ())
    return [step.end.number for step in found if step.kind == kind]


def distances(topology: Topology, kind: str, relation: str) -> list[int]:
    """How many steps lead from each site to each other; 0 where none do."""
    count = len(topology.graph.elements(kind))
    around = [_neighbours(topology, kind, site, relation) for site in range(count)]
    table: list[int] = []
    for start in range(count):
        row = [0] * count
        seen, frontier, steps = {start}, [start], 0
        while frontier:
            steps += 1
            frontier = list(
                dict.fromkeys(n for site in frontier for n in around[site] if n not in seen)
            )
            for site in frontier:
                row[site] = steps
            seen.update(frontier)
        table += row
    return table
