"""What is supported one by one, but not together.

The reference system does not ask the board who has which pieces, but keeps lists. Some actions keep
them otherwise than the board has it, and rules that read them then find pieces that are gone, or
twice. We ask the board; where that could be told apart, a game is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from omnilude.rules.ludeme.arguments import unsupported
from omnilude.rules.ludeme.compiler.code import Code, Many, Numbers, Part, find_all, mentions
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.parts import Parts
from omnilude.rules.ludeme.compiler.roles import ALL, EACH, ROLES
from omnilude.rules.ludeme.compiler.walks import distances
from omnilude.rules.ludeme.tokens import Place

_EVERYBODY = (0, ALL, EACH, ROLES["NonMover"])
"""Roles that neutral pieces may belong to."""


def refuse_combinations(c: Compiler, parts: Parts, place: Place) -> None:
    """Raises `Unsupported` for the first combination that is not supported."""
    rules = Many(
        (
            *parts.start,
            *(part for phase in parts.phases for part in phase),
            *(rule for block in parts.ends for rule in block),
        )
    )
    for what in _find_refused(c, rules):
        raise unsupported(what, place)


def _find_refused(c: Compiler, rules: Many) -> Iterator[str]:
    game, wants = c.game, c.game.wants
    repetition = wants.history or wants.turn_history or wants.stored_state

    def has(*names: str, where: Callable[[Code], bool] = lambda _: True) -> bool:
        return any(where(one) for one in find_all(rules, *names))

    if game.boardless and wants.value:
        yield "pieces with values on a board without end"
    # The reference system numbers rows anew if a rule asks for the layer of a site.
    unlike = c.names_rows if c.asks_for_layers else c.counts_rows
    if unlike and len(set(game.measures[game.kind].layers)) > 1:
        yield "rows and columns of a board in three dimensions"
    if wants.hidden and (wants.stacking or repetition):
        yield "what is hidden beside stacks or rules about repetition"
    if wants.stacking:
        if has("flip"):
            yield "(flip …) where there are stacks"
        if has("set Count"):
            yield "(set Count …) where there are stacks"
        if wants.promotes and has("forEach Piece", where=lambda one: not _is_top_by_name(one)):
            yield "(forEach Piece …) with (promote …) where there are stacks"
        looks = has("forEach Piece", where=lambda one: bool(one.parts[8]) or mentions(one, "level"))
        if looks and has("fromTo", where=lambda one: one.parts[8] is not None):
            yield "(forEach Piece …) beside pieces that are put under others"
        if has("forEach Level", where=_takes_from_below):
            yield "pieces that leave a stack from its bottom, one level after another"
    else:
        one_kind = len(wants.kinds) == 1
        if c.asks_for_no_pieces and c.moves_several and one_kind:
            yield "(no Pieces …) of all players beside moves of several pieces"
        if has("fromTo", where=_may_pile_up):
            if has("forEach Piece", where=lambda one: one.parts[3] == 0):
                yield "(forEach Piece …) beside moves of several pieces"
            if one_kind and has("sites Occupied"):
                yield "(sites Occupied …) beside moves of several pieces"
    if any(n and one.owner == 0 for n, one in enumerate(game.components)):
        lists = ("sites Occupied", "count Pieces", "some Pieces")
        asked = has(*lists, where=lambda one: one.parts[1] in _EVERYBODY) or has(
            "forEach Piece", where=lambda one: one.parts[6] in _EVERYBODY
        )
        if asked and has("promote", where=lambda one: _may_be_neutral(c, one.parts[2])):
            yield "promotion to neutral pieces beside rules about pieces of everybody"
        stacked = {"fromTo": 15, "step": 9, "slide": 15, "hop": 16}
        moved = has(*stacked, where=lambda one: bool(one.parts[stacked[one.name]]))
        if asked and moved:
            yield "stacks with neutral pieces that move, beside rules about pieces of everybody"
    if _numbers_are_owners(c) and has("who", "is Friend", "is Enemy"):
        yield "owners of pieces in a game with one piece of each owner, in another order"
    if _reaches_farthest(c, rules):
        yield "(sites Distance …) as far as a board goes"
    if has("do", where=lambda one: one.parts[1] is not None and _twins(one.parts[1])):
        yield "(move Add …) with effects in (do … next:…)"


def _is_top_by_name(loop: Code) -> bool:
    return bool(loop.parts[1]) and bool(loop.parts[8])


def _takes_from_below(loop: Code) -> bool:
    if loop.parts[2]:  # from the top
        return False
    removed = any(
        one.parts[3] is not None and not one.parts[6] for one in find_all(loop.parts[3], "remove")
    )
    moved = any(
        one.parts[4] is not None and not one.parts[16] for one in find_all(loop.parts[3], "fromTo")
    )
    return removed or moved


def _may_pile_up(move: Code) -> bool:
    """Whether several pieces may come to where there are some."""
    if move.parts[13] is None:
        return False
    region, test = move.parts[7], move.parts[9]
    if isinstance(region, Code) and region.name == "sites Empty":
        return False
    return not mentions(test, "is Empty")


def _may_be_neutral(c: Compiler, pieces: Part) -> bool:
    assert isinstance(pieces, Many)
    for piece in pieces.items:
        assert isinstance(piece, Code)
        if piece.name == "id":
            owners = piece.parts[0]
            assert isinstance(owners, Numbers)
            if owners.items[0] >= 0:
                return True
        elif piece.number is None or c.game.components[piece.number].owner == 0:
            return True
    return False


def _numbers_are_owners(c: Compiler) -> bool:
    """Whether the reference system takes the numbers of pieces for those of their owners, and they
    are others: it keeps one number for a site where a game has at most one piece of each owner."""
    game, wants = c.game, c.game.wants
    pieces = game.components[1:]
    if wants.kinds != {"Cell"} or len(game.containers) > 1 or len(pieces) > game.players:
        return False
    if wants.count or wants.state or wants.stacking or wants.rotation or wants.value:
        return False
    owners = [one.owner for one in pieces]
    return len(set(owners)) == len(owners) and owners != list(range(1, len(owners) + 1))


def _reaches_farthest(c: Compiler, rules: Many) -> bool:
    """Whether sites at a distance may be the farthest of some site, which it is not certain that
    the reference system lists."""
    highest = -1
    for one in find_all(rules, "sites Distance"):
        reach = one.parts[2]
        assert isinstance(reach, Code)
        high = reach.parts[0] if reach.parts[1] is None else reach.parts[1]
        if isinstance(high, Code) and high.number is not None:
            highest = max(highest, high.number)
    if highest < 0 or c.game.distance_relation is None:
        return False
    table = distances(c.game.topology, c.game.kind, c.game.distance_relation)
    count = c.game.count_sites(c.game.kind)
    return highest >= min(max(table[n * count : (n + 1) * count]) for n in range(count))


def _twins(moves: Part) -> bool:
    """Whether moves are offered twice there."""
    return any(one.parts[4] is not None and bool(one.parts[9]) for one in find_all(moves, "add"))
