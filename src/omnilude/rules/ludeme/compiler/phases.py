"""Play, phases, ends and meta rules."""

from __future__ import annotations

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Code, Name, Part, Raw, code, many
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.kinds import is_boolean
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.parts import Parts
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role
from omnilude.rules.ludeme.tree import Array, Clause, Node

OUTCOMES = {"Win": 0, "Loss": 1, "Draw": 2, "Tie": 3, "Abandon": 4, "Crash": 5}


def read_play(c: Compiler, clause: Clause) -> Code:
    nodes = list(clause.items)
    if len(nodes) != 1:
        raise clause.place.error("(play …) needs one rule")
    c.in_play = True
    try:
        return c.moves(nodes[0])
    finally:
        c.in_play = False


def read_phase(c: Compiler, clause: Clause, play: Clause | None, parts: Parts) -> tuple[Part, ...]:
    a = Arguments(clause)
    name = a.take_text()
    if name is None:
        raise a.error("a name is needed")
    role = a.take_symbol(*ROLES)
    if role in ("All", "Each") and parts.phases:
        raise unsupported(f"a phase of {role} that is not the first", a.place)
    mode = a.take_clause("mode")
    if mode is not None:
        raise unsupported("(mode …) in a phase", mode.place)
    own, end = a.take_clause("play"), a.take_clause("end")
    following: list[Clause] = []
    while next_one := a.take_clause("nextPhase"):
        following.append(next_one)
    listed = a.take_if(lambda node: isinstance(node, Array))
    if listed is not None:
        following += [item for item in items_of(listed) if isinstance(item, Clause)]
    a.finish()
    if own is None and play is None:
        raise a.error("(play …) is missing")
    rules = [read_play(c, one) for one in (own, play) if one is not None]
    moves = rules[0] if len(rules) == 1 else code("or", many(rules), None)
    number_of_end = -1
    if end is not None:
        parts.ends.append(read_end(c, end))
        number_of_end = len(parts.ends) - 1
    nexts = [part for one in following for part in _next_phase(c, one)]
    return (
        Name(name),
        c.owner(ROLES[role]) if role is not None else c.game.players + 1,
        moves,
        number_of_end,
        _Triples(nexts),
    )


def _Triples(items: list[Part]) -> Part:  # noqa: N802 - reads as a kind of part
    """Three parts each, with how many there are of them."""
    return Raw((len(items) // 3, *items))


def _next_phase(c: Compiler, clause: Clause) -> list[Part]:
    a = Arguments(clause)
    who = a.take_if(is_role) or a.take_clause("player")
    test = a.take_if(is_boolean)
    name = a.take_text()
    a.finish()
    target = -1
    if name is not None:
        if name not in c.game.phases:
            raise a.error(f"no phase is called {name!r}")
        target = c.game.phases.index(name)
    everybody = number(c.game.players + 1)
    return [
        everybody if who is None else c.player(who),
        None if test is None else c.boolean(test),
        target,
    ]


# --- ends ---


def read_end(c: Compiler, clause: Clause) -> list[Code]:
    nodes = [item for node in clause.items for item in items_of(node)]
    return [_end_rule(c, node) for node in nodes]


def _end_rule(c: Compiler, node: Node) -> Code:
    if not isinstance(node, Clause):
        raise node.place.error(f"an end rule is needed, not {describe(node)}")
    a = Arguments(node)
    if node.keyword == "if":
        test = c.boolean(a.take())
        subs: list[Code] = []
        result: Code | None = None
        for one in [item for rest in a.take_rest() for item in items_of(rest)]:
            if isinstance(one, Clause) and one.keyword in ("if", "forEach"):
                subs.append(_end_rule(c, one))
            else:
                result = _result(c, one)
        a.finish()
        return code("if", test, many(subs), result)
    if node.keyword == "forEach":
        role = a.take_symbol(*ROLES)
        if role is None:
            raise unsupported(f"(forEach {describe(a.peek() or node)} …) as an end rule", a.place)
        condition = a.take_label("if")
        result_node = a.take()
        a.finish()
        if (
            condition is None
            or not isinstance(result_node, Clause)
            or result_node.keyword != "result"
        ):
            raise a.error("if: and (result …) are needed")
        who, outcome = _role_and_outcome(result_node)
        return code("forEach", ROLES[role], c.boolean(condition), who, outcome)
    return _result(c, node)


def _role_and_outcome(clause: Clause) -> tuple[int, int]:
    a = Arguments(clause)
    role, outcome = a.take_symbol(*ROLES), a.take_symbol(*OUTCOMES)
    a.finish()
    if role is None or outcome is None:
        raise a.error("a role and an outcome are needed", "write (result Mover Win)")
    return ROLES[role], OUTCOMES[outcome]


def _result(c: Compiler, node: Node) -> Code:
    if isinstance(node, Clause) and node.keyword == "result":
        return code("result", *_role_and_outcome(node))
    if isinstance(node, Clause) and node.keyword == "byScore":
        c.game.wants.scores = True
        a = Arguments(node)
        misere = a.take_flag("misere")
        entries: list[Part] = []
        listed = [item for rest in a.take_rest() for item in items_of(rest)]
        a.finish()
        for entry in listed:
            if not isinstance(entry, Clause) or entry.keyword != "score" or len(entry.items) != 2:
                raise unsupported(f"{describe(entry)} in (byScore …)", node.place)
            role, value = entry.items
            if not is_role(role):
                raise unsupported(f"{describe(role)} in (score …)", node.place)
            entries += [ROLES[describe(role)], c.number(value)]
        return code("byScore", Raw((len(listed), *entries)), misere)
    raise unsupported(f"the result {describe(node)}", node.place)


# --- meta rules ---


def read_meta(c: Compiler, clause: Clause) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for node in [item for one in clause.items for item in items_of(one)]:
        if not isinstance(node, Clause):
            raise node.place.error(f"a meta rule is needed, not {describe(node)}")
        a = Arguments(node)
        if node.keyword == "swap":
            found["swap"] = True
        elif node.keyword == "no" and a.take_symbol("Repeat"):
            how = a.take_symbol(
                "Positional", "Situational", "PositionalInTurn", "SituationalInTurn"
            )
            how = how or "Positional"
            found[how] = True
            if how.endswith("InTurn"):
                c.game.wants.turn_history = True
            else:
                c.game.wants.history = True
        elif node.keyword == "no" and a.take_symbol("Suicide"):
            if c.game.players > 2:
                raise unsupported("(no Suicide) with more than two players", node.place)
            found["no_suicide"] = True
        elif node.keyword == "passEnd":
            if a.take_symbol("NoEnd", "Draw") == "NoEnd":
                c.game.all_pass_ends = False
        else:
            raise unsupported(f"the meta rule {describe(node)}", node.place)
        a.finish()
    return found
