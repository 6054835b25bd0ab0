"""One input: loaded within small budgets and, if that succeeds, played for a while."""

from __future__ import annotations

import random
import resource

import numpy as np

from omnilude.errors import OmniludeError
from omnilude.games import Game
from omnilude.games.loading import load_text
from omnilude.games.ludemes import load_ludemes
from omnilude.games.settings import LoadSettings

BUDGETS = LoadSettings(
    seconds=0.3,
    memory=256 << 20,
    instances=200_000,
    query_seconds=0.3,
    check_playouts=2,
    check_seconds=0.1,
)
STEPS = 6
MEMORY_GROWTH = 1024  # MiB that one input may add to the process


def peak_memory() -> int:
    """MiB, the most that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def try_input(data: bytes, seed: int, language: str = "gdl") -> str:
    """What became of it: the name of a typed error, or of the engine. Others are raised."""
    before = peak_memory()
    try:
        text = data.decode("utf-8", errors="replace")
        game = (
            load_text(text, settings=BUDGETS)
            if language == "gdl"
            else load_ludemes(text, name="fuzz", file="fuzz.lud")
        )
        outcome = _play(game, random.Random(seed))
    except OmniludeError as error:
        outcome = type(error).__name__
    growth = peak_memory() - before
    if growth > MEMORY_GROWTH:
        raise MemoryError(f"{growth} MiB for one input")
    return outcome


def _play(game: Game, choose: random.Random) -> str:
    states = game.initial_states(2)
    roles = range(len(game.roles))
    for _ in range(STEPS):
        batch = game.describe(states)
        legal = [[batch.legal(i, role).tolist() for role in roles] for i in range(len(states))]
        if batch.terminal.any() or not all(moves for state in legal for moves in state):
            break
        moves = [[choose.choice(moves) for moves in state] for state in legal]
        game.advance(states, np.array(moves, np.int32))
    game.core.facts(states[:1])
    for role in roles:
        game.core.percepts(states[:1], role)
    if game.engine != "interpreter":
        game.playouts(64, seed=1, max_length=50, detailed=True)
    return game.engine
