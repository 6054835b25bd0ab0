"""Ludemes that make moves, and effects, which are moves that follow from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, unsupported
from omnilude.rules.ludeme.compiler.code import Code, code, many
from omnilude.rules.ludeme.tree import Array, Clause, Node, Symbol

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.captures import CAPTURES
from omnilude.rules.ludeme.compiler.clauses import Make
from omnilude.rules.ludeme.compiler.loops import LOOPS, for_each_players
from omnilude.rules.ludeme.compiler.movements import MOVEMENTS, from_to
from omnilude.rules.ludeme.compiler.operators import OPERATORS
from omnilude.rules.ludeme.compiler.settings import SETTINGS


def compile_moves(c: Compiler, node: Node) -> Code:
    if isinstance(node, Array):
        return code("or", many(c.moves(item) for item in node.items), None)
    if not isinstance(node, Clause):
        raise node.place.error(f"moves are needed, not {describe(node)}")
    a = Arguments(node)
    made = _make(c, a)
    a.finish()
    return made


def _make(c: Compiler, a: Arguments) -> Code:
    if a.keyword == "move":
        return _move(c, a)
    if a.keyword in ("forEach", "set", "max", "remember", "forget", "swap"):
        what = a.take_symbol()
        make = MAKERS.get(f"{a.keyword} {what}")
        if make is None and a.keyword == "forEach" and what is None:
            make = for_each_players
        if make is None:
            raise unsupported(f"({a.keyword} {what or describe(a.peek() or a.clause)} …)", a.place)
        return make(c, a, False)
    make = MAKERS.get(a.keyword)
    if make is None:
        raise unsupported(f"the moves ({a.keyword} …)", a.place)
    return make(c, a, False)


def _move(c: Compiler, a: Arguments) -> Code:
    """(move Step …) and so on: the same as (step …), but chosen by a player."""
    first = a.peek()
    if isinstance(first, Symbol) and first.name in DECISIONS:
        a.take()
        return MAKERS[DECISIONS[first.name]](c, a, True)
    if isinstance(first, Symbol) and first.name in ("Swap", "Set"):
        a.take()
        what = a.take_symbol()
        make = MAKERS.get(f"{first.name.lower()} {what}")
        if make is not None and f"{first.name} {what}" in (
            "Swap Pieces",
            "Swap Players",
            "Set NextPlayer",
            "Set Rotation",
        ):
            return make(c, a, True)
        raise unsupported(f"(move {first.name} {what} …)", a.place)
    if isinstance(first, Symbol):
        raise unsupported(f"(move {first.name} …)", a.place)
    return from_to(c, a, True)


DECISIONS = {
    "Step": "step",
    "Slide": "slide",
    "Hop": "hop",
    "Leap": "leap",
    "Add": "add",
    "Remove": "remove",
    "Select": "select",
    "Promote": "promote",
    "Pass": "pass",
    "Shoot": "shoot",
    "Propose": "propose",
    "Vote": "vote",
}


MAKERS: dict[str, Make] = {**MOVEMENTS, **OPERATORS, **LOOPS, **CAPTURES, **SETTINGS}
