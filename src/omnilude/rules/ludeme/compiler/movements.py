"""Moves of pieces: steps, slides, hops, leaps, from and to, adding, removing, selecting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, Numbers, code, many, mentions, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    is_number,
)
from omnilude.rules.ludeme.compiler.roles import is_player_clause, is_role
from omnilude.rules.ludeme.compiler.walks import walk_ends
from omnilude.rules.ludeme.tree import Symbol

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.clauses import (
    Make,
    optional_kind,
    site_or_region,
    take_between,
    take_from,
    take_then,
    take_to,
)


def _step(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target = take_from(c, a), take_to(c, a)
    directions = c.take_directions(a)
    stack = a.take_flag("stack")
    if stack:
        c.game.wants.stacking = True
    if source.region is not None:
        raise unsupported("(step …) from a region", a.place)
    kind = source.kind or target.kind
    return code(
        "step",
        c.kind(kind),
        source.site,
        source.level,
        source.test,
        directions,
        target.test,
        *target.apply,
        stack,
        decision,
        take_then(c, a),
    )


def _slide(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target, between = take_from(c, a), take_to(c, a), take_between(c, a)
    track = a.take_text()
    directions = c.take_directions(a)
    stack = a.take_flag("stack")
    if stack:
        c.game.wants.stacking = True
    if source.region is not None:
        raise unsupported("(slide …) from a region", a.place)
    if mentions(target.apply[0], "between"):
        raise unsupported("(between) in the condition of (to (apply if:…)) of a slide", a.place)
    tracks = [n for n, one in enumerate(c.game.tracks) if track in (one.name, "AllTracks")]
    return code(
        "slide",
        c.kind(source.kind or target.kind),
        source.site,
        source.level,
        source.test,
        directions,
        between.range,
        between.test,
        between.trail,
        *between.apply,
        target.test,
        *target.apply,
        stack,
        decision,
        numbers(tracks),
        track is not None,
        track == "AllTracks",
        take_then(c, a),
    )


def _hop(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target, between = take_from(c, a), take_to(c, a), take_between(c, a)
    directions = c.take_directions(a)
    stack = a.take_flag("stack")
    if stack:
        c.game.wants.stacking = True
    if source.region is not None or source.level is not None:
        raise unsupported("(hop …) from a region or level", a.place)
    if target.test is None:
        raise a.error("(to if:…) is needed")
    return code(
        "hop",
        c.kind(source.kind or target.kind),
        source.site,
        source.test,
        directions,
        between.given,
        between.before,
        between.after,
        between.range,
        between.test,
        *between.apply,
        target.test,
        *target.apply,
        stack,
        decision,
        take_then(c, a),
    )


def _leap(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target = take_from(c, a), take_to(c, a)
    forward, rotations = a.take_label("forward"), a.take_flag("rotations", True)
    walks = [[describe(turn) for turn in items_of(walk)] for walk in items_of(a.take())]
    kind = source.kind or target.kind
    if source.region is not None:
        raise unsupported("(leap …) from a region", a.place)
    ends = walk_ends(c.game, kind or c.game.kind, walks, rotations=rotations)
    return code(
        "leap",
        c.kind(kind),
        source.site,
        source.test,
        many(numbers(one) for one in ends),
        None if forward is None else c.boolean(forward),
        target.test,
        *target.apply,
        decision,
        take_then(c, a),
    )


def from_to(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target = take_from(c, a), take_to(c, a)
    count, copy = a.take_label("count"), a.take_label("copy")
    stack = a.take_flag("stack")
    if stack:
        c.game.wants.stacking = True
    if count is not None and not c.game.wants.stacking:
        c.game.wants.count = c.moves_several = True
    if source.region is not None and mentions(source.level, "from"):
        raise unsupported("level: by (from) in (from …) with a region", a.place)
    mover = a.take_if(lambda node: is_role(node) or is_player_clause(node))
    return code(
        "fromTo",
        optional_kind(c, source.kind),
        optional_kind(c, target.kind),
        source.site,
        source.region,
        source.level,
        source.test,
        target.site,
        target.region,
        target.level,
        target.test,
        *target.apply,
        None if count is None else c.number(count),
        None if copy is None else c.boolean(copy),
        stack,
        decision,
        None if mover is None else c.player(mover),
        take_then(c, a),
    )


def _add(c: Compiler, a: Arguments, decision: bool) -> Code:
    piece, target = a.take_clause("piece"), take_to(c, a)
    count = a.take_label("count")
    if a.take_flag("stack"):
        c.game.wants.stacking = True
    elif count is not None:
        c.game.wants.count = True
    pieces: list[Code] = []
    state: Code | None = None
    if piece is not None:
        pieces = c.piece_numbers(piece)
        state = c.piece_state(piece)
    return code(
        "add",
        optional_kind(c, target.kind),
        many(pieces),
        state,
        target.site,
        target.region,
        target.level,
        target.test,
        *target.apply,
        None if count is None else c.number(count),
        decision,
        take_then(c, a),
    )


def _remove(c: Compiler, a: Arguments, decision: bool) -> Code:
    kind = c.take_kind(a)
    site, region = site_or_region(c, a)
    if site is None and region is None:
        raise a.error("a site or region is needed")
    level, count, at = a.take_label("level"), a.take_label("count"), a.take_label("at")
    if level is not None:
        c.game.wants.stacking = True
    if level is not None and count is not None:
        raise unsupported("level: beside count: in (remove …)", a.place)
    if at is not None:
        c.game.wants.to_clear = True
    return code(
        "remove",
        c.kind(kind),
        site,
        region,
        None if level is None else c.number(level),
        None if count is None else c.number(count),
        isinstance(at, Symbol) and at.name == "EndOfTurn",
        decision,
        take_then(c, a),
    )


def _select(c: Compiler, a: Arguments, decision: bool) -> Code:
    source, target = take_from(c, a), take_to(c, a)
    mover = a.take_if(lambda node: is_role(node) or is_player_clause(node))
    if mover is not None:
        raise unsupported("(select …) for another player", a.place)
    if target.level is not None:
        raise unsupported("level: in (to …) of (select …)", a.place)
    if mentions(source.level, "from") or mentions(source.level, "to"):
        raise unsupported("level: by (from) or (to) in (select …)", a.place)
    return code(
        "select",
        optional_kind(c, source.kind),
        optional_kind(c, target.kind),
        source.site,
        source.region,
        source.level,
        source.test,
        target.given,
        target.site,
        target.region,
        target.test,
        decision,
        None,
        take_then(c, a),
    )


def _promote(c: Compiler, a: Arguments, decision: bool) -> Code:
    kind = c.take_kind(a)
    site = a.take_if(is_number)
    piece = a.take_clause("piece")
    if piece is None:
        raise a.error("a piece is needed")
    c.game.wants.promotes = True
    owner = a.take_if(lambda node: is_role(node) or is_player_clause(node))
    pieces = c.piece_numbers(piece, owner)
    if any(_is_missing(c, one) for one in pieces):
        raise unsupported("(promote …) to a piece that the player does not have", a.place)
    return code(
        "promote",
        c.kind(kind),
        code("to") if site is None else c.number(site),
        many(pieces),
        decision,
        take_then(c, a),
    )


def _is_missing(c: Compiler, piece: Code) -> bool:
    """Whether a piece by name is one that its owner, or all who may be in his place, have not."""
    if piece.name != "id":
        return piece.number == -1
    by_owner = piece.parts[0]
    assert isinstance(by_owner, Numbers)
    return all(one == -1 for one in by_owner.items[1 : c.game.players + 1])


def _shoot(c: Compiler, a: Arguments, decision: bool) -> Code:
    piece = a.take_clause("piece")
    if piece is None:
        raise a.error("a piece is needed")
    clause = a.take_clause("from")
    a.take_clause("between")
    target = take_to(c, a)
    source = code("last To")
    kind: str | None = None
    if clause is not None:
        inner = Arguments(clause)
        kind = c.take_kind(inner, default=False)
        node = inner.take_if(is_number)
        inner.finish()
        source = code("from") if node is None else c.number(node)
    directions = c.take_directions(a)
    if target.test is None and c.game.kind != "Cell":
        raise unsupported("(shoot …) without (to if:…) but on cells", a.place)
    return code(
        "shoot",
        c.kind(kind),
        c.piece_numbers(piece)[0],
        source,
        directions,
        target.test,
        decision,
        take_then(c, a),
    )


MOVEMENTS: dict[str, Make] = {
    "step": _step,
    "slide": _slide,
    "hop": _hop,
    "leap": _leap,
    "fromTo": from_to,
    "add": _add,
    "remove": _remove,
    "select": _select,
    "promote": _promote,
    "shoot": _shoot,
}
