"""Ludemes that are several numbers in an order, and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, unsupported
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.code import Code, code, many, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    is_array_only,
    is_boolean,
    is_direction,
    is_number,
    is_region,
)
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role
from omnilude.rules.ludeme.tree import Array, Clause, Node

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler


def compile_array(c: Compiler, node: Node) -> Code:
    if isinstance(node, Array):
        return code("numbers", many(c.number(item) for item in node.items))
    if is_region(node) and not is_array_only(node):
        return code("sites", c.region(node))
    if is_number(node):
        return code("numbers", many([c.number(node)]))
    if not isinstance(node, Clause):
        raise node.place.error(f"an array is needed, not {describe(node)}")
    a = Arguments(node)
    made = _make_array(c, a)
    a.finish()
    return made


def _make_array(c: Compiler, a: Arguments) -> Code:
    if a.keyword == "array":
        return compile_array(c, a.take())
    if a.keyword == "values" and a.take_symbol("Remembered"):
        return code("Remembered", c.game.remembered_list(a.take_text() or ""))
    if a.keyword == "results":
        start, end = a.take_label("from"), a.take_label("to")
        if start is None or end is None:
            raise a.error("from: and to: are needed")
        return code("results", compile_array(c, start), compile_array(c, end), c.number(a.take()))
    if a.keyword == "difference":
        first, second = a.take(), a.take()
        return code("difference", c.array(first), c.array(second))
    if a.keyword in ("union", "intersection"):
        return code(a.keyword, c.array(a.take()), c.array(a.take()))
    if a.keyword == "if":
        test = a.take()
        if not is_boolean(test):
            raise a.error("a condition is needed")
        yes, no = a.take(), a.take_if(lambda node: True)
        return code("if", c.boolean(test), c.array(yes), None if no is None else c.array(no))
    if a.keyword == "sizes" and a.take_symbol("Group"):
        return _sizes_of_groups(c, a)
    if a.keyword == "players":
        role = a.take_if(is_role)
        if role is None or a.has_label("of"):
            raise unsupported("(players …) of this form", a.place)
        having = a.take_label("if")
        return code("players", ROLES[describe(role)], None if having is None else c.boolean(having))
    raise unsupported(f"the array ({a.keyword} …)", a.place)


def _sizes_of_groups(c: Compiler, a: Arguments) -> Code:
    kind = c.take_kind(a)
    directions = a.take_if(is_direction)
    role, of = a.take_if(is_role), a.take_label("of")
    test, least = a.take_label("if"), a.take_label("min")
    if not c.any_order:
        raise unsupported("(sizes Group …) where its order matters", a.place)
    everybody = role is None or describe(role) in ("All", "Shared")
    if test is not None or of is not None or a.has_label("isVisible"):
        raise unsupported("(sizes Group …) of this form", a.place)
    if role is not None and describe(role) in ("Enemy", "NonMover", "Friend", "Ally", "Each"):
        raise unsupported(f"(sizes Group …) of {describe(role)}", a.place)
    return code(
        "sizes Group",
        c.kind(kind),
        code("absolute", numbers([INDEX["Adjacent"]]))
        if directions is None
        else c.directions(directions),
        -1 if everybody or role is None else ROLES[describe(role)],
        None if least is None else c.number(least),
    )


def compile_range(c: Compiler, node: Node) -> Code:
    if not isinstance(node, Clause) or node.keyword not in ("range", "exact", "min", "max"):
        raise node.place.error(f"a range is needed, not {describe(node)}")
    a = Arguments(node)
    first = c.number(a.take())
    second = a.take_if(lambda node: True)
    a.finish()
    if a.keyword == "min":
        return code("range", first, number(1_000_000_000))
    if a.keyword == "max":
        return code("range", number(-1), first)
    return code("range", first, None if second is None else c.number(second))
