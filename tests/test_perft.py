"""Perft against known counts, and against counting one state at a time."""

import itertools
import math

import pytest

import omnilude
from omnilude.games import State
from omnilude.games.perft import perft

# The first three to five of each row are also what OpenSpiel's games give.
KNOWN = {
    "tic-tac-toe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect-four": [7, 49, 343, 2401, 16807, 117649, 823536],
    "breakthrough": [22, 484, 11132, 256036],
    "breakthrough-6x6": [16, 256, 4308],
    "othello": [4, 12, 56, 244, 1396, 8200],
    "checkers": [7, 49, 302, 1469, 7361, 36768],
}


def count_one_by_one(state: State, depth: int) -> int:
    if state.terminal:
        return 0
    legal = [state.legal(role) for role in state.game.roles]
    if depth == 1:
        return math.prod(len(moves) for moves in legal)
    return sum(
        count_one_by_one(state.play(joint), depth - 1) for joint in itertools.product(*legal)
    )


@pytest.mark.parametrize("name", KNOWN)
def test_known_counts(name: str) -> None:
    assert perft(omnilude.load(name), len(KNOWN[name])) == KNOWN[name]


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("tower", 3),  # three roles choose at once
        ("pacman-3p", 4),  # one, then two at once
        ("kuhn-poker", 5),  # chance, and an end before the depth
        ("eight-puzzle", 6),  # one role
        ("prisoners-dilemma", 3),
    ],
)
@pytest.mark.parametrize("chunk", [1, 7, 8192])
def test_any_kind_of_game_and_any_chunk(name: str, depth: int, chunk: int) -> None:
    game = omnilude.load(name)
    expected = [count_one_by_one(game.initial(), d) for d in range(1, depth + 1)]
    assert perft(game, depth, chunk=chunk) == expected


def test_the_interpreter_counts_the_same() -> None:
    game = omnilude.load("tic-tac-toe", omnilude.LoadSettings(engine="interpreter"))
    assert perft(game, 3) == KNOWN["tic-tac-toe"][:3]


def test_past_the_end_there_is_nothing() -> None:
    assert perft(omnilude.load("tic-tac-toe"), 11)[8:] == [127872, 0, 0]


def test_depth_zero_and_wrong_settings() -> None:
    game = omnilude.load("tic-tac-toe")
    assert perft(game, 0) == []
    with pytest.raises(omnilude.SettingsError, match="depth"):
        perft(game, -1)
    with pytest.raises(omnilude.SettingsError, match="chunk"):
        perft(game, 1, chunk=0)
