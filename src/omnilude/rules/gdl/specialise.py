"""Telling apart the cases of a relation that depends on its own negation only by name.

Rules such as (<= (goal robot 0) (not (goal robot 100))) are well-founded, because the two goals are
different atoms, but 'goal' then rests on its own negation. Where every rule of such a relation has
constants at the same places, each combination of them becomes a relation of its own; a cycle that
is left after that is a real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from omnilude.rules.gdl.strata import dependency_components
from omnilude.rules.gdl.terms import Compound, Kind, Literal, Predicate, Rule, Term, Variable
from omnilude.rules.gdl.terms import variables as variables_of


def specialise(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules, with relations told apart where a negation in a cycle makes it necessary."""
    keyed = {p: places for p in _negatively_recursive(rules) if any(places := _places(p, rules))}
    if not keyed:
        return list(rules)
    out: list[Rule] = []
    bridges: dict[tuple[Predicate, str], Rule] = {}
    for rule in rules:
        head = _specialised(rule.head, keyed)
        body = tuple(
            literal
            if literal.kind is Kind.DISTINCT
            else Literal(literal.kind, _specialised(literal.atom, keyed))
            for literal in rule.body
        )
        out.append(Rule(head, body, rule.position))
        if head is not rule.head and (rule.head.predicate, head.name) not in bridges:
            bridges[rule.head.predicate, head.name] = _bridge(rule, head, keyed)
    return out + list(bridges.values())


def _bridge(rule: Rule, head: Compound, keyed: dict[Predicate, list[bool]]) -> Rule:
    """The general relation holds where a special one does."""
    names = iter(range(len(rule.head.arguments)))
    arguments: list[Term] = [
        argument if place else Variable(f"?{next(names)}")
        for argument, place in zip(rule.head.arguments, keyed[rule.head.predicate], strict=True)
    ]
    open_arguments = tuple(a for a in arguments if isinstance(a, Variable))
    special = Compound(head.name, open_arguments, rule.position)
    general = Compound(rule.head.name, tuple(arguments), rule.position)
    return Rule(general, (Literal(Kind.POSITIVE, special),), rule.position)


def _specialised(atom: Compound, keyed: dict[Predicate, list[bool]]) -> Compound:
    places = keyed.get(atom.predicate)
    if places is None:
        return atom
    constants = list(compress(atom.arguments, places))
    if any(True for constant in constants for _ in variables_of(constant)):
        return atom
    # A space cannot be part of a word of the rulesheet, so the name is free.
    name = " ".join([atom.name, *map(str, constants)])
    rest = tuple(compress(atom.arguments, (not place for place in places)))
    return Compound(name, rest, atom.position)


def _places(predicate: Predicate, rules: Sequence[Rule]) -> list[bool]:
    """For each argument whether every head of the relation has a constant there."""
    heads = [rule.head for rule in rules if rule.head.predicate == predicate]
    return [
        all(not any(True for _ in variables_of(head.arguments[i])) for head in heads)
        for i in range(predicate[1])
    ]


def _negatively_recursive(rules: Sequence[Rule]) -> list[Predicate]:
    components = dependency_components(rules)
    number = {p: i for i, component in enumerate(components) for p in component}
    found: dict[Predicate, None] = {}
    for rule in rules:
        for literal in rule.body:
            if literal.kind is Kind.NEGATIVE:
                below = number.get(literal.atom.predicate)
                if below is not None and below == number[rule.head.predicate]:
                    found |= dict.fromkeys(components[below])
    return list(found)
