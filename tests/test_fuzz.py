"""Mutated rulesheets and rule bombs: a typed error or a game, never a crash, hang or flood."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzz.mutate import mutate, seed_sheets
from fuzz.run import run
from fuzz.trial import try_input

GAME = """
(role p) (init (at a)) (<= (legal p go) (true (at a)))
(<= (next (at a)) (does p go)) (<= terminal (true over)) (<= (goal p 100) (true over))
"""


def test_mutated_rulesheets(tmp_path: Path) -> None:
    jobs = min(2, os.cpu_count() or 1)
    report = run(2000, seed=1, jobs=jobs, folder=tmp_path)
    assert report.findings == []
    assert report.inputs == 2000
    # The mutations are neither too wild nor too tame.
    assert report.outcomes["circuit"] > 200
    assert report.outcomes["RulesError"] > 200


def test_mutated_descriptions(tmp_path: Path) -> None:
    jobs = min(2, os.cpu_count() or 1)
    report = run(600, seed=1, jobs=jobs, language="ludemes", folder=tmp_path)
    assert report.findings == []
    assert report.inputs == 600
    assert report.outcomes["ludemes"] > 60
    assert report.outcomes["RulesError"] + report.outcomes["Unsupported"] > 60


@pytest.mark.sanitize
def test_mutated_descriptions_in_this_process() -> None:
    sheets = seed_sheets("ludemes")
    for seed in range(40):
        try_input(mutate(sheets, seed, "ludemes"), seed, "ludemes")


@pytest.mark.sanitize
def test_mutated_rulesheets_in_this_process() -> None:
    sheets = seed_sheets()
    for seed in range(100):
        try_input(mutate(sheets, seed), seed)


def numbers(name: str, count: int) -> str:
    return " ".join(f"({name} {n})" for n in range(count))


def product(variables: int, constants: int) -> str:
    """One rule over a product of constants."""
    names = [f"?x{i}" for i in range(variables)]
    body = " ".join(f"(number {name})" for name in names)
    return f"{numbers('number', constants)} (<= (next (big {' '.join(names)})) {body})"


def nested(depth: int) -> str:
    return "(f " * depth + "a" + ")" * depth


def chain(length: int) -> str:
    rules = " ".join(f"(<= r{i + 1} r{i})" for i in range(length))
    return f"(<= r0 (true (at a))) {rules} (<= (next last) r{length})"


def doubling(depth: int) -> str:
    """Each relation holds of twice as many terms as the one before: 2 to the power of `depth`."""
    rules = [
        f"(<= (d{i + 1} (l ?x)) (d{i} ?x)) (<= (d{i + 1} (r ?x)) (d{i} ?x))" for i in range(depth)
    ]
    return f"(d0 a) {' '.join(rules)} (<= (next (leaf ?x)) (d{depth} ?x))"


BOMBS = {
    "product of ten": product(10, 10),
    "product of four hundred": product(400, 3),
    "static product": product(6, 30).replace("(next (big", "(init (big"),
    "static product behind a relation": product(7, 20).replace("(next (big", "(big ")
    .replace("?x6)) (", "?x6) (") + "(<= (next over) (big 1 2 3 4 5 6 7))",
    "product of moves": product(8, 12).replace("(next (big", "(legal p (big"),
    "product of fluents": "(<= (next (pair ?f ?g)) (true ?f) (true ?g))",
    "product of negations": numbers("number", 40)
    + "(<= (q ?a ?b ?c ?d) (number ?a) (number ?b) (number ?c) (number ?d) (not (true (at ?a))))"
    + "(<= (next over) (not (q 1 2 3 4)))",
    "growing fluent": "(<= (next (at (s ?x))) (true (at ?x)))",
    "growing static term": "(n z) (<= (n (s ?x)) (n ?x)) (<= (next over) (n ?x))",
    "growing tree": "(n z) (<= (n (t ?x ?y)) (n ?x) (n ?y)) (<= (next over) (n ?x))",
    "growing position term": "(<= (n ?x) (true (at ?x))) (<= (n (s ?x)) (n ?x))"
    "(<= terminal (n b))",
    "growing moves": "(<= (legal p (do ?x)) (true (at ?x))) (<= (next (at ?m)) (does p ?m))",
    "growing percepts": "(<= (sees p (s ?x)) (true (at ?x)))"
    "(<= (next (at (s ?x))) (true (at ?x)))",
    "doubling": doubling(30),
    "counter": numbers("digit", 10) + "(init (count 0 0 0 0 0 0 0 0))"
    + "(<= (next (count ?b ?c ?d ?e ?f ?g ?h ?i))"
    + " (true (count ?a ?b ?c ?d ?e ?f ?g ?h)) (digit ?i))",
    "nested to the limit": f"(<= (next (at {nested(90)})) (true (at a)))",
    "nested beyond": f"(<= (next (at {nested(5000)})) (true (at a)))",
    "many parentheses": "(" * 100_000,
    "closing parentheses": ")" * 100_000,
    "nested negations": "(<= (next b) " + "(not " * 90 + "(true (at a))" + ")" * 90 + ")",
    "nested disjunctions": "(<= (next b) " + "(or (true x) " * 90 + "(true y)" + ")" * 90 + ")",
    "product of disjunctions": "(<= (next b) " + "(or (true x) (true y)) " * 60 + ")",
    "negated conjunctions": "(<= (next b) (not (or "
    + " ".join("(and (true x) (true y))" for _ in range(40)) + ")))",
    "huge arity": f"(wide {' '.join(map(str, range(1900)))}) (<= (next (at b)) (wide "
    + " ".join(f"?x{i}" for i in range(1900)) + "))",
    "long body": "(<= (next (at b)) " + " ".join(f"(true (at c{i}))" for i in range(900)) + ")",
    "long body of variables": "(<= (next (at b)) "
    + " ".join(f"(true (at ?x{i}))" for i in range(300)) + ")",
    "long chain": chain(3000),
    "long circle": chain(3000) + "(<= r0 r3000)",
    "deep derivation": numbers("number", 1) + " ".join(f"(after {i} {i + 1})" for i in range(5000))
    + "(<= (upto 0) (true (at a))) (<= (upto ?y) (upto ?x) (after ?x ?y))"
    + "(<= (next over) (upto 5000))",
    "dense recursion": numbers("node", 60) + "(<= (way ?x ?y) (node ?x) (node ?y) (true (at a)))"
    + "(<= (way ?x ?z) (way ?x ?y) (way ?y ?z)) (<= (next over) (way 1 2))",
    "many roles": " ".join(f"(role r{i})" for i in range(500)) + "(<= (legal ?r go) (role ?r))",
    "many goals": " ".join(f"(goal p {i})" for i in range(2000)) + "(<= terminal (true (at a)))",
    "large words": f"(<= (next (at {'x' * 100_000})) (true (at a)))",
    "many words": " ".join(f"(w{i} a)" for i in range(50_000)),
}  # fmt: skip


@pytest.mark.timeout(60)  # a guard against hanging; the budgets end these in a few seconds
@pytest.mark.sanitize
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_rule_bomb(bomb: str) -> None:
    assert try_input((GAME + bomb).encode(), 1)
