"""The engines of the core beside the slow reference interpreter, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import reference
from omnilude.games import Game, State
from omnilude.games.loading import load_text
from omnilude.games.settings import LoadSettings

# Every way in which the core can run a game.
ENGINES = {
    "machine code": LoadSettings(engine="circuit", check_playouts=0),
    "width 1": LoadSettings(engine="circuit", machine_code=False, width=1, check_playouts=0),
    "width 2": LoadSettings(engine="circuit", machine_code=False, width=2, check_playouts=0),
    "width 4": LoadSettings(engine="circuit", machine_code=False, width=4, check_playouts=0),
    "interpreter": LoadSettings(engine="interpreter"),
}

Choose = Callable[[int], int]  # a number below the given one


def load_engines(text: str, names: Sequence[str] = tuple(ENGINES)) -> dict[str, Game]:
    return {name: load_text(text, settings=ENGINES[name]) for name in names}


def expected_reward(values: list[int]) -> float:
    """Of several goal values the greatest counts, of none 0."""
    return max(values) / 100 if values else 0.0


def compare_state(oracle: reference.ReferenceGame, at: reference.State, state: State) -> None:
    """Everything that can be asked of one state."""
    assert state.facts == oracle.facts(at)
    terminal = oracle.terminal(at)
    assert state.terminal == terminal
    for role in oracle.roles:
        assert sorted(map(str, state.legal(role))) == oracle.legal(at, role)
    if terminal:
        goals = [oracle.goals(at, role) for role in oracle.roles]
        assert state.reward == tuple(map(expected_reward, goals))
    else:
        assert state.reward == (0.0,) * len(oracle.roles)


def compare_playout(
    oracle: reference.ReferenceGame, games: dict[str, Game], choose: Choose, steps: int
) -> int:
    """Plays one game by all engines and the reference; returns the number of moves made."""
    at = oracle.initial()
    states = {name: game.initial() for name, game in games.items()}
    for game in games.values():
        assert list(game.roles) == oracle.roles
    for step in range(steps + 1):
        for state in states.values():
            compare_state(oracle, at, state)
        legal = [oracle.legal(at, role) for role in oracle.roles]
        if step == steps or oracle.terminal(at) or not all(legal):
            return step
        joint = [moves[choose(len(moves))] for moves in legal]
        states = {name: state.play(joint) for name, state in states.items()}
        for role in oracle.roles:
            seen = oracle.sees(at, joint, role)
            for state in states.values():
                assert state.percepts(role) == seen
        at = oracle.next(at, joint)
    return steps
