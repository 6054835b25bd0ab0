"""Reading of KIF text and of GDL rules, for the slow reference interpreter.

A term is either a string (a constant such as ``"a"`` or a variable such as ``"?x"``) or a tuple
``(functor, argument, ...)``.  An atom (sentence) has the same shape: ``"terminal"`` or
``("true", ("cell", "1", "1", "b"))``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeGuard

Term = str | tuple[Any, ...]
Body = tuple[Term, ...]

LOGIC = frozenset({"<=", "and", "or", "not", "distinct"})
RELATIONS = frozenset({"role", "init", "true", "next", "legal", "does", "goal", "terminal"})
KEYWORDS = LOGIC | RELATIONS | {"sees", "base", "input"}
_TOKEN = re.compile(r";[^\n\r]*|[()]|[^\s();]+")


class KifError(ValueError):
    """The text is not well-formed KIF, or not a well-formed GDL rule."""


def parse_all(text: str) -> list[Term]:
    """Parse every expression of the text."""
    stack: list[list[Term]] = [[]]
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith(";"):
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise KifError(f"unbalanced ')' at offset {match.start()}")
            items = stack.pop()
            stack[-1].append(_compound(items))
        else:
            lowered = token.lower()
            stack[-1].append(lowered if lowered in KEYWORDS else token)
    if len(stack) > 1:
        raise KifError(f"{len(stack) - 1} unclosed '('")
    return stack[0]


def _compound(items: list[Term]) -> Term:
    """A parenthesised list; ``(terminal)`` is the same as ``terminal``."""
    if not items:
        raise KifError("empty list ()")
    if not isinstance(items[0], str):
        raise KifError(f"a list must start with a symbol: {to_kif(tuple(items))}")
    return items[0] if len(items) == 1 else tuple(items)


def parse(text: str) -> Term:
    """Parse a text that holds exactly one expression."""
    terms = parse_all(text)
    if len(terms) != 1:
        raise KifError(f"expected one expression, found {len(terms)}: {text!r}")
    return terms[0]


def to_kif(term: Term) -> str:
    """The compact form: single spaces, none next to parentheses, constants bare."""
    if isinstance(term, str):
        return term
    return "(" + " ".join(to_kif(part) for part in term) + ")"


def is_variable(term: Term) -> TypeGuard[str]:
    """Is the term a variable?"""
    return isinstance(term, str) and term.startswith("?")


def variables(term: Term) -> set[str]:
    """All variables that occur in the term."""
    if isinstance(term, str):
        return {term} if is_variable(term) else set()
    return set().union(*(variables(part) for part in term[1:]))


def signature(atom: Term) -> tuple[str, int]:
    """Name and arity of an atom's relation (or of a term's functor)."""
    return (atom, 0) if isinstance(atom, str) else (atom[0], len(atom) - 1)


@dataclass(frozen=True)
class Rule:
    """A clause ``head <= body``; the body is a conjunction of literals.

    A literal is an atom, ``("not", atom)``, ``("distinct", s, t)`` or ``("same", s, t)``; the last
    is what ``(not (distinct s t))`` becomes.
    """

    head: Term
    body: Body


def _alternatives(formula: Term, positive: bool = True) -> list[Body]:
    """The formula (or its negation) as a disjunction of conjunctions of literals."""
    name = formula if isinstance(formula, str) else formula[0]
    parts = () if isinstance(formula, str) else formula[1:]
    if name == "not":
        if len(parts) != 1:
            raise KifError(f"'not' takes one argument: {to_kif(formula)}")
        return _alternatives(parts[0], not positive)
    if name in ("and", "or"):
        choices = [_alternatives(part, positive) for part in parts]
        if (name == "or") == positive:
            return [body for choice in choices for body in choice]
        return [sum(combination, ()) for combination in product(*choices)]
    if name == "distinct":
        if len(parts) != 2:
            raise KifError(f"'distinct' takes two arguments: {to_kif(formula)}")
        return [(formula if positive else ("same", *parts),)]
    return [(formula if positive else ("not", formula),)]


def is_test(literal: Term) -> bool:
    """Is this a literal that must wait until its variables are bound?"""
    return isinstance(literal, tuple) and literal[0] in ("not", "distinct")


def _tests_when_bound(body: Body) -> Body:
    """Keep the written order, but delay each test until earlier literals bind its variables."""
    ordered: list[Term] = []
    bound: set[str] = set()
    waiting = [literal for literal in body if is_test(literal)]
    remaining = [literal for literal in body if not is_test(literal)]
    while True:
        ready = [test for test in waiting if variables(test) <= bound]
        ordered += ready
        waiting = [test for test in waiting if test not in ready]
        if not remaining:
            return tuple(ordered + waiting)
        literal = remaining.pop(0)
        ordered.append(literal)
        bound |= variables(literal)


def read_rules(text: str) -> list[Rule]:
    """Read a rulesheet: facts and ``(<= head literal ...)`` clauses, with ``or`` multiplied out."""
    rules: list[Rule] = []
    for clause in parse_all(text):
        if clause == "<=":
            raise KifError("'<=' without a head")
        if isinstance(clause, str) or clause[0] != "<=":
            rules.append(Rule(clause, ()))
            continue
        head, *body = clause[1:]
        for alternative in _alternatives(("and", *body)):
            rules.append(Rule(head, _tests_when_bound(alternative)))
    return rules
