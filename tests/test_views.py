"""Views: every proposition of a state by the core, against the reference interpreter."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from comparing import ENGINES
from omnilude import _core
from omnilude.encoding import make_encoding
from omnilude.errors import Unsupported
from omnilude.games import Game, State
from omnilude.games.loading import load_text, load_views
from omnilude.games.settings import LoadSettings
from omnilude.rules.library import bundled_games, read_rulesheet

GAMES = bundled_games(".kif")
# Recursion, negation, simultaneous moves, chance, percepts; the others are slow by the reference.
COMPARED = ("connect-four", "hex-7x7", "tower", "kuhn-poker", "pacman-3p", "breakthrough-6x6")

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")


@cache
def bundled(name: str) -> Game:
    return load_text(read_rulesheet(GAMES[name]), name=name)


def play(game: Game, seed: int, steps: int) -> list[State]:
    """The states of one random game."""
    chooser = random.Random(seed)
    states = [game.initial()]
    while len(states) <= steps and not states[-1].terminal:
        legal = [states[-1].legal(role) for role in game.roles]
        states.append(states[-1].play([chooser.choice(moves) for moves in legal]))
    return states


def view_bits(views: _core.CircuitGame, states: NDArray[np.uint8]) -> NDArray[np.float32]:
    """[states, views]"""
    size = len(views.view_names)
    out = np.empty((len(states), size), dtype=np.float32)
    _core.Encoder(views, np.arange(size, dtype=np.int32), True).encode(states, out)
    return out


@pytest.mark.sanitize
@pytest.mark.parametrize("name", COMPARED)
def test_views_agree_with_the_reference(name: str) -> None:
    game = bundled(name)
    oracle = reference.load(GAMES[name])
    views = load_views(game)
    names = views.view_names
    assert len(set(names)) == len(names)
    states = play(game, 1, 12)[::3] + play(game, 2, 200)[-1:]
    bits = view_bits(views, np.concatenate([state.block for state in states]))
    always: set[str] | None = None
    for state, row in zip(states, bits, strict=True):
        expected = oracle.propositions(frozenset(state.facts))
        holds = {names[i] for i in np.flatnonzero(row)}
        assert holds <= expected
        # What is no view must be a constant.
        rest = expected - holds
        assert rest.isdisjoint(names)
        always = rest if always is None else always
        assert rest == always


@pytest.mark.sanitize
@pytest.mark.parametrize("engine", ["machine code", "width 1", "width 4"])
def test_engines_agree_and_batches_are_rows(engine: str) -> None:
    game = bundled("hex-7x7")
    states = np.concatenate([state.block for seed in range(30) for state in play(game, seed, 60)])
    assert len(states) > 600  # more than two words of lanes
    views = load_views(game, ENGINES[engine])
    together = view_bits(views, states)
    some = np.random.default_rng(1).choice(len(states), 40)
    for row in some:
        assert np.array_equal(view_bits(views, states[row : row + 1])[0], together[row])
    assert np.array_equal(together, view_bits(load_views(game), states))


@pytest.mark.parametrize("name", GAMES)
def test_views_belong_to_the_game(name: str) -> None:
    """The second circuit plays the same states, and the first is as it was."""
    game = bundled(name)
    views = load_views(game)
    assert isinstance(game.core, _core.CircuitGame)
    assert game.core.view_names == []
    assert views.fluents == game.core.fluents
    assert np.array_equal(views.initial(1), game.core.initial(1))
    assert views.view_names[: len(views.fluents)] == [f"(true {f})" for f in views.fluents]
    # Relations that only splitting made are not the rulesheet's.
    assert not any(text.startswith(("(part ", "part ")) for text in views.view_names)


def test_propositions_of_gaz() -> None:
    """Base, legal, goal, terminal, does and what lies between: all there, all flat."""
    game = bundled("tic-tac-toe")
    encoding = make_encoding(game, "propositions")
    assert encoding.groups == ()
    assert encoding.flat_offset == 0
    assert len(encoding.flat) == encoding.size == len(set(encoding.flat))
    heads = {text.strip("()").split()[0] for text in encoding.flat}
    assert {"true", "legal", "goal", "terminal", "does", "line", "empty", "open"} <= heads
    assert sum(text.startswith("(does ") for text in encoding.flat) == 20
    state = game.initial().play(["(mark 2 2)", "noop"])
    holds = encoding.read(encoding.encode(state.block)[0])
    assert [f[6:-1] for f in holds if f.startswith("(true ")] == state.facts
    legal = [f"(legal {role} {move})" for role in game.roles for move in state.legal(role)]
    assert sorted(f for f in holds if f.startswith("(legal ")) == sorted(legal)
    assert not any(f.startswith("(does ") for f in holds)


def test_interpreted_games_have_none() -> None:
    text = read_rulesheet(GAMES["tic-tac-toe"])
    game = load_text(text, name="slow", settings=LoadSettings(engine="interpreter"))
    with pytest.raises(Unsupported, match="slow is played by the interpreter"):
        load_views(game)
    for kind in ("planes", "propositions"):
        with pytest.raises(Unsupported, match="slow is played by the interpreter"):
            make_encoding(game, kind)


def test_a_game_without_views_says_so() -> None:
    core = bundled("tic-tac-toe").core
    encoder = _core.Encoder(core, np.empty(0, dtype=np.int32), True)
    with pytest.raises(RuntimeError, match="without views"):
        encoder.encode(core.initial(1), np.empty((1, 0), dtype=np.float32))
