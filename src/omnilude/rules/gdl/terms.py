"""Terms, literals and rules of GDL, as the front end passes them from step to step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from omnilude.errors import Position


@dataclass(frozen=True, slots=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Compound:
    """A symbol applied to arguments; a constant is one without any."""

    name: str
    arguments: tuple[Term, ...] = ()
    position: Position | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"({self.name} {' '.join(map(str, self.arguments))})"

    @property
    def predicate(self) -> Predicate:
        return (self.name, len(self.arguments))


Term = Variable | Compound
Predicate = tuple[str, int]


class Kind(Enum):
    """How a literal takes part in a rule's body; the values are those of the core."""

    POSITIVE = 0
    NEGATIVE = 1
    DISTINCT = 2
    EQUAL = 3  # only while a rule is read: (not (distinct a b))


@dataclass(frozen=True, slots=True)
class Literal:
    kind: Kind
    atom: Compound  # for DISTINCT, (distinct a b) itself

    @property
    def position(self) -> Position | None:
        return self.atom.position

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(variables(self.atom))

    def __str__(self) -> str:
        return f"(not {self.atom})" if self.kind is Kind.NEGATIVE else str(self.atom)


@dataclass(frozen=True, slots=True)
class Rule:
    head: Compound
    body: tuple[Literal, ...] = ()
    position: Position | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"(<= {self.head} {' '.join(map(str, self.body))})" if self.body else str(self.head)


def variables(term: Term) -> Iterator[str]:
    """Names of the variables in a term, in order, with repetitions."""
    stack: list[Term] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Variable):
            yield top.name
        else:
            stack.extend(reversed(top.arguments))
