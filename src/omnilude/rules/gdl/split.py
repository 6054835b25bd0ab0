"""Splitting rules so that fewer variables meet in one join.

A rule with many variables has a ground instance for each combination of their values. Where a few
of its conditions share variables that nothing else needs, they become a relation of their own,
with those variables projected away (bucket elimination). The meaning stays; the number of
instances falls by the range of each projected variable, and equal parts of different rules meet in
one relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from omnilude.rules.gdl.terms import Compound, Kind, Literal, Rule, Term, Variable, variables

# Longer rules than this are left as they are: the search for parts is cubic in their length.
MAX_SPLIT = 64


def split_rules(rules: Iterable[Rule]) -> list[Rule]:
    splitter = _Splitter()
    for rule in rules:
        splitter.add(rule)
    return splitter.rules


class _Splitter:
    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._names: dict[tuple[Literal, ...], str] = {}

    def add(self, rule: Rule) -> None:
        while (part := _choose_part(rule)) is not None:
            rule = self._extract(rule, part)
        self.rules.append(rule)

    def _extract(self, rule: Rule, part: Sequence[Literal]) -> Rule:
        """Replaces `part` of the body by one literal of a relation that stands for it."""
        rest = [literal for literal in rule.body if literal not in part]
        needed = set(variables(rule.head)).union(*(literal.variables for literal in rest))
        # Variables are renamed in order of appearance, so that equal parts give equal relations.
        order = list(dict.fromkeys(v for literal in part for v in variables(literal.atom)))
        shared = [v for v in order if v in needed]
        renaming = {v: Variable(f"?{i}") for i, v in enumerate([*shared, *order])}
        renaming |= {v: Variable(f"?{i}") for i, v in enumerate(shared)}
        key = (
            *(Literal(x.kind, _rename(x.atom, renaming)) for x in part),
            Literal(Kind.POSITIVE, Compound("", tuple(renaming[v] for v in shared))),
        )
        name = self._names.get(key)
        if name is None:
            # A space cannot be part of a word of the rulesheet, so the name is free.
            name = self._names[key] = f"part {len(self._names)}"
            head = Compound(name, tuple(renaming[v] for v in shared), rule.position)
            self.add(Rule(head, key[:-1], rule.position))
        atom = Compound(name, tuple(Variable(v) for v in shared), rule.position)
        return Rule(rule.head, (*rest, Literal(Kind.POSITIVE, atom)), rule.position)


def _choose_part(rule: Rule) -> list[Literal] | None:
    """The conditions whose extraction lowers the number of variables that meet, if any."""
    if not 2 <= len(rule.body) <= MAX_SPLIT:
        return None
    of_head = set(variables(rule.head))
    everything = set().union(*(literal.variables for literal in rule.body))
    best: list[Literal] | None = None
    best_size = len(everything)
    for bucket in _buckets(rule, sorted(everything - of_head)):
        if len(bucket) == len(rule.body):
            continue
        inside = set().union(*(literal.variables for literal in bucket))
        bound = set().union(
            *(literal.variables for literal in bucket if literal.kind is Kind.POSITIVE)
        )
        rest = [literal for literal in rule.body if literal not in bucket]
        bound_rest = set().union(
            *(literal.variables for literal in rest if literal.kind is Kind.POSITIVE)
        )
        outside = set().union(of_head, *(literal.variables for literal in rest))
        if inside != bound or not outside <= bound_rest | inside:
            continue
        if len(inside) < best_size:
            best, best_size = bucket, len(inside)
    return best


def _buckets(rule: Rule, projected: Sequence[str]) -> Iterable[list[Literal]]:
    """For each projected variable the conditions that mention it, then connected groups of them."""
    for variable in projected:
        yield [literal for literal in rule.body if variable in literal.variables]
    left = set(projected)
    while left:
        group = {left.pop()}
        grown = True
        while grown:
            grown = False
            for literal in rule.body:
                touched = literal.variables & left
                if touched and literal.variables & group:
                    group |= touched
                    left -= touched
                    grown = True
        yield [literal for literal in rule.body if literal.variables & group]


def _rename(term: Compound, renaming: dict[str, Variable]) -> Compound:
    def walk(part: Term) -> Term:
        if isinstance(part, Variable):
            return renaming[part.name]
        return Compound(part.name, tuple(walk(a) for a in part.arguments), part.position)

    return Compound(term.name, tuple(walk(a) for a in term.arguments), term.position)
