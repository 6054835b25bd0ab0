"""Ludemes that are regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.build import whole
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.boards.graph import Edge, Face, Vertex
from omnilude.rules.ludeme.compiler.code import Code, Part, code, many, numbers
from omnilude.rules.ludeme.compiler.constants import fold, needs_no_state
from omnilude.rules.ludeme.compiler.hiding import hidden_sites
from omnilude.rules.ludeme.compiler.kinds import (
    is_array_only,
    is_direction,
    is_number,
    is_region,
)
from omnilude.rules.ludeme.compiler.roles import PLAYERS, ROLES, SHARED, is_role
from omnilude.rules.ludeme.compiler.walks import walk_ends
from omnilude.rules.ludeme.tree import Array, Clause, Node, Number, Symbol, Text

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler

Make = Callable[["Compiler", Arguments], Code]
TOPOLOGY = (
    *("Top", "Bottom", "Left", "Right", "Corners", "ConcaveCorners", "ConvexCorners"),
    *("Inner", "Outer", "Perimeter", "Major", "Minor", "Centre"),
)
AROUND = {"Empty": 1, "NotEmpty": 2, "Own": 3, "Enemy": 4, "NotEnemy": 5, "NotOwn": 6}
_LABEL = re.compile(r"[A-Z]+\d+")
_SITE = re.compile(r"([A-Za-z])\1?\d+")
"""What is never the name of a region, but of a site that the board may not have."""


def compile_region(c: Compiler, node: Node) -> Code:
    if isinstance(node, Array):
        return _listed(c, list(node.items))
    if isinstance(node, Clause):
        a = Arguments(node)
        made = _make(c, a)
        a.finish()
        return fold(made)
    raise node.place.error(f"a region is needed, not {describe(node)}")


def _listed(c: Compiler, items: list[Node]) -> Code:
    if all(isinstance(item, Text) for item in items):
        found = [c.game.find_label(describe(item).strip('"')) for item in items]
        return c.fixed(site for site in found if site >= 0)
    if all(isinstance(item, Number) for item in items):
        return c.fixed(whole(item) for item in items)
    return code("sites", code("numbers", many(c.number(item) for item in items)))


def _make(c: Compiler, a: Arguments) -> Code:
    keyword = a.keyword
    if keyword == "sites":
        return _sites(c, a)
    if keyword in ("union", "intersection"):
        nodes = [item for node in a.take_rest() for item in _regions(node)]
        return code(keyword, many(c.region(node) for node in nodes))
    if keyword == "difference":
        first, second = a.take(), a.take()
        other = c.region(second) if is_region(second) else code("sites", c.array(second))
        return code("difference", many([c.region(first), other]))
    if keyword == "if":
        test, yes, no = c.boolean(a.take()), c.region(a.take()), a.take_if(lambda _: True)
        return code("if", test, yes, None if no is None else c.region(no))
    if keyword == "expand":
        return _expand(c, a)
    if keyword == "forEach":
        return _for_each(c, a)
    raise unsupported(f"the region ({keyword} …)", a.place)


def _regions(node: Node) -> list[Node]:
    """Several regions in braces, or one."""
    if isinstance(node, Array) and not all(is_number(i) or isinstance(i, Text) for i in node.items):
        return list(node.items)
    return [node]


def _expand(c: Compiler, a: Arguments) -> Code:
    origin, steps = a.take_label("origin"), a.take_label("steps")
    first = a.take_if(lambda node: is_region(node) or is_number(node))
    if first is not None and is_number(first) and a.peek() is not None and is_region(a.peek()):  # type: ignore[arg-type]
        raise unsupported("(expand …) in another container", a.place)
    if a.peek() is not None and isinstance(a.peek(), Text):
        raise unsupported("(expand …) in another container", a.place)
    if first is not None:
        region = c.region(first) if is_region(first) else code("sites", c.array(first))
    elif origin is not None:
        region = code("sites", code("numbers", many([c.number(origin)])))
    else:
        raise a.error("a region is missing")
    named = a.take_if(is_direction)
    kind = c.take_kind(a)
    direction = INDEX["Adjacent"] if named is None else c.single_direction(named)
    return code(
        "expand",
        c.kind(kind),
        region,
        None if steps is None else c.number(steps),
        direction,
    )


def _for_each(c: Compiler, a: Arguments) -> Code:
    of, test = a.take_label("of"), a.take_label("if")
    if a.take_symbol("Level"):
        c.game.wants.stacking = True
        kind = c.take_kind(a)
        at, first = a.take_label("at"), a.take_label("startAt")
        if at is None:
            raise a.error("at: is missing")
        bottom = a.take_symbol("FromTop", "FromBottom") == "FromBottom"
        return code(
            "forEach Level",
            c.kind(kind),
            c.number(at),
            None if first is None else c.number(first),
            not bottom,
            None if test is None else c.boolean(test),
        )
    if of is not None:
        return code("forEach of", c.region(of), c.region(a.take()))
    node = a.take()
    if test is not None:
        return code("forEach if", c.region(node), c.boolean(test))
    if is_array_only(node):
        return code("forEach Player", c.array(node), c.region(a.take()))
    raise unsupported("(forEach …) as a region of this form", a.place)


# --- sites ---


def _sites(c: Compiler, a: Arguments) -> Code:
    first = a.peek()
    if first is None:
        return code("register")
    if isinstance(first, Symbol) and first.name in SITES:
        a.take()
        return SITES[first.name](c, a)
    if isinstance(first, Symbol) and first.name in TOPOLOGY:
        a.take()
        kind = c.take_kind(a)
        return c.fixed(c.game.measures[kind or c.game.kind].regions.get(first.name, []))
    if isinstance(first, Symbol) and first.name in ROLES:
        role = ROLES[first.name]
        a.take()
        return _owned(c, code("role", role), a.take_text() or "")
    if isinstance(first, Text):
        a.take()
        return _named(c, first)
    kind = c.take_kind(a)
    node = a.take()
    if isinstance(node, Text):
        site = c.game.find_label(node.value, kind)
        if site < 0:
            raise node.place.error(f"the board has no site {node.value}")
        return c.fixed([site])
    if isinstance(node, Clause) and node.keyword in ("player", "mover", "next", "prev"):
        return _owned(c, c.number(node), a.take_text() or "")
    walk = _walk_of(node) or _walk_of(a.peek())
    if walk is not None:
        start = code("from") if _walk_of(node) else c.number(node)
        if not _walk_of(node):
            a.take()
        ends = walk_ends(
            c.game, kind or c.game.kind, walk, rotations=a.take_flag("rotations", True)
        )
        return code("sites Walk", start, many(numbers(one) for one in ends))
    if isinstance(node, Array) and all(isinstance(item, Text) for item in node.items):
        found = [c.game.find_label(describe(item).strip('"'), kind) for item in node.items]
        return c.fixed(site for site in found if site >= 0)
    if isinstance(node, Array):
        return _listed(c, list(node.items))
    if kind in ("Cell", "Edge"):
        raise unsupported(f"(sites {kind} …) with a number", a.place)
    if isinstance(node, Symbol):
        raise unsupported(f"(sites {node.name} …)", a.place)
    return code("sites", c.array(node))


def _walk_of(node: Node | None) -> list[list[str]] | None:
    if not isinstance(node, Array) or not node.items:
        return None
    if not all(isinstance(item, Array) for item in node.items):
        return None
    return [[describe(turn) for turn in items_of(item)] for item in node.items]


def _named(c: Compiler, node: Text) -> Code:
    if _LABEL.fullmatch(node.value) and c.game.find_label(node.value) >= 0:
        return c.fixed([c.game.find_label(node.value)])
    found = [one for one in c.game.regions if one.name == node.value]
    if not found or _SITE.fullmatch(node.value):
        raise node.place.error(f"no region is called {node.value!r}")
    return unite(region for one in found for region in one.regions)


def _owned(c: Compiler, who: Code, name: str) -> Code:
    by_owner = [
        unite(
            region
            for one in c.game.regions
            if one.owner == owner and name in one.name
            for region in one.regions
        )
        for owner in range(c.game.players + 2)
    ]
    return code("sites of player", many(by_owner), who)


def unite(regions: Iterable[Code]) -> Code:
    """All of them together."""
    listed = list(regions)
    if not listed:
        return code("fixed", numbers([]))
    return listed[0] if len(listed) == 1 else code("union", many(listed))


def _board(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    return c.fixed(range(c.game.count_sites(kind or c.game.kind)))


def _by_number(measure: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        values = getattr(c.game.measures[kind or c.game.kind], measure)
        c.names_rows |= measure in ("rows", "columns")
        lists: list[list[int]] = [[] for _ in range(max(values, default=-1) + 1)]
        for site, value in enumerate(values):
            lists[value].append(site)
        return code("one of", many(numbers(one) for one in lists), c.number(a.take()))

    return make


def _side(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a) or c.game.kind
    kind = "Cell" if kind == "Cell" else "Vertex"
    measures = c.game.measures[kind]
    node = a.take()
    if isinstance(node, Symbol) and node.name in INDEX:
        return c.fixed(measures.regions.get(f"Side {node.name}", []))
    if is_role(node) and describe(node) == "Shared":
        return c.fixed(measures.regions.get("Outer", []))
    raise unsupported(f"(sites Side {describe(node)})", a.place)


def _empty(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    container = a.take_if(is_number)
    if container is not None:
        return code("sites Empty in", c.number(container))
    return code("sites Empty", c.kind(kind))


def _occupied(c: Compiler, a: Arguments) -> Code:
    by = a.take_label("by")
    if by is None:
        raise a.error("by: is missing")
    on = a.take_label("on")
    kind = describe(on) if on is not None else None
    container = a.take_label("container")
    component, components = a.take_label("component"), a.take_label("components")
    top = a.take_flag("top", True)
    role = ROLES[describe(by)] if is_role(by) else -1
    box: int = -1
    hands: list[Part] = []
    box_number: Code | None = None
    if container is not None and not isinstance(container, Text | Number):
        box_number = c.number(container)
    elif container is not None:
        box = _find_container(c, container, role)
        if box == -2:
            hands = [numbers(_hand(c, p)) for p in range(c.game.players + 2)]
    names = [component] if component is not None else items_of(components) if components else []
    texts = [item.value for item in names if isinstance(item, Text)]
    if texts and role < 0:
        raise unsupported("(sites Occupied by:(player …)) with names of pieces", a.place)
    chosen = [
        n
        for n, one in enumerate(c.game.components)
        if one.plain in texts and _fits(c, role, one.owner)
    ]
    others = [item for item in names if not isinstance(item, Text)]
    if texts and role in (
        ROLES["Enemy"],
        ROLES["NonMover"],
        ROLES["Mover"],
        ROLES["Next"],
        ROLES["Prev"],
        ROLES["Player"],
        ROLES["All"],
    ):
        chosen = [n for n, one in enumerate(c.game.components) if one.plain in texts]
    elif texts and role > 16:
        raise unsupported(f"(sites Occupied by:{describe(by)}) with names of pieces", a.place)
    return code(
        "sites Occupied",
        c.kind(kind),
        role,
        None if role >= 0 else c.player(by),
        box,
        box_number,
        many(hands),
        bool(texts),
        numbers(chosen),
        many(c.number(item) for item in others),
        top,
    )


def _fits(c: Compiler, role: int, owner: int) -> bool:
    return owner == role if role <= 16 else True


def _find_container(c: Compiler, node: Node, role: int) -> int:
    if isinstance(node, Text):
        if "Hand" in node.value and role >= 0:
            c.game.wants.kinds.add("Cell")
            return -2
        for number, box in enumerate(c.game.containers):
            if box.name == node.value:
                if number:
                    c.game.wants.kinds.add("Cell")
                return number
        raise node.place.error(f"no container is called {node.value!r}")
    if isinstance(node, Number):
        return int(node.value)
    raise unsupported(f"container:{describe(node)}", node.place)


def _hand(c: Compiler, owner: int) -> list[int]:
    for box in c.game.containers:
        if box.hand and box.owner == owner:
            return [box.first_site, box.sites]
    return []


def _state(c: Compiler, a: Arguments) -> Code:
    c.game.wants.state = True
    kind = c.take_kind(a)
    if kind not in (None, c.game.kind):
        raise unsupported(f"(sites State {kind} …) on another kind of board", a.place)
    return code("sites State", c.kind(kind), c.number(a.take()))


def _to_clear(c: Compiler, a: Arguments) -> Code:
    c.game.wants.to_clear = True
    return code("sites ToClear")


def _playable(c: Compiler, a: Arguments) -> Code:
    kind = c.game.kind
    centre = c.game.measures[kind].regions.get("Centre", [])
    if not c.game.boardless and kind != "Cell":
        raise unsupported(f"(sites Playable) on a board of {kind.lower()} sites", a.clause.place)
    first = centre[:1] if c.game.boardless else centre
    return code("sites Playable", c.kind(None), numbers(first), int(c.game.boardless))


def _pending(c: Compiler, a: Arguments) -> Code:
    c.game.wants.pending = True
    return code("sites Pending")


def _start(c: Compiler, a: Arguments) -> Code:
    clause = a.take_clause("piece")
    if clause is None:
        raise a.error("a piece is needed", "write (sites Start (piece …))")
    c.uses_start_sites = True
    return code("sites Start", c.piece_numbers(clause)[0])


def _hand_sites(c: Compiler, a: Arguments) -> Code:
    node = a.take()
    if is_role(node) and ROLES[describe(node)] == SHARED:
        boxes = [box for box in c.game.containers if box.hand]
        box = boxes[0] if boxes else None
        return c.fixed(range(box.first_site, box.first_site + box.sites) if box else [])
    return code("sites Hand", c.player(node))


def _around(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    origins = c.array(a.take())
    what = a.take_symbol(*AROUND)
    distance, test = a.take_label("distance"), a.take_label("if")
    include = a.take_label("includeSelf")
    direction = c.take_absolute_direction(a)
    what = what or a.take_symbol(*AROUND)
    return code(
        "sites Around",
        c.kind(kind),
        origins,
        AROUND[what] if what else 0,
        None if distance is None else c.number(distance),
        direction,
        None if test is None else c.boolean(test),
        None if include is None else c.boolean(include),
    )


def _direction(c: Compiler, a: Arguments) -> Code:
    if c.in_stop:
        raise unsupported("(sites Direction …) within the stop: of another", a.place)
    one, several = a.take_label("from"), a.take_label("From")
    start = several if one is None else one
    if start is None:
        raise a.error("from: is missing")
    directions = c.take_directions(a)
    included, stop = a.take_label("included"), a.take_label("stop")
    stop_included, distance = a.take_label("stopIncluded"), a.take_label("distance")
    kind = c.take_kind(a)
    c.in_stop = True
    until = None if stop is None else c.boolean(stop)
    c.in_stop = False
    return code(
        "sites Direction",
        c.kind(kind),
        c.array(start),
        directions,
        None if included is None else c.boolean(included),
        until,
        None if stop_included is None else c.boolean(stop_included),
        None if distance is None else c.number(distance),
    )


def _distance(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    relation = a.take_symbol("Adjacent", "Orthogonal", "Diagonal", "OffDiagonal", "All", "Off")
    if a.take_clause("step"):
        raise unsupported("(sites Distance …) with a step move", a.place)
    start = a.take_label("from")
    if start is None:
        raise a.error("from: is missing")
    c.want_distances(kind, relation, a.place)
    return code("sites Distance", c.kind(kind), c.number(start), c.range(a.take()))


def _line_of_sight(c: Compiler, a: Arguments) -> Code:
    what = a.take_symbol("Empty", "Farthest", "Piece") or "Piece"
    c.take_kind(a)
    at = a.take_label("at")
    directions = c.take_directions(a)
    return code(
        "sites LineOfSight",
        {"Piece": 0, "Empty": 1, "Farthest": 2}[what],
        code("last To") if at is None else c.number(at),
        directions,
    )


def _group(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    at, several = a.take_label("at"), a.take_label("from", "From")
    start = several if at is None else at
    if start is None:
        raise a.error("at: is missing")
    directions = c.take_directions(a)
    test = a.take_label("if")
    return code(
        "sites Group",
        c.kind(kind),
        c.array(start),
        directions,
        None if test is None else c.boolean(test),
    )


def _incident(c: Compiler, a: Arguments) -> Code:
    result = a.take_symbol("Cell", "Edge", "Vertex")
    of, at = a.take_label("of"), a.take_label("at")
    if result is None or of is None or at is None:
        raise a.error("a kind, of: and at: are needed")
    owner = a.take_label("owner") or a.take_if(lambda _: True)
    site = c.number(at)
    who = None if owner is None else c.player(owner)
    if who is not None and needs_no_state(site) and needs_no_state(who):
        # The reference system looks once, at the empty board.
        raise unsupported("(sites Incident …) of a fixed site and owner", a.place)
    lists = [
        _incident_to(element, result) for element in c.game.topology.graph.elements(describe(of))
    ]
    return code(
        "sites Incident",
        site,
        c.kind(result),
        many(numbers(sorted(set(one))) for one in lists),
        who,
    )


def _incident_to(element: Vertex | Edge | Face, result: str) -> list[int]:
    if isinstance(element, Face):
        if result == "Cell":
            around = [edge.across(element) for edge in element.edges]
            return [face.number for face in around if face]
        parts: list[Vertex] | list[Edge] = element.edges if result == "Edge" else element.vertices
        return [part.number for part in parts]
    if isinstance(element, Edge):
        ends = (element.a, element.b)
        if result == "Vertex":
            return [end.number for end in ends]
        if result == "Edge":
            return [edge.number for end in ends for edge in end.edges if edge is not element]
        return [face.number for face in (element.left, element.right) if face]
    if result == "Edge":
        return [edge.number for edge in element.edges]
    faces = [face.number for face in element.faces]
    if result == "Cell":
        return faces
    # Of a vertex the vertices come out as numbers of cells: descriptions rely on it.
    beside = [face.number for e in element.edges for face in (e.left, e.right) if face]
    return [number for number in beside if number != element.number]


def _between(c: Compiler, a: Arguments) -> Code:
    directions = c.take_directions(a)
    kind = c.take_kind(a)
    start, end = a.take_label("from"), a.take_label("to")
    if start is None or end is None:
        raise a.error("from: and to: are needed")
    options = [a.take_label(label) for label in ("fromIncluded", "toIncluded", "cond")]
    flags = [None if node is None else c.boolean(node) for node in options]
    return code("sites Between", c.kind(kind), directions, c.number(start), c.number(end), *flags)


def _of_moves(name: str) -> Make:
    return lambda c, a: code(name, c.moves(a.take()))


def _track(c: Compiler, a: Arguments) -> Code:
    who = a.take_if(lambda node: not isinstance(node, Text))
    name = a.take_text()
    start, end = a.take_label("from"), a.take_label("to")
    owners = [c.track_for_sites(name, p) for p in range(c.game.players + 2)]
    fixed, player = -1, None
    if who is None:
        fixed = c.track_for_sites(name, 0)
        if c.in_track_loop:
            fixed = -1
    elif is_role(who) and describe(who) in PLAYERS:
        fixed = owners[PLAYERS[describe(who)]]
    else:
        player = c.player(who)
    return code(
        "sites Track",
        fixed,
        numbers(owners),
        player,
        None if start is None else c.number(start),
        None if end is None else c.number(end),
    )


SITES: dict[str, Make] = {
    "Board": _board,
    "Distance": _distance,
    "Row": _by_number("rows"),
    "Column": _by_number("columns"),
    "Phase": _by_number("phases"),
    "Layer": _by_number("layers"),
    "Side": _side,
    "Empty": _empty,
    "Occupied": _occupied,
    "State": _state,
    "Hidden": hidden_sites,
    "Playable": _playable,
    "ToClear": _to_clear,
    "Pending": _pending,
    "Start": _start,
    "Hand": _hand_sites,
    "Around": _around,
    "Direction": _direction,
    "LineOfSight": _line_of_sight,
    "Group": _group,
    "Incident": _incident,
    "Between": _between,
    "From": _of_moves("sites From"),
    "To": _of_moves("sites To"),
    "Track": _track,
}
