"""Whatever is wrong with a rulesheet is told with its place, its cause and often a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

import omnilude
from omnilude.errors import BudgetExceeded, OmniludeError, RulesError
from omnilude.games import Game
from omnilude.games.loading import load_text
from omnilude.games.settings import LoadSettings

QUICK = LoadSettings(seconds=5, query_seconds=5, memory=1 << 28, check_playouts=3)

GOOD = """(role p)
(init a)
(<= (legal p go) (true a))
(<= (next b) (does p go))
(<= terminal (true b))
(<= (goal p 100) (true b))
(<= (goal p 0) (true a))
"""
LINE = 8  # where something added to it stands


def load(text: str) -> Game:
    return load_text(text, file="game.kif", settings=QUICK)


def refused(text: str) -> RulesError:
    with pytest.raises(RulesError) as caught:
        load(text)
    error = caught.value
    assert error.file == "game.kif"
    assert str(error).startswith("game.kif")
    if error.position is not None:
        assert f"game.kif:{error.line}:{error.column}: " in str(error)
    if error.hint is not None:
        assert error.hint in str(error)
    return error


def without(start: str) -> str:
    return "\n".join(line for line in GOOD.split("\n") if not line.startswith(start))


def test_the_sheet_that_the_others_are_made_from_is_good() -> None:
    game = load(GOOD)
    assert game.initial().play(["go"]).reward == (1.0,)


# Added to the good sheet: text, column of the error (its line is LINE), part of the message, hint?
ADDED = {
    "never closed": ("(foo (bar)", 1, "never closed", True),
    "never closed, inner": ("(<= (foo (bar) baz", 5, "never closed", True),
    "closed twice": ("(foo bar))", 10, "closing parenthesis without", True),
    "nested too deeply": ("(" * 101 + ")" * 101, 101, "nested deeper", True),
    "empty list": ("()", 1, "empty list", False),
    "empty list as condition": ("(<= foo ())", 9, "empty list", False),
    "empty list as term": ("(foo ())", 6, "empty list", False),
    "variable as rule": ("?x", 1, "variable ?x where a relation", False),
    "variable as condition": ("(<= foo ?x)", 9, "variable ?x where a relation", False),
    "variable as relation": ("(<= foo (?x a))", 10, "name must be a word", False),
    "variable as function": ("(<= foo (true (?x a)))", 16, "name must be a word", False),
    "list as relation": ("((foo a) b)", 2, "name must be a word", False),
    "list as function": ("(foo ((bar) b))", 7, "name must be a word", False),
    "rule without a head": ("(<=)", 1, "without a head", False),
    "word as rule": ("<=", 1, "cannot stand here", False),
    "negation as head": ("(<= (not foo) (true a))", 5, "cannot stand here", False),
    "disjunction as fact": ("(or a b)", 1, "cannot stand here", False),
    "negation of two": ("(<= foo (not (true a) (true b)))", 9, "'not' takes one", False),
    "true as head": ("(<= (true b) (true a))", 5, "cannot be the head", True),
    "does as head": ("(does p go)", 1, "cannot be the head", True),
    "distinct as head": ("(<= (distinct a b))", 5, "cannot be the head", False),
    "unsafe head": ("(<= (foo ?x) (true a))", 5, "unsafe rule: ?x in the head", True),
    "unsafe fact": ("(foo ?x)", 1, "unsafe rule: ?x in the head", True),
    "unsafe init": ("(init ?x)", 1, "unsafe rule", True),
    "unsafe negation": ("(<= foo (true a) (not (true ?y)))", 23, "?y in a negation", True),
    "unsafe distinct": ("(<= foo (true a) (distinct ?y a))", 18, "?y in 'distinct'", True),
    "unsafe alternative": (
        "(<= (foo ?x) (or (true ?x) (true a)))", 5, "unsafe rule: ?x in the head", True,
    ),
    "bound by a negation only": ("(<= (foo ?x) (not (true ?x)))", 19, "?x in a negation", True),
    "arity clash in head": ("(foo a) (foo a b)", 9, "'foo' has 2 arguments here", False),
    "arity clash in body": ("(foo a) (<= bar (foo a b))", 17, "'foo' has 2 arguments here", False),
    "role with two arguments": ("(role p q)", 1, "'role' takes 1", False),
    "legal without a move": ("(<= (legal p) (true a))", 5, "'legal' takes 2", False),
    "true of two": ("(<= (next b) (true a b))", 14, "'true' takes 1", False),
    "terminal of one": ("(<= (terminal p) (true a))", 5, "'terminal' takes 0", False),
    "goal without a value": ("(goal p)", 1, "'goal' takes 2", False),
    "distinct of one": ("(<= (foo ?x) (true ?x) (distinct ?x))", 24, "'distinct' takes 2", False),
    "does in legal": ("(<= (legal p stay) (does p go))", 20, "'legal' depends on the moves", True),
    "does in goal": ("(<= (goal p 50) (does p go))", 17, "'goal' depends on the moves", True),
    "does in terminal": ("(<= terminal (does p go))", 14, "'terminal' depends on the moves", True),
    "negated does": ("(<= terminal (not (does p go)))", 19, "'terminal' depends on", True),
    "does through helpers": (
        "(<= foo (does p go)) (<= bar foo) (<= terminal (true a) bar)", 57, "through 'bar'", True,
    ),
    "next in goal": ("(<= (goal p 50) (next b))", 17, "'goal' depends on the moves", True),
    "true in init": ("(<= (init c) (true a))", 14, "'init' depends on the position", True),
    "legal in init": ("(<= (init c) (legal p go))", 14, "'init' depends on the position", True),
    "own negation": ("(<= foo (true a) (not foo))", 23, "depends on its own negation", True),
    "negation in a loop": (
        "(<= (foo ?x) (true ?x) (not (bar ?x))) (<= (bar ?x) (true ?x) (foo ?x))", 29,
        "depends on its own negation", True,
    ),
    "negation of equal goals": (
        "(<= (goal p 50) (not (goal p 50)))", 22, "depends on its own negation", True,
    ),
    "role as a rule": ("(<= (role q) (true a))", 1, "roles must be given as facts", True),
    "role as a variable": ("(<= (role ?x) (init ?x))", 1, "roles must be given as facts", True),
    "too many alternatives": (
        f"(<= foo {'(or (true a) (true b))' * 13})", 1, "'or' gives more than", True,
    ),
    "too long a list": (f"(foo {'a ' * 2100})", 1, "list of more than", False),
    "too long a body": (
        f"(<= foo {' '.join(f'(true x{i})' for i in range(1001))})", 1, "more than 1000", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message", "hint"), ADDED.values(), ids=ADDED)
def test_place_cause_and_hint(text: str, column: int, message: str, hint: bool) -> None:
    error = refused(GOOD + text)
    assert message in error.message
    assert (error.line, error.column) == (LINE, column)
    assert (error.hint is not None) == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no role"),
        ("; only a comment", "no role"),
        ("\n\n  \t", "no role"),
        (without("(role"), "no role"),
        (without("(<= (legal"), "no rule for 'legal'"),
        (without("(<= (goal"), "no rule for 'goal'"),
        (without("(<= terminal"), "no rule for 'terminal'"),
    ],
)
def test_what_is_missing_has_no_place_but_a_hint(text: str, message: str) -> None:
    error = refused(text)
    assert message in error.message
    assert error.position is None
    assert error.line is None
    assert error.hint


def test_lines_are_counted_whatever_ends_them() -> None:
    error = refused(GOOD.replace("\n", "\r\n") + "; a comment (\r\n\r\n  (foo ?x)\r\n")
    assert (error.line, error.column) == (LINE + 2, 3)


ACCEPTED = {
    "upper-case keywords": GOOD.replace("role", "ROLE").replace("true", "True"),
    "upper-case terminal": GOOD.replace("terminal", "Terminal"),
    "terminal in parentheses": GOOD.replace("<= terminal", "<= (terminal)"),
    "windows lines": GOOD.replace("\n", "\r\n"),
    "one line": GOOD.replace("\n", " "),
    "comments": GOOD.replace("\n", " ; (((\n"),
    "no spaces": GOOD.replace(" (", "("),
    "well-founded goals": GOOD + "(<= (goal p 50) (not (goal p 100)) (not (goal p 0)))",
    "rule without conditions": GOOD + "(<= (foo a))",
    "double negation": GOOD + "(<= (next c) (not (not (true a))))",
    "nested connectives": GOOD + "(<= (next c) (or (and (true a) (not (true b))) (true c)))",
    "empty disjunction": GOOD + "(<= (next c) (or))",
    "base and input": GOOD + "(base a) (<= (base ?x) (also ?x)) (also b) (input p go)",
    "negation under negation": GOOD + "(<= (next c) (not (or (true b) (not (true a)))))",
}  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_is_accepted(text: str) -> None:
    state = load(text).initial().play(["go"])
    assert state.terminal
    assert state.reward == (1.0,)


def test_names_keep_their_case() -> None:
    game = load(GOOD.replace("go", "Go"))
    assert [str(move) for move in game.initial().legal("p")] == ["Go"]


def test_bytes_that_are_no_text_may_stand_in_comments(tmp_path: Path) -> None:
    file = tmp_path / "odd.kif"
    file.write_bytes(b"; caf\xe9 \xff\xfe\n" + GOOD.encode())
    assert omnilude.load(file).initial().play(["go"]).terminal
    file.write_bytes(b"\xff\xfe\x00\x00")
    with pytest.raises(RulesError):
        omnilude.load(file)


def test_unknown_game_has_a_hint() -> None:
    with pytest.raises(RulesError) as caught:
        omnilude.load("tic-tac-to")
    assert caught.value.hint is not None
    assert "tic-tac-toe" in caught.value.hint


def test_a_misspelt_relation_is_warned_of() -> None:
    game = load(GOOD + "(succ a b) (<= (next c) (true ?x) (suc ?x b))")
    assert any("'suc'" in warning and "'succ'" in warning for warning in game.warnings)


def test_functions_of_two_arities_are_warned_of() -> None:
    game = load(GOOD + "(<= (next (f a)) (true b)) (<= (next (f a b)) (true b))")
    assert any("'f'" in warning for warning in game.warnings)


@pytest.mark.parametrize("arity", [50, 500, 1999])
def test_huge_arities(arity: int) -> None:
    words = " ".join(f"x{i}" for i in range(arity))
    try:
        state = load(GOOD + f"(wide {words}) (<= (next (f {words})) (wide {words}))").initial()
    except OmniludeError:
        return
    assert f"(f {words})" in state.play(["go"]).facts


@pytest.mark.parametrize("variables", [20, 200])
def test_huge_arities_with_variables(variables: int) -> None:
    words = " ".join(f"?x{i}" for i in range(variables))
    numbers = " ".join(str(i) for i in range(variables))
    try:
        state = load(GOOD + f"(wide {numbers}) (<= (next (f {words})) (wide {words}))").initial()
    except OmniludeError:
        return
    assert f"(f {numbers})" in state.play(["go"]).facts


def test_a_budget_that_is_too_small_is_an_error_of_its_own() -> None:
    cells = " ".join(f"(cell {i})" for i in range(40))
    text = GOOD + cells + ("(<= (next (big ?a ?b ?c ?d)) (cell ?a) (cell ?b) (cell ?c) (cell ?d))")
    settings = LoadSettings(engine="circuit", instances=10_000, check_playouts=0)
    with pytest.raises(BudgetExceeded) as caught:
        load_text(text, file="big.kif", settings=settings)
    assert caught.value.file == "big.kif"
    assert "instances" in str(caught.value)
