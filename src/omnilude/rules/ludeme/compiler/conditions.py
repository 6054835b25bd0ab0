"""Ludemes that are conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.code import Code, Numbers, code, many, numbers
from omnilude.rules.ludeme.compiler.counts import piece_count
from omnilude.rules.ludeme.compiler.hiding import is_hidden
from omnilude.rules.ludeme.compiler.kinds import (
    is_array,
    is_array_only,
    is_direction,
    is_number,
    is_region,
    is_role_symbol,
)
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.roles import ALL, NEXT, ROLES, is_role, role_number
from omnilude.rules.ludeme.compiler.walks import walk_sites
from omnilude.rules.ludeme.tree import Array, Clause, Labelled, Node, Symbol

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler

Make = Callable[["Compiler", Arguments], Code]
RELATIONS = ("Adjacent", "Orthogonal", "Diagonal", "OffDiagonal", "All", "Off")
SIDES = ("N", "E", "S", "W", "NE", "SE", "NW", "SW")
_COMPARED = {
    "=": "=",
    "equals": "=",
    "!=": "!=",
    "notEqual": "!=",
    "<": "<",
    "lt": "<",
    "<=": "<=",
    "le": "<=",
    ">": ">",
    "gt": ">",
    ">=": ">=",
    "ge": ">=",
}


def compile_boolean(c: Compiler, node: Node) -> Code:
    if isinstance(node, Symbol) and node.name in ("True", "False"):
        return code(node.name.lower())
    if not isinstance(node, Clause):
        raise node.place.error(f"a condition is needed, not {describe(node)}")
    a = Arguments(node)
    made = _make(c, a)
    a.finish()
    return made


def _make(c: Compiler, a: Arguments) -> Code:
    keyword = a.keyword
    if keyword in _COMPARED:
        return _compare(c, a)
    if keyword == "not":
        return code("not", c.boolean(a.take()))
    if keyword in ("and", "or"):
        nodes = [item for node in a.take_rest() for item in items_of(node)]
        return code(keyword, many(c.boolean(node) for node in nodes))
    if keyword == "xor":
        return code("xor", c.boolean(a.take()), c.boolean(a.take()))
    if keyword == "if":
        test, yes, no = c.boolean(a.take()), c.boolean(a.take()), a.take_if(lambda _: True)
        return code("if", test, yes, None if no is None else c.boolean(no))
    if keyword in ("is", "all", "no", "can", "was"):
        what = a.take_symbol()
        make = MAKERS.get(f"{keyword} {what}")
        if make is None:
            raise unsupported(f"({keyword} {what or describe(a.peek() or a.clause)} …)", a.place)
        return make(c, a)
    raise unsupported(f"the condition ({keyword} …)", a.place)


def _compare(c: Compiler, a: Arguments) -> Code:
    name = _COMPARED[a.keyword]
    first, second = a.take(), a.take()
    if is_region(first) and is_region(second) and name in ("=", "!="):
        same = code("same", c.region(first), c.region(second))
        return same if name == "=" else code("not", same)
    a_number, b_number = c.number(first), c.number(second)
    if name in ("=", "!=") and -1 in (a_number.number, b_number.number):
        a_number, b_number = _any_piece(a_number), _any_piece(b_number)
    return code(name, a_number, b_number)


def _any_piece(found: Code) -> Code:
    """Of (where …) whichever piece, as it is asked only whether there is one."""
    return Code("where", (*found.parts[:3], False)) if found.name == "where" else found


# --- sites ---


def _at_site(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        return code(name, c.kind(kind), c.number(a.take()))

    return make


def _in(c: Compiler, a: Arguments) -> Code:
    first = a.take()
    if a.peek() is None:
        return code("is In", code("to"), c.region(first))
    second = a.take()
    if is_array_only(second) or (isinstance(second, Clause) and second.keyword == "values"):
        return code("in Array", c.array(first), c.array(second))
    if isinstance(first, Array) or is_region(first) or is_array_only(first):
        return code("all In", c.array(first), c.region(second))
    region = c.region(second)
    listed = region.parts[0] if region.name == "fixed" else None
    if isinstance(listed, Numbers) and any(n >= len(c.game.container_of) for n in listed.items):
        # They are numbers of something else than sites.
        return code("in Array", c.array(first), code("numbers", many(map(number, listed.items))))
    return code("is In", c.number(first), region)


def _last_kind(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        if kind is None:
            raise a.error("Cell, Vertex or Edge is needed")
        return code("is Last", name == "From", c.kind(kind))

    return make


def _visited(c: Compiler, a: Arguments) -> Code:
    c.game.wants.visited = True
    return code("is Visited", c.number(a.take()))


def _related(c: Compiler, a: Arguments) -> Code:
    relation = a.take_symbol(*RELATIONS)
    if relation is None:
        raise a.error("a relation is needed")
    kind = c.take_kind(a)
    if (kind or c.game.kind) == "Edge":
        raise unsupported("(is Related …) of edges", a.place)
    site, other = c.number(a.take()), a.take()
    region = c.region(other) if is_region(other) else code("sites", c.array(other))
    return code("is Related", c.kind(kind), c.direction_number(relation), site, region)


def _full(c: Compiler, a: Arguments) -> Code:
    return code("is Full", c.kind(None))


def _within(c: Compiler, a: Arguments) -> Code:
    piece = c.number(a.take())
    kind = c.take_kind(a)
    at, inside = a.take_label("at"), a.take_label("in")
    if inside is not None:
        region = c.region(inside)
    else:
        site = code("last To") if at is None else c.number(at)
        region = code("sites", code("numbers", many([site])))
    return code("is Within", c.kind(kind), piece, region)


def _flat(c: Compiler, a: Arguments) -> Code:
    site = a.take_if(lambda _: True)
    if c.game.kind != "Vertex":
        raise unsupported("(is Flat …) but on vertices", a.place)
    return code("is Flat", code("to") if site is None else c.number(site))


# --- players ---


def _player_test(name: str) -> Make:
    return lambda c, a: code(name, c.player(a.take()))


def _is_player(name: str) -> Make:
    return lambda c, a: code("=", code(name), c.player(a.take()))


def _triggered(c: Compiler, a: Arguments) -> Code:
    if a.take_text() is None:
        raise a.error("the name of an event is needed")
    return code("is Triggered", c.player(a.take()))


# --- the course of the game ---


def _even(c: Compiler, a: Arguments) -> Code:
    return code("is Even", c.number(a.take()))


def _odd(c: Compiler, a: Arguments) -> Code:
    return code("not", code("is Even", c.number(a.take())))


def _pending(c: Compiler, a: Arguments) -> Code:
    c.game.wants.pending = True
    return code("is Pending")


def _all_passed(c: Compiler, a: Arguments) -> Code:
    c.game.all_pass_ends = False
    return code("all Passed")


def _was_pass(c: Compiler, a: Arguments) -> Code:
    return code("was Pass")


def _plain(name: str) -> Make:
    return lambda c, a: code(name)


def _any_die(c: Compiler, a: Arguments) -> Code:
    boxes = c.dice_boxes
    return code("is AnyDie", c.number(a.take()), boxes[0][2] if boxes else 0)


def _vote(name: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        text = a.take_text()
        if text is None:
            raise a.error("a text is needed")
        return code(name, c.game.vote(text))

    return make


def _repeat(c: Compiler, a: Arguments) -> Code:
    how = a.take_symbol("Positional", "Situational", "PositionalInTurn", "SituationalInTurn")
    raise unsupported(f"(is Repeat {how or ''})", a.place)


def _cycle(c: Compiler, a: Arguments) -> Code:
    c.game.wants.cycle = c.game.wants.history = True
    return code("is Cycle")


def _no_moves(c: Compiler, a: Arguments) -> Code:
    role = a.take_if(is_role)
    if role is None:
        raise a.error("a role is needed")
    return code("no Moves", ROLES[describe(role)])


def _no_pieces(c: Compiler, a: Arguments) -> Code:
    named = [item for item in a.left() if is_role(item)]
    if not named or describe(named[0]) in ("All", "NonMover", "Neutral"):
        c.asks_for_no_pieces.append(a.place)
    return code("=", code("some Pieces", *piece_count(c, a)), number(0))


def _occupied(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    if kind not in (None, "Cell", c.game.kind):
        raise unsupported(f"(is Occupied {kind} …) on another kind of board", a.place)
    return code("is Occupied", c.kind(kind), c.number(a.take()))


def _can_move(c: Compiler, a: Arguments) -> Code:
    if c.in_play and c.game.wants.visited:
        # There it makes the reference system forget sites that were visited.
        raise unsupported("(can Move …) in the rules of play beside (is Visited …)", a.place)
    return code("can Move", c.moves(a.take()))


def _all_sites(c: Compiler, a: Arguments) -> Code:
    region, test = c.region(a.take()), a.take_label("if")
    if test is None:
        raise a.error("if: is missing")
    return code("all Sites", region, c.boolean(test))


def _all_values(c: Compiler, a: Arguments) -> Code:
    array, test = c.array(a.take()), a.take_label("if")
    if test is None:
        raise a.error("if: is missing")
    return code("all Values", array, c.boolean(test))


def _all_groups(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    directions = c.take_directions(a)
    of, test = a.take_label("of"), a.take_label("if")
    if test is None:
        raise a.error("if: is missing")
    return code(
        "all Groups",
        c.kind(kind),
        directions,
        None if of is None else c.boolean(of),
        c.boolean(test),
    )


def _threatened(c: Compiler, a: Arguments) -> Code:
    if c.game.wants.stacking or len(c.game.wants.kinds) > 1:
        raise unsupported("(is Threatened …) with stacks or several kinds of sites", a.place)
    c.threats.append(a.place)
    at, inside = a.take_label("at"), a.take_label("in")
    piece = a.take_if(is_number)
    kind = c.take_kind(a)
    moves = a.take_if(lambda _: True)
    region = None
    if inside is not None:
        region = c.region(inside)
    elif at is not None and is_region(at):
        region = c.region(at)
    elif at is None and piece is None:
        region = c.occupied_by(ALL)
    return code(
        "is Threatened",
        c.kind(kind),
        None if piece is None else c.number(piece),
        None if at is None or is_region(at) else c.number(at),
        region,
        None if moves is None else c.moves(moves),
    )


# --- lines, patterns, connections, loops ---


def _line(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    length = c.number(a.take())
    direction = c.take_absolute_direction(a)
    for label in ("isVisible", "hasPiece", "rotation"):
        if a.has_label(label):
            raise unsupported(f"{label}: in (is Line …)", a.place)
    through, through_any = a.take_label("through"), a.take_label("throughAny")
    role = a.take_if(is_role_symbol)
    what, whats = a.take_label("what"), a.take_label("whats")
    exact, contiguous = a.take_label("exact"), a.take_label("contiguous")
    test, how_many = a.take_label("if"), a.take_label("throughHowMuch")
    by_level, top = a.take_flag("byLevel"), a.take_flag("top")
    opposites = a.take_flag("useOpposites", True)
    by_level &= c.game.wants.stacking  # by itself it makes no stacks
    top &= c.game.wants.stacking
    if (kind or c.game.kind) == "Edge":
        raise unsupported("(is Line …) on edges", a.place)
    pieces = [what] if what is not None else items_of(whats) if whats is not None else []
    return code(
        "is Line",
        c.kind(kind),
        length,
        direction,
        code("last To") if through is None else c.number(through),
        None if through_any is None else c.region(through_any),
        -1 if role is None else ROLES[describe(role)],
        many(c.number(piece) for piece in pieces),
        None if exact is None else c.boolean(exact),
        None if contiguous is None else c.boolean(contiguous),
        None if test is None else c.boolean(test),
        by_level,
        top,
        opposites,
        None if how_many is None else c.number(how_many),
    )


def _pattern(c: Compiler, a: Arguments) -> Code:
    walk = a.take()
    kind = c.take_kind(a)
    start = a.take_label("from")
    what, whats = a.take_label("what"), a.take_label("whats")
    pieces = [what] if what is not None else items_of(whats) if whats is not None else []
    turns = [describe(item) for item in items_of(walk)]
    used = kind or c.game.kind
    walks, headings = walk_sites(c.game, used, turns)
    length = turns.count("F")
    return code(
        "is Pattern",
        c.kind(kind),
        code("last To") if start is None else c.number(start),
        many(c.number(piece) for piece in pieces),
        headings,
        length,
        numbers(walks),
    )


def _connected(c: Compiler, a: Arguments) -> Code:
    count = a.take_if(is_number)
    if count is not None and c.number(count).number == 0:
        raise unsupported("(is Connected 0 …)", a.place)
    kind = c.take_kind(a)
    at = a.take_label("at")
    # All is a direction where something else follows, and a role where nothing does.
    named = a.take_if(is_direction) if len(a.left()) > 1 else None
    directions = (
        code("absolute", numbers([INDEX["Adjacent"]])) if named is None else c.directions(named)
    )
    role = a.take_if(is_role_symbol)
    start = code("last To") if at is None else c.number(at)
    number_code = None if count is None else c.number(count)
    if role is not None:
        owned = [
            many(region for one in c.game.regions if one.owner == p for region in one.regions)
            for p in range(c.game.players + 2)
        ]
        return code(
            "is Connected",
            c.kind(kind),
            number_code,
            start,
            directions,
            ROLES[describe(role)],
            many([]),
            many(owned),
        )
    node = a.take()
    regions: list[Code]
    if isinstance(node, Symbol):
        if count is None:
            raise unsupported(f"(is Connected {node.name}) without a number", a.place)
        regions = [c.fixed(sites) for sites in _static_regions(c, node, kind)]
    else:
        regions = [c.region(item) for item in items_of(node)]
    return code(
        "is Connected", c.kind(kind), number_code, start, directions, -1, many(regions), many([])
    )


def _static_regions(c: Compiler, node: Symbol, kind: str | None) -> list[list[int]]:
    measures = c.game.measures[kind or c.game.kind]
    corners = measures.regions.get("Corners", [])
    if node.name == "Corners":
        return [[corner] for corner in corners]
    sides = [measures.regions[f"Side {s}"] for s in SIDES if f"Side {s}" in measures.regions]
    if node.name == "Sides":
        return sides
    if node.name == "SidesNoCorners":
        bare = [[site for site in side if site not in corners] for side in sides]
        return [side for side in bare if side]
    raise unsupported(f"(is Connected … {node.name})", node.place)


def _loop(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    surround = a.take_label("surround")
    if a.take_flag("path"):
        raise unsupported("(is Loop … path:True)", a.place)
    roles = [role_number(item) for item in items_of(surround)] if surround is not None else []
    listed = a.take_if(lambda node: isinstance(node, Array) and all(map(is_role, node.items)))
    if listed is not None:
        roles = [role_number(item) for item in items_of(listed)]
    directions = c.take_directions(a)
    colour = a.take_if(is_number)
    start = a.take_if(is_number)
    if a.take_if(is_region) is not None:
        raise unsupported("(is Loop …) from a region", a.place)
    outer = c.game.measures[kind or c.game.kind].regions.get("Outer", [])
    return code(
        "is Loop",
        c.kind(kind),
        numbers(roles),
        directions,
        code("mover") if colour is None else c.number(colour),
        code("last To") if start is None else c.number(start),
        numbers(outer),
    )


MAKERS: dict[str, Make] = {
    "is Empty": _at_site("is Empty"),
    "is Occupied": _occupied,
    "is In": _in,
    "is Visited": _visited,
    "is Hidden": is_hidden,
    "is LastFrom": _last_kind("From"),
    "is LastTo": _last_kind("To"),
    "is Related": _related,
    "is Full": _full,
    "is Within": _within,
    "is Flat": _flat,
    "is Enemy": _player_test("is Enemy"),
    "is Friend": _player_test("is Friend"),
    "is Active": _player_test("is Active"),
    "is Mover": _is_player("mover"),
    "is Next": _is_player("next"),
    "is Prev": _is_player("prev"),
    "is Triggered": _triggered,
    "is Even": _even,
    "is Odd": _odd,
    "is Pending": _pending,
    "is AnyDie": _any_die,
    "is Decided": _vote("is Decided"),
    "is Proposed": _vote("is Proposed"),
    "is Repeat": _repeat,
    "is Cycle": _cycle,
    "is Threatened": _threatened,
    "is Line": _line,
    "is Pattern": _pattern,
    "is Connected": _connected,
    "is Loop": _loop,
    "all Passed": _all_passed,
    "all Sites": _all_sites,
    "all Values": _all_values,
    "all Groups": _all_groups,
    "all DiceUsed": _plain("all DiceUsed"),
    "all DiceEqual": _plain("all DiceEqual"),
    "was Pass": _was_pass,
    "no Moves": _no_moves,
    "no Pieces": _no_pieces,
    "can Move": _can_move,
}

__all__ = ["NEXT", "Labelled", "compile_boolean", "is_array"]
