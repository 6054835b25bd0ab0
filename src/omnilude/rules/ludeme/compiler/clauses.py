"""Clauses within moves: where from, where to, what is between, what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, unsupported
from omnilude.rules.ludeme.compiler.code import Code, Part, code
from omnilude.rules.ludeme.compiler.kinds import (
    is_array_only,
    is_number,
    is_region,
)
from omnilude.rules.ludeme.tree import Clause

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler

Make = Callable[["Compiler", Arguments, bool], Code]


@dataclass(slots=True)
class From:
    kind: str | None = None
    site: Code | None = None
    region: Code | None = None
    level: Code | None = None
    test: Code | None = None


@dataclass(slots=True)
class To:
    kind: str | None = None
    site: Code | None = None
    region: Code | None = None
    level: Code | None = None
    test: Code | None = None
    apply: tuple[Part, ...] = (None, None, False)
    given: bool = False


@dataclass(slots=True)
class Between:
    given: bool = False
    before: Code | None = None
    after: Code | None = None
    range: Code | None = None
    test: Code | None = None
    trail: Code | None = None
    apply: tuple[Part, ...] = (None, None, False)


def take_then(c: Compiler, a: Arguments) -> Code | None:
    clause = a.take_clause("then")
    if clause is None:
        return None
    inner = Arguments(clause)
    inner.take_flag("applyAfterAllMoves")
    c.in_play, before = False, c.in_play
    made = [c.moves(node) for node in inner.take_rest()]
    c.in_play = before
    inner.finish()
    if len(made) != 1:
        raise inner.error("one consequence is needed", "put several into (and {…})")
    return made[0]


def read_apply(c: Compiler, clause: Clause | None) -> tuple[Part, ...]:
    if clause is None:
        return (None, None, False)
    a = Arguments(clause)
    test = a.take_label("if")
    effect = a.take_if(lambda _: True)
    a.finish()
    return (
        None if test is None else c.boolean(test),
        None if effect is None else c.moves(effect),
        True,
    )


def site_or_region(c: Compiler, a: Arguments) -> tuple[Code | None, Code | None]:
    node = a.take_if(lambda node: is_region(node) or is_number(node) or is_array_only(node))
    if node is None:
        return None, None
    if is_number(node):
        return c.number(node), None
    if is_array_only(node) and not is_region(node):
        return None, code("sites", c.array(node))
    return None, c.region(node)


def take_from(c: Compiler, a: Arguments) -> From:
    clause = a.take_clause("from")
    if clause is None:
        return From(site=code("from"))
    inner = Arguments(clause)
    found = From(kind=c.take_kind(inner, default=False))
    found.site, found.region = site_or_region(c, inner)
    level, test = inner.take_label("level"), inner.take_label("if")
    if level is not None:
        c.game.wants.stacking = True
        found.level = c.number(level)
    found.test = None if test is None else c.boolean(test)
    inner.finish()
    if found.site is None and found.region is None:
        found.site = code("from")
    return found


def take_to(c: Compiler, a: Arguments) -> To:
    clause = a.take_clause("to")
    if clause is None:
        return To(site=code("to"))
    inner = Arguments(clause)
    found = To(kind=c.take_kind(inner, default=False), given=True)
    found.site, found.region = site_or_region(c, inner)
    level, test = inner.take_label("level"), inner.take_label("if")
    if level is not None:
        c.game.wants.stacking = True
        found.level = c.number(level)
    if inner.take_clause("rotations"):
        raise unsupported("rotations in (to …)", inner.place)
    found.test = None if test is None else c.boolean(test)
    found.apply = read_apply(c, inner.take_clause("apply"))
    inner.finish()
    if found.site is None and found.region is None:
        found.site = code("to")
    return found


def take_between(c: Compiler, a: Arguments) -> Between:
    clause = a.take_clause("between")
    if clause is None:
        return Between()
    inner = Arguments(clause)
    found = Between(given=True)
    before, after = inner.take_label("before"), inner.take_label("after")
    found.before = None if before is None else c.number(before)
    found.after = None if after is None else c.number(after)
    clause = inner.take_clause("range", "exact", "min", "max")
    found.range = None if clause is None else c.range(clause)
    test, trail = inner.take_label("if"), inner.take_label("trail")
    found.test = None if test is None else c.boolean(test)
    found.trail = None if trail is None else c.number(trail)
    found.apply = read_apply(c, inner.take_clause("apply"))
    inner.finish()
    return found


def optional_kind(c: Compiler, kind: str | None) -> int:
    return -1 if kind is None else c.kind(kind)
