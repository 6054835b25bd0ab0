"""Effects on what is around or between: captures, and sowing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, unsupported
from omnilude.rules.ludeme.compiler.code import Code, Part, code, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    is_direction,
    is_number,
)
from omnilude.rules.ludeme.tree import Clause

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.clauses import From, Make, take_between, take_then, take_to


def _custodial(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, between, target = _last_from(c, a), take_between(c, a), take_to(c, a)
    direction = c.take_absolute_direction(a)
    if between.test is None or target.test is None:
        raise unsupported("(custodial …) without conditions", a.place)
    return code(
        "custodial",
        c.kind(source.kind),
        source.site,
        direction,
        between.range,
        between.test,
        target.test,
        *_default_effect(c, between.apply, "between"),
        take_then(c, a),
    )


def _last_from(c: Compiler, a: Arguments) -> From:
    clause = a.take_clause("from")
    if clause is None:
        return From(site=code("last To"))
    inner = Arguments(clause)
    kind = c.take_kind(inner, default=False)
    node = inner.take_if(is_number)
    inner.finish()
    return From(kind=kind, site=code("from") if node is None else c.number(node))


def _default_effect(c: Compiler, apply: tuple[Part, ...], register: str) -> tuple[Part, ...]:
    """Without an effect the pieces are removed."""
    if apply[2]:
        return apply
    gone = code("remove", c.kind(None), code(register), None, None, None, False, False, None)
    return (None, gone, True)


def _enclose(c: Compiler, a: Arguments, decision: bool) -> Code:
    kind = c.take_kind(a)
    source, between = _last_from(c, a), take_between(c, a)
    directions = c.take_directions(a)
    exceptions = a.take_label("numException")
    if between.test is None:
        raise unsupported("(enclose …) without a condition", a.place)
    if "is Empty" in repr(between.test):
        raise unsupported("(enclose …) of empty sites", a.place)
    return code(
        "enclose",
        c.kind(kind or source.kind),
        source.site,
        directions,
        between.test,
        *_default_effect(c, between.apply, "between"),
        None if exceptions is None else c.number(exceptions),
        take_then(c, a),
    )


def _surround(c: Compiler, a: Arguments, decision: bool) -> Code:
    clause = a.take_clause("from")
    source = From(site=code("from"))
    if clause is not None:
        inner = Arguments(clause)
        source.kind = c.take_kind(inner, default=False)
        node = inner.take_if(is_number)
        inner.finish()
        source.site = code("from") if node is None else c.number(node)
    between, target = take_between(c, a), take_to(c, a)
    direction = c.take_absolute_direction(a)
    except_, with_ = a.take_label("except"), a.take_label("with")
    a.take_clause("then")
    if between.test is None or target.test is None:
        raise unsupported("(surround …) without conditions", a.place)
    piece: Code | None = None
    if with_ is not None:
        clause = with_ if isinstance(with_, Clause) and with_.keyword == "piece" else None
        piece = c.piece_numbers(clause)[0] if clause else c.number(with_)
    return code(
        "surround",
        c.kind(source.kind),
        source.site,
        direction,
        between.test,
        target.test,
        *_default_effect(c, between.apply, "between"),
        None if except_ is None else c.number(except_),
        piece,
    )


def _directional(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target = _last_from(c, a), take_to(c, a)
    named = a.take_if(is_direction)
    a.take_clause("then")
    kind = c.kind(source.kind)
    directions = (
        code("from to", kind, code("last From"), code("last To"))
        if named is None
        else c.directions(named)
    )
    if target.test is None:
        raise unsupported("(directional …) without a condition", a.place)
    return code(
        "directional",
        kind,
        source.site,
        directions,
        target.test,
        *_default_effect(c, target.apply, "from"),
    )


def _intervene(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, between, target = _last_from(c, a), take_between(c, a), take_to(c, a)
    direction = c.take_absolute_direction(a)
    if target.test is None:
        raise unsupported("(intervene …) without a condition", a.place)
    return code(
        "intervene",
        c.kind(source.kind),
        source.site,
        direction,
        between.range,
        target.test,
        *_default_effect(c, target.apply, "to"),
        take_then(c, a),
    )


def _attract(c: Compiler, a: Arguments, decision: bool) -> Code:
    source = _last_from(c, a)
    direction = c.take_absolute_direction(a)
    return code("attract", c.kind(source.kind), source.site, direction, take_then(c, a))


def _push(c: Compiler, a: Arguments, decision: bool) -> Code:
    source = _last_from(c, a)
    directions = c.take_directions(a)
    return code("push", c.kind(source.kind), source.site, directions, take_then(c, a))


def _flip(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.state = True
    kind = c.take_kind(a)
    site = a.take_if(is_number)
    return code(
        "flip", c.kind(kind), code("to") if site is None else c.number(site), take_then(c, a)
    )


def _sow(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.count = True
    kind = c.take_kind(a)
    start = a.take_if(is_number)
    name = a.take_text()
    owner = a.take_label("owner")
    labels = {
        label: a.take_label(label)
        for label in (
            "count",
            "numPerHole",
            "if",
            "sowEffect",
            "apply",
            "includeSelf",
            "origin",
            "skipIf",
            "backtracking",
            "forward",
        )
    }
    start_code = code("last To") if start is None else c.number(start)
    tracks = [c.sow_track(name, None)]
    who: Code | None = None
    if owner is not None:
        who = c.player(owner)
        tracks = [c.sow_track(name, player) for player in range(c.game.players + 2)]

    def boolean(label: str) -> Code | None:
        node = labels[label]
        return None if node is None else c.boolean(node)

    def moves(label: str) -> Code | None:
        node = labels[label]
        return None if node is None else c.moves(node)

    count, per_hole = labels["count"], labels["numPerHole"]
    return code(
        "sow",
        c.kind(kind),
        start_code,
        code("count", c.kind(kind), start_code, None) if count is None else c.number(count),
        None if per_hole is None else c.number(per_hole),
        numbers(tracks),
        who,
        boolean("if"),
        moves("sowEffect"),
        moves("apply"),
        boolean("includeSelf"),
        boolean("origin"),
        boolean("skipIf"),
        boolean("backtracking"),
        boolean("forward"),
        take_then(c, a),
    )


CAPTURES: dict[str, Make] = {
    "custodial": _custodial,
    "enclose": _enclose,
    "surround": _surround,
    "directional": _directional,
    "intervene": _intervene,
    "attract": _attract,
    "push": _push,
    "flip": _flip,
    "sow": _sow,
}
