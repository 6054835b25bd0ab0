"""From a ludemic description to a `Game`: read, compiled, handed to the core, and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from omnilude import _core
from omnilude.errors import RulesError
from omnilude.games.drawing import Picture
from omnilude.games.game import Game
from omnilude.rules.library import definitions_folder
from omnilude.rules.ludeme import Choices, Description, read_description, read_library
from omnilude.rules.ludeme.compiler.context import GameContext
from omnilude.rules.ludeme.compiler.rules import compile_game


@dataclass(frozen=True, slots=True)
class LudemeProgram:
    """What a game was made from."""

    description: Description
    context: GameContext


def load_ludemes(
    text: str,
    *,
    name: str,
    file: str,
    options: Mapping[str, str] | None = None,
    ruleset: str | None = None,
    definitions: Path | None = None,
) -> Game:
    """Loads a game; `definitions` is a folder of definitions instead of our own."""
    description = read_description(
        text,
        file,
        library=read_library(definitions or definitions_folder()),
        choices=Choices(options or {}, ruleset),
    )
    context, encoded = compile_game(description.game)
    try:
        core = _core.LudemeGame.make(encoded.symbols, encoded.array)
    except _core.GameError as error:
        raise RulesError(str(error), file=file) from error
    return Game(
        name,
        core,
        file=file,
        engine="ludemes",
        percepts=context.wants.hidden,
        ludemes=LudemeProgram(description, context),
        picture=lambda: Picture(context),
    )
