"""Random rulesheets: small, almost always valid, and rich in what compilers get wrong.

Every value has a type, so that what is generated is finite: `D` an element of the domain, `P` a
pair of them, `R` a role, `M` a move, `F` a fluent. Relations stand in an order; a rule mentions
relations before its own, or its own without negation, so that the sheet is stratified.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Relation = tuple[str, str]  # name, type of each argument

TYPE = re.compile(r"\b[DPRMF]\b")
LENGTH = 4  # the games end after so many moves at the latest

STATIC: list[Relation] = [
    ("dom", "D"), ("edge", "DD"), ("path", "DD"), ("apart", "DD"), ("linked", "P"), ("role", "R"),
]  # fmt: skip


class Sheet:
    """One rulesheet in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.domain = ["a", "b", "c", "d"][: self.number(2, 4)]
        self.roles = self.some(["p", "q", "random", "(team a)"], 1, 3)
        self.fluents = self.some(
            ["flag", "(at D)", "(cell D D)", "(box P)", "(last M)", "(turn R)", "(own R D)"], 2, 4
        )
        self.moves = self.some(["noop", "(go D)", "(put D D)", "(swap P)", "(ask R)"], 1, 3)
        self.known: list[Relation] = list(STATIC)

    # --- choices ---

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        return self.random.sample(options, min(len(options), self.number(low, high)))

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    # --- terms ---

    def term(self, kind: str, env: dict[str, str], fresh: bool) -> str:
        """A term of a type; its variables are those of `env`, to which new ones may be added."""
        names = [name for name, of in env.items() if of == kind]
        if fresh and len(names) < 2 and self.chance(40):
            name = f"?{kind.lower()}{len(names)}"
            env[name] = kind
            return name
        if names and self.chance(75):
            return self.pick(names)
        match kind:
            case "D":
                return self.pick(self.domain)
            case "R":
                return self.pick(self.roles)
            case "P":
                return self.shape("(pair D D)", env, fresh)
            case "M":
                return self.shape(self.pick(self.moves), env, fresh)
            case _:
                return self.shape(self.pick(self.fluents), env, fresh)

    def shape(self, shape: str, env: dict[str, str], fresh: bool) -> str:
        """The text with terms in the place of types."""
        return TYPE.sub(lambda found: self.term(found.group(), env, fresh), shape)

    def atom(self, relation: Relation, env: dict[str, str], fresh: bool) -> str:
        name, kinds = relation
        if not kinds:
            return name
        return f"({name} {' '.join(self.term(kind, env, fresh) for kind in kinds)})"

    # --- rules ---

    def add(self, line: str) -> None:
        self.lines.append(line)

    def body(self, env: dict[str, str], own: Relation | None, least: int = 1) -> list[str]:
        """Conditions, in any order; those that bind variables are made first."""
        known = self.known + ([own] * 2 if own else [])
        out = [self.atom(self.relation(known), env, True) for _ in range(self.number(least, 3))]
        if self.chance(15):  # each alternative binds the same variables: none that are new
            parts = [self.atom(self.relation(known), env, False) for _ in range(2)]
            if self.chance(30):
                parts.append(f"(and {self.test(env)} {self.test(env)})")
            out.append(f"(or {' '.join(parts)})")
        out += [self.test(env) for _ in range(self.number(0, 2))]
        if self.chance(50):
            self.random.shuffle(out)
        return out

    def relation(self, known: list[Relation]) -> Relation:
        """The relations of play more often than the static ones."""
        playing = [relation for relation in known if relation not in STATIC]
        return self.pick(playing if playing and self.chance(70) else known)

    def test(self, env: dict[str, str]) -> str:
        kinds = sorted(set(env.values()))
        if kinds and self.chance(30):
            kind = self.pick(kinds)
            return f"(distinct {self.term(kind, env, False)} {self.term(kind, env, False)})"
        atom = self.atom(self.relation(self.known), env, False)
        if self.chance(10):
            other = self.atom(self.relation(self.known), env, False)
            return f"(not (or {atom} {other}))"
        return f"(not {atom})" if self.chance(70) else atom

    def rule(self, head: str, own: Relation | None = None, extra: str = "") -> None:
        """A rule whose head is given as a shape; `own` is its relation, if it may be recursive."""
        env: dict[str, str] = {}
        body = " ".join(self.body(env, own))
        self.add(f"(<= {self.shape(head, env, False)} {body}{extra})")

    def helper(self, name: str, recursive: bool) -> None:
        kinds = self.pick(["", "D", "DD", "DD", "F", "M", "R", "P", "RD"])
        relation = (name, kinds)
        head = f"({name} {' '.join(kinds)})" if kinds else name
        for _ in range(self.number(1, 3)):
            self.rule(head)
        if recursive and kinds == "DD" and self.chance(60):  # reachability
            self.add(f"(<= ({name} ?x ?z) ({name} ?x ?y) ({name} ?y ?z))")
        elif recursive and kinds:
            self.rule(head, relation)
        self.known.append(relation)


def static_part(sheet: Sheet) -> None:
    for role in sheet.roles:
        sheet.add(f"(role {role})")
    for item in sheet.domain:
        sheet.add(f"(dom {item})")
    pairs = [(x, y) for x in sheet.domain for y in sheet.domain]
    for x, y in sheet.some(pairs, 1, 4):
        sheet.add(f"(edge {x} {y})")
    sheet.add("(<= (path ?x ?y) (edge ?x ?y))")
    sheet.add("(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))")
    sheet.add("(<= (apart ?x ?y) (dom ?x) (dom ?y) (not (path ?x ?y)))")
    sheet.add("(<= (linked (pair ?x ?y)) (edge ?x ?y) (not (edge ?y ?x)))")
    for n in range(LENGTH):
        sheet.add(f"(after {n} {n + 1})")


def initial_part(sheet: Sheet) -> None:
    sheet.add("(init (step 0))")
    for fluent in sheet.fluents:
        env: dict[str, str] = {}
        if sheet.chance(60):
            sheet.add(f"(init {sheet.shape(fluent, env, False)})")
        elif sheet.chance(60):
            body = " ".join(sheet.atom(sheet.pick(STATIC), env, True) for _ in range(2))
            sheet.add(f"(<= (init {sheet.shape(fluent, env, False)}) {body})")


def position_part(sheet: Sheet) -> None:
    sheet.known += [("true", "F")] * 3
    if sheet.chance(60):
        loops_part(sheet)
    for i in range(sheet.number(0, 2)):
        sheet.helper(f"pos{i}", recursive=sheet.chance(70))
    if sheet.chance(90):
        sheet.add("(<= (legal ?r noop) (role ?r))")
    for role in sheet.roles:
        for move in sheet.some(sheet.moves, 1, len(sheet.moves)):
            sheet.rule(f"(legal {role if sheet.chance(80) else 'R'} {move})")
    sheet.known.append(("legal", "RM"))
    if sheet.chance(30):
        sheet.helper("able", recursive=sheet.chance(50))
    goals_part(sheet)
    sheet.add(f"(<= terminal (true (step {LENGTH})))")
    if sheet.chance(30):
        sheet.rule("terminal", extra=" (not (true (step 0)))")
    if sheet.chance(30):
        sheet.known.append(("terminal", ""))


def loops_part(sheet: Sheet) -> None:
    """Relations that rest on themselves through the position: loops in the circuit."""
    sheet.add("(<= (link ?x ?y) (edge ?x ?y) (true (at ?x)))")
    sheet.add("(<= (link ?x ?y) (true (cell ?x ?y)))")
    if sheet.chance(50):
        sheet.add("(<= (link ?x ?y) (dom ?x) (dom ?y) (true flag))")
    sheet.known.append(("link", "DD"))
    if sheet.chance(60):
        link = sheet.pick(["(link ?x ?y)", "(link ?y ?x)", "(reach ?x ?y)"])
        test = sheet.pick(["", "(not (true (at ?z)))", "(distinct ?x ?z)"])
        sheet.add("(<= (reach ?x ?y) (link ?x ?y))")
        sheet.add(f"(<= (reach ?x ?z) {link} (reach ?y ?z) {test})")
        sheet.known += [("reach", "DD")] * 3
    if sheet.chance(60):
        start = sheet.pick([f"(true {sheet.pick(sheet.fluents)})", "(true (at D))", "(role R)"])
        sheet.add(f"(<= (even {sheet.pick(sheet.domain)}) {sheet.shape(start, {}, True)})")
        sheet.add("(<= (odd ?y) (even ?x) (link ?x ?y))")
        sheet.add(f"(<= (even ?y) (odd ?x) {sheet.pick(['(link ?x ?y)', '(edge ?x ?y)'])})")
        sheet.known += [("even", "D"), ("odd", "D")] * 2


def pushes_part(sheet: Sheet) -> None:
    """The same, resting on the moves made."""
    sheet.add(f"(<= (pushed {sheet.pick(sheet.domain)}) (does ?r noop) (distinct ?r p))")
    sheet.add("(<= (pushed ?x) (does ?r (go ?x)))")
    sheet.add("(<= (pushed ?x) (does ?r (put ?x ?y)) (does ?s (put ?y ?z)))")
    sheet.add("(<= (pushed ?y) (pushed ?x) (edge ?x ?y) (not (true (at ?y))))")
    sheet.add("(<= (pushed ?x) (pushed ?y) (edge ?x ?y))")
    sheet.known += [("pushed", "D")] * 3


def goals_part(sheet: Sheet) -> None:
    for value in sheet.some([0, 25, 50, 75, 100], 1, 3):
        sheet.rule(f"(goal {sheet.pick(['R', *sheet.roles])} {value})")
    match sheet.number(0, 2):
        case 0:  # well-founded only when the values are told apart
            sheet.add("(<= (goal ?r 10) (role ?r) (not (goal ?r 100)) (not (goal ?r 50)))")
        case 1:
            first = sheet.roles[0]
            sheet.add(f"(<= (goal ?r 90) (role ?r) (distinct ?r {first}) (goal {first} 50))")
        case _:
            sheet.add("(goal nobody 10)")


def transition_part(sheet: Sheet) -> None:
    sheet.known += [("does", "RM")] * 3
    sheet.add("(<= (next (step ?n)) (true (step ?m)) (after ?m ?n))")
    if sheet.chance(40):
        pushes_part(sheet)
    for i in range(sheet.number(0, 2)):
        sheet.helper(f"move{i}", recursive=sheet.chance(70))
    if sheet.chance(60):  # what is not touched stays
        test = sheet.test({"?f": "F"})
        step = f"(step {sheet.number(0, LENGTH)})"
        sheet.add(f"(<= (next ?f) (true ?f) {test} (distinct ?f {step}) (not (true {step})))")
    for fluent in sheet.fluents:
        for _ in range(sheet.number(1, 2)):
            sheet.rule(f"(next {fluent})")
    if sheet.chance(40):  # most of a role's moves do the same: seen as all but the others
        role, target = sheet.pick(sheet.roles), sheet.term("F", {}, False)
        for move in sheet.moves:
            if sheet.chance(75):
                sheet.add(f"(<= (next {target}) (does {role} {sheet.shape(move, {}, True)}))")
    if sheet.chance(30):
        target, move = sheet.term("F", {}, False), sheet.term("M", {}, False)
        sheet.add(f"(<= (next {target}) (does {sheet.pick(sheet.roles)} ?m) (distinct ?m {move}))")
    if sheet.chance(40):
        for kind in sheet.some(["M", "D", "F", "R"], 1, 2):
            sheet.rule(f"(sees R {kind})")


def rulesheet(seed: int) -> str:
    """The text of the rulesheet that belongs to a seed."""
    sheet = Sheet(seed)
    static_part(sheet)
    initial_part(sheet)
    position_part(sheet)
    transition_part(sheet)
    return "\n".join(sheet.lines)


def minimise(text: str, fails: Callable[[str], bool]) -> str:
    """The sheet without the lines that a failure does not need."""
    lines = text.split("\n")
    size = len(lines)
    while size:
        at = 0
        while at < len(lines):
            shorter = lines[:at] + lines[at + size :]
            if fails("\n".join(shorter)):
                lines = shorter
            else:
                at += size
        size //= 2
    return "\n".join(lines)
