"""A slow, obvious prover for GDL rules, the heart of the reference interpreter.

Queries are proved top-down.  Every call is tabled: its answers are computed once per state, and
calls that depend on themselves are evaluated again and again until no call of the loop finds a new
answer.  So recursive rules, left recursion included, have their least-fixpoint meaning, and a
negated call is always complete before it is used.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .kif import Rule, Term, signature, to_kif, variables
from .terms import Bindings, FactBase, canonical, substitute, unify

Answers = dict[Term, None]  # an ordered set of ground atoms

STATIC, STATE, MOVE = 0, 1, 2  # what a relation depends on: nothing, `true`, or also `does`


class UnstratifiedError(ValueError):
    """A negated call depends on its own negation."""


class UnsafeError(ValueError):
    """A rule produced an answer that still has variables."""


class Program:
    """The rules of a game, indexed, and the tables of the calls that hold in every state."""

    def __init__(self, rules: list[Rule]) -> None:
        self.facts = FactBase()
        self.rules: dict[tuple[str, int], list[Rule]] = defaultdict(list)
        for rule in rules:
            if not rule.body and not variables(rule.head):
                self.facts.add(rule.head)
            else:
                self.rules[signature(rule.head)].append(rule)
        self.level = self._levels()
        self.static_tables: dict[Term, list[Term]] = {}

    def _levels(self) -> dict[tuple[str, int], int]:
        """For each relation: does it depend on the state, or on the moves?"""
        level = defaultdict(int, {("true", 1): STATE, ("does", 2): MOVE})
        changed = True
        while changed:
            changed = False
            for name, rules in self.rules.items():
                for literal in [literal for rule in rules for literal in rule.body]:
                    atom = literal[1] if literal[0] == "not" else literal
                    if level[signature(atom)] > level[name]:
                        level[name] = level[signature(atom)]
                        changed = True
        return level


@dataclass
class Call:
    """A call under evaluation; `low` is the lowest call on the stack that it depends on."""

    goal: Term
    ground: bool
    depth: int
    low: float = math.inf
    answers: Answers = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """A ground call with an answer: nothing more can be found."""
        return self.ground and bool(self.answers)


class Prover:
    """Answers queries in one state, given also one joint move or none."""

    def __init__(self, program: Program, fluents: Iterable[Term]) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1_000_000))
        self.program = program
        self.state = FactBase(fluents)
        self.moves = FactBase()
        self.tables: tuple[dict[Term, list[Term]], ...] = (program.static_tables, {}, {})
        self._stack: list[Call] = []  # all open calls: active ones, and finished but incomplete
        self._active: list[Call] = []  # the calls whose rules are being tried
        self._open: dict[Term, Call] = {}
        self._partial: dict[Term, Answers] = {}  # sound answers of calls that must be redone
        self._found = 0

    def with_moves(self, moves: Iterable[Term]) -> Prover:
        """A prover for the same state that also knows moves, and shares the state's tables."""
        prover = Prover(self.program, ())
        prover.state = self.state
        prover.moves = FactBase(moves)
        prover.tables = (*self.tables[:MOVE], {})
        return prover

    def ask(self, goal: Term) -> list[Term]:
        """All true instances of an atom, without duplicates."""
        return self._solve(canonical(goal))

    def _table(self, goal: Term) -> dict[Term, list[Term]]:
        return self.tables[self.program.level[signature(goal)]]

    def _solve(self, goal: Term) -> list[Term]:
        if isinstance(goal, tuple) and goal[0] == "true" and len(goal) == 2:
            found = [("true", fluent) for fluent in self.state.candidates(goal[1])]
            return [atom for atom in found if unify(goal, atom, {})]
        if isinstance(goal, tuple) and goal[0] == "does":
            return [atom for atom in self.moves.candidates(goal) if unify(goal, atom, {})]
        complete = self._table(goal).get(goal)
        if complete is not None:
            return complete
        call = self._open.get(goal)
        if call is None:
            return self._evaluate(goal)
        self._depend(min(call.low, call.depth))
        return list(call.answers)

    def _depend(self, depth: float) -> None:
        self._active[-1].low = min(self._active[-1].low, depth)

    def _evaluate(self, goal: Term) -> list[Term]:
        call = Call(goal, not variables(goal), len(self._stack))
        call.answers = self._partial.pop(goal, call.answers)
        self._stack.append(call)
        self._active.append(call)
        self._open[goal] = call
        while True:
            before = self._found
            self._try_clauses(call)
            if call.proved or call.low != call.depth or self._found == before:
                break
            self._forget(call.depth + 1)  # the head of a loop: once more, with what is known now
        self._active.pop()
        if call.low < call.depth and not call.proved:  # inside a loop that an earlier call heads
            for inner in self._stack[call.depth :]:
                inner.low = min(inner.low, call.low)
            self._depend(call.low)
            return list(call.answers)
        if call.proved:
            self._forget(call.depth + 1)
        for finished in self._stack[call.depth :]:
            self._table(finished.goal)[finished.goal] = list(finished.answers)
        self._forget(call.depth)
        return list(call.answers)

    def _forget(self, depth: int) -> None:
        """Close the calls from this depth on; keep their answers for a later evaluation."""
        for call in self._stack[depth:]:
            del self._open[call.goal]
            self._partial[call.goal] = call.answers
        del self._stack[depth:]

    def _try_clauses(self, call: Call) -> None:
        for fact in self.program.facts.candidates(call.goal):
            if unify(call.goal, fact, {}):
                self._add(call, fact)
        for rule in self.program.rules.get(signature(call.goal), []):
            env: Bindings = {}
            if not call.proved and unify(rule.head, call.goal, env):
                self._try_body(call, rule, 0, env)

    def _try_body(self, call: Call, rule: Rule, index: int, env: Bindings) -> None:
        """Prove the body from this literal on, in all ways, and record the heads."""
        if index == len(rule.body):
            head = substitute(rule.head, env)
            if variables(head):
                raise UnsafeError(f"unbound variables in {to_kif(head)} for {to_kif(rule.head)}")
            self._add(call, head)
            return
        literal = substitute(rule.body[index], env)
        name = literal[0] if isinstance(literal, tuple) else literal
        if name == "distinct":
            if literal[1] != literal[2]:
                self._try_body(call, rule, index + 1, env)
        elif name == "same":
            if unify(literal[1], literal[2], env):
                self._try_body(call, rule, index + 1, env)
        elif name == "not":
            if not self._holds(literal[1]):
                self._try_body(call, rule, index + 1, env)
        else:
            for answer in self._solve(canonical(literal)):
                extended = dict(env)
                if not call.proved and unify(literal, answer, extended):
                    self._try_body(call, rule, index + 1, extended)

    def _holds(self, atom: Term) -> bool:
        """Is there any instance of the atom?  Its table must be complete before we may say no."""
        low, self._active[-1].low = self._active[-1].low, math.inf
        answers = self._solve(canonical(atom))
        if not answers and self._active[-1].low < math.inf:
            raise UnstratifiedError(f"negation in a loop: (not {to_kif(atom)})")
        self._active[-1].low = low
        return bool(answers)

    def _add(self, call: Call, atom: Term) -> None:
        if atom not in call.answers:
            call.answers[atom] = None
            self._found += 1
