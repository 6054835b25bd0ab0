"""Runs that are killed: the next start goes on from the last commit, and nobody is left behind."""

import json
import os
import random
import time
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from omnilude import load
from omnilude.training.loop import train
from omnilude.training.run import Run, RunState, load_state
from omnilude.training.selfplay import Harvest
from omnilude.training.settings import TrainingSettings
from test_training import QUICK, check_folder

KILLS = int(os.environ.get("OMNILUDE_KILLS", "12"))
KILLED = replace(QUICK, positions=200_000, commit_seconds=0.05, assess_minutes=0.002, augment=False)


def go_on(folder: Path) -> None:
    """What a process does until it is killed. Beside the folder it keeps a log, by which can be
    told afterwards what the kill may have cost."""
    from omnilude.training import trainer

    log = os.open(log_of(folder), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    class Noted(trainer.Trainer):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.note("commit", self._committed_at)  # that which it goes on from

        def note(self, kind: str, at: float) -> None:
            state = self.run.state
            line = {"kind": kind, "at": at, "positions": state.positions, "steps": state.steps}
            os.write(log, json.dumps(line).encode() + b"\n")

        def commit(self) -> None:
            super().commit()
            self.note("commit", self._committed_at)

        def _take(self, harvest: Harvest) -> None:
            super()._take(harvest)
            self.note("played", self.elapsed)

    trainer.Trainer = Noted  # type: ignore[misc]
    train(load("tic-tac-toe"), folder, assess=lambda *_: {"nobody": 0.5})


def log_of(folder: Path) -> Path:
    return folder.with_suffix(".log")


def check_loss(folder: Path, state: RunState) -> None:
    """What a killed process had committed is there; and it had committed whenever it was time to,
    so that no more is lost than `commit_seconds` and one phase of play or learning."""
    if not log_of(folder).exists():  # killed before it began
        return
    lines = [json.loads(line) for line in log_of(folder).read_text().splitlines()]
    log_of(folder).unlink()
    committed, since = 0.0, list[float]()
    for line in lines:
        if line["kind"] == "commit":
            assert state.positions >= line["positions"]
            assert state.steps >= line["steps"]
            committed, since = line["at"], []
        else:  # only after what was played before is written, if that was due
            assert all(at - committed < KILLED.commit_seconds for at in since)
            since.append(line["at"])


def begin(folder: Path, settings: TrainingSettings) -> None:
    Run(folder, load("tic-tac-toe"), settings).close()


def start(folder: Path) -> ForkServerProcess:
    """A process of its own, which need not import PyTorch: that would take most of its life."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["omnilude.training.trainer", "torch.utils.tensorboard"])
    process = context.Process(target=go_on, args=(folder,))
    process.start()
    return process


def kill(process: ForkServerProcess) -> None:
    assert process.is_alive()
    process.kill()
    process.join()


@pytest.mark.slow
def test_killed_at_random_points_a_run_goes_on(tmp_path: Path) -> None:
    """While it starts, restores, measures, plays, learns or writes. OMNILUDE_KILLS=100 is more."""
    game, folder = load("tic-tac-toe"), tmp_path / "run"
    begin(folder, KILLED)
    chooser = random.Random(KILLS)
    positions = elapsed = longest = 0.0
    for number in range(KILLS):
        process, started = start(folder), time.perf_counter()
        if longest and number % 4 == 0:  # however slow the machine has become: a run gets on
            while read_positions(folder) <= positions:
                assert process.is_alive()
                time.sleep(0.02)
        elif longest:
            time.sleep(chooser.uniform(0.0, longest))
        else:  # one that gets far enough says how long the others live
            while not has_played(folder):
                time.sleep(0.02)
            longest = 2 * (time.perf_counter() - started)
        kill(process)
        state = load_state(folder)
        assert state is not None
        assert state.positions >= positions
        assert state.elapsed >= elapsed
        check_loss(folder, state)
        positions, elapsed = state.positions, state.elapsed
        with Run(folder, game, None) as run:  # tidies up as the next start would
            assert sum(chunk.positions for chunk in run.load_chunks()) >= min(
                run.state.positions, KILLED.capacity
            )
            run.load_tensors()
            check_folder(folder, game)
    summary = train(game, folder, replace(KILLED, positions=int(positions) + 1000))
    assert summary.finished
    assert summary.positions >= positions + 1000
    check_folder(folder, game)


@pytest.mark.slow
@pytest.mark.parametrize("playing", [False, True])
def test_worker_processes_end_with_a_run_that_is_killed(tmp_path: Path, playing: bool) -> None:
    """While they start, or while they play."""
    folder = tmp_path / "run"
    begin(folder, replace(KILLED, backend="processes", workers=1))
    process = start(folder)
    workers: set[int] = set()
    while not workers or (playing and not has_played(folder)):
        workers = find_children(process.pid)
        time.sleep(0.02)
    kill(process)
    while any(map(lives, workers)):
        time.sleep(0.02)
    if playing:
        check_folder(folder, load("tic-tac-toe"))


def has_played(folder: Path) -> bool:
    return read_positions(folder) > 0


def read_positions(folder: Path) -> int:
    state = load_state(folder)
    return state.positions if state is not None else 0


def find_children(parent: int | None) -> set[int]:
    """The worker processes of a process, and what else it has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        if status_of(int(path.name))[1:] == [str(parent)]:
            found.add(int(path.name))
    return found


def lives(number: int) -> bool:
    return status_of(number)[0] not in ("", "Z")


def status_of(number: int) -> list[str]:
    """Letter of the state, and parent, of a process; "" for one that is gone."""
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return [""]
    return text.rpartition(")")[2].split()[:2]
