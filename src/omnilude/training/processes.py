"""Self-play in processes of their own, with the interface of `selfplay.ThreadedSelfPlay`.

A worker gets rules, settings and weights through a pipe, and sends finished games back through
it. It plays from one order until the next message, then says how it spent its time. A worker that
dies is started again, and the user is told. A worker whose parent dies finds the pipe closed.
"""

from __future__ import annotations

import signal
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from omnilude.errors import WorkerDied
from omnilude.networks.settings import NetworkSettings
from omnilude.search.pool import GameRecords
from omnilude.search.settings import SearchSettings
from omnilude.training.memory import keep_memory
from omnilude.training.selfplay import (
    TICK,
    Harvest,
    Orders,
    SelfPlay,
    Worker,
    derive_seed,
    random_rows,
    use_one_thread,
)

if TYPE_CHECKING:
    from omnilude.networks import Network

MOST_DEATHS = 3
"""Deaths of one worker in a row, without a single finished game between them, that are borne."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker process must know to begin."""

    rules: str
    layout: str  # fingerprint of fluents and moves, in which positions are exchanged
    name: str
    encoding: str
    network: NetworkSettings
    search: SearchSettings
    engine: str
    games: int
    number: int
    workers: int
    seed: int


def work(connection: Connection, task: Task) -> None:
    """The main function of a worker process."""
    # Ctrl-C goes to all processes of a terminal; the parent tells its workers what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _Process(connection, task).serve()
    except (EOFError, OSError):
        pass
    except Exception:
        with suppress(OSError):
            connection.send(("failed", traceback.format_exc()))


class _Process:
    def __init__(self, connection: Connection, task: Task) -> None:
        from omnilude.encoding import make_encoding
        from omnilude.games.loading import load_text
        from omnilude.games.settings import LoadSettings
        from omnilude.networks import build_network
        from omnilude.networks.checkpoint import layout_fingerprint
        from omnilude.search.evaluator import make_evaluator

        keep_memory()
        use_one_thread()
        self.connection = connection
        self.task = task
        game = load_text(task.rules, name=task.name, settings=LoadSettings(check_playouts=0))
        if layout_fingerprint(game) != task.layout:
            raise RuntimeError("the worker has read fluents and moves in another order")
        encoding = make_encoding(game, task.encoding)
        slots = [game.slots(role) for role in game.players]
        self.network = build_network(encoding, slots, task.network).eval()
        rows = random_rows(game, encoding) if task.engine == "onnx-int8" else None
        self.worker = Worker(
            game,
            encoding,
            task.search,
            make_evaluator(
                self.network,
                engine=task.engine,
                calibration=rows,
                batch=task.games,
            ),
            games=task.games,
            seed=task.seed,
            number=task.number,
            workers=task.workers,
        )

    def serve(self) -> None:
        import safetensors.torch

        while True:
            kind, *content = self.connection.recv()
            if kind == "refresh":
                weights, orders = content
                self.network.load_state_dict(safetensors.torch.load(weights))
                self.worker.refresh(self.network, orders)
            elif kind == "play":
                harvest = self.worker.run(lambda: not self.connection.poll(), self._deliver)
                self.connection.send(("paused", harvest))
            elif kind == "end":
                return

    def _deliver(self, records: GameRecords) -> None:
        self.connection.send(("records", records))


class ProcessSelfPlay(SelfPlay):
    """Workers as processes."""

    def __init__(self, tasks: list[Task], tell: Callable[[str], None] = lambda _: None) -> None:
        self.workers = len(tasks)
        self.restarts = 0
        self._context = get_context("spawn")
        self._tell = tell
        self._tasks = tasks
        self._order: tuple[Any, ...] | None = None
        self._deaths = [0] * len(tasks)
        self._turn = deque(range(len(tasks)))
        self._playing: set[int] = set()
        self._halted = False
        self._harvest, self._wanted, self._count = Harvest(), 0, 0
        self.processes: list[Any] = [None] * len(tasks)
        self._connections: list[Any] = [None] * len(tasks)
        for number in range(len(tasks)):
            self._start(number)

    def refresh(self, network: Network, orders: Orders) -> None:
        import safetensors.torch

        tensors = {name: t.contiguous() for name, t in network.state_dict().items()}
        self._order = ("refresh", safetensors.torch.save(tensors), orders)
        for number in range(self.workers):
            self._send(number, self._order)

    def begin(self, positions: int, workers: int | None = None) -> None:
        self._harvest, self._wanted, self._count = Harvest(), positions, 0
        self._halted = False
        self._playing = set(list(self._turn)[:workers])
        self._turn.rotate(-len(self._playing))
        for number in self._playing:
            self._send(number, ("play",))

    @property
    def playing(self) -> bool:
        return bool(self._playing)

    def poll(self, seconds: float = 0.0) -> int:
        numbers = {self._connections[number]: number for number in self._playing}
        for ready in wait(list(numbers), seconds):
            self._receive(numbers[ready])
        if self._count >= self._wanted:
            self._halt()
        return self._count

    def end(self) -> Harvest:
        self._halt()
        while self._playing:
            self.poll(TICK)
        return self._harvest

    def _halt(self) -> None:
        if not self._halted:
            self._halted = True
            for number in self._playing:
                self._send(number, ("pause",))

    def _receive(self, number: int) -> None:
        """Takes in all that a worker has sent."""
        connection = self._connections[number]
        kind: str = ""
        content: Any = None
        try:
            while connection.poll() and kind != "paused":
                kind, content = connection.recv()
                if kind == "records":
                    self._harvest.records.append(content)
                    self._count += content.positions
                    self._deaths[number] = 0
                elif kind == "failed":
                    raise EOFError
        except (EOFError, OSError):
            self._harvest.notes.append(self._restart(number, content if kind == "failed" else ""))
            if self._halted:
                self._playing.discard(number)
            else:
                self._send(number, ("play",))
        if kind == "paused":
            self._harvest.add(content)
            self._playing.discard(number)

    def close(self) -> None:
        for number in range(self.workers):
            self._send(number, ("end",))
        for process in self.processes:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()

    def _start(self, number: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=work, args=(theirs, self._tasks[number]), daemon=True
        )
        process.start()
        theirs.close()  # so that ours ends with the process
        self.processes[number], self._connections[number] = process, ours

    def _restart(self, number: int, why: str) -> str:
        """Another process in the place of one that died; returns what to tell the user."""
        process = self.processes[number]
        self._connections[number].close()
        process.join(5)
        self._deaths[number] += 1
        self.restarts += 1
        last = why.strip().splitlines()[-1] if why else f"exit code {process.exitcode}"
        note = f"self-play worker {number} died ({last}) and was started again"
        if self._deaths[number] > MOST_DEATHS:
            self._playing.discard(number)  # nobody waits for it while the run is closed
            raise WorkerDied(f"self-play worker {number} keeps dying ({last})", why)
        # Other random numbers, or it would die of the same game again.
        task = self._tasks[number]
        self._tasks[number] = replace(task, seed=derive_seed(task.seed, self.restarts))
        self._start(number)
        if self._order:
            self._send(number, self._order)
        self._tell(note)
        return note

    def _send(self, number: int, message: tuple[Any, ...]) -> None:
        # A dead worker is noticed, and replaced, where its answers are awaited.
        with suppress(OSError):
            self._connections[number].send(message)
