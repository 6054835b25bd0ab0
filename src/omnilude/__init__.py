"""Omnilude: give it the rules of a game; it builds the engine, the encoding, the network and the
player, and teaches itself to play.

    game = omnilude.load("connect-four")      # or a path to a rulesheet
    state = game.initial()
    while not state.terminal:
        state = state.play([state.legal(role)[0] for role in game.roles])
    print(state, state.reward)
"""

from omnilude._core_loader import load_core_from_environment

load_core_from_environment()

from omnilude.errors import (  # noqa: E402
    BudgetExceeded,
    CheckpointError,
    IllegalMove,
    OmniludeError,
    RulesError,
    SettingsError,
    Unsupported,
)
from omnilude.games import Game, Move, State, load  # noqa: E402
from omnilude.games.settings import LoadSettings  # noqa: E402

__version__ = "0.1.0"

__all__ = [
    "BudgetExceeded",
    "CheckpointError",
    "Game",
    "IllegalMove",
    "LoadSettings",
    "Move",
    "OmniludeError",
    "RulesError",
    "SettingsError",
    "State",
    "Unsupported",
    "__version__",
    "load",
]
