"""What must hold of a rulesheet before it is compiled; everything found wrong names its place."""

from __future__ import annotations

from collections.abc import Sequence

from omnilude.errors import Position, RulesError
from omnilude.rules.gdl.reader import RELATIONS
from omnilude.rules.gdl.strata import Stage, Stratum
from omnilude.rules.gdl.terms import (
    Compound,
    Kind,
    Literal,
    Predicate,
    Rule,
    Term,
    Variable,
    variables,
)
from omnilude.spelling import did_you_mean

MAX_BODY = 1000
MAX_WARNINGS = 20
# Relations that the language reads: whatever none of them rests on has no effect.
ROOTS = ("role", "init", "legal", "next", "goal", "terminal", "sees")


OF_ROLES = (("legal", 2), ("goal", 2), ("sees", 2))


def complete_roles(rules: Sequence[Rule]) -> tuple[list[Rule], list[str]]:
    """Rules such as (<= (legal ?r wait) ...) that leave the role open: it ranges over all roles."""
    out, warnings = [], []
    for rule in rules:
        role = rule.head.arguments[0] if rule.head.predicate in OF_ROLES else None
        bound = {v for x in rule.body if x.kind is Kind.POSITIVE for v in variables(x.atom)}
        if isinstance(role, Variable) and role.name not in bound:
            atom = Compound("role", (role,), rule.head.position)
            rule = Rule(rule.head, (Literal(Kind.POSITIVE, atom), *rule.body), rule.position)
            place = f"line {rule.position.line}: " if rule.position else ""
            warnings.append(f"{place}{role.name} is taken to range over all roles")
        out.append(rule)
    return out, warnings


def find_roles(rules: Sequence[Rule], file: str) -> list[str]:
    """The roles in the order of their facts."""
    roles: dict[str, None] = {}
    for rule in rules:
        if rule.head.name != "role":
            continue
        name = rule.head.arguments[0]
        if rule.body or not isinstance(name, Compound):
            raise RulesError(
                "roles must be given as facts",
                file=file,
                position=rule.position,
                hint="write (role name) for each role",
            )
        roles[str(name)] = None
    if not roles:
        raise RulesError("no role is declared", file=file, hint="write (role name) for each role")
    return list(roles)


def check_rules(rules: Sequence[Rule], file: str) -> list[str]:
    """Raises RulesError for what cannot be played; returns warnings for what looks odd."""
    for rule in rules:
        _check_safety(rule, file)
        if len(rule.body) > MAX_BODY:
            raise RulesError(
                f"rule with more than {MAX_BODY} conditions", file=file, position=rule.position
            )
    for name, hint in (
        ("legal", "say which moves each role has with (<= (legal role move) ...)"),
        ("goal", "say what each role gets with (<= (goal role value) ...)"),
        ("terminal", "say when the game ends with (<= terminal ...)"),
    ):
        if not any(rule.head.name == name for rule in rules):
            raise RulesError(f"no rule for '{name}'", file=file, hint=hint)
    warnings = _arity_clashes(rules, file)
    return warnings + _undefined(rules, file)


def check_stages(rules: Sequence[Rule], strata: Sequence[Stratum], file: str) -> None:
    """`does` may be used for `next` and `sees` alone, the position not for `init` and `role`."""
    stage = {p: s.stage for s in strata for p in s.predicates}
    limits = dict.fromkeys(("legal", "goal", "terminal"), Stage.POSITION)
    limits |= dict.fromkeys(("init", "role"), Stage.STATIC)
    words = {Stage.POSITION: "the position ('true')", Stage.TRANSITION: "the moves made ('does')"}
    for name, limit in limits.items():
        found = stage.get((name, RELATIONS[name]), Stage.STATIC)
        if found <= limit:
            continue
        for rule in rules:
            for literal in rule.body:
                below = stage.get(literal.atom.predicate, Stage.STATIC)
                if rule.head.name == name and below > limit and literal.kind is not Kind.DISTINCT:
                    raise RulesError(
                        f"'{name}' depends on {words[below]} through '{literal.atom.name}'",
                        file=file,
                        position=literal.position,
                        hint="'does' may be used in rules for 'next' and 'sees' only"
                        if below is Stage.TRANSITION
                        else f"'{name}' is fixed before play begins",
                    )


def drop_unused(rules: Sequence[Rule]) -> list[Rule]:
    """The rules that play can depend on: `base` and `input` are not needed, nor what they use."""
    by_head: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        by_head.setdefault(rule.head.predicate, []).append(rule)
    wanted = [(name, RELATIONS[name]) for name in ROOTS]
    seen = set(wanted)
    while wanted:
        for rule in by_head.get(wanted.pop(), []):
            for literal in rule.body:
                if literal.kind is not Kind.DISTINCT and literal.atom.predicate not in seen:
                    seen.add(literal.atom.predicate)
                    wanted.append(literal.atom.predicate)
    return [rule for rule in rules if rule.head.predicate in seen]


def _check_safety(rule: Rule, file: str) -> None:
    bound = {
        name for part in rule.body if part.kind is Kind.POSITIVE for name in variables(part.atom)
    }
    for literal in rule.body:
        for name in variables(literal.atom):
            if name not in bound:
                kind = "a negation" if literal.kind is Kind.NEGATIVE else "'distinct'"
                raise _unsafe(name, f"in {kind}", file, literal.position or rule.position)
    for name in variables(rule.head):
        if name not in bound:
            raise _unsafe(name, "in the head", file, rule.head.position or rule.position)


def _unsafe(name: str, where: str, file: str, position: Position | None) -> RulesError:
    return RulesError(
        f"unsafe rule: {name} {where} is in no positive condition",
        file=file,
        position=position,
        hint=f"add a condition that says what {name} ranges over",
    )


def _arity_clashes(rules: Sequence[Rule], file: str) -> list[str]:
    """Relations may not change their number of arguments; for functions it is only odd."""
    relations: dict[str, tuple[int, Position | None]] = {}
    functions: dict[str, int] = {}
    warnings: dict[str, None] = {}

    def visit(term: Term) -> None:
        if not isinstance(term, Compound):
            return
        arity = len(term.arguments)
        if functions.setdefault(term.name, arity) != arity:
            warnings[
                f"function '{term.name}' is used with {functions[term.name]} and with "
                f"{arity} arguments"
            ] = None
        for argument in term.arguments:
            visit(argument)

    for rule in rules:
        for atom in (rule.head, *(literal.atom for literal in rule.body)):
            arity, first = relations.setdefault(atom.name, (len(atom.arguments), atom.position))
            if arity != len(atom.arguments) and atom.name in RELATIONS:
                continue
            if arity != len(atom.arguments):
                where = f" at line {first.line}" if first else ""
                raise RulesError(
                    f"relation '{atom.name}' has {len(atom.arguments)} arguments here "
                    f"and {arity}{where}",
                    file=file,
                    position=atom.position or rule.position,
                )
            for argument in atom.arguments:
                visit(argument)
    return list(warnings)


def _undefined(rules: Sequence[Rule], file: str) -> list[str]:
    defined = {rule.head.name for rule in rules} | set(RELATIONS)
    warnings: dict[str, None] = {}
    told: set[str] = set()
    for rule in rules:
        for literal in rule.body:
            name = literal.atom.name
            if name not in defined and name not in told and len(told) < MAX_WARNINGS:
                told.add(name)
                question = did_you_mean(name, defined)
                place = f"line {literal.position.line}: " if literal.position else ""
                warnings[
                    f"{place}relation '{name}' has no rule, so it is never true"
                    + (f" ({question})" if question else "")
                ] = None
    return list(warnings)
