"""Effects that set something: whose turn is next, scores, variables, states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, code, many, numbers
from omnilude.rules.ludeme.compiler.kinds import (
    is_array_only,
    is_number,
    is_region,
)
from omnilude.rules.ludeme.compiler.roles import ALL, EACH, ROLES, is_role
from omnilude.rules.ludeme.tree import Array, Text

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.clauses import Make, take_then
from omnilude.rules.ludeme.compiler.hiding import set_hidden_effect


def _pass(c: Compiler, a: Arguments, decision: bool) -> Code:
    if c.game.players == 1:
        c.game.all_pass_ends = False
    return code("pass", decision, take_then(c, a))


def _move_again(c: Compiler, a: Arguments, decision: bool) -> Code:
    return code("moveAgain", take_then(c, a))


def _ballot(name: str) -> Make:
    def make(c: Compiler, a: Arguments, decision: bool) -> Code:
        then = take_then(c, a)
        texts = [item for node in a.take_rest() for item in items_of(node)]
        for item in texts:
            if not isinstance(item, Text):
                raise item.place.error(f"a text is needed, not {describe(item)}")
        choices = [c.game.vote(item.value) for item in texts if isinstance(item, Text)]
        return code(name, numbers(choices), decision, then)

    return make


def _swap_pieces(c: Compiler, a: Arguments, decision: bool) -> Code:
    first, second = a.take_if(is_number), a.take_if(is_number)
    if c.game.kind != "Cell" or c.game.wants.stacking:
        raise unsupported("(swap Pieces …) but on cells without stacks", a.place)
    return code(
        "swap Pieces",
        code("last From") if first is None else c.number(first),
        code("last To") if second is None else c.number(second),
        decision,
        take_then(c, a),
    )


def _swap_players(c: Compiler, a: Arguments, decision: bool) -> Code:
    first, second = c.player(a.take()), c.player(a.take())
    return code("swap Players", first, second, take_then(c, a))


def _roll(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.stochastic = True
    return code("roll", many(numbers(box) for box in c.dice_boxes), take_then(c, a))


def _next_player(c: Compiler, a: Arguments, decision: bool) -> Code:
    node = a.take()
    a.take_clause("then")
    if isinstance(node, Array) or is_array_only(node):
        return code("set NextPlayer", many([]), c.array(node), decision)
    return code("set NextPlayer", many([c.player(node)]), None, decision)


def _score(add: bool) -> Make:
    def make(c: Compiler, a: Arguments, decision: bool) -> Code:
        c.game.wants.scores = True
        who = a.take()
        if isinstance(who, Array):
            raise unsupported("scores of several players at once", a.place)
        value = c.number(a.take())
        role = ROLES[describe(who)] if is_role(who) else -1
        if role == EACH:
            raise unsupported("scores of Each as an effect", a.place)
        if role == ALL:
            role = EACH
        return code(
            "score", add, role, None if role >= 0 else c.player(who), value, take_then(c, a)
        )

    return make


def _set_pending(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.pending = True
    a.take_clause("then")
    node = a.take_if(lambda _: True)
    if node is not None and is_region(node):
        return code("set Pending", None, c.region(node))
    return code("set Pending", None if node is None else c.number(node), None)


def _remember(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    name = a.take_text() or ""
    unique = a.take_flag("unique")
    node = a.take()
    region = is_region(node)
    return code(
        "remember Value",
        c.game.remembered_list(name),
        None if region else c.number(node),
        c.region(node) if region else None,
        unique,
        then,
    )


def _forget(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    name = a.take_text()
    if a.take_symbol("All"):
        c.forgets_all |= name is None
        lists = [c.game.remembered_list(name)] if name is not None else [-1]
        return code("forget Value", numbers(lists), None, then)
    lists = [c.game.remembered_list(name or "")]
    return code("forget Value", numbers(lists), c.number(a.take()), then)


def _remember_state(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.stored_state = True
    return code("remember State", take_then(c, a))


def _set_counter(c: Compiler, a: Arguments, decision: bool) -> Code:
    a.take_clause("then")
    node = a.take_if(is_number)
    return code("set Counter", None if node is None else c.number(node))


def _set_var(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    name = a.take_text()
    node = a.take_if(lambda _: True)
    return code(
        "set Var",
        -1 if name is None else c.game.variable(name),
        None if node is None else c.number(node),
        then,
    )


def _set_field(name: str) -> Make:
    def make(c: Compiler, a: Arguments, decision: bool) -> Code:
        then = take_then(c, a)
        kind = c.take_kind(a)
        at, level = a.take_label("at"), a.take_label("level")
        if at is None:
            raise a.error("at: is missing")
        if level is not None:
            c.game.wants.stacking = True
        if name == "set State":
            c.game.wants.state = True
        else:
            c.game.wants.value = True
        return code(
            name,
            c.kind(kind),
            c.number(at),
            None if level is None else c.number(level),
            c.number(a.take()),
            then,
        )

    return make


def _set_value(c: Compiler, a: Arguments, decision: bool) -> Code:
    if a.has_label("at"):
        return _set_field("set Value")(c, a, decision)
    then = take_then(c, a)
    return code("set Value Player", c.player(a.take()), c.number(a.take()), then)


def _set_rotation(c: Compiler, a: Arguments, decision: bool) -> Code:
    c.game.wants.rotation = True
    then = take_then(c, a)
    kind, site = None, code("from")
    to = a.take_clause("to")
    if to is not None:
        inner = Arguments(to)
        kind = c.take_kind(inner)
        site = c.number(inner.take())
        inner.finish()
    node = a.take()
    rotations = [c.number(item).number for item in items_of(node)]
    if a.take_flag("previous", True) or a.take_flag("next", True):
        raise unsupported("(set Rotation …) by one step", a.place)
    known = [one for one in rotations if one is not None]
    if len(known) < len(rotations):
        raise unsupported("(set Rotation …) known only in play", a.place)
    return code("set Rotation", c.kind(kind), site, numbers(known), False, False, 0, decision, then)


def _set_count(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    kind = c.take_kind(a)
    at = a.take_label("at")
    if at is None:
        raise a.error("at: is missing")
    return code("set Count", c.kind(kind), c.number(at), c.number(a.take()), then)


def _trigger(c: Compiler, a: Arguments, decision: bool) -> Code:
    a.take_clause("then")
    if a.take_text() is None:
        raise a.error("the name of an event is needed")
    return code("trigger", c.player(a.take()))


def _note(c: Compiler, a: Arguments, decision: bool) -> Code:
    then = take_then(c, a)
    a.take_rest()
    for label in ("player", "to"):
        a.take_label(label)
    return code("note", then)


SETTINGS: dict[str, Make] = {
    "pass": _pass,
    "set Hidden": set_hidden_effect,
    "set Rotation": _set_rotation,
    "moveAgain": _move_again,
    "propose": _ballot("propose"),
    "vote": _ballot("vote"),
    "swap Pieces": _swap_pieces,
    "swap Players": _swap_players,
    "roll": _roll,
    "set NextPlayer": _next_player,
    "addScore": _score(True),
    "set Score": _score(False),
    "set Pending": _set_pending,
    "remember Value": _remember,
    "remember State": _remember_state,
    "forget Value": _forget,
    "set Counter": _set_counter,
    "set Var": _set_var,
    "set State": _set_field("set State"),
    "set Value": _set_value,
    "set Count": _set_count,
    "trigger": _trigger,
    "note": _note,
}
