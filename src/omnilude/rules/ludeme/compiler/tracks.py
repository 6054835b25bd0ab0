"""Tracks of boards: sites in the order in which pieces run over them."""

from __future__ import annotations

import re

from omnilude.rules.ludeme.arguments import Arguments, items_of, unsupported
from omnilude.rules.ludeme.boards.build import whole
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.context import (
    GameContext,
    Track,
)
from omnilude.rules.ludeme.compiler.roles import ROLES
from omnilude.rules.ludeme.tokens import Place
from omnilude.rules.ludeme.tree import Clause, Number, Symbol, Text


def read_track(game: GameContext, clause: Clause) -> Track:
    a = Arguments(clause)
    name = a.take_text()
    if name is None:
        raise a.error("a name is needed")
    node = a.take()
    looped, directed = a.take_flag("loop"), a.take_flag("directed")
    owner_symbol = a.take_symbol(*ROLES)
    owner_number = a.take_if(lambda one: isinstance(one, Number))
    a.finish()
    owner = 0
    if owner_symbol is not None:
        role = ROLES[owner_symbol]
        owner = role if role <= 16 else role - 16 if role <= 32 else 0
    elif owner_number is not None:
        owner = whole(owner_number)
    if isinstance(node, Text):
        sites = _walk_track(game, node)
    else:
        sites = [
            {"End": -2, "Off": -1}[item.name]
            if isinstance(item, Symbol) and item.name in ("End", "Off")
            else whole(item)
            for item in items_of(node)
        ]
    return Track(name, owner, looped, _link(sites, looped, directed, a.place))


def _walk_track(game: GameContext, node: Text) -> list[int]:
    sites: list[int] = []
    at = -1
    for word in node.value.split(","):
        match = re.fullmatch(r"([A-Za-z]+)(\d*)", word.strip())
        if word.strip().isdigit():
            at = int(word)
            sites.append(at)
        elif word.strip() == "End":
            sites.append(-2)
        elif match and match[1] in INDEX and 0 <= at < game.count_sites(game.kind):
            most = int(match[2]) if match[2] else 10_000
            for ray in game.topology.rays(game.kind).at(at, INDEX[match[1]]):
                sites += ray.sites[1 : most + 1]
            if sites:
                at = sites[-1]
        else:
            raise node.place.error(f"{word.strip()!r} is no step of a track")
    return sites


def _link(
    sites: list[int], looped: bool, directed: bool, place: Place
) -> list[tuple[int, int, int, int, int, int]]:
    """Equal sites in a row become one with bumps."""
    runs: list[list[int]] = []
    for site in sites:
        if runs and runs[-1][0] == site:
            runs[-1][1] += 1
        else:
            runs.append([site, 0])
    if len(runs) < 2:
        raise place.error("a track needs at least two sites")
    last = len(runs) - 1
    elements = []
    for n, (site, bump) in enumerate(runs):
        following = n + 1 if n < last else 0 if looped else -1
        if n == 0:
            previous = last if looped else -1
        elif n == last:
            previous = n - 1
        else:
            previous = -1 if directed else n - 1
        elements.append(
            (
                site,
                runs[following][0] if following >= 0 else -1,
                following,
                runs[previous][0] if previous >= 0 else -1,
                previous,
                bump,
            )
        )
    return elements


def add_surakarta_tracks(game: GameContext, board: Clause) -> None:
    a = Arguments(board)
    measures = game.measures["Vertex"]
    if not measures.rows:
        raise board.place.error("a Surakarta board needs vertices")
    rows, columns = max(measures.rows) + 1, max(measures.columns) + 1
    loops, first = a.take_label("loops"), a.take_label("from")
    start = whole(first) if first is not None else 1
    count = whole(loops) if loops is not None else (min(rows - 1, columns - 1) - 1) // 2
    node = a.take()
    if not isinstance(node, Clause) or node.keyword not in ("square", "rectangle"):
        raise unsupported("(surakartaBoard …) but on squares", board.place)
    for loop in range(start, start + count):
        parts = [
            [loop * columns + c for c in range(columns)],
            [columns - 1 - loop + r * columns for r in range(rows)],
            [rows * columns - 1 - loop * columns - c for c in range(columns)],
            [rows * columns - columns + loop - r * columns for r in range(rows)],
        ]
        marked = {(p, n) for p, part in enumerate(parts) for n in (0, len(part) - 1)}
        flat = [
            (site, (p, n) in marked and site != 0)
            for p, part in enumerate(parts)
            for n, site in enumerate(part)
        ]
        for name, listed in ((f"Track{loop}F", flat), (f"Track{loop}B", flat[::-1])):
            sites: list[int] = []
            for n, (site, corner) in enumerate(listed):
                sites.append(site)
                if corner and listed[(n + 1) % len(listed)][1]:
                    sites.append(site)
            game.tracks.append(Track(name, 0, True, _link(sites, True, True, board.place)))
