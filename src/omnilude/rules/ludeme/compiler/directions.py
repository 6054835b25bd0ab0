"""Ludemes that are directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.code import Code, code, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    ALIASES,
    RELATIVE,
    is_boolean,
)
from omnilude.rules.ludeme.compiler.walks import RELATIONS
from omnilude.rules.ludeme.tree import Array, Clause, Node, Symbol

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler


def compile_directions(c: Compiler, node: Node) -> Code:
    if isinstance(node, Symbol | Array):
        return _named_directions([describe(item) for item in items_of(node)], 3, False, node)
    if not isinstance(node, Clause):
        raise node.place.error(f"a direction is needed, not {describe(node)}")
    a = Arguments(node)
    made = _make_directions(c, a)
    a.finish()
    return made


def _make_directions(c: Compiler, a: Arguments) -> Code:
    if a.keyword in ("union", "difference"):
        return code(a.keyword, c.directions(a.take()), c.directions(a.take()))
    if a.keyword == "if":
        test = a.take()
        if not is_boolean(test):
            raise a.error("a condition is needed")
        return code("if", c.boolean(test), c.directions(a.take()), c.directions(a.take()))
    if a.keyword != "directions":
        raise unsupported(f"the directions ({a.keyword} …)", a.place)
    start, end = a.take_label("from"), a.take_label("to")
    if start is not None and end is not None:
        kind = c.take_kind(a)
        return code("from to", c.kind(kind), c.number(start), c.number(end))
    if a.take_symbol("Random"):
        raise unsupported("(directions Random …)", a.place)
    of = a.take_label("of")
    by_site = a.take_flag("bySite")
    names = [describe(item) for node in a.take_rest() for item in items_of(node)] or ["Forward"]
    relation = describe(of) if of is not None else "Adjacent"
    relation = ALIASES.get(relation, relation)
    if relation not in RELATIONS:
        raise a.error(f"of: must be one of {', '.join(RELATIONS)}")
    return _named_directions(names, RELATIONS.index(relation), by_site, a.clause)


def _named_directions(names: list[str], relation: int, by_site: bool, node: Node) -> Code:
    names = [ALIASES.get(name, name) for name in names]
    if all(name in INDEX for name in names):
        return code("absolute", numbers(INDEX[name] for name in names))
    if all(name in RELATIVE for name in names):
        return code("relative", numbers(RELATIVE[name] for name in names), relation, by_site)
    unknown = [name for name in names if name not in INDEX and name not in RELATIVE]
    if unknown:
        raise node.place.error(f"{unknown[0]} is not a direction")
    raise unsupported("absolute and relative directions together", node.place)
