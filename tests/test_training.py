"""Whole runs, in seconds: they learn, stop and go on, and survive being killed."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from omnilude import Game, load
from omnilude.encoding import make_encoding
from omnilude.networks import Network, NetworkSettings, build_network, load_checkpoint
from omnilude.networks.settings import FAMILIES
from omnilude.search.evaluator import Evaluator, make_evaluator
from omnilude.search.pool import SearchPool
from omnilude.search.settings import SearchSettings
from omnilude.training.loop import train
from omnilude.training.processes import ProcessSelfPlay, Task
from omnilude.training.progress import NoDisplay, Rate, Status
from omnilude.training.run import (
    Run,
    load_metrics,
    load_settings,
    load_state,
    newest_checkpoint,
    rules_text,
)
from omnilude.training.selfplay import Orders
from omnilude.training.settings import TrainingSettings
from omnilude.training.threads import ThreadChoice

KILLS = int(os.environ.get("OMNILUDE_KILLS", "4"))

QUICK = TrainingSettings(
    minutes=0.0,
    positions=3000,
    workers=2,
    games_per_worker=16,
    engine="torch",
    iteration_positions=500,
    batch_size=64,
    window_at_start=2000,
    warmup_steps=10,
    schedule="constant",
    commit_seconds=0.1,
    checkpoint_minutes=0.005,
    assess_minutes=0.0,
    network=NetworkSettings(preset="tiny"),
    search=SearchSettings(simulations=8),
)


def play_random(game: Game, network: Network, *, games: int, simulations: int) -> float:
    """The mean reward against a player that moves at random, seats taken in turn."""
    chooser = np.random.default_rng(0)
    search = SearchSettings.for_play(simulations, reuse=False)
    pool = SearchPool(game, network.encoding, search, games=games)  # type: ignore[arg-type]
    evaluator = make_evaluator(network, engine="torch")
    states = game.initial_states(games)
    mine = np.array([game.players[k % len(game.players)] for k in range(games)])
    total = 0.0
    while len(states):
        described = game.describe(states)
        total += described.rewards[np.arange(len(states)), mine][described.terminal].sum()
        states, mine = states[~described.terminal], mine[~described.terminal]
        if len(states):
            described = game.describe(states)
            moves = pool.analyse(states, evaluator).moves
            for k in range(len(states)):
                for role in range(len(game.roles)):
                    if role != mine[k]:
                        moves[k, role] = chooser.choice(described.legal(k, role))
            game.advance(states, moves)
    return total / games


def check_folder(folder: Path, game: Game) -> None:
    """Every file of a run can be read."""
    state = load_state(folder)
    assert state is not None
    for name in state.files():
        if name.startswith("checkpoints/"):
            load_checkpoint(folder / name, game)
        elif name.endswith(".gz"):
            for line in gzip.decompress((folder / name).read_bytes()).splitlines():
                assert json.loads(line)["moves"]
    lines = load_metrics(folder)
    assert [line["iteration"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(a["elapsed"] <= b["elapsed"] for a, b in pairwise(lines))


def test_a_tiny_run_beats_random(tmp_path: Path) -> None:
    game = load("tic-tac-toe")
    said: list[str] = []
    assessed: list[float] = []

    class Told(NoDisplay):
        def update(self, status: Status) -> None:
            said.append(status.phase)

        def close(self) -> None:
            said.append("closed")

    def assess(network: Network, evaluator: Evaluator) -> dict[str, float]:
        assessed.append(play_random(game, network, games=30, simulations=2))
        return {"random": assessed[-1]}

    settings = replace(
        QUICK,
        positions=8000,
        iteration_positions=1000,
        batch_size=128,
        commit_seconds=1.0,
        learning_rate=5e-3,
        assess_minutes=0.02,
        search=SearchSettings(simulations=16, c_scale=0.1),
    )
    summary = train(game, tmp_path, settings, assess=assess, display=Told())
    assert summary.finished
    assert summary.positions >= 8000
    assert summary.steps > 200
    assert {"self-play", "learning", "assessing"} <= set(said)
    assert said[-1] == "closed"
    assert summary.scores == {"random": assessed[-1]}
    assert 0 < summary.search_share < 1
    check_folder(tmp_path, game)
    assert {path.name for path in summary.pictures} == {
        "losses.png", "strength.png", "speed.png", "report.html",
    }  # fmt: skip
    assert "<svg" in (tmp_path / "report.html").read_text()
    lines = load_metrics(tmp_path)
    assert lines[-1]["value_error"] < 0.8 * lines[1]["value_error"]
    trained = load_checkpoint(newest_checkpoint(tmp_path), game).network
    untrained = build_network(trained.encoding, trained.slots, trained.settings)
    scores = [play_random(game, n, games=200, simulations=2) for n in (untrained, trained)]
    assert scores[1] > 0.75
    assert scores[1] > scores[0] + 0.1


@pytest.mark.parametrize("name", ["pacman-3p", "race-dice", "eight-puzzle", "tower"])
def test_any_kind_of_game_can_be_trained(tmp_path: Path, name: str) -> None:
    """Three players, chance, one player, simultaneous moves: a few steps of each."""
    game = load(name)
    settings = replace(
        QUICK,
        positions=400,
        iteration_positions=200,
        batch_size=16,
        surprise=True,
        archive_share=0.5,
        simulations_at_start=2,
        value_mix_at_end=1.0,
        search=SearchSettings(simulations=4, max_length=30, full_fraction=0.7),
    )
    summary = train(game, tmp_path, settings)
    assert summary.finished
    assert summary.steps > 0
    assert all(np.isfinite(value) for value in summary.losses.values())
    check_folder(tmp_path, game)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "residual"])
def test_other_families_learn_too(tmp_path: Path, family: str) -> None:
    settings = replace(
        QUICK,
        positions=600,
        iteration_positions=300,
        encoding="propositions" if family == "gaz" else "planes",
        value_loss="mse",
        optimiser="sgd",
        network=NetworkSettings(family=family),
        search=SearchSettings(simulations=4, root="puct"),
    )
    assert train(load("tic-tac-toe"), tmp_path, settings).steps > 0


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    game = load("tic-tac-toe")
    settings = replace(QUICK, positions=2000)

    class Interrupting(NoDisplay):
        done = False

        def update(self, status: Status) -> None:
            if status.steps > 20 and not self.done:
                self.done = True
                signal.raise_signal(signal.SIGINT)

    first = train(game, tmp_path, settings, display=Interrupting())
    assert not first.finished
    assert "same command" in first.hint
    assert first.steps > 20
    with Run(tmp_path, game, None) as run:
        weights = run.load_tensors()
        assert run.state.positions == first.positions
    second = train(game, tmp_path)
    assert second.finished
    assert second.positions >= 2000 > first.positions
    assert second.steps > first.steps
    assert second.elapsed > first.elapsed
    with Run(tmp_path, game, None) as run:
        assert weights.keys() == run.load_tensors().keys()
    check_folder(tmp_path, game)
    # A larger budget goes on again; a used-up one does nothing.
    third = train(game, tmp_path, replace(settings, positions=2500))
    assert third.positions >= 2500
    fourth = train(game, tmp_path, replace(settings, positions=2500))
    assert (fourth.positions, fourth.steps) == (third.positions, third.steps)


def test_a_run_can_be_trained_outside_the_main_thread(tmp_path: Path) -> None:
    done = []
    settings = replace(QUICK, positions=300, workers=1)
    thread = threading.Thread(
        target=lambda: done.append(train(load("tic-tac-toe"), tmp_path, settings))
    )
    thread.start()
    thread.join()
    assert done[0].finished


PROGRAM = """
import sys
from pathlib import Path
import omnilude
from omnilude.training.loop import train
from omnilude.training.progress import NoDisplay

class Telling(NoDisplay):
    told = False
    def update(self, status):
        if not self.told:
            print("ready", flush=True)
            self.told = True

train(omnilude.load("tic-tac-toe"), Path(sys.argv[1]), display=Telling())
"""


@pytest.mark.slow
def test_killed_at_random_points_a_run_goes_on(tmp_path: Path) -> None:
    """OMNILUDE_KILLS=100 makes it many."""
    game = load("tic-tac-toe")
    folder = tmp_path / "run"
    settings = replace(QUICK, positions=200_000, commit_seconds=0.05, augment=False)
    Run(folder, game, settings).close()
    chooser = random.Random(KILLS)
    positions = elapsed = 0.0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
            try:
                process.wait(chooser.uniform(0.0, 1.2))
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
        state = load_state(folder)
        if state is None:  # killed before the first commit
            continue
        assert state.positions >= positions
        assert state.elapsed >= elapsed
        positions, elapsed = state.positions, state.elapsed
        with Run(folder, game, None) as run:  # tidies up as the next start would
            if run.resumed:
                assert sum(chunk.positions for chunk in run.load_chunks()) >= min(
                    run.state.positions, settings.capacity
                )
                run.load_tensors()
                check_folder(folder, game)
    assert positions > 0
    summary = train(game, folder, replace(settings, positions=int(positions) + 1000))
    assert summary.finished
    assert summary.positions >= positions + 1000
    check_folder(folder, game)


@pytest.mark.slow
def test_worker_processes_play_and_are_replaced_when_they_die() -> None:
    game = load("tic-tac-toe")
    encoding = make_encoding(game)
    slots = [game.slots(role) for role in game.players]
    network = build_network(encoding, slots, QUICK.network)
    task = Task(
        rules=rules_text(game),
        name=game.name,
        encoding="planes",
        network=QUICK.network,
        search=QUICK.search,
        engine="torch",
        games=16,
        number=0,
        workers=1,
        seed=3,
    )
    said: list[str] = []
    selfplay = ProcessSelfPlay([task], said.append)
    try:
        selfplay.refresh(network, Orders(QUICK.search))
        harvest = selfplay.collect(200, 60.0)
        assert harvest.positions >= 200
        assert harvest.counters["positions"] > 0
        assert harvest.times.evaluate > 0
        assert not harvest.notes
        selfplay.processes[0].kill()
        harvest = selfplay.collect(200, 60.0)
        assert harvest.positions >= 200
        assert len(harvest.notes) == selfplay.restarts == 1
        assert "worker 0 died" in said[0]
        harvest = selfplay.collect(10**9, 60.0, lambda count: count < 50)
        assert 50 <= harvest.positions < 10**6
    finally:
        selfplay.close()
    assert not selfplay.processes[0].is_alive()


def test_settings_of_a_run_are_found_again(tmp_path: Path) -> None:
    settings = replace(QUICK, positions=100, workers=1, seed=5)
    train(load("tic-tac-toe"), tmp_path, settings)
    assert load_settings(tmp_path) == settings
    assert load(tmp_path / "rules.kif").roles == ("x", "o")


def test_the_number_of_threads_is_measured() -> None:
    choice = ThreadChoice(6)
    assert choice.candidates == [1, 2, 4, 6]
    for threads, seconds in ((1, 4.0), (2, 3.0), (4, 2.0), (6, 8.0)):
        assert choice.choose() == (threads, True)
        choice.note(threads, 4, seconds, phase=True)
    assert choice.choose() == (4, False)
    for _ in range(8):
        choice.note(4, 4, 2.0, phase=True)
    assert choice.choose() == (2, True)
    choice.note(2, 4, 1.0, phase=False)
    assert choice.choose() == (2, False)


def test_rates_are_those_of_the_last_minute() -> None:
    rate = Rate(10.0)
    found = [rate.add(float(t), 100 * t if t < 50 else 5000 + 10 * (t - 50)) for t in range(100)]
    assert found[40] == pytest.approx(100)
    assert found[-1] == pytest.approx(10)
