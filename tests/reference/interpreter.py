"""The game interface of the reference interpreter: states, legal moves, successors and goals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from .kif import Term, parse, read_rules, to_kif
from .prover import STATE, Program, Prover

State = frozenset[str]  # the fluents that hold, as compact KIF


class ReferenceGame:
    """A game of GDL or GDL-II, interpreted slowly.

    Moves, fluents and percepts are compact KIF strings such as ``"(mark 1 2)"`` or ``"noop"``.
    A joint move is a list with one move per role, in the order of `roles`.
    """

    def __init__(self, text: str) -> None:
        self._program = Program(read_rules(text))
        self._terms: dict[str, Term] = {}
        self._last: tuple[State, Prover] | None = None
        outside = Prover(self._program, ())
        self.roles: list[str] = [to_kif(atom[1]) for atom in outside.ask(("role", "?r"))]
        self._initial = frozenset(to_kif(atom[1]) for atom in outside.ask(("init", "?f")))

    def initial(self) -> State:
        """The initial state."""
        return self._initial

    def legal(self, state: State, role: str) -> list[str]:
        """The distinct legal moves of a role, sorted."""
        return self._values(self._prover(state), "legal", role)

    def terminal(self, state: State) -> bool:
        """Is the state terminal?"""
        return bool(self._prover(state).ask("terminal"))

    def goals(self, state: State, role: str) -> list[int]:
        """The distinct goal values of a role, sorted; in a well-formed game at most one."""
        return sorted(int(value) for value in self._values(self._prover(state), "goal", role))

    def next(self, state: State, joint: list[str]) -> State:
        """The state after a joint move (its legality is not checked)."""
        prover = self._prover_after(state, joint)
        return frozenset(to_kif(atom[1]) for atom in prover.ask(("next", "?f")))

    def sees(self, state: State, joint: list[str], role: str) -> list[str]:
        """What a role perceives when the joint move is made in the state, sorted (GDL-II)."""
        return self._values(self._prover_after(state, joint), "sees", role)

    def facts(self, state: State) -> list[str]:
        """The fluents of a state, sorted."""
        return sorted(state)

    def propositions(self, state: State) -> set[str]:
        """Whatever holds of a state by a relation that rests on `true` and not on `does`."""
        prover = self._prover(state)
        found = {f"(true {fluent})" for fluent in state}
        for name, arity in list(self._program.rules):
            if self._program.level[name, arity] == STATE:
                pattern = (name, *(f"?{n}" for n in range(arity))) if arity else name
                found.update(map(to_kif, prover.ask(pattern)))
        return found

    def joint_moves(self, state: State) -> Iterator[list[str]]:
        """Every combination of legal moves."""
        for joint in product(*(self.legal(state, role) for role in self.roles)):
            yield list(joint)

    def perft(self, depth: int, state: State | None = None) -> int:
        """The number of joint-move sequences of exactly this length from a state."""
        if state is None:
            state = self._initial
        if depth == 0:
            return 1
        if self.terminal(state):
            return 0
        joints = list(self.joint_moves(state))
        if depth == 1:
            return len(joints)
        return sum(self.perft(depth - 1, self.next(state, joint)) for joint in joints)

    def _values(self, prover: Prover, relation: str, role: str) -> list[str]:
        answers = prover.ask((relation, self._term(role), "?value"))
        return sorted(to_kif(atom[2]) for atom in answers)

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            self._terms[text] = parse(text)
        return self._terms[text]

    def _prover(self, state: State) -> Prover:
        """A prover for the state; that of the last state is kept."""
        if self._last is None or self._last[0] != state:
            fluents = [self._term(fluent) for fluent in sorted(state)]
            self._last = (state, Prover(self._program, fluents))
        return self._last[1]

    def _prover_after(self, state: State, joint: list[str]) -> Prover:
        """A prover that also knows the moves; it shares what is known of the state alone."""
        if len(joint) != len(self.roles):
            raise ValueError(f"{len(joint)} moves for {len(self.roles)} roles")
        prover = self._prover(state)
        moves = [
            ("does", self._term(role), self._term(move))
            for role, move in zip(self.roles, joint, strict=True)
        ]
        return prover.with_moves(moves)


def load(source: str | Path) -> ReferenceGame:
    """Load a game from rules as text, or from the path of a rulesheet."""
    if isinstance(source, Path) or "(" not in source:
        source = Path(source).read_text(encoding="utf-8")
    return ReferenceGame(source)
