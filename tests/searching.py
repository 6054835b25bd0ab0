"""Games, positions, pools and evaluators without a network, for tests of the search."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.games import Game, State
from omnilude.search.pool import SearchPool
from omnilude.search.settings import SearchSettings

# Turns, simultaneous moves, chance, three roles, one role, hidden cards: all kinds.
GAMES = (
    "tic-tac-toe",
    "connect-four",
    "breakthrough-6x6",
    "pacman-3p",
    "tower",
    "connect-four-3p",
    "prisoners-dilemma",
    "eight-puzzle",
    "race-dice",
    "kuhn-poker",
)


class PlainEncoding:
    """Every fluent, one after another: enough for the pool."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.core, _core.CircuitGame)
        self.size = len(game.core.fluents)
        self.core = _core.Encoder(game.core, np.arange(self.size, dtype=np.int32))


class HashEvaluator:
    """Logits and values that look random but depend on the row alone."""

    def __init__(self, game: Game, salt: int = 0) -> None:
        self.policy = sum(game.slots(role) for role in game.players)
        self.players = len(game.players)
        self.salt = salt
        self.rows = 0

    def one(self, row: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        digest = hashlib.blake2b(row.tobytes() + bytes([self.salt]), digest_size=8).digest()
        random = np.random.default_rng(int.from_bytes(digest, "little"))
        logits = random.normal(size=self.policy).astype(np.float32)
        return logits, random.uniform(size=self.players).astype(np.float32)

    def __call__(
        self, rows: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        self.rows += len(rows)
        pairs = [self.one(row) for row in rows]
        return np.stack([logits for logits, _ in pairs]), np.stack([values for _, values in pairs])


def random_state(game: Game, plies: int, seed: int) -> State:
    """A position after some random moves in which some player has a choice."""
    random = np.random.default_rng(seed)
    state = last = game.initial()
    for _ in range(plies):
        if state.terminal:
            break
        if any(len(state.legal(role)) > 1 for role in game.players):
            last = state
        legal = [state.legal(role) for role in game.roles]
        state = state.play([moves[random.integers(len(moves))] for moves in legal])
    found = not state.terminal and any(len(state.legal(role)) > 1 for role in game.players)
    return state if found else last


def make_pool(game: Game, search: SearchSettings, trees: int = 8, seed: int = 0) -> SearchPool:
    return SearchPool(game, PlainEncoding(game), search, games=trees, seed=seed)  # type: ignore[arg-type]
