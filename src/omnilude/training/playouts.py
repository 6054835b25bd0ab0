"""Random playouts from the leaves of self-play's search: how many, and how much they count.

In the engine's lanes a handful of playouts costs a fraction of one evaluation by a network, and
while the network knows little they know more. How many there are is measured when a run starts.
How much they count is found from the run's own games: the results of new positions are regressed
on what the network said of them and on what playouts made of them. At first playouts decide
everything, so that self-play is UCT's; where they foretell nothing, as in puzzles, they get no say;
and as the network learns to foretell what they do, their share falls. It falls less than the
regression says: positions that a search compares are those about which the network is most wrong,
and playouts do not share its errors.

Where players choose at the same time, playouts keep a say whatever the regression finds. There
self-play can settle on ways that only those who share them would go: hunters who are in no hurry,
as each gets its share of the prey in the end, and prey that counts on it. The network foretells
such games so well that playouts seem to add nothing; but they are what would lead out of it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omnilude.games.statistics import random_play
from omnilude.games.survey import choose_at_once
from omnilude.search.evaluator import measure_rate

if TYPE_CHECKING:
    from omnilude.games import Game
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator
    from omnilude.training.settings import TrainingSettings

COUNTS = (8, 16, 32, 48)
"""Numbers that are tried; fewer say too little."""
GREATEST_COST = 0.2
"""Time for the playouts of a position, as a share of that for its evaluation."""
TRUST = 1 / 3
"""Exponent of the share that the regression gives to playouts; 1 would be that share itself."""
AT_ONCE = 0.8
"""Least share of playouts where players choose at the same time."""
SURE = 3.0
"""Standard errors by which playouts must foretell something to get a say."""
MEASURED_GAMES = 16
MEMORY = 20_000
"""Positions after which what was seen before counts 1/e."""
RIDGE = 1e-3
"""Keeps a coefficient at 0 where nothing varies: playouts that all end alike."""
SAMPLE = 512
"""Positions that are looked at each time new ones come."""


def find_playouts(
    game: Game, evaluator: Evaluator, network: Network, settings: TrainingSettings
) -> int:
    """As many as the settings say, or as the machine makes beside this evaluator."""
    if not settings.auto_playouts:
        return settings.search.playouts
    batch = settings.games_per_worker
    rate = measure_rate(evaluator, network, batch)
    return choose_playouts(game, rate, batch, settings.search.max_length)


def least_share(game: Game) -> float:
    """What playouts count for at least in the value of a leaf, in a run that finds out how much."""
    return AT_ONCE if choose_at_once(game) else 0.0


def choose_playouts(game: Game, rows_per_second: float, batch: int, max_length: int) -> int:
    """Playouts from each position that the engine makes in little time beside an evaluation."""
    steps = random_play(game, MEASURED_GAMES, seed=0, max_length=200)
    live = np.concatenate([step.states[step.live] for step in steps])
    states = np.random.default_rng(0).choice(live, batch)
    allowed = GREATEST_COST * batch / rows_per_second
    if _seconds(game, states[:1], 1, max_length, enough=allowed) > allowed:
        return 0  # an interpreter may need minutes for what comes next
    chosen = 0
    for count in COUNTS:
        if _seconds(game, states, count, max_length, enough=allowed) > allowed:
            break
        chosen = count
    return chosen


def _seconds(
    game: Game, states: NDArray[np.uint8], count: int, max_length: int, *, enough: float
) -> float:
    """Of the quickest of a few calls: the first prepares the engine, and others may be using the
    machine as well."""
    best = float("inf")
    for seed in range(5):
        started = time.perf_counter()
        game.core.rollouts(states, count, seed, max_length)
        best = min(best, time.perf_counter() - started)
        if best <= enough or (seed and best > 5 * enough):
            break
    return best


class PlayoutWeight:
    """The share of playouts in the value of a leaf, by decaying least squares.

    z = b v + c p + a, over all players; the share is (c / (b + c)) ** TRUST.
    """

    def __init__(self, moments: list[list[float]] | None = None) -> None:
        """`moments` are those of a run that goes on."""
        self._moments = np.array(moments or np.zeros((4, 4)), dtype=np.float64)

    @property
    def moments(self) -> list[list[float]]:
        """All that is remembered, as JSON can hold it."""
        rows: list[list[float]] = self._moments.tolist()
        return rows

    def add(
        self,
        values: NDArray[np.float32],
        playouts: NDArray[np.float32],
        rewards: NDArray[np.float32],
    ) -> None:
        """[n, players] each: what the network said, what playouts gave, how the games ended."""
        table = np.ones((values.size, 4))
        table[:, 0], table[:, 1], table[:, 3] = values.ravel(), playouts.ravel(), rewards.ravel()
        kept = np.exp(-len(values) / MEMORY)
        self._moments = kept * self._moments + table.T @ table

    @property
    def share(self) -> float:
        """0 to 1; 1 as long as nothing is known."""
        total = self._moments[2, 2]
        if total == 0:
            return 1.0
        means = self._moments[2] / total
        centred = self._moments / total - np.outer(means, means)
        of_both, with_result = centred[:2, :2] + RIDGE * np.eye(2), centred[:2, 3]
        found = np.linalg.solve(of_both, with_result)
        network, playout = np.maximum(0.0, found)
        # A coefficient that may as well be chance is none: a small share would not stay small.
        unexplained = max(0.0, centred[3, 3] - float(found @ with_result))
        playout -= SURE * np.sqrt(unexplained * np.linalg.inv(of_both)[1, 1] / total)
        if playout <= 0:
            return 0.0
        return float((playout / (network + playout)) ** TRUST)
