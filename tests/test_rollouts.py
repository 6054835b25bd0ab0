"""Random play from given states: the mean rewards are those of exact enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from omnilude import LoadSettings, load
from omnilude.games import State
from test_search import random_state


def expected(state: State, known: dict[State, np.ndarray]) -> np.ndarray:
    """The mean rewards of uniformly random play, exactly."""
    if state not in known:
        if state.terminal:
            known[state] = np.array(state.reward)
        else:
            joint = np.zeros(len(state.game.roles))
            legal = [state.legal(role) for role in state.game.roles]
            count = int(np.prod([len(moves) for moves in legal]))
            for index in np.ndindex(*(len(moves) for moves in legal)):
                moves = [moves[i] for moves, i in zip(legal, index, strict=True)]
                joint += expected(state.play(moves), known) / count
            known[state] = joint
    return known[state]


@pytest.mark.sanitize
@pytest.mark.parametrize("machine_code", [True, False])
@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker", "race-dice", "prisoners-dilemma"])
def test_means_are_those_of_enumeration(name: str, machine_code: bool) -> None:
    game = load(name, LoadSettings(machine_code=machine_code))
    plies = {"tic-tac-toe": 5, "kuhn-poker": 1, "race-dice": 6, "prisoners-dilemma": 7}[name]
    states = [random_state(game, plies, seed) for seed in range(3)]
    blocks = np.concatenate([state.block for state in states])
    each = 20_000
    found = game.core.rollouts(blocks, each, 1, 1000)
    for state, rewards in zip(states, found, strict=True):
        exact = expected(state, {})
        # Rewards lie between 0 and 1, so five standard errors are at most 5 / 2 sqrt(n).
        assert np.abs(rewards - exact).max() < 2.5 / np.sqrt(each) * 1.01


def test_engines_agree_and_limits_hold() -> None:
    circuit = load("connect-four")
    interpreter = load("connect-four", LoadSettings(engine="interpreter"))
    quick = circuit.core.rollouts(circuit.initial_states(1), 5000, 3, 1000)
    slow = interpreter.core.rollouts(interpreter.initial_states(1), 60, 3, 1000)
    assert np.abs(quick - slow).max() < 0.25
    # Cut after two moves: worth a half to everyone.
    assert np.allclose(circuit.core.rollouts(circuit.initial_states(2), 7, 3, 2), 0.5)


def test_results_depend_on_the_seed_alone() -> None:
    game = load("breakthrough-6x6")
    states = game.initial_states(40)
    one, two, other = (game.core.rollouts(states, 9, seed, 1000) for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
