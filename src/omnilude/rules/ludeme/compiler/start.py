"""What stands where when a game begins."""

from __future__ import annotations

from collections.abc import Sequence

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.build import whole
from omnilude.rules.ludeme.compiler.code import Code, code, many, mentions, numbers
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.hiding import set_hidden
from omnilude.rules.ludeme.compiler.kinds import is_number, is_region
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role, role_number
from omnilude.rules.ludeme.tree import Array, Clause, Node, Text

MOST_PIECES = 10_000
"""On a site at the start: they are sown one by one."""


def start_rule(c: Compiler, node: Node) -> list[Code]:
    if not isinstance(node, Clause):
        raise node.place.error(f"a start rule is needed, not {describe(node)}")
    a = Arguments(node)
    if node.keyword == "place":
        made = _place(c, a)
    elif node.keyword == "set":
        made = _start_set(c, a)
    elif node.keyword == "forEach":
        made = _start_for_each(c, a)
    else:
        raise unsupported(f"the start rule ({node.keyword} …)", node.place)
    a.finish()
    return made


def _place(c: Compiler, a: Arguments) -> list[Code]:
    if a.take_symbol("Random"):
        raise unsupported("(place Random …)", a.place)
    stack = a.take_symbol("Stack") is not None
    if stack:
        c.game.wants.stacking = True
    items = a.take_label("items")
    name_node = None if items is not None else a.take()
    fields = {label: a.take_label(label) for label in ("count", "state", "rotation", "value")}
    counts_node = a.take_label("counts")
    counts = [] if counts_node is None else [whole(item) for item in items_of(counts_node)]
    if counts and not stack:
        # Without stacks the first holds for every site.
        fields["count"] = items_of(counts_node)[0] if counts_node is not None else None
        counts = []
    if fields["state"] is not None:
        c.game.wants.state = True
    if fields["rotation"] is not None:
        c.game.wants.rotation = True
    if fields["value"] is not None:
        c.game.wants.value = True
    if fields["count"] is not None and not stack and not c.game.wants.stacking:
        c.game.wants.count = True
    values = {k: None if v is None else c.number(v) for k, v in fields.items()}
    if isinstance(name_node, Text) and isinstance(a.peek(), Text):
        if stack:
            raise unsupported("(place Stack …) in a container", a.place)
        return _place_in_container(c, a, name_node, values)
    nodes = items_of(items) if items is not None else [name_node]
    pieces = []
    for node in nodes:
        if not isinstance(node, Text):
            raise a.error("the name of a piece is needed")
        pieces.append(c.component(node.value, node.place))
    coord = a.take_label("coord")
    kind = c.take_kind(a)
    if coord is not None:
        if not isinstance(coord, Text):
            raise unsupported(f"coord:{describe(coord)}", a.place)
        site = c.game.find_label(coord.value, kind)
        if site < 0:
            raise coord.place.error(f"the board has no site {coord.value}")
        return [_placed(c, kind, [site], None, pieces, values, stack)]
    target = a.take()
    if is_number(target):
        region: Code | None = code("sites", code("numbers", many([c.number(target)])))
        found = c.number(target)
        if found.number is not None:
            c.fills_hands |= _is_in_hand(c, [found.number])
            return [_placed(c, kind, [found.number], None, pieces, values, stack)]
    elif isinstance(target, Array) and all(isinstance(item, Text) for item in target.items):
        labels = [item.value for item in target.items if isinstance(item, Text)]
        found_sites = [c.game.find_label(label, kind) for label in labels]
        listed = [site for site in found_sites if site >= 0]  # others are passed over
        return [_placed(c, kind, listed, None, pieces, values, stack, counts)]
    elif is_region(target):
        c.fills_hands |= mentions(c.region(target), "sites Hand")
        listed_sites = [describe(one) for one in items_of(target)]
        if isinstance(target, Array) and len(set(listed_sites)) < len(listed_sites):
            raise unsupported("a site that is named twice in (place …)", a.place)
        region = c.region(target)
    else:
        raise unsupported(f"(place … {describe(target)})", a.place)
    return [_placed(c, kind, [], region, pieces, values, stack, counts)]


def _placed(
    c: Compiler,
    kind: str | None,
    sites: list[int],
    region: Code | None,
    pieces: list[int],
    values: dict[str, Code | None],
    stack: bool,
    counts: Sequence[int] = (),
) -> Code:
    return code(
        "place",
        c.kind(kind),
        numbers(sites),
        region,
        numbers(pieces),
        values["count"],
        values["state"],
        values["rotation"],
        values["value"],
        stack,
        numbers(counts),
    )


def _place_in_container(
    c: Compiler, a: Arguments, name: Text, values: dict[str, Code | None]
) -> list[Code]:
    box_node = a.take()
    assert isinstance(box_node, Text)
    exact = any(one.name == name.value for one in c.game.components)
    shared = box_node.value == "Hand" and not any(ch.isdigit() for ch in name.value) and not exact
    if not shared:
        c.fills_hands = True
        return [_place_in_hand(c, name, box_node, values)]
    made = []
    for player in range(1, c.game.players + 1):
        piece = c.component(f"{name.value}{player}", name.place)
        boxes = [box for box in c.game.containers if box.name == f"Hand{player}"]
        if not boxes:
            raise box_node.place.error(f"player {player} has no hand")
        if c.fills_hands:
            raise unsupported('(place … "Hand") after hands were filled otherwise', box_node.place)
        # The first site that is still empty.
        taken = sum(1 for one in c.placed_in_hand if one == player)
        c.placed_in_hand.append(player)
        site = boxes[0].first_site + min(taken, boxes[0].sites - 1)
        made.append(_placed(c, "Cell", [site], None, [piece], values, False))
    return made


def _is_in_hand(c: Compiler, sites: list[int]) -> bool:
    return any(0 <= site < len(c.game.container_of) and c.game.container_of[site] for site in sites)


def _place_in_hand(c: Compiler, name: Text, box: Text, values: dict[str, Code | None]) -> Code:
    """On the first site; the piece is the one that has the number of the container."""
    c.component(name.value, name.place)
    numbered = [n for n, one in enumerate(c.game.containers) if one.name == box.value and one.hand]
    if not numbered or numbered[0] >= len(c.game.components):
        raise unsupported(f'(place … "{box.value}")', box.place)
    first = c.game.containers[numbered[0]].first_site
    return _placed(c, "Cell", [first], None, [numbered[0]], values, False)


def _start_set(c: Compiler, a: Arguments) -> list[Code]:
    what = a.take_symbol("Count", "Score", "Team", "RememberValue", "Hidden")
    if what == "Hidden":
        return [code("set Hidden", *set_hidden(c, a))]
    if what == "Count":
        c.game.wants.count = True
        value = c.number(a.take())
        if value.number is not None and value.number > MOST_PIECES:
            raise unsupported(f"more than {MOST_PIECES:,} pieces on a site", a.place)
        kind = c.take_kind(a)
        at, to = a.take_label("at"), a.take_label("to")
        target = at if to is None else to
        if target is None:
            raise a.error("at: or to: is needed")
        region = is_region(target)
        return [
            code(
                "set Count",
                c.kind(kind),
                len(c.game.components) - 1,
                value,
                None if region else c.number(target),
                c.region(target) if region else None,
            )
        ]
    if what == "Score":
        c.game.wants.scores = True
        role = a.take_if(is_role)
        if role is None:
            raise a.error("a role is needed")
        return [code("set Score", ROLES[describe(role)], c.number(a.take()))]
    if what == "Team":
        c.game.wants.teams = True
        team = c.number(a.take()).number
        members = [role_number(item) for item in items_of(a.take())]
        if team is None or any(not 1 <= one <= c.game.players for one in members):
            raise unsupported("(set Team …) of this form", a.place)
        return [code("set Team", team, numbers(members))]
    if what == "RememberValue":
        name = a.take_text() or ""
        unique = a.take_flag("unique")
        node = a.take()
        region = is_region(node)
        return [
            code(
                "set RememberValue",
                c.game.remembered_list(name),
                None if region else c.number(node),
                c.region(node) if region else None,
                unique,
            )
        ]
    raise unsupported(f"the start rule (set {describe(a.peek() or a.clause)} …)", a.place)


def _start_for_each(c: Compiler, a: Arguments) -> list[Code]:
    what = a.take_symbol("Value", "Site")
    if what == "Value":
        low, high = a.take_label("min"), a.take_label("max")
        if low is None or high is None:
            raise unsupported("the start rule (forEach Value …) of this form", a.place)
        rules = start_rule(c, a.take())
        return [code("forEach Value", c.number(low), c.number(high), one) for one in rules]
    if what == "Site":
        region, test = c.region(a.take()), a.take_label("if")
        rules = start_rule(c, a.take())
        condition = None if test is None else c.boolean(test)
        return [code("forEach Site", region, condition, one) for one in rules]
    raise unsupported("the start rule (forEach …) of this form", a.place)
