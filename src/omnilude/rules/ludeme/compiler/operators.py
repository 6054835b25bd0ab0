"""Ludemes that put moves together, choose among them or bound them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, code, many
from omnilude.rules.ludeme.compiler.kinds import (
    is_boolean,
)
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.roles import ROLES, is_player_clause, is_role
from omnilude.rules.ludeme.tree import Clause

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.clauses import Make, take_then


def _or(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    nodes = [item for node in a.take_rest() for item in items_of(node)]
    return code("or", many(c.moves(node) for node in nodes), then)


def _if(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    test = a.take()
    if not is_boolean(test):
        raise a.error("a condition is needed")
    yes, no = a.take(), a.take_if(lambda _: True)
    return code("if", c.boolean(test), c.moves(yes), None if no is None else c.moves(no), then)


def _apply(c: Compiler, a: Arguments, decision: bool) -> Code:
    test, effect = a.take_label("if"), a.take_if(lambda _: True)
    return code(
        "apply",
        None if test is None else c.boolean(test),
        None if effect is None else c.moves(effect),
        True,
    )


def _priority(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    nodes = [item for node in a.take_rest() for item in items_of(node)]
    return code("priority", many(c.moves(node) for node in nodes), then)


def _append(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    return code("append", c.moves(a.take()), then)


def _all_combinations(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    return code("allCombinations", c.moves(a.take()), c.moves(a.take()), then)


def _seq(c: Compiler, a: Arguments, decision: bool) -> Code:
    nodes = [item for node in a.take_rest() for item in items_of(node)]
    return code("seq", many(c.moves(node) for node in nodes))


def _while(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    return code("while", c.boolean(a.take()), c.moves(a.take()), then)


def _do(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    following, test = a.take_label("next"), a.take_label("ifAfterwards")
    first = a.take()
    if following is not None and isinstance(first, Clause) and first.keyword == "move":
        raise unsupported("(do (move …) next:…)", a.place)
    return code(
        "do",
        c.moves(first),
        None if following is None else c.moves(following),
        None if test is None else c.boolean(test),
        then,
    )


def _max_moves(c: Compiler, a: Arguments, decision: bool) -> Code:
    with_value = a.take_flag("withValue")
    if with_value:
        c.game.wants.value = True
    a.take_clause("then")
    return code("max Moves", c.moves(a.take()), with_value)


def _max_captures(c: Compiler, a: Arguments, decision: bool) -> Code:
    with_value = a.take_flag("withValue")
    if with_value:
        c.game.wants.value = True
    a.take_clause("then")
    return code("max Captures", c.moves(a.take()), with_value)


def _max_distance(c: Compiler, a: Arguments, decision: bool) -> Code:
    """It keeps all moves."""
    a.take_clause("then")
    name = a.take_text()
    owner = a.take_if(lambda node: is_role(node) or is_player_clause(node))
    fitting = [
        one
        for one in c.game.tracks
        if not name or (name in one.name if owner else name == one.name)
    ]
    if not fitting:
        raise unsupported("(max Distance …) without a track", a.place)
    return c.moves(a.take())


def _first_on_track(c: Compiler, a: Arguments, decision: bool) -> Code:
    name = a.take_text()
    owner = a.take_if(is_role)
    a.take_clause("then")
    if owner is not None and ROLES[describe(owner)] > 16:
        by = ROLES[describe(owner)]
        moves = c.moves(a.take())
        made: Code | None = None
        for player in range(1, c.game.players + 1):
            track = c.find_named_track(name, player)
            one = code("firstMoveOnTrack", track, moves)
            test = code("=", code("role", by), number(player))
            made = one if made is None else code("if", test, one, made, None)
        assert made is not None
        return made
    player = 0 if owner is None else ROLES[describe(owner)]
    return code("firstMoveOnTrack", c.find_named_track(name, player), c.moves(a.take()))


def _avoid_stored(c: Compiler, a: Arguments, decision: bool) -> Code:
    a.take_clause("then")
    return code("avoidStoredState", c.moves(a.take()))


OPERATORS: dict[str, Make] = {
    "or": _or,
    "and": _or,
    "if": _if,
    "apply": _apply,
    "priority": _priority,
    "append": _append,
    "allCombinations": _all_combinations,
    "seq": _seq,
    "while": _while,
    "do": _do,
    "max Moves": _max_moves,
    "max Captures": _max_captures,
    "max Distance": _max_distance,
    "firstMoveOnTrack": _first_on_track,
    "avoidStoredState": _avoid_stored,
}
