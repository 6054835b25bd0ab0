"""What is hidden from whom: effects, start rules and conditions share their words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.clauses import take_then
from omnilude.rules.ludeme.compiler.code import Code, Part, code, numbers
from omnilude.rules.ludeme.compiler.kinds import is_boolean, is_region
from omnilude.rules.ludeme.compiler.roles import PLAYERS, ROLES, is_role
from omnilude.rules.ludeme.tree import Array, Node, Symbol

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler

SIDES = ("", "What", "Who", "Count", "State", "Rotation", "Value")
"""What may be hidden of a site; the first is all of it."""
_WHO = frozenset({*PLAYERS, "Mover", "Next", "Prev", "All", "NonMover"})


def _take_side(a: Arguments) -> int:
    name = a.take_symbol(*SIDES[1:])
    return SIDES.index(name) if name else 0


def _take_sides(a: Arguments) -> list[int]:
    first = a.peek()
    if not isinstance(first, Array):
        return [_take_side(a)]
    a.take()
    found = []
    for item in items_of(first):
        if not isinstance(item, Symbol) or item.name not in SIDES[1:]:
            raise item.place.error(f"{describe(item)} is no side of a site: {', '.join(SIDES[1:])}")
        found.append(SIDES.index(item.name))
    return found


def _who(c: Compiler, a: Arguments) -> tuple[int, Code | None]:
    """A role, or a number of a player."""
    to = a.take_label("to")
    if to is None:
        raise a.error("to: is missing")
    if is_role(to):
        if describe(to) not in _WHO:
            raise unsupported(f"to:{describe(to)} in what is hidden", a.place)
        return ROLES[describe(to)], None
    return 0, c.player(to)


def _want(c: Compiler, a: Arguments) -> None:
    c.game.wants.hidden = True
    if a.take_label("level") is not None:
        raise unsupported("level: in what is hidden", a.place)


def set_hidden(c: Compiler, a: Arguments) -> list[Part]:
    """All that effect and start rule have in common, in the order of the core."""
    _want(c, a)
    sides = _take_sides(a)
    kind = c.take_kind(a)
    at = a.take_label("at")
    region: Node | None = a.take_if(is_region) if at is None else None
    if at is None and region is None:
        raise a.error("at: or a region is needed")
    value = a.take_if(is_boolean)
    role, player = _who(c, a)
    return [
        numbers(sides),
        c.kind(kind),
        None if at is None else c.number(at),
        None if region is None else c.region(region),
        None if value is None else c.boolean(value),
        role,
        player,
    ]


def set_hidden_effect(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    return code("set Hidden", *set_hidden(c, a), then)


def is_hidden(c: Compiler, a: Arguments) -> Code:
    _want(c, a)
    side, kind = _take_side(a), c.take_kind(a)
    at, to = a.take_label("at"), a.take_label("to")
    if at is None or to is None:
        raise a.error("at: and to: are needed")
    return code("is Hidden", side, c.kind(kind), c.number(at), c.player(to))


def hidden_sites(c: Compiler, a: Arguments) -> Code:
    _want(c, a)
    side, kind = _take_side(a), c.take_kind(a)
    role, player = _who(c, a)
    return code("sites Hidden", side, c.kind(kind), role, player)
