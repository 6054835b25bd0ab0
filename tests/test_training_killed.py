"""Runs that are killed: the next start goes on from the last commit, and nobody is left behind."""

import os
import random
import time
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from omnilude import load
from omnilude.training.loop import train
from omnilude.training.run import Run, load_state
from omnilude.training.settings import TrainingSettings
from test_training import QUICK, check_folder

KILLS = int(os.environ.get("OMNILUDE_KILLS", "12"))
KILLED = replace(QUICK, positions=200_000, commit_seconds=0.05, assess_minutes=0.002, augment=False)


def go_on(folder: Path) -> None:
    """What a process does until it is killed."""
    train(load("tic-tac-toe"), folder, assess=lambda *_: {"nobody": 0.5})


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
    for _ in range(KILLS):
        process, started = start(folder), time.perf_counter()
        if longest:
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
    state = load_state(folder)
    return state is not None and state.positions > 0


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
