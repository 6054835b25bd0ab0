"""Regions and maps of the equipment, which rules refer to by name."""

from __future__ import annotations

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, code
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.constants import needs_no_state
from omnilude.rules.ludeme.compiler.context import NamedRegion
from omnilude.rules.ludeme.compiler.kinds import is_number
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role
from omnilude.rules.ludeme.tree import Array, Clause, Node, Symbol, Text

LANDMARKS = {
    "FirstSite": "",
    "LastSite": "",
    "CentreSite": "Centre",
    "BottomSite": "Bottom",
    "Topsite": "Top",
    "LeftSite": "Left",
    "RightSite": "Right",
}
"""Sites by name, and the first site of which region each is."""


def read_region(c: Compiler, clause: Clause) -> NamedRegion:
    a = Arguments(clause)
    name = a.take_text()
    role = a.take_symbol(*ROLES)
    found: list[Code] = []
    for node in a.take_rest():
        if isinstance(node, Array) and not all(
            is_number(i) or isinstance(i, Text) for i in node.items
        ):
            found += [c.region(item) for item in node.items]
        else:
            found.append(c.region(node))
    a.finish()
    if not all(needs_no_state(region) for region in found):
        # The reference system looks once, at the empty board.
        raise unsupported("a region of the equipment that changes in play", clause.place)
    owner = 0 if role is None else c.owner(ROLES[role])
    return NamedRegion(name or f"Region{role or 'P1'}", owner, found)


def read_map(c: Compiler, clause: Clause) -> tuple[str, list[tuple[Code, Code]]]:
    a = Arguments(clause)
    name = a.take_text() or "Map"
    entries: list[tuple[Code, Code]] = []
    nodes = a.take_rest()
    a.finish()
    listed = [item for node in nodes for item in items_of(node)]
    if len(nodes) == 2 and not any(
        isinstance(one, Clause) and one.keyword == "pair" for one in listed
    ):
        keys, values = (items_of(node) for node in nodes)
        if len(keys) != len(values):
            raise clause.place.error(f"{len(keys)} keys have {len(values)} values in (map …)")
        pairs = zip(keys, values, strict=True)
        return name, [(_map_number(c, key, True), _map_number(c, value)) for key, value in pairs]
    for pair in listed:
        if not isinstance(pair, Clause) or pair.keyword != "pair" or len(pair.items) != 2:
            raise unsupported(f"{describe(pair)} in (map …)", pair.place)
        key, value = pair.items
        entries.append((_map_number(c, key, True), _map_number(c, value)))
    return name, entries


def _map_number(c: Compiler, node: Node, is_key: bool = False) -> Code:
    if isinstance(node, Text):
        site = c.game.find_label(node.value)
        if site < 0 and is_key:
            raise unsupported(f"{node.value!r}, which is no site, as a key of (map …)", node.place)
        return number(site if site >= 0 else c.component(node.value, node.place))
    if isinstance(node, Symbol) and node.name in LANDMARKS:
        return number(_landmark(c, node.name))
    made = code("role", ROLES[describe(node)]) if is_role(node) else c.number(node)
    if not needs_no_state(made):
        raise unsupported(f"{describe(node)} in (map …), known only in play", node.place)
    return made


def _landmark(c: Compiler, name: str) -> int:
    kind = "Vertex" if c.game.kind == "Vertex" else "Cell"
    if name == "FirstSite":
        return 0
    if name == "LastSite":
        return c.game.count_sites(kind) - 1
    sites = c.game.measures[kind].regions.get(LANDMARKS[name], [])
    return sites[0] if sites else -1
