"""`train`: self-play and learning in turns, until the budget is used up."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from omnilude.training.memory import keep_memory
from omnilude.training.progress import Display, NoDisplay, Summary
from omnilude.training.run import Run
from omnilude.training.settings import TrainingSettings

if TYPE_CHECKING:
    from omnilude.games import Game
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator

Assess = Callable[["Network", "Evaluator"], Mapping[str, float]]
"""Tells how strong a network is: a score from 0 to 1 for each opponent, by its name."""


def train(
    game: Game,
    folder: str | Path,
    settings: TrainingSettings | None = None,
    *,
    assess: Assess | None = None,
    display: Display | None = None,
) -> Summary:
    """Trains a player of a game in a run folder, or goes on with what is there.

    Without settings those of the folder are used, or the defaults. Ctrl-C ends the run in good
    order; so does SIGTERM. `assess` is called now and then with the network that plays.
    """
    started = time.perf_counter()
    keep_memory()
    display = display or NoDisplay()
    # However it ends, the terminal gets its cursor back.
    with (
        closing(display),
        Run(Path(folder), game, settings) as run,
        interruptible() as interrupted,
    ):
        from omnilude.training.trainer import Trainer

        if run.warning:
            display.tell(run.warning)
        with closing(
            Trainer(
                game, run, assess=assess, display=display, interrupted=interrupted, started=started
            )
        ) as trainer:
            trainer.go()
        summary = trainer.summary()
    from omnilude.training.plots import draw_plots

    return replace(summary, pictures=draw_plots(summary.folder))


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; the second of them interrupts at once."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def interrupt(*_: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    before = {kind: signal.signal(kind, interrupt) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
