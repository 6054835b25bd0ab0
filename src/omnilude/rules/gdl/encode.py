"""The flat form in which rules cross into the core (core/datalog/rules.cpp reads it)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude.rules.gdl.reader import RELATIONS
from omnilude.rules.gdl.strata import Stratum
from omnilude.rules.gdl.terms import Kind, Predicate, Rule, Term, Variable

_WORDS = ("role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees")


@dataclass(frozen=True, slots=True)
class EncodedRules:
    """The symbols, and the code that names them by number."""

    symbols: list[str]
    code: NDArray[np.int32]


def encode(rules: Sequence[Rule], strata: Iterable[Stratum], roles: Iterable[str]) -> EncodedRules:
    encoder = _Encoder()
    for word in _WORDS:
        encoder.predicate((word, RELATIONS[word]))
    strata = list(strata)
    encoder.code.append(len(strata))
    for stratum in strata:
        encoder.code += [int(stratum.stage), len(stratum.predicates)]
        for predicate in stratum.predicates:
            encoder.predicate(predicate)
    encoder.code.append(len(rules))
    for rule in rules:
        encoder.rule(rule)
    roles = list(roles)
    encoder.code.append(len(roles))
    role_terms = {
        str(rule.head.arguments[0]): rule.head for rule in rules if rule.head.name == "role"
    }
    for role in roles:
        encoder.term(role_terms[role].arguments[0], {})
    return EncodedRules(list(encoder.symbols), np.array(encoder.code, dtype=np.int32))


class _Encoder:
    def __init__(self) -> None:
        self.symbols: dict[str, int] = {}
        self.code: list[int] = []

    def symbol(self, name: str) -> int:
        return self.symbols.setdefault(name, len(self.symbols))

    def predicate(self, predicate: Predicate) -> None:
        self.code += [self.symbol(predicate[0]), predicate[1]]

    def term(self, term: Term, numbers: dict[str, int]) -> None:
        if isinstance(term, Variable):
            self.code.append(~numbers.setdefault(term.name, len(numbers)))
            return
        self.code += [self.symbol(term.name), len(term.arguments)]
        for argument in term.arguments:
            self.term(argument, numbers)

    def rule(self, rule: Rule) -> None:
        numbers: dict[str, int] = {}
        at = len(self.code)
        self.code.append(0)
        self.term(rule.head, numbers)
        self.code.append(len(rule.body))
        for literal in rule.body:
            self.code.append(literal.kind.value)
            if literal.kind is Kind.DISTINCT:
                for side in literal.atom.arguments:
                    self.term(side, numbers)
            else:
                self.term(literal.atom, numbers)
        self.code[at] = len(numbers)
