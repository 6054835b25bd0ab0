"""Evaluators that need no network, for tests of the search."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.games import Game


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
