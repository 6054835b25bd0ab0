"""What is said of a machine follows from what was measured."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from omnilude import load
from omnilude.cli.bench import print_estimate
from omnilude.games.symmetry import Symmetry
from omnilude.networks import NetworkSettings
from omnilude.training.batches import BatchMaker
from omnilude.training.display import LineDisplay, LiveDisplay, clock, make_display
from omnilude.training.estimate import (
    Estimate,
    Layout,
    estimate_training,
    list_layouts,
)
from omnilude.training.plots import draw_plots
from omnilude.training.progress import Status
from omnilude.training.reporter import Reporter
from omnilude.training.run import Run
from omnilude.training.selfplay import Harvest, Times
from omnilude.training.settings import TrainingSettings
from test_training import QUICK, Listening, Remembering


def made_up(*, overlap: bool, samples: float) -> Estimate:
    times = {"gather": 0.1, "evaluate": 0.85, "scatter": 0.04, "drain": 0.01}
    layout = Layout(2, 1, "threads", 1000.0, 2e4, 3e4, times, 0.5)
    return Estimate(
        game="a game",
        cores=2,
        preset="small",
        engine="onnx",
        evaluations={"small": {"torch": 9e3, "onnx": 2e4}, "large": {"torch": 9e3, "onnx": 1.0}},
        layouts=[layout, replace(layout, workers=1, inference_threads=2, positions=900.0)],
        samples={1: samples, 2: samples},
        replay_ratio=4.0,
        overlap=overlap,
    )


def test_a_whole_run_is_as_fast_as_its_parts_allow() -> None:
    # 1 ms of play and 1 ms of learning a position, in turns.
    assert made_up(overlap=False, samples=4000.0).positions == pytest.approx(500)
    # Half the cores play meanwhile: half a position is there already.
    assert made_up(overlap=True, samples=4000.0).positions == pytest.approx(1000 / 1.5)
    # 4 ms of learning a position: play keeps up with half of the cores.
    assert made_up(overlap=True, samples=1000.0).positions == pytest.approx(250)
    assert made_up(overlap=False, samples=4000.0).seconds == pytest.approx(200)
    assert made_up(overlap=False, samples=4000.0).recommended_preset == "small"


def test_what_is_recommended_can_be_had() -> None:
    estimate = made_up(overlap=False, samples=4000.0)
    first, second = estimate.layouts
    faster = replace(second, positions=5000.0)  # but no run has two inference threads a worker
    assert replace(estimate, layouts=[first, faster]).best == first
    processes = replace(first, backend="processes", positions=2000.0)
    found = replace(estimate, layouts=[first, faster, processes])
    assert found.best == processes
    assert found.positions == estimate.positions  # as a run without that would be
    file = io.StringIO()
    print_estimate(found, Console(width=120, file=file))
    assert "--workers 2 --backend processes (2.00x in self-play)" in file.getvalue()


def test_cores_that_wait_are_told() -> None:
    assert made_up(overlap=False, samples=1000.0).waiting == 0
    # 4 ms of learning a position, in which half of the cores play one in 2 ms.
    limited = made_up(overlap=True, samples=1000.0)
    assert limited.waiting == pytest.approx(0.5)
    assert made_up(overlap=True, samples=1e6).waiting == 0
    assert replace(limited, replay_ratio=0.0).waiting == 0
    file = io.StringIO()
    print_estimate(limited, Console(width=120, file=file))
    assert "wait 50% of the time" in file.getvalue().replace("\n", " ")


def test_first_comes_the_layout_that_is_asked_for() -> None:
    usual = [(2, 1, "threads"), (1, 2, "threads"), (2, 1, "processes")]
    assert list_layouts(2, TrainingSettings(), True) == usual
    asked = TrainingSettings(workers=3, backend="processes")
    assert list_layouts(2, asked, False) == [(3, 1, "processes"), *usual[:2]]


@pytest.mark.parametrize("family", ["residual", "gaz"])
def test_a_machine_is_measured(monkeypatch: pytest.MonkeyPatch, family: str) -> None:
    shown: list[int] = []

    def make_batches(*given: Any, symmetries: Sequence[Symmetry], **others: Any) -> BatchMaker:
        shown.append(len(symmetries))
        return BatchMaker(*given, symmetries=symmetries, **others)

    monkeypatch.setattr("omnilude.training.estimate.BatchMaker", make_batches)
    settings = replace(QUICK, network=NetworkSettings(family=family, preset="auto"))
    estimate = estimate_training(load("tic-tac-toe"), settings, seconds=0.1, processes=False)
    assert estimate.positions > 0
    assert estimate.best.times["evaluate"] > 0
    assert estimate.preset == estimate.recommended_preset
    assert set(shown) == {8}  # batches are made as a run makes them
    file = io.StringIO()
    print_estimate(estimate, Console(width=120, file=file))
    text = file.getvalue()
    assert "100,000 positions" in text
    assert "recommended" in text
    # GAZ has one size, which is measured once.
    assert len(estimate.evaluations) == (4 if family == "residual" else 1)
    assert ("--preset" in text) == (family == "residual")
    assert estimate.to_dict()["seconds_100000"] > 0


def log(run: Run, reporter: Reporter, positions: int, seconds: float) -> None:
    """The line of an iteration, with as much of everything."""
    run.state.positions, run.state.iteration = positions, run.state.iteration + 1
    times = Times(gather=1.0, evaluate=7.0, scatter=1.5, drain=0.5)
    harvest = Harvest(times=times, counters={"positions": 100})
    others = {"elapsed": 1.0, "seconds": seconds, "play_seconds": seconds, "window": 10.0}
    reporter.log(harvest, {"loss": positions / 8}, learn_seconds=seconds, **others)


def test_tensorboard_shows_what_was_committed(tmp_path: Path) -> None:
    game, board = load("tic-tac-toe"), tmp_path / "tensorboard"
    for session, positions in enumerate(((100, 200), (150, 250))):
        with Run(tmp_path, game, QUICK) as run:
            reporter = Reporter(game.name, run, Listening(), "torch")
            log(run, reporter, positions[0], 1.0)
            run.commit({"network.weight": torch.zeros(2)})
            log(run, reporter, positions[1], 1.0)  # a killed run would do so again
            reporter.close()
        (file,) = board.glob("events.out.tfevents.*")
        file.rename(board / f"{session}.tfevents")  # names are times, and may be the same
    events = EventAccumulator(str(board))
    events.Reload()
    assert {"loss", "seconds", "time/evaluate"} <= set(events.Tags()["scalars"])
    found = [(event.step, event.value) for event in events.Scalars("loss")]
    assert found == [(p, p / 8) for p in (100, 150, 250)]


def test_a_report_tells_the_speed_of_the_run(tmp_path: Path) -> None:
    """Playing and learning overlap: the time of an iteration is not the sum of both."""
    game = load("tic-tac-toe")
    parts = {"time/gather": 1.0, "time/evaluate": 7.0, "time/scatter": 1.5, "time/drain": 0.5}
    line = {"new_positions": 100, "seconds": 2.0, "play_seconds": 1.0, "learn_seconds": 1.5}
    with Run(tmp_path, game, QUICK) as run:
        for seconds in (99.0, 2.0, 2.0):  # the first waits for engines and caches
            run.add_metrics({**line, **parts, "elapsed": 1.0, "seconds": seconds})
        run.commit({"network.weight": torch.zeros(2)})
    draw_plots(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name, value in (
        ("positions a second", "50"),
        ("in self-play, were it alone", "100"),
        ("self-play: evaluate", "70.0%"),
    ):
        assert f"<td>{name}</td><td>{value}</td>" in page


def test_displays_are_told_how_fast_the_run_is(tmp_path: Path) -> None:
    """Positions a second of late, and the time that is left at that rate."""
    game, told = load("tic-tac-toe"), Remembering()
    with Run(tmp_path, game, replace(QUICK, positions=1000)) as run:
        reporter = Reporter(game.name, run, told, "torch")
        for elapsed, positions in ((10.0, 100), (20.0, 400)):
            reporter.show("self-play", elapsed, positions=positions)
        assert told.last.rate == pytest.approx(30)
        assert told.last.seconds_left == pytest.approx(20)
        log(run, reporter, 400, seconds=0.5)
        reporter.show("learning", 25.0)
        reporter.close()
    assert told.last.rate == pytest.approx(20)
    assert told.last.play_rate == pytest.approx(200)
    assert told.last.search_share == pytest.approx(0.3)


def test_displays_say_what_there_is_to_say() -> None:
    status = Status(
        game="a game",
        phase="learning",
        elapsed=65.0,
        seconds_left=3700.0,
        games=1234,
        rate=9876.4,
        play_rate=4321.4,
        search_share=0.25,
        losses={"policy_loss": 1.5, "value_loss": 0.25},
        scores={"random": 0.75},
    )
    for terminal in (True, False):
        file = io.StringIO()
        display = make_display(Console(file=file, width=200, force_terminal=terminal))
        assert isinstance(display, LiveDisplay if terminal else LineDisplay)
        display.update(status)
        display.tell("a worker died")
        display.close()
        text = file.getvalue()
        for part in ("1:05", "1:01:40", "1,234", "policy 1.500", "random 75%", "a worker died"):
            assert part in text, (terminal, part)
        if terminal:
            assert re.search(r"positions/s +9,876 +in self-play +4,321, 25% of it", text)
        else:
            assert " · 9,876/s · " in text
    assert clock(59.9) == "0:59"
