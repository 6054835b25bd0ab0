"""The workers that settings ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from omnilude.networks.settings import USUAL_PRESET
from omnilude.search.evaluator import choose_preset, make_evaluator, measure_rate
from omnilude.training.processes import ProcessSelfPlay, Task
from omnilude.training.run import rules_text
from omnilude.training.selfplay import SelfPlay, ThreadedSelfPlay, Worker, random_rows
from omnilude.training.settings import TrainingSettings

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games import Game
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_preset(encoding: Encoding, slots: Sequence[int], settings: TrainingSettings) -> str:
    """What the preset 'auto' stands for on this machine: measured for a moment, unless the game
    alone decides on the size of the network."""
    from omnilude.networks import build_network

    if settings.network.family != "residual":
        return USUAL_PRESET

    def rate(preset: str) -> float:
        network = build_network(encoding, slots, replace(settings.network, preset=preset))
        batch = settings.games_per_worker
        return measure_rate(make_evaluator(network, batch=batch), network, batch)

    return choose_preset(rate)


def choose_evaluator(
    game: Game,
    encoding: Encoding,
    network: Network,
    settings: TrainingSettings,
    *,
    engine: str | None = None,
    threads: int = 1,
) -> Evaluator:
    """An evaluator as self-play needs it."""
    engine = engine or settings.engine
    rows = random_rows(game, encoding) if engine == "onnx-int8" else None
    return make_evaluator(
        network, engine=engine, threads=threads, calibration=rows, batch=settings.games_per_worker
    )


def make_selfplay(
    game: Game,
    encoding: Encoding,
    network: Network,
    settings: TrainingSettings,
    *,
    engine: str,
    seed: int,
    inference_threads: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> SelfPlay:
    """Workers that play with this network; `engine` is that of an evaluator, not 'auto'."""
    workers = settings.workers or count_cores()
    if settings.backend == "processes":
        from omnilude.networks.checkpoint import layout_fingerprint

        task = Task(
            rules=rules_text(game),
            layout=layout_fingerprint(game),
            name=game.name,
            encoding=settings.encoding,
            network=settings.network,
            search=settings.search,
            engine=engine,
            games=settings.games_per_worker,
            number=0,
            workers=workers,
            seed=seed,
        )
        return ProcessSelfPlay([replace(task, number=k) for k in range(workers)], tell)

    def make_worker(number: int) -> Worker:
        return Worker(
            game,
            encoding,
            settings.search,
            choose_evaluator(
                game, encoding, network, settings, engine=engine, threads=inference_threads
            ),
            games=settings.games_per_worker,
            seed=seed,
            number=number,
            workers=workers,
        )

    return ThreadedSelfPlay(make_worker, workers)
