"""Players that use a network: with a search, or by its policy alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from omnilude.arena.players import Positions, analyse_policy, draw_moves, join_analyses
from omnilude.arena.timing import fit_count
from omnilude.games import Game
from omnilude.games.survey import choose_at_once
from omnilude.search.evaluator import make_evaluator
from omnilude.search.pool import Analysis, SearchPool
from omnilude.search.settings import SearchSettings
from omnilude.search.symmetric import SymmetricEvaluator
from omnilude.training.selfplay import random_rows

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games.symmetry import Symmetry
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator

MOST_TREES = 256
"""Positions searched side by side; more are searched in turns."""
MOST_NODES = 8_000_000
"""They grow up to so many nodes in all, or tens of gigabytes would be needed: where walks end in
what is known already, a second has a million of them."""
MOST_BYTES = 1 << 30
"""Memory, about, that trees take which only the clock ends; UCT's is as much."""
USUAL_BATCH = 128
"""Rows that are evaluated together in a match, more or less."""
MANY = 1 << 30
"""Simulations where the clock ends the search."""


class SearchPlayer:
    """A tree search guided by a network."""

    def __init__(
        self,
        game: Game,
        network: Network,
        settings: SearchSettings,
        *,
        seconds: float = 0,
        engine: str = "auto",
        calibration: NDArray[np.uint8] | None = None,
        evaluator: Evaluator | None = None,
        symmetries: Sequence[Symmetry] = (),
        seed: int = 0,
        name: str = "network",
        origin: dict[str, Any] | None = None,
    ) -> None:
        """`seconds`: time for a move, instead of the simulations of the settings. `calibration`:
        states that an engine with integers is scaled for. An `evaluator` that is given is used by
        all forks too: for matches in a single thread. `symmetries`: those under which positions are
        evaluated; none: only as they are."""
        self.game, self.network, self.settings, self.seconds = game, network, settings, seconds
        self.engine, self.symmetries, self.calibration = engine, symmetries, calibration
        self._given = self._evaluator = evaluator
        self.seed, self.name = seed, name
        self.origin = origin or {}
        """Where the network is from, for the files of results."""
        self._pool: SearchPool | None = None
        self.fitted = 0
        """Simulations that fit into the time for a move; 0: not measured yet."""
        self._walk_bytes = 0.0  # memory that a simulation takes, as that was measured

    @property
    def evaluator(self) -> Evaluator:
        """Made when it is first needed: players of a match only play by their forks."""
        if self._evaluator is None:
            # By the clock a tree is searched alone: what is quickest with full batches may not be.
            batch = max(1, len(self.symmetries)) if self.seconds else USUAL_BATCH
            self._evaluator = _prepare(
                self.game, self.network, self.engine, batch, self.calibration
            )
            self.engine = self._evaluator.engine
            if self.symmetries:
                encoding = cast("Encoding", self.network.encoding)
                self._evaluator = SymmetricEvaluator(self._evaluator, encoding, self.symmetries)
        return self._evaluator

    @property
    def deterministic(self) -> bool:
        """Playouts from leaves make no difference: equal positions of a table share theirs."""
        settings = self.settings
        noise = settings.final_temperature
        if settings.root == "puct":
            noise += settings.noise_fraction
        early = settings.temperature_moves and settings.temperature
        if noise or early or any(self.game.chance):
            return False
        if settings.root == "puct":
            return True
        # Where players choose at the same time, Gumbel's walks draw their moves.
        return not choose_at_once(self.game)

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        return self.analyse(positions).moves

    def analyse(self, positions: Positions) -> Analysis:
        count, settings = len(positions.states), self.settings
        if self.seconds:
            settings = replace(settings, simulations=self._most_simulations(count))
        trees = count
        if not self.seconds:
            trees = min(count, MOST_TREES, max(1, MOST_NODES // settings.simulations))
        if self._pool is None or self._pool.games < trees:
            self._pool = self._make_pool(settings, trees)
        if self.seconds:
            return self._search_by_clock(self._pool, positions)
        parts = []
        for first in range(0, count, self._pool.games):
            part = slice(first, first + self._pool.games)
            parts.append(
                self._pool.analyse(
                    positions.states[part],
                    self.evaluator,
                    streams=positions.streams[part],
                    plies=positions.plies[part],
                )
            )
        return join_analyses(parts)

    def begin(self) -> None:
        self._pool = None

    def fork(self, seed: int) -> SearchPlayer:
        fitting = self.fit() if self.seconds else self.settings.simulations
        if self.engine == "auto" and self._evaluator is None:
            _ = self.evaluator  # which engine is best is measured once, and not by each fork
        fork = SearchPlayer(
            self.game,
            self.network,
            replace(self.settings, simulations=fitting),
            engine=self.engine,
            calibration=self.calibration,
            evaluator=self._given,
            symmetries=self.symmetries,
            seed=seed,
            name=self.name,
            origin=self.origin | ({"fitted_to_seconds": self.seconds} if self.seconds else {}),
        )
        if self._given is None:  # one that was made for measuring need not be made again
            fork._evaluator, self._evaluator = self._evaluator, None
        return fork

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "search",
            **self.origin,
            "engine": self.engine,
            "symmetries": max(1, len(self.symmetries)),
            "search": self.settings.to_dict(),
        }

    def _search_by_clock(self, pool: SearchPool, positions: Positions) -> Analysis:
        """All positions together, until the time is up. Sequential halving that is not done by
        then has seen its best moves at least as often as the others: of these it takes the best."""
        evaluator = self.evaluator  # if it has to be made, that is before the clock starts
        end = time.perf_counter() + self.seconds
        pool.core.set_roots(positions.states, positions.streams, positions.plies)
        first = True
        while pool.core.busy and (first or time.perf_counter() < end):
            pool.step(evaluator)
            first = False
        pool.core.stop()
        return Analysis(**pool.core.results())

    def fit(self) -> int:
        if not self.fitted:
            self.fitted = fit_count(self.game, self._time_search, self.seconds)
        return self.fitted

    def _time_search(self, state: NDArray[np.uint8], simulations: int) -> tuple[int, float]:
        pool = self._make_pool(replace(self.settings, simulations=simulations), 1)
        start = time.thread_time()
        made = int(pool.analyse(state, self.evaluator).simulations[0])
        taken = time.thread_time() - start
        self._walk_bytes = max(self._walk_bytes, pool.core.tree_bytes / (made + 1))
        return made, taken

    def _most_simulations(self, trees: int) -> int:
        """Of each search that the clock ends. Sequential halving must know it beforehand, or it
        would be at its first stage when time or memory are used up."""
        if self.settings.root != "gumbel":
            return MANY
        fitting = self.fit()
        memory = self._bound / trees / self._walk_bytes if self._walk_bytes else fitting
        return max(1, min(fitting, int(memory)))

    @property
    def _bound(self) -> int:
        """Bytes that the trees may hold: one that is kept, as PUCT does, is there twice for a
        moment."""
        kept = self.settings.reuse and self.settings.root == "puct"
        return MOST_BYTES // 2 if kept else MOST_BYTES

    def _make_pool(self, settings: SearchSettings, trees: int) -> SearchPool:
        encoding = cast("Encoding", self.network.encoding)
        bound = self._bound if self.seconds else 0
        return SearchPool(
            self.game, encoding, settings, games=trees, seed=self.seed, most_bytes=bound
        )


class PolicyPlayer:
    """The move that the network itself thinks best: what it has learned, without any search."""

    deterministic = True

    def __init__(
        self,
        game: Game,
        network: Network,
        *,
        engine: str = "auto",
        calibration: NDArray[np.uint8] | None = None,
        seed: int = 0,
        name: str = "policy",
        origin: dict[str, Any] | None = None,
    ) -> None:
        self.game, self.network, self.seed, self.name = game, network, seed, name
        self.calibration = calibration
        self.evaluator = _prepare(game, network, engine, USUAL_BATCH, calibration)
        self.origin = origin or {}

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        return self.analyse(positions).moves

    def analyse(self, positions: Positions) -> Analysis:
        players = self.game.players
        encoding = cast("Encoding", self.network.encoding)
        rows = encoding.encode(np.ascontiguousarray(positions.states))
        logits, values = self.evaluator(rows)
        starts = np.append(0, np.cumsum([self.game.slots(role) for role in players]))
        moves = draw_moves(positions, self.seed)  # those of players are replaced
        for n in range(len(rows)):
            for start, role in zip(starts[:-1], players, strict=True):
                legal = positions.batch.legal(n, role)
                if len(legal):
                    moves[n, role] = legal[logits[n, start + legal].argmax()]
        values = np.asarray(values, dtype=np.float32)
        return analyse_policy(self.game, positions, moves, logits, values)

    def begin(self) -> None:
        pass

    def fork(self, seed: int) -> PolicyPlayer:
        return PolicyPlayer(
            self.game,
            self.network,
            engine=self.evaluator.engine,
            calibration=self.calibration,
            seed=seed,
            name=self.name,
            origin=self.origin,
        )

    def describe(self) -> dict[str, Any]:
        return {"kind": "policy", **self.origin, "engine": self.evaluator.engine}


def _prepare(
    game: Game,
    network: Network,
    engine: str,
    batch: int,
    states: NDArray[np.uint8] | None,
) -> Evaluator:
    """An evaluator for batches of about that size. Integers are calibrated on the states, or on
    random play: whether their answers are near enough is checked all the same."""
    encoding = cast("Encoding", network.encoding)
    rows = None
    if engine == "onnx-int8":
        rows = random_rows(game, encoding) if states is None else encoding.encode(states)
    return make_evaluator(network, engine=engine, calibration=rows, batch=batch)
