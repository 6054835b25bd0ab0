"""Players: whoever chooses moves. They see many games at once, so that networks get full batches.

A player is asked for positions in which at least one of its roles has a choice. It may choose for
all roles; only those that it plays count. Players see the whole state, also in games with hidden
information.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from omnilude.arena.timing import fit_count
from omnilude.games import Batch, Game
from omnilude.games.chance import draw_uniform, pick_moves
from omnilude.search.pool import Analysis, search_uct
from omnilude.search.settings import UctSettings

MOST_NODES = 1_000_000
"""UCT's trees grow side by side up to so many nodes in all, or gigabytes would be needed."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of n games, none of them terminal, and what a player may know of them."""

    states: NDArray[np.uint8]  # [n, state_bytes]
    batch: Batch  # their description
    plays: NDArray[np.bool_]  # [n, roles]: roles that the player decides for
    streams: NDArray[np.uint64]  # [n]: random streams, another for every game and move
    plies: NDArray[np.uint32]  # [n]: moves made before

    @classmethod
    def of_states(
        cls,
        game: Game,
        states: NDArray[np.uint8],
        streams: NDArray[np.uint64],
        plies: NDArray[np.uint32] | None = None,
    ) -> Positions:
        """Positions in which the player decides for every role; initial ones, if not told."""
        count = len(states)
        return cls(
            states,
            game.describe(states),
            np.ones((count, len(game.roles)), dtype=np.bool_),
            streams,
            np.zeros(count, dtype=np.uint32) if plies is None else plies,
        )


class Player(Protocol):
    """Chooses moves in one game."""

    name: str

    @property
    def deterministic(self) -> bool:
        """Whether it always does the same in the same position, whatever the stream."""
        ...

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        """[n, roles]: a slot for every role; those that the player does not play are ignored."""
        ...

    def analyse(self, positions: Positions) -> Analysis: ...

    def begin(self) -> None:
        """New games follow, whose moves must not depend on those before."""
        ...

    def fork(self, seed: int) -> Player:
        """The same player for a match, in a thread of its own: where it thinks by the clock, with
        as much work a move as one game alone would allow it in the time."""
        ...

    def describe(self) -> dict[str, Any]:
        """Settings, for the files of results."""
        ...


@runtime_checkable
class TimedPlayer(Player, Protocol):
    """A player that may think by the clock."""

    fitted: int
    """How often its search walks the tree in its time, when a single game is played alone; 0: not
    measured yet. Matches that are compared should all be played with the same."""

    def fit(self) -> int:
        """Measures it, if that has not been done."""
        ...


class RandomPlayer:
    """Every legal move is as likely."""

    deterministic = False

    def __init__(self, game: Game, *, seed: int = 0, name: str = "random") -> None:
        self.game, self.seed, self.name = game, seed, name

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        return draw_moves(positions, self.seed)

    def analyse(self, positions: Positions) -> Analysis:
        count, players = len(positions.states), self.game.players
        nothing = np.full((count, len(players)), np.nan, dtype=np.float32)
        alike = np.zeros((count, sum(self.game.slots(role) for role in players)), dtype=np.float32)
        return analyse_policy(self.game, positions, self.choose(positions), alike, nothing)

    def begin(self) -> None:
        pass

    def fork(self, seed: int) -> RandomPlayer:
        return RandomPlayer(self.game, seed=seed, name=self.name)

    def describe(self) -> dict[str, Any]:
        return {"kind": "random"}


class UctPlayer:
    """Plain UCT, P3's benchmark: the quality of its choice comes from random playouts alone."""

    deterministic = False

    def __init__(
        self,
        game: Game,
        settings: UctSettings,
        *,
        seed: int = 0,
        threads: int = 1,
        name: str = "uct",
    ) -> None:
        self.game, self.settings = game, settings
        self.seed, self.threads, self.name = seed, threads, name
        self.seconds = 0.0
        """The time a move that the iterations were fitted to."""
        self.fitted = 0
        """Iterations that fit into the time for a move; 0: not measured yet."""

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        return self._search(positions, moves_only=True).moves

    def analyse(self, positions: Positions) -> Analysis:
        return self._search(positions)

    def _search(self, positions: Positions, *, moves_only: bool = False) -> Analysis:
        count, settings = len(positions.states), self.settings
        trees = count if settings.seconds else max(1, MOST_NODES // settings.iterations)
        parts = []
        for first in range(0, count, trees):
            part = slice(first, first + trees)
            parts.append(
                search_uct(
                    self.game,
                    positions.states[part],
                    settings,
                    seed=self.seed,
                    streams=positions.streams[part],
                    threads=self.threads,
                    moves_only=moves_only,
                )
            )
        found = join_analyses(parts)
        return replace(found, priors=np.full_like(found.priors, np.nan))  # it has none

    def begin(self) -> None:
        pass

    def fit(self) -> int:
        if not self.fitted:
            self.fitted = fit_count(self.game, self._time_search, self.settings.seconds)
        return self.fitted

    def fork(self, seed: int) -> UctPlayer:
        settings = self.settings
        if settings.seconds:
            # Where both were given, the tighter one counts.
            most = min(self.fit(), settings.iterations or self.fitted)
            settings = replace(settings, iterations=most, seconds=0)
        player = UctPlayer(self.game, settings, seed=seed, name=self.name)
        player.seconds = self.settings.seconds
        return player

    def _time_search(self, state: NDArray[np.uint8], iterations: int) -> tuple[int, float]:
        settings = replace(self.settings, iterations=iterations, seconds=0)
        start = time.thread_time()
        found = search_uct(self.game, state, settings, seed=self.seed)
        return int(found.simulations[0]), time.thread_time() - start

    def describe(self) -> dict[str, Any]:
        told = {"kind": "uct", **self.settings.to_dict()}
        return {**told, "fitted_to_seconds": self.seconds} if self.seconds else told


def analyse_policy(
    game: Game,
    positions: Positions,
    moves: NDArray[np.int32],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> Analysis:
    """The analysis of a player that does not search, [n, policy vector] and [n, players]; as in a
    search, only players who have a choice are told of."""
    starts = np.cumsum([0, *(game.slots(role) for role in game.players)])
    offsets, slots, priors = [0], [], []
    for n in range(len(positions.states)):
        for start, role in zip(starts[:-1], game.players, strict=True):
            legal = positions.batch.legal(n, role)
            if len(legal) > 1:
                slots.append(legal)
                weights = np.exp(logits[n, start + legal] - logits[n, start + legal].max())
                priors.append(weights / weights.sum())
            offsets.append(offsets[-1] + (len(legal) if len(legal) > 1 else 0))
    prior = np.concatenate([np.empty(0), *priors]).astype(np.float32)
    return Analysis(
        moves=moves,
        values=values,
        simulations=np.zeros(len(moves), dtype=np.uint32),
        solved=np.zeros(len(moves), dtype=np.bool_),
        proven=np.zeros(values.shape, dtype=np.bool_),
        offsets=np.array(offsets, dtype=np.uint32),
        slots=np.concatenate([np.empty(0), *slots]).astype(np.int32),
        visits=np.zeros_like(prior),
        priors=prior,
        q=np.full_like(prior, np.nan),
    )


def draw_moves(positions: Positions, seed: int) -> NDArray[np.int32]:
    """[n, roles]: any legal move of each role, by the streams of the positions."""
    roles = np.arange(positions.plays.shape[1], dtype=np.uint64)
    chances = draw_uniform(seed, positions.streams[:, None], roles)
    return pick_moves(positions.batch, chances)


def join_analyses(parts: list[Analysis]) -> Analysis:
    """One analysis of all positions, from analyses of some of them in order."""
    if len(parts) == 1:
        return parts[0]
    offsets = [np.zeros(1, dtype=np.uint32)]
    for part in parts:
        offsets.append(part.offsets[1:] + offsets[-1][-1])
    names = ("moves", "values", "simulations", "solved", "proven", "slots", "visits", "priors", "q")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Analysis(offsets=np.concatenate(offsets), **joined)
