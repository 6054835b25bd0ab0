"""Which relation rests on which: strata, and the stage of play at which each can be known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from omnilude.errors import RulesError
from omnilude.rules.gdl.terms import Kind, Predicate, Rule


class Stage(IntEnum):
    """The values are those of the core."""

    STATIC = 0  # follows from the rules alone
    POSITION = 1  # rests on `true`
    TRANSITION = 2  # rests on `does`


@dataclass(frozen=True, slots=True)
class Stratum:
    stage: Stage
    predicates: tuple[Predicate, ...]


TRUE: Predicate = ("true", 1)
DOES: Predicate = ("does", 2)
# These change during play by their meaning, even where their rules do not say so.
_AT_LEAST: dict[Predicate, Stage] = {
    TRUE: Stage.POSITION,
    ("legal", 2): Stage.POSITION,
    ("goal", 2): Stage.POSITION,
    ("terminal", 0): Stage.POSITION,
    DOES: Stage.TRANSITION,
    ("next", 1): Stage.TRANSITION,
    ("sees", 2): Stage.TRANSITION,
}


def stratify(rules: Iterable[Rule], file: str) -> list[Stratum]:
    """Strata in an order in which each rests only on itself (positively) and on earlier ones."""
    rules = list(rules)
    uses = _uses(rules)
    components = _components(uses)
    number = {p: i for i, component in enumerate(components) for p in component}
    for rule in rules:
        for literal in rule.body:
            below_number = number.get(literal.atom.predicate)
            if literal.kind is Kind.NEGATIVE and below_number == number[rule.head.predicate]:
                raise RulesError(
                    f"'{rule.head.name}' depends on its own negation through '{literal.atom.name}'",
                    file=file,
                    position=literal.position,
                    hint="negation may not be part of a recursion",
                )
    stages: dict[Predicate, Stage] = {}
    strata = []
    for component in components:
        stage = max(
            max(
                _AT_LEAST.get(p, Stage.STATIC),
                *(stages.get(q, Stage.STATIC) for q in uses[p]),
                Stage.STATIC,
            )
            for p in component
        )
        for p in component:
            stages[p] = stage
        strata.append(Stratum(stage, tuple(component)))
    return strata


def dependency_components(rules: Iterable[Rule]) -> list[list[Predicate]]:
    """Relations that rest on each other, those that others rest on first."""
    return _components(_uses(rules))


def _uses(rules: Iterable[Rule]) -> dict[Predicate, dict[Predicate, None]]:
    """By relation: the relations that its rules mention."""
    uses: dict[Predicate, dict[Predicate, None]] = {TRUE: {}, DOES: {}}
    for rule in rules:
        below = uses.setdefault(rule.head.predicate, {})
        for literal in rule.body:
            if literal.kind is not Kind.DISTINCT:
                below[literal.atom.predicate] = None
    return uses


def _components(uses: Mapping[Predicate, Iterable[Predicate]]) -> list[list[Predicate]]:
    """Strongly connected components, those that others rest on first (Tarjan, no recursion)."""
    index: dict[Predicate, int] = {}
    low: dict[Predicate, int] = {}
    on_stack: set[Predicate] = set()
    stack: list[Predicate] = []
    out: list[list[Predicate]] = []
    for root in uses:
        if root in index:
            continue
        work = [(root, iter(uses[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in uses:
                    continue
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(uses[successor])))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        top = stack.pop()
                        on_stack.discard(top)
                        component.append(top)
                        if top == node:
                            break
                    out.append(component)
    return out
