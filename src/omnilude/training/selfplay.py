"""Self-play: workers that each drive a pool of trees, as threads of this process.

Nothing is oversubscribed: every core has a worker with one inference thread, or learns. While some
cores learn the others may go on playing, as small networks learn hardly faster with more threads.
`processes.py` has the same workers as processes.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omnilude.games.statistics import random_play
from omnilude.search.pool import GameRecords, SearchPool
from omnilude.search.settings import SearchSettings

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games import Game
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator

DRAIN_STEPS = 8
"""Finished games are fetched after so many steps of a pool."""
CALIBRATION_GAMES = 64
"""Random games that `random_rows` takes positions from."""
TICK = 0.2
"""Seconds between two looks at whether to go on."""


@dataclass(slots=True)
class Times:
    """Seconds of work, summed over workers."""

    gather: float = 0.0  # trees and engine: walks to the leaves, rows written
    evaluate: float = 0.0  # the network
    scatter: float = 0.0  # playouts from leaves; trees: expand, back up
    drain: float = 0.0  # finished games into arrays

    def add(self, other: Times) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def total(self) -> float:
        return self.gather + self.evaluate + self.scatter + self.drain

    @property
    def search_share(self) -> float:
        """How much of self-play is not the network."""
        return 1 - self.evaluate / self.total if self.total else 0.0


@dataclass(slots=True)
class Harvest:
    """What a phase of self-play brought."""

    records: list[GameRecords] = field(default_factory=list)
    times: Times = field(default_factory=Times)
    counters: dict[str, int] = field(default_factory=dict)
    """What the pools counted meanwhile: simulations, evaluations, cached, ..."""
    notes: list[str] = field(default_factory=list)
    """What the user should know, such as workers that died."""

    def add(self, other: Harvest) -> None:
        self.records += other.records
        self.times.add(other.times)
        add_counts(self.counters, other.counters)
        self.notes += other.notes

    @property
    def positions(self) -> int:
        return sum(records.positions for records in self.records)

    @property
    def games(self) -> int:
        return sum(records.games for records in self.records)


@dataclass(frozen=True, slots=True)
class Orders:
    """What workers play with from now on."""

    search: SearchSettings
    starts: NDArray[np.uint8] | None = None  # [n, bytes]: positions that games may begin from
    share: float = 0.0  # how many of the games do
    calibration: NDArray[np.float32] | None = None  # [n, E]: rows for engines with integers


class SelfPlay(ABC):
    """Workers that play on demand, also in the background."""

    workers: int

    @abstractmethod
    def refresh(self, network: Network, orders: Orders) -> None:
        """New weights and settings; only while nobody plays."""

    @abstractmethod
    def begin(self, positions: int, workers: int | None = None) -> None:
        """Lets so many workers, or all, play until so many positions of finished games are there.
        Those that stay idle are others each time."""

    @abstractmethod
    def poll(self, seconds: float = 0.0) -> int:
        """Takes in what has come, for at most so long; returns the positions since `begin`."""

    @property
    @abstractmethod
    def playing(self) -> bool:
        """Whether some worker still plays."""

    @abstractmethod
    def end(self) -> Harvest:
        """Halts the workers and returns what they brought since `begin`."""

    @abstractmethod
    def close(self) -> None: ...

    def collect(
        self, positions: int, seconds: float, more: Callable[[int], bool] = lambda _: True
    ) -> Harvest:
        """Plays with all workers until so many positions are there, or so much time has passed, or
        `more`, which is told the number of positions now and then, says no."""
        begun = time.perf_counter()
        self.begin(positions)
        try:
            while self.playing:
                count = self.poll(TICK)
                if not more(count) or time.perf_counter() - begun >= seconds:
                    break
        finally:
            harvest = self.end()
        return harvest


class Worker:
    """One pool of trees and what evaluates its leaves."""

    def __init__(
        self,
        game: Game,
        encoding: Encoding,
        search: SearchSettings,
        evaluator: Evaluator,
        *,
        games: int,
        seed: int,
        number: int,
        workers: int,
    ) -> None:
        self.evaluator = evaluator
        self.pool = SearchPool(
            game,
            encoding,
            search,
            games=games,
            seed=seed,
            first_game=number * games,
            stride=workers * games,
        )
        self.pool.play()

    def refresh(self, network: Network, orders: Orders) -> None:
        if orders.calibration is not None and hasattr(self.evaluator, "calibration"):
            self.evaluator.calibration = orders.calibration
        self.evaluator.refresh(network)
        self.pool.weights_changed()
        if orders.search != self.pool.settings:
            self.pool.change(orders.search)
        if orders.starts is not None:
            self.pool.core.set_starts(orders.starts, orders.share)

    def run(self, more: Callable[[], bool], deliver: Callable[[GameRecords], None]) -> Harvest:
        """Plays while `more()`. The harvest has times and counts, but no records."""
        core, inputs, evaluator = self.pool.core, self.pool.inputs, self.evaluator
        times, before, clock = Times(), dict(self.pool.counters), time.perf_counter
        steps = 0
        while more():
            begun = clock()
            rows = core.gather(inputs)
            gathered = clock()
            times.gather += gathered - begun
            if rows:
                logits, values = evaluator(inputs[:rows])
                evaluated = clock()
                core.scatter(logits, values)
                times.evaluate += evaluated - gathered
                times.scatter += clock() - evaluated
            steps += 1
            if steps % DRAIN_STEPS == 0:
                self._drain(times, deliver)
        self._drain(times, deliver)
        counters = {name: count - before[name] for name, count in self.pool.counters.items()}
        return Harvest(times=times, counters=counters)

    def _drain(self, times: Times, deliver: Callable[[GameRecords], None]) -> None:
        begun = time.perf_counter()
        records = self.pool.drain()
        if records.games:
            deliver(records)
        times.drain += time.perf_counter() - begun


class ThreadedSelfPlay(SelfPlay):
    """Workers as threads. The core and the inference engines release the interpreter lock."""

    def __init__(self, make_worker: Callable[[int], Worker], workers: int) -> None:
        self.workers = workers
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="self-play")
        self._workers = deque(make_worker(number) for number in range(workers))
        self._futures: list[Future[Harvest]] = []
        self._halted = threading.Event()
        self._delivered: list[GameRecords] = []  # appending to a list is one step for all threads
        self._wanted = 0

    def refresh(self, network: Network, orders: Orders) -> None:
        for worker in self._workers:
            worker.refresh(network, orders)

    def begin(self, positions: int, workers: int | None = None) -> None:
        self._halted = threading.Event()
        self._delivered, self._wanted = [], positions
        chosen = list(self._workers)[:workers]
        self._workers.rotate(-len(chosen))
        self._futures = [self._executor.submit(self._play, worker) for worker in chosen]

    def _play(self, worker: Worker) -> Harvest:
        use_one_thread()
        halted = self._halted
        return worker.run(lambda: not halted.is_set(), self._deliver)

    def _deliver(self, records: GameRecords) -> None:
        self._delivered.append(records)
        if self._count() >= self._wanted:
            self._halted.set()

    def _count(self) -> int:
        return sum(records.positions for records in self._delivered)

    def poll(self, seconds: float = 0.0) -> int:
        if seconds:
            wait(self._futures, seconds, return_when=FIRST_EXCEPTION)
        if any(future.done() and future.exception() for future in self._futures):
            self._halted.set()  # `end` raises it
        return self._count()

    @property
    def playing(self) -> bool:
        return any(not future.done() for future in self._futures)

    def end(self) -> Harvest:
        self._halted.set()
        harvest = Harvest()
        for future in self._futures:
            harvest.add(future.result())
        harvest.records = self._delivered
        self._futures = []
        return harvest

    def close(self) -> None:
        self._halted.set()
        self._executor.shutdown()


def add_counts(counts: dict[str, int], more: dict[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def use_one_thread() -> None:
    """Keeps PyTorch in this thread from calling helpers: the other cores have workers too."""
    import torch

    torch.set_num_threads(1)


def derive_seed(*numbers: int) -> int:
    """A seed below 2^64 of its own for each sequence of numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def random_rows(game: Game, encoding: Encoding, most: int = 512) -> NDArray[np.float32]:
    """Rows of positions of random play: what engines with integers are first calibrated on."""
    steps = random_play(game, CALIBRATION_GAMES, seed=0, max_length=100)
    states = np.concatenate([step.states[step.live] for step in steps])
    return encoding.encode(np.random.default_rng(0).permutation(states)[:most])
