"""What is said of a machine follows from what was measured."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from omnilude import load
from omnilude.training.display import LineDisplay, LiveDisplay, clock, make_display
from omnilude.training.estimate import Estimate, Layout, estimate_training, print_estimate
from omnilude.training.progress import Status
from test_training import QUICK


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


def test_a_machine_is_measured() -> None:
    game = load("tic-tac-toe")
    estimate = estimate_training(game, QUICK, seconds=0.1, processes=False)
    assert estimate.positions > 0
    assert estimate.best.times["evaluate"] > 0
    file = io.StringIO()
    print_estimate(estimate, Console(width=120, file=file))
    text = file.getvalue()
    assert "100,000 positions" in text
    assert "recommended" in text
    assert estimate.to_dict()["seconds_100000"] > 0


def test_displays_say_what_there_is_to_say() -> None:
    status = Status(
        game="a game",
        phase="learning",
        elapsed=65.0,
        seconds_left=3700.0,
        games=1234,
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
    assert clock(59.9) == "0:59"
