"""The pool of search trees, driven from Python: gather leaves, evaluate them, scatter the results.

One pool serves self-play, matches and analysis; only the settings differ. All work on trees is in
the core, without the interpreter lock, so that several threads may each drive a pool of their own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.search.settings import SearchSettings, UctSettings

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games import Game
    from omnilude.search.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class GameRecords:
    """Finished games of self-play: g games with n positions in all, one game after another."""

    states: NDArray[np.uint8]  # [n, state_bytes]
    moves: NDArray[np.int32]  # [n, roles]: slots played
    q: NDArray[np.float32]  # [n, players]: values of the position after its search
    full: NDArray[np.bool_]  # [n]: searched with all simulations
    solved: NDArray[np.bool_]  # [n]: the values are those of best play
    surprise: NDArray[np.float32]  # [n]: divergence of the policy target from the prior
    policy_offsets: NDArray[np.uint32]  # [n * players + 1] into the next two
    policy_slots: NDArray[np.int32]  # legal slots; none where a player had no choice
    policy_probs: NDArray[np.float32]  # the target for each
    game_offsets: NDArray[np.uint32]  # [g + 1] into positions
    game_numbers: NDArray[np.uint64]  # [g]
    final_states: NDArray[np.uint8]  # [g, state_bytes]
    rewards: NDArray[np.float32]  # [g, players]
    cut: NDArray[np.bool_]  # [g]: ended by the limit of length, or without a move for some role

    @property
    def positions(self) -> int:
        return len(self.states)

    @property
    def games(self) -> int:
        return len(self.game_numbers)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a search found for n positions."""

    moves: NDArray[np.int32]  # [n, roles]: the slot chosen for each role
    values: NDArray[np.float32]  # [n, players]; not a number where nobody had a choice
    simulations: NDArray[np.uint32]  # [n]
    solved: NDArray[np.bool_]  # [n]: the values are those of best play
    proven: NDArray[np.bool_]  # [n, players]: the value is exact, by any best play of everybody
    offsets: NDArray[np.uint32]  # [n * players + 1] into the rest, one entry a legal move
    slots: NDArray[np.int32]
    visits: NDArray[np.float32]  # by walks that explored the player's moves: see select.h
    priors: NDArray[np.float32]
    q: NDArray[np.float32]  # mean value for the player itself; of the position where unvisited


@dataclass(slots=True)
class SearchPool:
    """Many trees of one game, each waiting for at most one evaluation at a time."""

    game: Game
    encoding: Encoding
    settings: SearchSettings
    games: int = 128
    """Trees; at most so many rows are evaluated in one batch."""
    seed: int = 0
    first_game: int = 0
    """Number of the first game. Game k draws its random numbers from stream k of the seed."""
    stride: int = 0
    """A tree that ends game k goes on with game k + stride; 0: the number of trees. Two pools of
    half the size with their strides set to the whole play the same games as one, but for random
    playouts from leaves."""
    most_bytes: int = 0
    """Memory that all trees together may take: one with its share is searched no further; 0: no
    bound."""
    core: _core.SearchPool = field(init=False)
    inputs: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        self.core = _core.SearchPool(
            self.game.core,
            self.encoding.core,
            [not chance for chance in self.game.chance],
            self._tell(self.settings),
            self.games,
            self.seed,
            self.first_game,
            self.stride or self.games,
        )
        self.inputs = np.zeros((self.games, self.encoding.size), dtype=np.float32)

    def step(self, evaluator: Evaluator) -> int:
        """Takes every tree to its next evaluation, and evaluates; returns the number of rows."""
        rows = self.core.gather(self.inputs)
        if rows:
            logits, values = evaluator(self.inputs[:rows])
            self.core.scatter(logits, values)
        return rows

    def play(self) -> None:
        """Starts self-play in every tree; `step` then goes on for ever."""
        self.core.play()

    def drain(self) -> GameRecords:
        """The games of self-play that were finished since the last call."""
        return GameRecords(**self.core.drain())

    def analyse(
        self,
        states: NDArray[np.uint8],
        evaluator: Evaluator,
        *,
        streams: NDArray[np.uint64] | None = None,
        plies: NDArray[np.uint32] | None = None,
    ) -> Analysis:
        """Searches every one of at most `games` positions, none of them terminal.

        `streams` are the random streams (of the pool's seed) of the positions, by default their
        numbers; `plies` say how many moves were made before, for the temperature.
        """
        count = len(states)
        if streams is None:
            streams = np.arange(count, dtype=np.uint64)
        if plies is None:
            plies = np.zeros(count, dtype=np.uint32)
        self.core.set_roots(np.ascontiguousarray(states), streams, plies)
        while self.core.busy:
            self.step(evaluator)
        return Analysis(**self.core.results())

    def weights_changed(self) -> None:
        """Forgets all evaluations that are remembered."""
        self.core.forget()

    def change(self, settings: SearchSettings) -> None:
        """New settings, for searches under way too; simulations and noise from the next on."""
        self.settings = settings
        self.core.change(self._tell(settings))

    def _tell(self, settings: SearchSettings) -> dict[str, Any]:
        share = self.most_bytes // self.games if self.most_bytes else sys.maxsize
        return {**settings.to_dict(), "most_bytes": share}

    @property
    def counters(self) -> dict[str, int]:
        """Simulations, evaluations, cache hits, positions and games so far."""
        counters: dict[str, int] = self.core.counters
        return counters


def search_uct(
    game: Game,
    states: NDArray[np.uint8],
    settings: UctSettings,
    *,
    seed: int = 0,
    streams: NDArray[np.uint64] | None = None,
    threads: int = 1,
    moves_only: bool = False,
    most_bytes: int = 1 << 30,
) -> Analysis:
    """UCT with random playouts for every one of the positions, none of them terminal.

    With `moves_only` a search ends as soon as no walk that is left could change its moves. Alone,
    a position gets the same moves by it; beside others, which draw other playouts then, moves that
    are as good. By seconds it also ends when its trees, up to 256 of them, take `most_bytes`."""
    if streams is None:
        streams = np.arange(len(states), dtype=np.uint64)
    arguments: dict[str, Any] = {**settings.to_dict(), "moves_only": moves_only}
    arguments["most_bytes"] = most_bytes
    result = _core.search_uct(
        game.core,
        [not chance for chance in game.chance],
        np.ascontiguousarray(states),
        streams,
        arguments,
        seed,
        threads,
    )
    return Analysis(**result)
