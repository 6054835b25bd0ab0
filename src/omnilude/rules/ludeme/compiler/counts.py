"""Counting: (count …) and (size …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, unsupported
from omnilude.rules.ludeme.compiler.clauses import take_to
from omnilude.rules.ludeme.compiler.code import Code, Part, code, numbers
from omnilude.rules.ludeme.compiler.kinds import is_direction, is_region
from omnilude.rules.ludeme.compiler.literals import Make, number, plain
from omnilude.rules.ludeme.compiler.roles import ALL, ROLES, SHARED, is_role
from omnilude.rules.ludeme.tree import Clause, Symbol, Text

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler


_RELATIONS = ("Adjacent", "Orthogonal", "Diagonal", "OffDiagonal", "All")


def compile_count(c: Compiler, a: Arguments) -> Code:
    names = tuple(COUNTS)
    what = a.take_symbol(*names)
    if what is not None:
        return COUNTS[what](c, a)
    kind = c.take_kind(a)
    next_one = a.peek()
    if isinstance(next_one, Symbol):
        raise unsupported(f"(count {next_one.name} …)", a.place)
    c.game.wants.count |= not c.game.wants.stacking
    site, region = c.site_or_region(a, "at", "in")
    return code("count", c.kind(kind), site, region)


def _count_sites(c: Compiler, a: Arguments) -> Code:
    region = a.take_label("in")
    if region is None:
        raise unsupported("(count Sites …) without in:", a.place)
    return code("count Sites", c.region(region))


def piece_count(c: Compiler, a: Arguments) -> tuple[Part, ...]:
    """What (count Pieces …) and (no Pieces …) have in common."""
    kind = c.take_kind(a, default=False)
    of = a.take_label("of")
    role = a.take_if(is_role)
    player = None
    if of is not None:
        player = c.player(of)
    elif role is None and a.peek() is not None and not isinstance(a.peek(), Text):
        player = c.player(a.take())
    name = a.take_text()
    inside = a.take_label("in")
    test = a.take_label("if")
    chosen = ALL if role is None else ROLES[describe(role)]
    components = [
        n for n, one in enumerate(c.game.components) if name is not None and name in one.name
    ]
    return (
        -1 if kind is None else c.kind(kind),
        chosen if player is None else -1,
        player,
        name is not None,
        numbers(components),
        None if inside is None else c.region(inside),
        None if test is None else c.boolean(test),
    )


def _count_pieces(c: Compiler, a: Arguments) -> Code:
    return code("count Pieces", *piece_count(c, a))


def _count_pips(c: Compiler, a: Arguments) -> Code:
    of = a.take_label("of")
    role = a.take_if(is_role)
    if of is not None:
        return code("count Pips", c.player(of))
    return code("count Pips", code("role", SHARED if role is None else ROLES[describe(role)]))


def _count_groups(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    directions = c.take_directions(a)
    test, least = a.take_label("if"), a.take_label("min")
    return code(
        "count Groups",
        c.kind(kind),
        directions,
        None if test is None else c.boolean(test),
        None if least is None else c.number(least),
    )


def _biggest_group(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    directions = c.take_directions(a)
    region = a.take_if(is_region)
    test = a.take_label("if")
    return code(
        "count SizeBiggestGroup",
        c.kind(kind),
        directions,
        None if region is None else c.region(region),
        None if test is None else c.boolean(test),
    )


def _liberties(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    at = a.take_label("at")
    directions = c.take_directions(a)
    test = a.take_label("if")
    return code(
        "count Liberties",
        c.kind(kind),
        code("last To") if at is None else c.number(at),
        directions,
        None if test is None else c.boolean(test),
    )


def _count_steps(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    relation = a.take_symbol(*_RELATIONS, "Off")
    step = a.take_clause("step")
    if step is not None:
        return _count_steps_by(c, a, kind, step)
    c.want_distances(kind, relation, a.place)
    first, second = a.take(), a.take()
    whole = is_region(second)
    return code(
        "count Steps",
        c.kind(kind),
        c.number(first),
        None if whole else c.number(second),
        c.region(second) if whole else None,
    )


def _count_steps_by(c: Compiler, a: Arguments, kind: str | None, step: Clause) -> Code:
    """The length of the shortest way by steps of a move."""
    if a.has_label("newRotation"):
        raise unsupported("newRotation: in (count Steps …)", a.place)
    inner = Arguments(step)
    directions = inner.take_if(is_direction)
    if directions is not None and describe(directions) not in _RELATIONS:
        raise unsupported("(count Steps …) with a step in such directions", a.place)
    target = take_to(c, inner)
    inner.finish()
    if target.region is not None or target.apply[2] or target.level is not None:
        raise unsupported("(count Steps …) with a step of this form", a.place)
    first, second = a.take(), a.take()
    whole = is_region(second)
    return code(
        "count Steps by",
        c.kind(kind),
        c.directions(directions or Symbol("Adjacent", step.place)),
        target.test,
        c.number(first),
        None if whole else c.number(second),
        c.region(second) if whole else None,
    )


def _count_rows(measure: str) -> Make:
    def make(c: Compiler, a: Arguments) -> Code:
        kind = c.take_kind(a)
        measures = c.game.measures[kind or c.game.kind]
        c.counts_rows = True
        # Of what stands on other layers nothing is counted.
        values = {
            value
            for value, layer in zip(getattr(measures, measure), measures.layers, strict=True)
            if layer == 0
        }
        return number(len(values))

    return make


def _count_elements(kind: str) -> Make:
    return lambda c, a: number(c.game.count_sites(kind))


def _count_stack(c: Compiler, a: Arguments) -> Code:
    c.game.wants.stacking = True
    from_top = a.take_symbol("FromTop", "FromBottom") == "FromTop"
    kind = c.take_kind(a)
    site, region = c.site_or_region(a, "at", "to")
    test, stop = a.take_label("if"), a.take_label("stop")
    return code(
        "count Stack",
        c.kind(kind),
        from_top,
        site,
        region,
        None if test is None else c.boolean(test),
        None if stop is None else c.boolean(stop),
    )


def _count_value(c: Compiler, a: Arguments) -> Code:
    value = c.number(a.take())
    inside = a.take_label("in")
    if inside is None:
        raise a.error("in: is missing")
    return code("count Value", value, c.array(inside))


COUNTS: dict[str, Make] = {
    "Sites": _count_sites,
    "Pieces": _count_pieces,
    "Pips": _count_pips,
    "Groups": _count_groups,
    "SizeBiggestGroup": _biggest_group,
    "Liberties": _liberties,
    "Steps": _count_steps,
    "Rows": _count_rows("rows"),
    "Columns": _count_rows("columns"),
    "Vertices": _count_elements("Vertex"),
    "Edges": _count_elements("Edge"),
    "Cells": _count_elements("Cell"),
    "Stack": _count_stack,
    "Value": _count_value,
    "Moves": plain("count Moves"),
    "Turns": plain("count Turns"),
    "MovesThisTurn": plain("count MovesThisTurn"),
    "Players": plain("count Players"),
    "Active": plain("count Active"),
}


def compile_size(c: Compiler, a: Arguments) -> Code:
    what = a.take_symbol("Stack", "Group", "Array", "Territory")
    if what == "Array":
        return code("size Array", c.array(a.take()))
    if what == "Stack":
        c.game.wants.stacking = True
        kind = c.take_kind(a)
        site, region = c.site_or_region(a, "at", "in")
        return code("size Stack", c.kind(kind), site, region)
    if what == "Group":
        kind = c.take_kind(a)
        at = a.take_label("at")
        if at is None:
            raise a.error("at: is missing")
        directions = c.take_directions(a)
        test = a.take_label("if")
        return code(
            "size Group",
            c.kind(kind),
            c.number(at),
            directions,
            None if test is None else c.boolean(test),
        )
    if what == "Territory":
        kind = c.take_kind(a)
        role = a.take_if(is_role)
        if role is None:
            raise unsupported("(size Territory …) without a role", a.place)
        return code(
            "size Territory", c.kind(kind), ROLES[describe(role)], c.take_absolute_direction(a)
        )
    raise unsupported(f"(size {describe(a.peek() or a.clause)} …)", a.place)
