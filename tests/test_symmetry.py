"""Symmetries are found, are all of them, and commute with play."""

from __future__ import annotations

import random
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import omnilude
from omnilude.errors import RulesError, SettingsError, Unsupported
from omnilude.games import Game, symmetry_search
from omnilude.games.automorphisms import ColouredGraph, count_actions, find_generators
from omnilude.games.loading import load_text
from omnilude.games.permutations import close_group, sample_group
from omnilude.games.settings import LoadSettings
from omnilude.games.symmetry import Symmetries, Symmetry, find_symmetries
from omnilude.games.symmetry_check import Points, sample_positions
from omnilude.rules.library import find_rulesheet, read_rulesheet
from random_rules import rulesheet

# By game: the order, and how many are proved from the rules.
KNOWN = {
    "breakthrough": (4, 4),  # reflection; exchange of roles with the board turned upside down
    "breakthrough-6x6": (4, 4),
    "checkers": (2, 2),  # half a turn with exchange; reflections put dark squares on light ones
    "connect-four": (4, 4),  # reflection; exchange
    "connect-four-3p": (2, 2),  # reflection; who assists whom makes the roles unlike
    "eight-puzzle": (2, 1),  # transposition; tiles are counted in order, so play must tell
    "hex-7x7": (4, 2),  # transposition with exchange; half a turn, but chains start at one edge
    "kuhn-poker": (1, 1),  # alice speaks first
    "othello": (16, 2),  # square and exchange; discs are added up in order, so play must tell
    "pacman-3p": (2, 1),  # the ghosts; blinky's turn stands for both, so play must tell
    "prisoners-dilemma": (2, 2),  # exchange
    "race-dice": (1, 1),  # blue starts ahead: red has two squares that blue cannot stand on
    "tic-tac-toe": (16, 16),  # square and exchange
    "tic-tac-toe-3d-3": (96, 96),  # cube and exchange
    "tic-tac-toe-3d-4": (384, 384),  # as 4x4x4 also allows inner and outer cells to be exchanged
    "tower": (6, 6),  # three builders
}


@cache
def load(name: str) -> Game:
    return omnilude.load(name)


@cache
def symmetries(name: str) -> Symmetries:
    return find_symmetries(load(name), positions=1024, seconds=30)


def text_of(name: str) -> str:
    return read_rulesheet(find_rulesheet(name))


def find(text: str, **options: bool) -> Symmetries:
    return find_symmetries(load_text(text), positions=512, seconds=30, **options)


def key(symmetry: Symmetry) -> tuple[bytes, ...]:
    parts = (np.array(symmetry.roles, dtype=np.int32), symmetry.fluents, *symmetry.slots)
    return tuple(part.tobytes() for part in parts)


def compose(first: Symmetry, then: Symmetry) -> Symmetry:
    return Symmetry(
        tuple(then.roles[role] for role in first.roles),
        then.fluents[first.fluents],
        tuple(then.slots[to][slots] for to, slots in zip(first.roles, first.slots, strict=True)),
    )


def names(game: Game, symmetry: Symmetry) -> dict[str, str]:
    """What becomes what, by name; moves with their role before them."""
    fluents = game.core.fluents  # type: ignore[attr-defined]
    out = {fluents[f]: fluents[to] for f, to in enumerate(symmetry.fluents)}
    for role, slots in enumerate(symmetry.slots):
        for slot, to in enumerate(slots):
            image = symmetry.roles[role]
            out[f"{game.roles[role]} {game.move(role, slot)}"] = (
                f"{game.roles[image]} {game.move(image, int(to))}"
            )
    return out


@pytest.mark.parametrize("name", KNOWN)
def test_groups_of_bundled_games(name: str) -> None:
    found = symmetries(name)
    assert (found.order, found.proved) == KNOWN[name]
    expected = "rules" if found.order == found.proved else "playouts"
    assert found.method == ("none" if found.order == 1 else expected)
    assert len(found) == min(64, found.order)
    assert len({key(symmetry) for symmetry in found}) == len(found)
    assert all((part == np.arange(len(part))).all() for part in (found[0].fluents, *found[0].slots))


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("connect-four", {"(cell 1 1 red)": "(cell 7 1 red)", "red (drop 1)": "red (drop 7)"}),
        ("connect-four", {"(cell 1 1 red)": "(cell 1 1 yellow)", "red noop": "yellow noop"}),
        ("breakthrough", {"white (move 1 2 2 3)": "black (move 1 7 2 6)"}),
        ("hex-7x7", {"(cell 1 2 red)": "(cell 7 6 red)", "blue (place 3 3)": "blue (place 5 5)"}),
        ("hex-7x7", {"(cell 1 2 red)": "(cell 2 1 blue)", "(control red)": "(control blue)"}),
        ("othello", {"(cell 1 2 black)": "(cell 2 1 black)", "(control white)": "(control white)"}),
        ("pacman-3p", {"(cell 3 1 inky)": "(cell 3 1 blinky)"}),
        ("eight-puzzle", {"(cell 3 1 3)": "(cell 1 3 7)", "(step 4)": "(step 4)"}),
        ("tic-tac-toe-3d-4", {"(cell 1 1 1 x)": "(cell 2 2 2 x)"}),
        ("tower", {"builder1 place": "builder3 place", "(carries builder2)": "(carries builder2)"}),
    ],
)
def test_expected_symmetries(name: str, some: dict[str, str]) -> None:
    found = find_symmetries(load(name), positions=256, limit=400, seconds=30)
    game = load(name)
    assert any(some.items() <= names(game, symmetry).items() for symmetry in found)


@pytest.mark.parametrize("name", ["connect-four", "hex-7x7", "othello", "tic-tac-toe", "tower"])
def test_elements_form_a_group(name: str) -> None:
    found = {key(symmetry) for symmetry in symmetries(name)}
    for first in symmetries(name):
        assert {key(compose(first, then)) for then in symmetries(name)} == found


GAMES = ["breakthrough-6x6", "checkers", "connect-four-3p", "eight-puzzle", "hex-7x7", "othello",
         "pacman-3p", "prisoners-dilemma", "tic-tac-toe-3d-3", "tower"]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(GAMES), st.integers(0, 2**32), st.integers(0, 63))
def test_a_game_and_its_image_run_in_parallel(name: str, seed: int, number: int) -> None:
    game, found = load(name), symmetries(name)
    symmetry = found[number % len(found)]
    check_parallel(game, symmetry, game.initial_states(1), random.Random(seed))


def check_parallel(
    game: Game, symmetry: Symmetry, state: NDArray[np.uint8], choose: random.Random
) -> None:
    """Plays at random from a state, and the mapped moves from the mapped state."""
    image = symmetry.apply_states(state)
    for _ in range(200):
        assert np.array_equal(symmetry.apply_states(state), strip_percepts(symmetry, image))
        here, there = game.describe(state), game.describe(image)
        roles = range(len(game.roles))
        assert here.terminal[0] == there.terminal[0]
        assert [there.rewards[0, symmetry.roles[r]] for r in roles] == here.rewards[0].tolist()
        if here.terminal[0]:
            return
        moves, mapped = np.zeros((2, 1, len(game.roles)), dtype=np.int32)
        for role in roles:
            legal, to = here.legal(0, role), symmetry.roles[role]
            assert sorted(symmetry.slots[role][legal]) == there.legal(0, to).tolist()
            if not len(legal):
                return
            moves[0, role] = choose.choice(legal.tolist())
            mapped[0, to] = symmetry.slots[role][moves[0, role]]
        state, image = state.copy(), image.copy()
        game.advance(state, moves)
        game.advance(image, mapped)


def strip_percepts(symmetry: Symmetry, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
    identity = np.arange(len(symmetry.fluents), dtype=np.int32)
    return Symmetry(symmetry.roles, identity, symmetry.slots).apply_states(states)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_what_rules_prove_holds_in_every_position(seed: int) -> None:
    """Also in positions that play never reaches: fluents drawn at random."""
    try:
        game = load_text(rulesheet(seed))
        found = find_symmetries(game, candidates=False, positions=64, limit=8)
    except (RulesError, Unsupported):
        return
    bits = np.zeros((8, game.state_bytes * 8), dtype=np.uint8)
    fluents = len(found[0].fluents)
    bits[:, :fluents] = np.random.default_rng(seed).integers(0, 2, (8, fluents))
    states = np.packbits(bits, axis=1, bitorder="little")
    for symmetry in found:
        for row in states:
            check_parallel(game, symmetry, row[None].copy(), random.Random(seed))


def test_policies_and_values_are_mapped() -> None:
    game = load("connect-four-3p")
    reflection = symmetries("connect-four-3p")[1]
    slots = [game.slots(role) for role in game.players]
    perm = reflection.policy_permutation(game)
    assert perm.dtype == np.int32
    assert sorted(perm) == list(range(sum(slots)))
    policy = np.random.default_rng(1).random(sum(slots))
    image = np.empty_like(policy)
    image[perm] = policy
    drop = [game.core.find_move(1, f"(drop {column})") for column in (1, 8)]
    assert image[slots[0] + drop[1]] == policy[slots[0] + drop[0]]
    assert reflection.player_permutation(game).tolist() == [0, 1, 2]
    exchange = next(s for s in symmetries("hex-7x7") if s.roles == (1, 0))
    hexes = load("hex-7x7")
    assert exchange.player_permutation(hexes).tolist() == [1, 0]
    assert sorted(exchange.policy_permutation(hexes)) == list(range(2 * hexes.slots(0)))


def test_chance_has_no_policy_and_percepts_are_lost() -> None:
    game = load("race-dice")
    identity = symmetries("race-dice")[0]
    assert len(identity.policy_permutation(game)) == game.slots("red") + game.slots("blue")
    state = game.initial().play(["noop", "noop", "(roll 3)"])
    image = identity.apply_states(state.block)
    assert state.percepts("red")
    assert game.core.facts(image) == state.facts
    assert game.core.percepts(image, 0) == []


# --- the sample ---


@pytest.mark.parametrize("name", ["othello", "tic-tac-toe", "prisoners-dilemma"])
def test_the_sample_is_of_thousands_of_games(name: str) -> None:
    """However long they are: one end of each of 2,048, and positions of all."""
    game = load(name)
    points = Points(game)
    sample = sample_positions(game, points, 4096, seconds=60, seed=1)
    assert len(sample) == 4096
    assert sample.terminal.sum() == 2048
    again = sample_positions(game, points, 4096, seconds=60, seed=1)
    assert all(
        np.array_equal(getattr(sample, part), getattr(again, part)) for part in sample.__slots__
    )
    other = sample_positions(game, points, 4096, seconds=60, seed=2)
    assert not np.array_equal(sample.states, other.states)
    # A small sample is of as many games: ends as different as in a large one.
    small = sample_positions(game, points, 512, seconds=60, seed=1)
    assert (len(small), small.terminal.sum()) == (512, 256)


def test_the_sample_is_of_all_plies() -> None:
    game = load("othello")
    sample = sample_positions(game, Points(game), 4096, seconds=60, seed=1)
    cells = [number for number, name in enumerate(game.core.fluents) if name.startswith("(cell")]  # type: ignore[attr-defined]
    bits = np.unpackbits(sample.states[~sample.terminal], axis=1, bitorder="little")
    discs = np.bincount(bits[:, cells].sum(axis=1), minlength=65)[5:60]
    assert discs.sum() > 1500
    assert discs.min() > 0.4 * discs.mean()
    assert discs.max() < 1.8 * discs.mean()


def test_a_sample_in_no_time() -> None:
    game = load("checkers")
    sample = sample_positions(game, Points(game), 4096, seconds=1e-9, seed=1)
    assert 0 < len(sample) <= 128


def test_one_position_is_a_sample() -> None:
    game = load("tower")
    assert len(sample_positions(game, Points(game), 1, seconds=60, seed=1)) == 1


# --- how the rules are written ---

WORDS = {"role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees", "distinct",
         "not", "or", "random", "0", "50", "100", "<="}  # fmt: skip


def scramble(text: str, kept: set[str], seed: int) -> str:
    """Every symbol renamed except those to be kept."""
    text = re.sub(r";.*", "", text)
    words = sorted(set(re.findall(r"[^\s()]+", text)) - kept)
    fresh = [f"w{number}" for number in range(len(words))]
    random.Random(seed).shuffle(fresh)
    renamed = dict(zip(words, fresh, strict=True))

    def rename(match: re.Match[str]) -> str:
        word = match[0]
        return ("?" if word.startswith("?") else "") + renamed.get(word, word)

    return re.sub(r"[^\s()]+", rename, text)


@pytest.mark.parametrize("name", ["connect-four", "eight-puzzle", "hex-7x7", "othello", "tower"])
def test_names_make_no_difference(name: str) -> None:
    text = text_of(name)
    # Goal values of these two are many numbers, so numbers keep their names there.
    numbers = set(re.findall(r"\d+", text)) if name in ("eight-puzzle", "tower") else set()
    text = scramble(text, WORDS | numbers, seed=3)
    found = find(text)
    assert (found.order, found.proved) == KNOWN[name]


def test_one_changed_rule_breaks_symmetries() -> None:
    corner = text_of("tic-tac-toe") + "(<= terminal (true (cell 1 3 x)))"
    found = find(corner)
    assert (found.order, found.method) == (2, "rules")
    assert found[1].roles == (0, 1)
    cell = text_of("connect-four") + "(<= (line red) (true (cell 2 2 red)))"
    assert find(cell).order == 1
    hidden = text_of("hex-7x7") + "(<= (goal red 100) (true (cell 2 3 blue)))"
    assert find(hidden).order == 1


def test_what_is_left_of_a_board() -> None:
    """Without column 2 the columns 3 to 7 are a board of their own, beside column 1."""
    text = text_of("connect-four").replace("(empty ?c 6))", "(empty ?c 6) (distinct ?c 2))", 1)
    game = load_text(text)
    found = find_symmetries(game, positions=512, seconds=30)
    assert (found.order, found.method) == (4, "rules")
    some = {"red (drop 3)": "red (drop 7)", "red (drop 1)": "red (drop 1)"}
    assert any(some.items() <= names(game, symmetry).items() for symmetry in found)


def test_rules_written_in_different_ways_for_like_things() -> None:
    """Lines named in between, twice, in another order: the normal form sees through it."""
    text = text_of("tic-tac-toe").replace(
        """(<= (line ?who)
    (true (cell 1 ?r ?who))
    (true (cell 2 ?r ?who))
    (true (cell 3 ?r ?who)))""",
        """(<= (line ?who) (row ?r ?who))
(<= (row ?r ?who) (true (cell 3 ?r ?who)) (start ?r ?who))
(<= (start ?r ?who) (true (cell 1 ?r ?who)) (true (cell 2 ?r ?who)) (role ?who))
(<= (line x) (true (cell 1 1 x)) (true (cell 1 2 x)) (true (cell 1 3 x)) (true (cell 2 2 x)))
(<= (line o) (start 2 o) (true (cell 3 2 o)))""",
    )
    assert text != text_of("tic-tac-toe")
    found = find(text, candidates=False)
    assert (found.order, found.method) == (16, "rules")


def test_candidates_are_a_choice() -> None:
    found = find(text_of("othello"), candidates=False)
    assert (found.order, found.proved, found.method) == (2, 2, "rules")


@pytest.mark.parametrize(
    "name", ["breakthrough-6x6", "connect-four", "othello", "tic-tac-toe", "tower"]
)
def test_without_a_graph_play_must_tell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry_search, "INSTANCES", 10)
    found = find_symmetries(load(name), positions=1024, seconds=30)
    assert (found.order, found.proved, found.method) == (KNOWN[name][0], 1, "playouts")


def test_goals_that_play_never_showed_are_not_believed() -> None:
    """A puzzle that random play does not solve: its solution could be anything."""
    text = re.sub(r"\(worth (\d) \d+\)", r"(worth \1 0)", text_of("eight-puzzle"))
    assert find(text).order == 1


def test_roles_that_see_different_things_are_unlike() -> None:
    text = """(role a) (role b) (init p) (legal a x) (legal a y) (legal b x) (legal b y)
        (<= (next (has ?r ?m)) (does ?r ?m)) (<= terminal (not (true p)))
        (<= (goal ?r 100) (role ?r) (true (has ?r x))) (<= (goal ?r 0) (true (has ?r y)))"""
    assert find(text).order == 2
    assert find(text + "(<= (sees a ?m) (does b ?m))").order == 1
    both = text + "(<= (sees a ?m) (does b ?m)) (<= (sees b ?m) (does a ?m))"
    assert find(both).order == 2


# --- large groups ---

LAMPS = (
    "(role a) (init (lit l0)) "
    + " ".join(f"(lamp l{number})" for number in range(12))
    + """(<= (legal a (press ?l)) (lamp ?l))
    (<= (next (lit ?l)) (does a (press ?l)) (not (true (lit ?l))))
    (<= (next (lit ?l)) (true (lit ?l)) (not (does a (press ?l))))
    (<= dark (lamp ?l) (not (true (lit ?l))))
    (<= terminal (not dark)) (<= (goal a 100) (not dark)) (<= (goal a 0) dark)"""
)


def test_of_a_large_group_a_sample_is_given() -> None:
    game = load_text(LAMPS)
    found = find_symmetries(game, positions=256, limit=20)
    assert (found.order, len(found), found.method) == (479_001_600, 20, "rules")
    assert (found[0].fluents == np.arange(12)).all()
    again = find_symmetries(game, positions=256, limit=20)
    assert [key(symmetry) for symmetry in found] == [key(symmetry) for symmetry in again]
    other = find_symmetries(game, positions=256, limit=20, seed=2)
    assert [key(symmetry) for symmetry in found] != [key(symmetry) for symmetry in other]


def test_scenery_is_left_alone() -> None:
    scenery = " ".join(f"(init (tree t{number}))" for number in range(9))
    found = find(text_of("connect-four") + scenery + "(<= (next (tree ?t)) (true (tree ?t)))")
    assert found.order == 4


def test_groups_of_permutations() -> None:
    turn, mirror, cycle, swap = (
        np.array(p, dtype=np.int32)
        for p in ([1, 2, 3, 0, 4], [3, 2, 1, 0, 4], [1, 2, 3, 4, 0], [1, 0, 2, 3, 4])
    )
    square = close_group(np.stack([turn, mirror]), 100)
    assert square is not None
    assert len(square) == 8
    all_of_five = close_group(np.stack([cycle, swap]), 120)
    assert all_of_five is not None
    assert len(np.unique(all_of_five, axis=0)) == 120
    assert close_group(np.stack([cycle, swap]), 119) is None
    sample = sample_group(np.stack([cycle, swap]), 4000, seed=1)
    _, counts = np.unique(sample, axis=0, return_counts=True)
    assert len(counts) == 120
    assert counts.max() < 80  # about 33 expected


def test_automorphisms_that_take_too_long() -> None:
    """The worker is ended, and the next question has a new one."""
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]], dtype=np.int32)
    square = ColouredGraph(np.zeros(4, dtype=np.int32), edges, 4)
    pairs = np.argwhere(np.triu(np.ones((700, 700)), 1)).astype(np.int32)
    assert find_generators(ColouredGraph(np.zeros(700, dtype=np.int32), pairs, 700), 0.05) is None
    assert count_actions(square, 30.0) == 8
    generators = find_generators(square, 30.0)
    assert generators is not None
    elements = close_group(generators, 100)
    assert elements is not None
    assert len(elements) == 8
    coloured = ColouredGraph(np.array([1, 0, 0, 0], dtype=np.int32), edges, 4)
    assert count_actions(coloured, 30.0) == 2


def test_refusals() -> None:
    interpreted = load_text(text_of("tic-tac-toe"), settings=LoadSettings(engine="interpreter"))
    with pytest.raises(Unsupported):
        find_symmetries(interpreted)
    with pytest.raises(SettingsError):
        find_symmetries(load("tic-tac-toe"), limit=0)
