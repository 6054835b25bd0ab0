"""Ludemic descriptions as text: options, definitions, ranges, and where everything stands."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnilude.errors import Position, RulesError, SettingsError
from omnilude.rules.ludeme import Choices, read_description, read_library
from omnilude.rules.ludeme.source import Source, read_source
from omnilude.rules.ludeme.tree import Array, Clause, Labelled, Node, Number, Text


def show(node: Node) -> str:
    """A tree as one line."""
    if isinstance(node, Clause):
        return f"({' '.join([node.keyword, *map(show, node.items)])})"
    if isinstance(node, Array):
        return f"{{{' '.join(map(show, node.items))}}}"
    if isinstance(node, Labelled):
        return f"{node.label}:{show(node.value)}"
    if isinstance(node, Text):
        return f'"{node.value}"'
    if isinstance(node, Number):
        return f"{node.value:g}"
    return node.name


def read(text: str, **choices: str) -> str:
    description = read_description(text, "test.lud", choices=Choices(choices))
    return show(description.game)


def test_a_plain_description() -> None:
    text = '(game "A" // a comment with ( and "\n (players 2) (x {1 2.5 -3} to:Off "B // c"))'
    assert read(text) == '(game "A" (players 2) (x {1 2.5 -3} to:Off "B // c"))'


def test_definitions() -> None:
    text = """
    (define "Twice" (and #1 #1))
    (define "Maybe" (if #1 to:#2 #3))
    (define "Two" one two)
    (define "Name" "Pawn#1")
    (define "Nested" ("Twice" ("Maybe" #1)))
    (game "Twice" ("Twice" (is Empty (to))) ("Maybe" a ~ c) ("Maybe" a b) {"Two"}
        ("Name" 3) ("Nested" x) ("Twice" if:y))
    """
    assert read(text) == (
        '(game "Twice" (and (is Empty (to)) (is Empty (to))) (if a c) (if a to:b) {one two} '
        '"Pawn3" (and (if x) (if x)) (and if:y if:y))'
    )


def test_of_two_definitions_the_first_counts() -> None:
    assert read('(define "A" 1) (define "A" 2) (game "G" "A")') == '(game "G" 1)'


def test_definitions_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.def").write_text('(define "A" (a #1))\n// more\n(define "B" b)')
    library = read_library(tmp_path)
    text = '(define "B" mine) (game "G" ("A" 3) "B")'
    description = read_description(text, "test.lud", library=library)
    assert show(description.game) == '(game "G" (a 3) mine)'


OPTIONS = """
(game "G" (board (<Shape:kind> <Size>)) <Extra:rule> (place "Pawn<Size:n>" <Size:n>..4))
(option "Shape" <Shape> args:{<kind>} {
    (item "Square" <square> "Four sides.")
    (item "Hexagon" <hex> "Six (of (them).")**
    (item "Triangle" <tri> "Three.")* })
(option "Board Size" <Size> args:{<n>} { (item "3x3" <3> "")* (item "2x2" <2> "") })
(option "Extra" <Extra> args:{<rule>} {
    (item "None" <> "Nothing.")*
    (item "Some" <(if (< 1 2) (> 3 <Size:n>))> "Something.") })
(rulesets { (ruleset "Ruleset/Small" {"Board Size/2x2" "Shape/Square"}) })
"""


def test_options() -> None:
    assert read(OPTIONS) == '(game "G" (board (hex 3)) (place "Pawn3" 3 4))'
    small = read(OPTIONS, **{"board size": "2X2", "Shape": "Square"})
    assert small == '(game "G" (board (square 2)) (place "Pawn2" 2 3 4))'
    extra = read(OPTIONS, Extra="Some")
    assert extra == '(game "G" (board (hex 3)) (if (< 1 2) (> 3 3)) (place "Pawn3" 3 4))'
    ruled = read_description(OPTIONS, "test.lud", choices=Choices({"Shape": "Triangle"}, "small"))
    assert show(ruled.game) == '(game "G" (board (tri 2)) (place "Pawn2" 2 3 4))'
    assert {heading: item.name for heading, item in ruled.items.items()} == {
        "Shape": "Triangle",
        "Board Size": "2x2",
        "Extra": "None",
    }


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices({"Bord Size": "2x2"}), "did you mean 'Board Size'"),
        (Choices({"Board Size": "9x9"}), "'9x9'; .*"),
        (Choices(ruleset="Large"), "no ruleset is called 'Large'"),
    ],
)
def test_choices_that_do_not_exist(choices: Choices, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_description(OPTIONS, "test.lud", choices=choices)


def test_ranges() -> None:
    assert read('(game "G" {1..4 6..5} steps:2..3)') == '(game "G" {1 2 3 4 6 5} steps:{2 3})'
    assert read('(game "G" {"B1".."C3"})') == '(game "G" {"B1" "B2" "B3" "C1" "C2" "C3"})'
    assert read('(game "G" {"Z1".."AA1"})') == '(game "G" {"Z1" "AA1"})'


def test_doubled_parentheses_collapse() -> None:
    assert read('(define "A" (a b)) (game "G" (("A")) ((c) (d)))') == ('(game "G" (a b) {(c) (d)})')


def test_metadata_is_not_read() -> None:
    text = '(game "G" (players 2))\n(metadata (info {(rules "never \\\\" closed) ('
    assert read(text) == '(game "G" (players 2))'


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('(game "G"\n  (a b)\n  "open)', 3, 3, "string is never closed"),
        ('(game "G"\n (a (b c)', 2, 2, "never closed"),
        ('(game "G"))', 1, 11, "without an opening bracket"),
        ('(game "G"\n ("Unknown" 1))', 2, 3, "'Unknown' is not defined"),
        ('(game "G" ())', 1, 11, "empty clause"),
        ('(game "G" (x if:))', 1, 14, "followed by nothing"),
        ('(game "G" (x 1..y))', 1, 14, "range needs"),
        ('(game "G" {.. 3})', 1, 12, "without its first end"),
        ('(define "A" ("B"))\n(define "B" ("A"))\n(game "G" ("A"))', 2, 13, "nested deeper"),
        ('(define A 1)\n(game "G")', 1, 1, "define without a name"),
        ('(game "G")\n\n(option "H" {})', 3, 1, "without a heading and a tag"),
        ('(game "G" <T>)\n(option "H" <T> {(item "I" <a)})', 2, 28, "never closed"),
        ('(game "G" ' + "(a " * 300, 1, 608, "nested deeper"),
        ('(game "G" 1..99999999)', 1, 11, "range of more than"),
        ('(game "G" 99999999..1)', 1, 11, "range of more than"),
    ],
)
def test_errors_name_the_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(RulesError, match=message) as caught:
        read(text)
    assert caught.value.file == "test.lud"
    assert (caught.value.line, caught.value.column) == (line, column)


def test_places_survive_options() -> None:
    option = '(option "A" <A> args:{<x>} {(item "i" <(long one)> "")})'
    text = f'(game "G" <A:x>\n  <A:x> (b <A:x> ("Gone")))\n{option}'
    with pytest.raises(RulesError, match="'Gone' is not defined") as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (2, 19)
    with pytest.raises(RulesError, match="instead of one"):
        read("(players 2)")


@given(st.text("ab\n", max_size=60), st.data())
def test_positions_of_what_is_kept(text: str, data: st.DataObject) -> None:
    """However often parts are replaced, the rest knows where it stood."""
    letters = "".join(chr(0x4E00 + n) if char != "\n" else char for n, char in enumerate(text))
    source = read_source(letters, "x")
    where = {char: source.position(n) for n, char in enumerate(letters) if char != "\n"}
    for _ in range(data.draw(st.integers(0, 3))):
        size = len(source.text)
        cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=6)))
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        spans = [(a, b, data.draw(st.text("xy", max_size=4))) for a, b in pairs]
        source = source.replaced(spans)
    for n, char in enumerate(source.text):
        if char in where:
            assert source.position(n) == where[char]
        else:
            assert isinstance(source.position(n), Position)


def test_an_empty_source() -> None:
    assert Source("x", "abc", "abc").replaced([(0, 3, "")]).text == ""
