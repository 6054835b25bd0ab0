"""Rulesheets that once went wrong, each the smallest that shows why."""

from __future__ import annotations

import pytest

from omnilude import BudgetExceeded, LoadSettings, RulesError
from omnilude.games.loading import load_text
from reference import load as load_reference

pytestmark = pytest.mark.sanitize

ENGINES = ("circuit", "interpreter")

# Calls that depend on each other through an outer call: none may be complete before that one is.
OUTER_LEADER = """
(role r) (init (at 1)) (step 1 2) (step 2 3) (step 3 4)
(<= (l ?x) (a ?x)) (<= (l ?x) (d ?x)) (<= (l ?x) (true (at ?x)))
(<= (a ?x) (c ?x)) (<= (a ?x) (l ?x)) (<= (c ?x) (a ?x))
(<= (d ?y) (c ?x) (step ?x ?y))
(<= (legal r (go ?x)) (l ?x)) (<= (next (at ?x)) (does r (go ?x)))
(<= terminal (true (at 4))) (goal r 100)
"""

# A recursion that rests on the negation of another one.
TWO_RECURSIONS = """
(role r) (init (n 1)) (init (w))
(<= (e1) (e2)) (<= (e1) (true (e0))) (<= (e2) (e1))
(<= (x1) (x2)) (<= (x1) (not (e1)) (true (n ?k))) (<= (x2) (x1) (true (w)))
(<= (legal r go) (x1)) (<= (legal r stay) (x2))
(<= (next (n 1)) (does r stay)) (<= (next (w)) (does r stay)) (<= (next (done)) (does r go))
(<= terminal (true (done))) (goal r 100)
"""

NOT_DISTINCT = """
(role a) (role b) (init (s 1)) (num 1) (num 2)
(<= (legal ?r (pick ?n)) (role ?r) (num ?n))
(<= (next (s ?n)) (does a (pick ?n)) (does b (pick ?m)) (not (distinct ?n ?m)))
(<= terminal (not (true (s 1))))
(<= (goal ?r 100) (role ?r) (true (s 2))) (<= (goal ?r 0) (role ?r) (not (true (s 2))))
"""

OPEN_ROLE = """
(role a) (role b) (init s)
(<= (legal ?r go) (true s))
(<= (next t) (does a go) (does b go)) (<= terminal (true t)) (<= (goal ?r 50) (true t))
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", [OUTER_LEADER, TWO_RECURSIONS, NOT_DISTINCT])
def test_agrees_with_the_reference(text: str, engine: str) -> None:
    game = load_text(text, settings=LoadSettings(engine=engine))
    oracle = load_reference(text)
    state, expected = game.initial(), oracle.initial()
    for step in range(4):
        assert sorted(state.facts) == oracle.facts(expected)
        assert state.terminal == oracle.terminal(expected)
        legal = [sorted(map(str, state.legal(role))) for role in game.roles]
        assert legal == [oracle.legal(expected, role) for role in game.roles]
        if state.terminal:
            break
        joint = [moves[(step + 1) % len(moves)] for moves in legal]
        state, expected = state.play(joint), oracle.next(expected, joint)


def test_recursions_that_rest_on_each_others_negation_do_not_hang_playouts() -> None:
    result = load_text(TWO_RECURSIONS).playouts(1000, seed=1)
    assert result["finished"] == 1000


@pytest.mark.parametrize("engine", ENGINES)
def test_a_role_left_open_ranges_over_all_roles(engine: str) -> None:
    game = load_text(OPEN_ROLE, settings=LoadSettings(engine=engine))
    assert any("all roles" in warning for warning in game.warnings)
    state = game.initial().play(["go", "go"])
    assert state.terminal
    assert state.reward == (0.5, 0.5)


def test_names_of_later_versions_of_the_language_are_free() -> None:
    """`base` and `sees` in sheets that mean something else by them."""
    game = load_text(
        "(role p) (init s) (<= (legal p go) (sees p s far)) (<= (sees p ?x far) (true ?x))"
        "(<= (base ?x) (true ?x)) (<= (next t) (does p go)) (<= terminal (true t)) (goal p 100)"
    )
    assert [str(move) for move in game.initial().legal("p")] == ["go"]
    load_text(
        "(role p) (init s) (legal p go) (<= sees (true s)) (<= (next t) sees)"
        "(<= terminal (true t)) (goal p 100)"
    )


def test_several_goal_values_count_as_the_greatest() -> None:
    game = load_text(
        "(role p) (init s) (<= (legal p noop) (role p)) (<= (next t) (does p noop))"
        "(<= terminal (true t)) (goal p 0) (goal p 50)"
    )
    assert game.initial().play(["noop"]).reward == (0.5,)
    assert game.playouts(300)["outcomes"] == [(0, 50, 300)]


@pytest.mark.parametrize("engine", ["auto", "interpreter"])
def test_a_long_chain_of_long_rules_does_not_exhaust_the_stack(engine: str) -> None:
    chain = " ".join(f"(succ {i} {i + 1})" for i in range(145))
    filler = " ".join("(role p)" for _ in range(110))
    game = load_text(
        f"(role p) (init s) {chain} (<= (far ?x) (succ ?x ?y) (far ?y) {filler}) (far 145)"
        "(<= (legal p noop) (far 0)) (<= (next s) (does p noop))"
        "(<= terminal (not (true s))) (goal p 0)",
        settings=LoadSettings(engine=engine),
    )
    assert [str(move) for move in game.initial().legal("p")] == ["noop"]


def test_terms_that_double_at_every_step_are_refused() -> None:
    chain = " ".join(f"(succ {i} {i + 1})" for i in range(40))
    text = (
        f"(role p) (init s) {chain} (d 0 x) (<= (d ?n (f ?x ?x)) (succ ?m ?n) (d ?m ?x))"
        "(<= (legal p ?t) (d 40 ?t)) (<= (next s) (does p ?m)) (<= terminal (not (true s)))"
        "(goal p 0)"
    )
    with pytest.raises(BudgetExceeded):
        load_text(text, settings=LoadSettings(seconds=5, query_seconds=5)).initial().legal("p")


def test_a_real_loop_through_negation_is_refused() -> None:
    with pytest.raises(RulesError, match="own negation"):
        load_text(
            "(role p) (init s) (<= q (not r)) (<= r (not q)) (<= (legal p noop) q)"
            "(<= (next s) (does p noop)) (<= terminal r) (goal p 0)"
        )
