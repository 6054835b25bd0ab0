"""Ludemes that are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, Name, code, many, numbers
from omnilude.rules.ludeme.compiler.constants import needs_no_state
from omnilude.rules.ludeme.compiler.kinds import (
    CONSTANTS,
    is_array_only,
    is_direction,
)
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role
from omnilude.rules.ludeme.tree import Clause, Node, Number, Symbol, Text
from omnilude.spelling import did_you_mean

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.counts import compile_count, compile_size
from omnilude.rules.ludeme.compiler.literals import Make, number, plain


def compile_number(c: Compiler, node: Node) -> Code:
    if isinstance(node, Number):
        if not node.whole:
            raise node.place.error(f"a whole number is needed, not {node.value:g}")
        return number(int(node.value))
    if isinstance(node, Symbol):
        if node.name in CONSTANTS:
            return number(CONSTANTS[node.name])
        if node.name in ROLES:
            return code("role", ROLES[node.name])
    if isinstance(node, Clause):
        make = NUMBER_MAKERS.get(node.keyword)
        if make is None:
            hint = did_you_mean(node.keyword, NUMBER_MAKERS)
            raise unsupported(
                f"the number ({node.keyword} …)" + (f"; {hint}" if hint else ""), node.place
            )
        arguments = Arguments(node)
        made = make(c, arguments)
        arguments.finish()
        return made
    raise node.place.error(f"a number is needed, not {describe(node)}")


# --- arithmetic ---


def _sum(c: Compiler, a: Arguments) -> Code:
    given = a.take_rest()
    if len(given) == 1 and is_array_only(given[0]):
        return code(f"{a.keyword}Of", c.array_in_any_order(given[0]))
    nodes = [item for node in given for item in items_of(node)]
    return code(a.keyword, many(c.number(node) for node in nodes))


def _minus(c: Compiler, a: Arguments) -> Code:
    first = a.take()
    if a.peek() is None:
        return code("-", number(0), c.number(first))
    return code("-", c.number(first), c.number(a.take()))


def _binary(name: str) -> Make:
    return lambda c, a: code(name, c.number(a.take()), c.number(a.take()))


def _extreme(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        first = a.take()
        if a.peek() is None:
            return code(f"{name}Of", c.array_in_any_order(first))
        return code(name, c.number(first), c.number(a.take()))

    return make


def _abs(c: Compiler, a: Arguments) -> Code:
    return code("abs", c.number(a.take()))


def _if(c: Compiler, a: Arguments) -> Code:
    return code("if", c.boolean(a.take()), c.number(a.take()), c.number(a.take()))


# --- registers and the state ---


def _from(c: Compiler, a: Arguments) -> Code:
    at = a.take_label("at")
    if isinstance(at, Symbol) and at.name == "StartOfTurn":
        return code("from StartOfTurn")
    return code("from")


def _player(c: Compiler, a: Arguments) -> Code:
    """(player) is the register; (player n) a number."""
    return c.player(a.take()) if a.peek() is not None else code("player")


def _last(c: Compiler, a: Arguments) -> Code:
    what = a.take_symbol("To", "From", "LevelTo", "LevelFrom")
    if what is None:
        raise unsupported(f"(last {describe(a.peek() or a.clause)})", a.place)
    after = a.take_flag("afterConsequence")
    if after and what.startswith("Level"):
        raise unsupported(f"(last {what} afterConsequence:True)", a.place)
    return code(f"last {what}" + (" after" if after else ""))


def _score(c: Compiler, a: Arguments) -> Code:
    c.game.wants.scores = True
    return code("score", c.player(a.take()))


def _amount(c: Compiler, a: Arguments) -> Code:
    c.game.wants.amounts = True
    return code("amount", c.player(a.take()))


def _var(c: Compiler, a: Arguments) -> Code:
    name = a.take_text()
    return code("temp") if name is None else code("var", c.game.variable(name))


def _value(c: Compiler, a: Arguments) -> Code:
    if a.peek() is None:
        return code("value")
    what = a.take_symbol("Pending", "Piece", "Player", "Random")
    if what == "Pending":
        c.game.wants.pending = True
        return code("value Pending")
    if what == "Piece":
        c.game.wants.value = True
        return _field("value Piece")(c, a)
    if what == "Player":
        return code("value Player", c.player(a.take()))
    if what == "Random":
        raise unsupported("(value Random …)", a.place)
    raise unsupported(f"(value {describe(a.peek() or a.clause)} …)", a.place)


# --- sites and what is on them ---

_OWNERS = ("Neutral", *(f"P{n}" for n in range(1, 9)), "Shared", "Mover", "Next", "Prev")
"""Whose pieces (id "Name" …) knows."""
NOTHING = "Disc"
"""What an empty site is called in the reference system: a neutral piece that is nowhere."""


def _field(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        at, level = a.take_label("at"), a.take_label("level")
        if at is None:
            raise a.error("at: is missing")
        return code(name, c.kind(kind), c.number(at), None if level is None else c.number(level))

    return make


def _state(c: Compiler, a: Arguments) -> Code:
    c.game.wants.state = True
    return _field("state")(c, a)


def _rotation(c: Compiler, a: Arguments) -> Code:
    c.game.wants.rotation = True
    return _field("rotation")(c, a)


def _level(c: Compiler, a: Arguments) -> Code:
    c.game.wants.stacking = True
    return code("level")


def _top_level(c: Compiler, a: Arguments) -> Code:
    c.game.wants.stacking = True
    kind = c.take_kind(a)
    at = a.take_label("at")
    if at is None:
        raise a.error("at: is missing")
    return code("topLevel", c.kind(kind), c.number(at))


def _where(c: Compiler, a: Arguments) -> Code:
    level = a.take_symbol("Level") is not None
    name = a.take_text()
    if name is not None:
        owner = a.take()
        piece = c.piece_of(name, owner)
        if describe(owner) == "Neutral" and name in NOTHING:
            piece = number(-1)
    else:
        piece = c.number(a.take())
    state = a.take_label("state")
    if state is not None:
        c.game.wants.state = True
    state_code = None if state is None else c.number(state)
    kind = c.take_kind(a)
    if not level:
        return code("where", c.kind(kind), piece, state_code, name is not None)
    c.game.wants.stacking = True
    at = a.take_label("at")
    if at is None:
        raise a.error("at: is missing")
    from_top = a.take_flag("fromTop", True)
    return code("where Level", c.kind(kind), piece, state_code, c.number(at), from_top)


def _id(c: Compiler, a: Arguments) -> Code:
    name = a.take_text()
    if name is None:
        return c.player(a.take())
    role = a.take_if(is_role)
    if role is not None:
        if describe(role) == "Player":
            return code("player")
        return c.piece_of(name, role) if describe(role) in _OWNERS else number(-1)
    for n, container in enumerate(c.game.containers):
        if container.name == name:
            return number(n)
    return number(c.component(name, a.place))


def _hand_site(c: Compiler, a: Arguments) -> Code:
    who = c.player(a.take())
    index = a.take_if(lambda node: True)
    return code("handSite", who, None if index is None else c.number(index))


def _map_entry(c: Compiler, a: Arguments) -> Code:
    name = a.take_text() or ""
    return code("mapEntry", Name(name), c.number(a.take()))


def _region_site(c: Compiler, a: Arguments) -> Code:
    region = c.region(a.take())
    index = a.take_label("index")
    if index is None:
        raise a.error("index: is missing")
    return code("regionSite", region, c.number(index))


def _array_value(c: Compiler, a: Arguments) -> Code:
    array = c.array(a.take())
    index = a.take_label("index")
    if index is None:
        raise a.error("index: is missing")
    return code("arrayValue", array, c.number(index))


def _coord(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    label = a.take_text()
    if label is not None:
        return number(c.game.find_label(label, kind))
    row, column = a.take_label("row"), a.take_label("column")
    if row is None or column is None:
        raise a.error("row: and column: are needed")
    return code("coord", c.kind(kind), c.number(row), c.number(column))


def _table(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        of = a.take_label("of")
        if of is None:
            raise a.error("of: is missing")
        c.asks_for_layers |= name == "layer"
        c.names_rows |= name in ("row", "column")
        return code(name, c.kind(kind), c.number(of))

    return make


def _centre(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    found = c.game.measures[kind or c.game.kind].regions.get("Centre", [])
    return number(found[0] if found else -1)


def _ahead(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    site = c.number(a.take())
    steps = a.take_label("steps")
    directions = a.take_if(is_direction)
    if directions is None:
        chosen = code("relative", numbers([0]), 3, False)
    else:
        names = [describe(item) for item in items_of(directions)]
        if names in (["SameDirection"], ["OppositeDirection"]):
            opposite = names == ["OppositeDirection"]
            count = None if steps is None else c.number(steps)
            return code("ahead same", c.kind(kind), site, count, opposite)
        if {"SameDirection", "OppositeDirection"} & set(names):
            raise unsupported(f"(ahead … {names[0]}) with other directions", a.place)
        chosen = c.directions(directions)
    return code("ahead", c.kind(kind), site, None if steps is None else c.number(steps), chosen)


def _track_site(c: Compiler, a: Arguments) -> Code:
    what = a.take_symbol("Move", "FirstSite", "EndSite")
    if what == "Move":
        start, steps = a.take_label("from"), a.take_label("steps")
        name = a.take_text() or ""
        who = a.take_if(lambda node: True)
        name = name or a.take_text() or ""
        if steps is None:
            raise a.error("steps: is missing")
        c.game.wants.laps |= c.has_inner_loops
        return code(
            "trackSite Move",
            Name(name),
            code("from") if start is None else c.number(start),
            code("mover") if who is None else c.player(who),
            c.number(steps),
        )
    owner = a.take_if(lambda node: not isinstance(node, Text))
    track_name = a.take_text()
    player = 0
    if owner is not None:
        if not is_role(owner) or ROLES[describe(owner)] > 16:
            raise unsupported(f"(trackSite {what} …) of a player known only in play", a.place)
        player = ROLES[describe(owner)]
    track = c.find_track(track_name, player)
    if what == "EndSite":
        return code("trackSite EndSite", track)
    start, test = a.take_label("from"), a.take_label("if")
    begin = None if start is None else c.number(start)
    if begin is not None and test is None and not needs_no_state(begin):
        # The reference system finds it once, before anything is known.
        raise unsupported("from: without if: in (trackSite FirstSite …)", a.place)
    return code(
        "trackSite FirstSite",
        track,
        begin,
        None if test is None else c.boolean(test),
    )


def _face(c: Compiler, a: Arguments) -> Code:
    return code("face", c.number(a.take()))


NUMBER_MAKERS: dict[str, Make] = {
    "+": _sum,
    "*": _sum,
    "-": _minus,
    "/": _binary("/"),
    "%": _binary("%"),
    "^": _binary("^"),
    "pow": _binary("^"),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "abs": _abs,
    "if": _if,
    "from": _from,
    **{name: plain(name) for name in ("to", "between", "site", "pips", "track")},
    "level": _level,
    **{name: plain(name) for name in ("mover", "next", "prev", "counter", "pot")},
    "player": _player,
    "last": _last,
    "score": _score,
    "amount": _amount,
    "var": _var,
    "value": _value,
    "count": compile_count,
    "size": compile_size,
    "who": _field("who"),
    "what": _field("what"),
    "state": _state,
    "rotation": _rotation,
    "topLevel": _top_level,
    "where": _where,
    "id": _id,
    "handSite": _hand_site,
    "mapEntry": _map_entry,
    "regionSite": _region_site,
    "arrayValue": _array_value,
    "coord": _coord,
    "row": _table("row"),
    "column": _table("column"),
    "layer": _table("layer"),
    "phase": _table("phase"),
    "centrePoint": _centre,
    "ahead": _ahead,
    "trackSite": _track_site,
    "face": _face,
}
