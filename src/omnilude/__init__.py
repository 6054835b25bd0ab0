"""Omnilude: give it the rules of a game; it builds the engine, the encoding, the network and the
player, and teaches itself to play.

    game = omnilude.load("connect-four")      # or a path to a rulesheet
    state = game.initial()
    while not state.terminal:
        state = state.play([state.legal(role)[0] for role in game.roles])
    print(state, state.reward)

    player = omnilude.player("uct:1000")      # or "runs/NAME", a player that was trained
    state = game.initial()
    while not state.terminal:
        state = state.play(player.choose(state))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omnilude.arena.single import StatePlayer

__version__ = "0.3.3"


def player(
    spec: str | Path,
    game: Game | None = None,
    *,
    seed: int = 0,
    roles: Sequence[str] = (),
    **options: Any,
) -> StatePlayer:
    """A player by its spec: "random", "uct:1000", "uct:1s", or a run or checkpoint.

    `options` are those of the spec, such as simulations=100; docs/arena.md lists them. The game is
    that of the states it is asked about. `roles` are those that it plays: all where none is named.
    """
    # Imported here: what plays with networks needs PyTorch, which takes seconds.
    from omnilude.arena.single import StatePlayer

    return StatePlayer(spec, game, seed=seed, roles=roles, **options)


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
    "player",
]
