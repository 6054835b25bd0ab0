"""Moves for each piece, site, direction, level, value, player, group or die."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.directions import COMPASS
from omnilude.rules.ludeme.compiler.code import Code, Part, code, many, mentions, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    is_array_only,
    is_number,
    is_region,
)
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.roles import MOVER, ROLES, is_player_clause, is_role
from omnilude.rules.ludeme.compiler.walks import supported_directions
from omnilude.rules.ludeme.tree import Array, Clause, Node, Text

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.clauses import Make, take_between, take_from, take_then


def _for_each_piece(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    on = a.take_label("on")
    if a.has_label("top"):  # whether it is True or not
        c.game.wants.stacking = True
    top = a.take_flag("top")
    names: list[str] = []
    first = a.take_if(
        lambda node: (
            isinstance(node, Text)
            or (isinstance(node, Array) and all(isinstance(item, Text) for item in node.items))
        )
    )
    if first is not None:
        names = [item.value for item in items_of(first) if isinstance(item, Text)]
    box = a.take_label("container")
    container = 0
    if box is not None:
        if isinstance(box, Text):
            found = [n for n, one in enumerate(c.game.containers) if one.name == box.value]
            if not found:
                raise unsupported(f"container:{describe(box)} in (forEach Piece …)", a.place)
            container = found[0]
        else:
            value = c.number(box)
            owner = _hand_owner(c, box)
            if owner is not None:
                return _piece_in_hands(c, a, names, owner, top, then)
            if value.number is None:
                raise unsupported(f"container:{describe(box)} in (forEach Piece …)", a.place)
            container = value.number
    who = a.take_if(is_role) or a.take_if(is_player_clause)
    generator = a.take_if(lambda _: True)
    who = who or a.take_if(is_role) or a.take_if(is_player_clause)
    return _piece_loop(c, names, container, generator, who, top, then, on)


def _hand_owner(c: Compiler, node: Node) -> Node | None:
    """Whose hand a container's number stands for: (mover) and the like name the player's hand."""
    if isinstance(node, Clause) and node.keyword in ("mover", "next", "prev"):
        return node
    return None


def _piece_in_hands(
    c: Compiler, a: Arguments, names: list[str], owner: Node, top: bool, then: Code | None
) -> Code:
    # Containers 1 to n are the hands of the players, where there is one for each.
    who = a.take_if(is_role) or a.take_if(is_player_clause)
    generator = a.take_if(lambda _: True)
    made: Code | None = None
    for player in range(c.game.players, 0, -1):
        if player >= len(c.game.containers):
            raise unsupported("container: by number in (forEach Piece …)", a.place)
        loop = _piece_loop(c, names, player, generator, who, top, then, None)
        test = code("=", c.number(owner), number(player))
        made = loop if made is None else code("if", test, loop, made, None)
    assert made is not None
    return made


def _piece_loop(
    c: Compiler,
    names: list[str],
    container: int,
    generator: Node | None,
    who: Node | None,
    top: bool,
    then: Code | None,
    on: Node | None,
) -> Code:
    chosen = [n for n, one in enumerate(c.game.components) if n and one.plain in names]
    role, player = (MOVER, None)
    if who is not None and is_role(who):
        role = ROLES[describe(who)]
    elif who is not None:
        role, player = -1, c.player(who)
    if container:
        c.game.wants.kinds.add("Cell")
    own: list[Part] = []
    if generator is None:
        wanted = set(chosen) if names else set(range(len(c.game.components)))
        own = [c.own_moves(n) if n in wanted else None for n in range(len(c.game.components))]
    return code(
        "forEach Piece",
        -1 if on is None else c.kind(describe(on)),
        bool(names),
        numbers(chosen),
        container,
        None if generator is None else c.moves(generator),
        many(own),
        role,
        player,
        top,
        then,
    )


def _for_each_site(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    otherwise = a.take_label("noMoveYet")
    region = a.take()
    sites = c.region(region) if is_region(region) else code("sites", c.array(region))
    return code(
        "forEach Site",
        sites,
        c.moves(a.take()),
        None if otherwise is None else c.moves(otherwise),
        then,
    )


def _for_each_direction(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    source = take_from(c, a)
    between = take_between(c, a)
    clause = a.take_clause("to")
    directions = c.take_directions(a)
    test: Code | None = None
    moves: Code | None = None
    if clause is not None:
        inner = Arguments(clause)
        c.take_kind(inner, default=False)
        condition = inner.take_label("if")
        test = None if condition is None else c.boolean(condition)
        applied = inner.take_clause("apply")
        if applied is not None:
            effect = Arguments(applied)
            effect.take_label("if")  # not looked at here
            moves = c.moves(effect.take())
            effect.finish()
        inner.finish()
    node = a.take_if(lambda _: True)
    if node is not None:
        moves = c.moves(node)
    if moves is None:
        raise a.error("moves are needed")
    if source.region is not None:
        raise unsupported("(forEach Direction …) from a region", a.place)
    known = supported_directions(c.game.topology, source.kind or c.game.kind, "All")
    if mentions(directions, "relative") and not all(name in COMPASS for name in known):
        raise unsupported("relative directions in (forEach Direction …) on this board", a.place)
    return code(
        "forEach Direction",
        c.kind(source.kind),
        source.site,
        directions,
        between.range,
        between.test,
        test,
        moves,
        then,
    )


def _for_each_level(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.stacking = True
    then = take_then(c, a)
    kind = c.take_kind(a)
    site = c.number(a.take())
    bottom = a.take_symbol("FromTop", "FromBottom") == "FromBottom"
    return code("forEach Level", c.kind(kind), site, not bottom, c.moves(a.take()), then)


def _for_each_value(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    low, high = a.take_label("min"), a.take_label("max")
    if low is not None and high is not None:
        return code("forEach Value", None, c.number(low), c.number(high), c.moves(a.take()), then)
    return code("forEach Value", c.array(a.take()), None, None, c.moves(a.take()), then)


def _for_each_player(c: Compiler, a: Arguments, decision: bool) -> Code:
    a.take_clause("then")
    return code("forEach Player", None, c.moves(a.take()))


def for_each_players(c: Compiler, a: Arguments, decision: bool) -> Code:
    node = a.take()
    if not is_array_only(node):
        raise unsupported(f"(forEach {describe(node)} …)", a.place)
    a.take_clause("then")
    return code("forEach Player", c.array(node), c.moves(a.take()))


def _for_each_group(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    kind = c.take_kind(a)
    directions = c.take_directions(a)
    test = a.take_label("if")
    return code(
        "forEach Group",
        c.kind(kind),
        directions,
        None if test is None else c.boolean(test),
        c.moves(a.take()),
        then,
    )


def _for_each_die(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    test = a.take_label("if")
    combined, replay = a.take_flag("combined"), a.take_label("replayDouble")
    index = a.take_if(is_number)
    chosen = 0 if index is None else c.number(index).number
    boxes = c.dice_boxes
    if chosen is None or chosen >= len(boxes):
        raise unsupported("(forEach Die …) without such dice", a.place)
    box = boxes[chosen]
    return code(
        "forEach Die",
        box[0],
        box[2],
        box[1],
        combined,
        None if replay is None else c.boolean(replay),
        None if test is None else c.boolean(test),
        c.moves(a.take()),
        many(numbers(one) for one in boxes),
        then,
    )


LOOPS: dict[str, Make] = {
    "forEach Piece": _for_each_piece,
    "forEach Site": _for_each_site,
    "forEach Direction": _for_each_direction,
    "forEach Level": _for_each_level,
    "forEach Value": _for_each_value,
    "forEach Player": _for_each_player,
    "forEach Group": _for_each_group,
    "forEach Die": _for_each_die,
}
