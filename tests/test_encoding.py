"""Encodings: nothing is lost, nothing is shown twice, and names do not matter."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truth
from omnilude._core import CircuitGame
from omnilude.encoding import Encoding, MoveIndices, make_encoding
from omnilude.encoding.chains import Chain, find_chains
from omnilude.encoding.indices import IndexFinder, parse_term
from omnilude.encoding.layout import lay_out
from omnilude.errors import SettingsError
from omnilude.games.loading import load, load_text
from omnilude.rules.gdl.reader import read_rules
from omnilude.rules.library import bundled_games, read_rulesheet
from scrambling import Scrambled, scramble_bundled
from test_views import bundled, play

GAMES = bundled_games(".kif")
FIVE = "12345"


def chains_of(facts: str) -> list[tuple[str, ...]]:
    rules = read_rules(f"(role me) {facts}", "<test>")
    return [chain.symbols for chain in find_chains(rules, ["me"])]


def encoding_of(fluents: Iterable[str], facts: str = "") -> Encoding:
    """The encoding of a game that has these fluents, all of which hold and stay."""
    inits = " ".join(f"(init {fluent})" for fluent in fluents)
    return make_encoding(
        load_text(
            f"""(role me) {inits} {facts}
            (legal me wait) (<= (next ?f) (true ?f)) (<= terminal (true (never me)))
            (goal me 0)"""
        )
    )


def steps(symbols: str) -> str:
    return " ".join(f"(step {a} {b})" for a, b in pairwise(symbols))


def distances(symbols: str) -> str:
    """A table of how many steps lie between any two cells of a board."""
    at = {symbol: place for place, symbol in enumerate(symbols)}
    return " ".join(
        f"(distance {a} {b} {c} {d} {abs(at[a] - at[c]) + abs(at[b] - at[d])})"
        for a, b, c, d in product(symbols, repeat=4)
    )


def shapes(encoding: Encoding) -> list[tuple[int, ...]]:
    """[d1, ..., dn, channels] of each group, as P3 writes it."""
    return [(*group.shape, len(group.channels)) for group in encoding.groups]


@cache
def planes(name: str) -> Encoding:
    return make_encoding(bundled(name))


# --- properties ---

LETTERS = "abcdef"
ARGUMENTS = st.one_of(
    st.integers(-2, 12).map(str),
    st.sampled_from(LETTERS),
    st.sampled_from(["red", "007", "c3", "_", "__"]),
)
TERMS = st.recursive(
    ARGUMENTS,
    lambda inner: st.builds(
        lambda name, parts: f"({name} {' '.join(parts)})",
        st.sampled_from(["p", "q", "at", "_"]),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=6,
)
CHAINS = st.lists(
    st.builds(
        lambda symbols, listed: Chain(tuple(symbols), listed),
        st.permutations([*LETTERS, "1", "2"]).flatmap(
            lambda all_of_them: st.integers(3, 8).map(lambda n: all_of_them[:n])
        ),
        st.booleans(),
    ),
    max_size=3,
)


@settings(deadline=None, derandomize=True, max_examples=120)
@given(st.lists(TERMS, unique=True, min_size=1, max_size=60), CHAINS)
def test_every_proposition_has_one_element_that_reads_as_it(
    propositions: list[str], chains: list[Chain]
) -> None:
    terms = [parse_term(text) for text in propositions]
    finder = IndexFinder(terms, chains)
    layout = lay_out(propositions, [finder.index(term) for term in terms])
    shown = {source: e for e, source in enumerate(layout.sources) if source >= 0}
    assert sorted(s for s in layout.sources if s >= 0) == list(range(len(propositions)))
    for number, text in enumerate(propositions):
        assert layout.proposition(shown[number]) == text
    offset = 0
    for group in layout.groups:
        assert group.offset == offset
        assert len(group.shape) >= 2
        assert len(set(group.channels)) == len(group.channels)
        offset += group.size
    assert offset + len(layout.flat) == len(layout.sources)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.lists(TERMS, unique=True, min_size=1, max_size=40), CHAINS, st.randoms())
def test_the_order_of_propositions_does_not_matter(
    propositions: list[str], chains: list[Chain], chooser: object
) -> None:
    def layout(texts: list[str]) -> tuple[object, ...]:
        terms = [parse_term(text) for text in texts]
        finder = IndexFinder(terms, chains)
        made = lay_out(texts, [finder.index(term) for term in terms])
        return made.groups, made.flat

    shuffled = sorted(propositions, key=lambda _: chooser.random())  # type: ignore[attr-defined]
    assert layout(propositions) == layout(shuffled)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", GAMES)
def test_states_can_be_read_back(name: str) -> None:
    game, encoding = bundled(name), planes(name)
    states = play(game, 3, 40)
    blocks = np.concatenate([state.block for state in states])
    rows = encoding.encode(blocks)
    assert rows.shape == (len(states), encoding.size)
    for state, row in zip(states, rows, strict=True):
        assert encoding.read(row) == state.facts
    # The same by numpy, from the table alone; and into an array of the caller's.
    bits = np.unpackbits(blocks, axis=1, bitorder="little")
    expected = np.where(encoding.sources >= 0, bits[:, encoding.sources], 0)
    assert np.array_equal(rows, expected)
    out = np.full_like(rows, 7.0)
    assert encoding.encode(blocks, out) is out
    assert np.array_equal(out, rows)
    for number, group in enumerate(encoding.groups):
        view = encoding.planes(rows, number)
        assert view.shape == (len(rows), len(group.channels), *group.shape)
        assert np.shares_memory(view, rows)


# --- P3 ---


def test_tic_tac_toe_of_p3() -> None:
    """Section 3.4: 29 base propositions, 5 categories, 27 of them on three planes."""
    cells = [f"(cell {x} {y} {sign})" for x in "123" for y in "123" for sign in "box"]
    encoding = encoding_of([*cells, "(control xplayer)", "(control oplayer)"])
    (group,) = encoding.groups
    assert group.channels == ("(cell _ _ b)", "(cell _ _ o)", "(cell _ _ x)")
    assert group.shape == (3, 3)
    assert group.size == 27
    assert encoding.flat == ("(control oplayer)", "(control xplayer)")
    assert encoding.proposition(9 + 3 + 2) == "(cell 2 3 o)"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("breakthrough-6x6", [(6, 6, 2)]),
        ("pacman-3p", [(8, 8, 4)]),
        ("tower", [(8, 17, 1)]),
        ("connect-four", [(7, 6, 2)]),
        ("connect-four-3p", [(8, 6, 3)]),
        ("tic-tac-toe-3d-3", [(3, 3, 3, 2)]),
        ("checkers", [(8, 8, 4)]),
        ("kuhn-poker", []),
    ],
)
def test_shapes_of_bundled_games(name: str, expected: list[tuple[int, ...]]) -> None:
    assert shapes(planes(name)) == expected


@pytest.mark.skipif(not truth.records(), reason=truth.MISSING)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("breakthroughSmall", [(6, 6, 2)]),  # Table 3
        ("pacman3p", [(8, 8, 6)]),  # Table 3: 4, without the walls, which are fluents too
        ("ticTacToe", [(3, 3, 3)]),
        ("tictactoe_3d_2player", [(4, 4, 4, 3)]),
        ("peg", [(7, 7, 2)]),  # both coordinates are words
        ("tictactoex9", [(3, 3, 3, 3, 3), (3, 3, 1)]),
        ("eightPuzzle", [(3, 3, 8, 1), (3, 3, 1)]),
    ],
)
def test_shapes_of_public_rulesheets(name: str, expected: list[tuple[int, ...]]) -> None:
    assert shapes(make_encoding(load(truth.rulesheet(name)))) == expected


def test_indices_start_where_they_start() -> None:
    encoding = encoding_of([f"(cell {x} {y})" for x in range(3, 6) for y in range(-1, 2)])
    (group,) = encoding.groups
    assert group.shape == (3, 3)
    assert group.axes[1].labels == ("-1", "0", "1")


def test_any_number_of_dimensions() -> None:
    for n in (3, 4, 5):
        cells = [f"(at {' '.join(place)} me)" for place in product("123", repeat=n)]
        assert shapes(encoding_of([*cells, "(round 1)"])) == [(3,) * n + (1,)]


def test_nested_terms() -> None:
    encoding = encoding_of([f"(on (pos {x} {y}) red)" for x in FIVE for y in FIVE])
    assert encoding.groups[0].channels == ("(on (pos _ _) red)",)


def test_words_that_look_like_holes() -> None:
    cells = [f"(_ {x} {y} {sign})" for x in "123" for y in "123" for sign in ("_", "__", "x")]
    encoding = encoding_of(cells)
    (group,) = encoding.groups
    assert group.channels == ("(__ _ _ __)", "(__ _ _ ___)", "(__ _ _ x)")
    assert encoding.read(encoding.encode(encoding.game.initial().block)[0]) == sorted(cells)


def test_groups() -> None:
    board = [f"(cell {x} {y} {c})" for x in FIVE for y in FIVE for c in ("red", "blue")]
    inner = [f"(king {x} {y})" for x in "234" for y in "234"]  # within, and half as wide
    clock = [f"(clock {h} {m})" for h in range(2) for m in range(40)]  # another shape
    corner = ["(exit 5 5)"]  # a single cell of the board
    lonely = ["(magic 70 90)"]  # a single cell of nothing
    encoding = encoding_of([*board, *inner, *clock, *corner, *lonely])
    assert shapes(encoding) == [(2, 40, 1), (5, 5, 4)]
    assert encoding.groups[1].channels[2:] == ("(exit _ _)", "(king _ _)")
    assert encoding.flat == ("(magic 70 90)",)


def test_planes_that_would_be_empty_are_flat() -> None:
    fluents = [f"(bid {n} {n * 97})" for n in range(60)]
    assert encoding_of(fluents).groups == ()


# --- orders in the rules ---


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("(s a b) (s b c) (s c d)", [tuple("abcd")]),
        ("(s c d) (s a b) (s b c)", [tuple("abcd")]),
        ("(s b c) (s c d) (s d a) (s a b)", [tuple("bcda")]),  # a circle, as it was written
        ("(s a b) (s b c) (s c a) (s p q) (s q r)", []),
        ("(s a b) (s b c) (s c d) (s d d)", [tuple("abcd")]),  # the end stays where it is
        ("(s a b) (s a c) (s b d)", []),  # a tree
        ("(s a b) (s c b) (s c d)", []),  # to and fro
        ("(s a b) (s c d)", []),  # too short
        ("(s a b) (s b c) (s p q) (s q r)", [tuple("abc"), tuple("pqr")]),
        ("(s b c) (s c b) (s a b) (s b a)", [tuple("abc")]),  # neighbours
        ("(less a b) (less a c) (less b c)", [tuple("abc")]),
        ("(less a b) (less a c) (less a d) (less b c) (less b d) (less c d)", [tuple("abcd")]),
        ("(s up a b) (s up b c) (s down b a) (s down c b)", [tuple("abc")]),
        ("(up a b) (up b c) (four b c d e)", [tuple("abcde")]),  # put together
        ("(down c b) (down b a) (up a b) (up b c) (up c d)", [tuple("abcd")]),
        ("(line a b c d) (line d c b a) (line a a a a)", [tuple("abcd")]),
        ("(s me b) (s b c) (s c d)", []),  # an order of turns
        ("(s (f a) b) (s b c) (s c d)", [tuple("bcd")]),
        # What the other arguments are names a relation, however many there are.
        (
            "(s one file u a b) (s one file u b c) (s one rank u p q) (s one rank u q r) "
            "(s two file u a c) (s two rank u p r)",
            [tuple("abc"), tuple("pqr")],
        ),
        ("(s 1 a b) (s 1 b c) (s 1 c d) (s 1 d e) (s 2 a c) (s 2 c e) (s 2 b d)", [tuple("abcde")]),
        # What facts with fewer arguments say comes first, then what is longest.
        (f"{distances('abcdef')} {steps('abcdef')}", [tuple("abcdef")]),
        (distances("abcdef"), [tuple("abcdef")]),
        (
            "(plus a a a) (plus a b b) (plus a c c) (plus b a b) (plus b b c) (plus c a c) "
            "(s a b) (s b c)",
            [tuple("abc")],
        ),
        (f"{steps('abcdea')} (s 2 a c) (s 2 c e)", [tuple("abcde")]),
        (f"{steps('abcdea')} (s 2 b c) (s 2 c d)", [tuple("bcd"), tuple("abcde")]),
        (
            " ".join(
                f"(turn {n} {'abcdef'[i]} {'abcdef'[(i + n) % 6]})"
                for n in (2, 1, 4)
                for i in range(6)
            ),
            [tuple("abcdef")],
        ),
        # A score for each number, three times as much: 1 3 9 27 is no order.
        (" ".join(f"(score {n} {3 * n})" for n in range(26)), []),
        # A board that is written down line by line.
        (" ".join(f"(init (cell (at {x} {y}) e))" for x in "bac" for y in "bac"), [tuple("bac")]),
        ("(init (on a b)) (init (on b c)) (init (on c a))", []),
    ],
)
def test_chains(facts: str, expected: list[tuple[str, ...]]) -> None:
    assert chains_of(facts) == expected


def test_letters() -> None:
    columns, rows = "abcdefgh", range(1, 9)
    fluents = [f"(cell {c} {r} {p})" for c in columns for r in rows for p in ("king", "rook")]
    files = " ".join(f"(file {a} {b})" for a, b in pairwise(columns))
    encoding = encoding_of([*fluents, "(check king)"], files)
    (group,) = encoding.groups
    assert shapes(encoding) == [(8, 8, 2)]
    assert group.axes[0].labels == tuple(columns)
    # Without the order there is one index left, and no board.
    assert encoding_of(fluents).groups == ()


def test_what_is_not_an_index() -> None:
    steps = "(next1 a b) (next1 b c) (next1 c d)"
    compass = "(turn n e) (turn e s) (turn s w) (turn w n)"
    places = [f"(at {x} {y} {d})" for x in "abcd" for y in "abcd" for d in "nesw"]
    assert shapes(encoding_of(places, steps + compass)) == [(4, 4, 4)]
    # An argument that is sometimes something else is no index,
    assert encoding_of([*places, "(at off home n)"], steps + compass).groups == ()
    # unless it is one thing, and the order is that of another argument.
    more = [*places, *(f"(row {x})" for x in "abcd"), "(at off home n)"]
    encoding = encoding_of(more, steps + compass)
    assert shapes(encoding) == [(4, 4, 4)]
    assert "(at off home n)" in encoding.flat


def test_a_list_orders_rows_and_columns_only() -> None:
    listed = "(line a) (line b) (line c) (piece king) (piece rook) (piece pawn)"
    cells = [f"(cell {x} {y} {p})" for x in "abc" for y in "abc" for p in ("king", "rook", "pawn")]
    assert shapes(encoding_of(cells, listed)) == [(3, 3, 3)]


def test_of_several_orders_the_one_that_skips_least() -> None:
    columns = "(left p f) (left f q) (left q d) (left d b) (left b e) (left e a) (left a c)"
    rows = " ".join(f"(up {a} {b})" for a, b in pairwise("abcdef"))
    cells = [f"(cell {x} {y} {piece})" for x in "bcad" for y in "fdebac" for piece in ("k", "q")]
    (group,) = encoding_of(cells, columns + rows).groups
    assert [axis.labels for axis in group.axes] == [tuple("abcd"), tuple("abcdef")]


def test_a_computed_table_adds_no_order() -> None:
    """Whatever columns and rows something stands on: it lies on the board."""
    letters = "abcdefgh"
    cells = [f"(cell {x} {y} {piece})" for x in letters for y in letters for piece in ("k", "q")]
    for some in ("ah", "abeh", "bdh", "ace"):
        cells += [f"(on_{some} {x} {y})" for x in some for y in some]
    encoding = encoding_of(cells, f"{distances(letters)} {steps(letters)}")
    assert shapes(encoding) == [(8, 8, 6)]
    assert [axis.labels for axis in encoding.groups[0].axes] == [tuple(letters)] * 2


def test_a_ring_orders_rows_and_columns_only() -> None:
    ring = " ".join(f"(right {a} {b})" for a, b in pairwise("cadbec"))
    cells = [f"(cell {x} {y} {z})" for x in "edcba" for y in "bacde" for z in "ba"]
    (group,) = encoding_of(cells, ring).groups
    assert group.shape == (5, 5)
    assert group.axes[0].labels == tuple("cadbe")
    # All but one: the whole ring and something else. Some of its symbols are no ring.
    for some, channels in (("cadbe-", 3), ("ac", 2), ("ac-", 2)):
        marks = [f"(mark {x} {y})" for x in some for y in reversed(some)]
        encoding = encoding_of([*cells, *marks], ring)
        assert shapes(encoding) == [(5, 5, channels)]
        assert len(encoding.flat) == len([m for m in marks if channels == 2 or "-" in m])
    blocks = [f"(on {x} {y} {z})" for x, y in permutations("abc", 2) for z in "xy"]
    assert encoding_of(blocks, ring).groups == ()


@pytest.mark.parametrize("name", GAMES)
def test_scrambled_names_change_nothing(name: str) -> None:
    """Every channel has its counterpart with the same content, in play, and so have the moves."""
    both = scramble_bundled(name, seed=len(name))
    ours, theirs = make_encoding(both.game), make_encoding(both.scrambled)
    assert shapes(ours) == shapes(theirs)
    assert {both.translate(text) for text in ours.flat} == set(theirs.flat)
    chooser = random.Random(1)
    state, other = both.game.initial(), both.scrambled.initial()
    for _ in range(25):
        rows, other_rows = ours.encode(state.block), theirs.encode(other.block)
        for number, group in enumerate(ours.groups):
            names = [both.translate(channel) for channel in group.channels]
            order = [theirs.groups[number].channels.index(channel) for channel in names]
            other_planes = theirs.planes(other_rows, number)[:, order]
            assert np.array_equal(ours.planes(rows, number), other_planes)
        if state.terminal:
            break
        joint = [chooser.choice(state.legal(role)) for role in both.game.roles]
        state = state.play(joint)
        other = other.play([both.translate(str(move)) for move in joint])
    for mine, yours in zip(ours.moves, theirs.moves, strict=True):
        assert cells_of(theirs, yours) == {
            both.translate(text): cells for text, cells in cells_of(ours, mine).items()
        }


ORDERED_BY_NUMBERS_ONLY = {
    "factoringMutuallyAssuredDestruction": "0, what a lamp ends at, is in no relation with 1 to 4",
    "majorities": "lines are numbers, letters and words; the relation is of what is counted",
    "sudokuGrade3": "digits are listed, with no relation, and stand at one argument",
    "sudokuGrade6H": "digits are listed, with no relation, and stand at one argument",
}
"""Public sheets whose planes are others when numbers are words, and why."""


@pytest.mark.slow
@pytest.mark.skipif(not truth.records(), reason=truth.MISSING)
@pytest.mark.parametrize("name", sorted(truth.records()))
def test_planes_of_public_rulesheets_when_scrambled(name: str) -> None:
    game = load(truth.rulesheet(name))
    if not isinstance(game.core, CircuitGame):
        pytest.skip("interpreted: it has no encoding")
    ours = make_encoding(game)
    if not ours.groups:
        pytest.skip("it has no planes")
    both = Scrambled(game, read_rulesheet(truth.rulesheet(name)), seed=len(name))
    theirs = make_encoding(both.scrambled)
    place = {theirs.proposition(e): e for e in np.flatnonzero(theirs.sources >= 0)}
    same = sorted(shapes(ours)) == sorted(shapes(theirs)) and all(
        place_in(ours, int(e)) == place_in(theirs, int(place[both.translate(ours.proposition(e))]))
        for e in np.flatnonzero(ours.sources >= 0)
    )
    assert same == (name not in ORDERED_BY_NUMBERS_ONLY)


def place_in(encoding: Encoding, element: int) -> tuple[int, ...]:
    """Where on its plane an element stands, after the shape of the plane."""
    for group in encoding.groups:
        if element < group.offset + group.size:
            at = (element - group.offset) % group.volume
            return (*group.shape, *map(int, np.unravel_index(at, group.shape)))
    return ()


# --- moves ---


def cells_of(encoding: Encoding, moves: MoveIndices) -> dict[str, tuple[object, ...]]:
    """By move: its axes, and the places that it names."""
    out: dict[str, tuple[object, ...]] = {}
    for kind in moves.kinds:
        for slot, cells in zip(kind.slots, kind.cells, strict=True):
            text = str(encoding.game.move(moves.role, int(slot)))
            shape = encoding.groups[kind.group].shape if kind.group >= 0 else ()
            places = [tuple(map(int, np.unravel_index(int(c), shape))) for c in cells]
            out[text] = (kind.axes, *places)
    return out


def test_places_of_moves() -> None:
    found = cells_of(planes("breakthrough-6x6"), planes("breakthrough-6x6").moves[0])
    assert found["(move 2 3 3 4)"] == ((0, 1, 0, 1), (1, 2), (2, 3))
    assert found["noop"] == ((),)
    found = cells_of(planes("tic-tac-toe-3d-3"), planes("tic-tac-toe-3d-3").moves[1])
    assert found["(mark 1 2 3)"] == ((0, 1, 2), (0, 1, 2))
    # A column alone is no cell, but it has the range of one axis only.
    (kind,) = (k for k in planes("connect-four").moves[0].kinds if k.name == "(drop _)")
    assert (kind.group, kind.axes, kind.cells.shape) == (0, (0,), (7, 0))
    assert sorted(kind.indices[:, 0]) == list(range(7))


@pytest.mark.parametrize("name", GAMES)
def test_every_slot_is_of_one_kind(name: str) -> None:
    game, encoding = bundled(name), planes(name)
    assert [moves.role for moves in encoding.moves] == list(game.players)
    for moves in encoding.moves:
        slots = np.concatenate([kind.slots for kind in moves.kinds])
        assert sorted(slots) == list(range(game.slots(moves.role)))
        for kind in moves.kinds:
            assert kind.indices.shape == (len(kind.slots), len(kind.axes))
            assert len(np.unique(kind.indices, axis=0)) == len(kind.slots)
            if kind.group >= 0:
                assert kind.cells.min(initial=0) >= 0
                assert kind.cells.max(initial=0) < encoding.groups[kind.group].volume


# --- what an encoding says of itself ---


def test_description_and_fingerprint() -> None:
    encoding = planes("connect-four")
    text = str(encoding)
    assert "7 x 6 x 2 channels" in text
    assert "(cell _ _ red)" in text
    assert "(control yellow)" in text
    assert repr(encoding) == "<Encoding planes: 2 of 7 x 6, 2 flat>"
    again = json.loads(json.dumps(encoding.to_json()))
    assert again == encoding.to_json()
    same = make_encoding(bundled("connect-four"))
    others = [planes("tic-tac-toe"), make_encoding(bundled("connect-four"), "propositions")]
    assert encoding.fingerprint == same.fingerprint
    assert len({encoding.fingerprint, *(other.fingerprint for other in others)}) == 3


@pytest.mark.parametrize(
    ("name", "kind"),
    [("tic-tac-toe-3d-3", "planes"), ("tic-tac-toe", "propositions")],
)
def test_drawing(tmp_path: Path, name: str, kind: str) -> None:
    game = bundled(name)
    states = np.concatenate([state.block for state in play(game, 1, 4)[::4]])
    make_encoding(game, kind).draw(states, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_kind() -> None:
    with pytest.raises(SettingsError, match="planes, propositions"):
        make_encoding(bundled("tic-tac-toe"), "pictures")
