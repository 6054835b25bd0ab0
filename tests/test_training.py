"""Whole runs, in seconds: they learn, stop and go on."""

import gzip
import json
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnilude import Game, load
from omnilude.arena.assess import Assessment
from omnilude.arena.specs import find_checkpoint
from omnilude.encoding import make_encoding
from omnilude.errors import SettingsError
from omnilude.networks import Network, NetworkSettings, build_network, load_checkpoint
from omnilude.networks.settings import FAMILIES
from omnilude.search.evaluator import FAST_RATE, Evaluator, OnnxInt8Evaluator, make_evaluator
from omnilude.search.pool import SearchPool
from omnilude.search.settings import SearchSettings
from omnilude.training.loop import train
from omnilude.training.progress import NoDisplay, Rate, Status
from omnilude.training.run import Run, load_metrics, load_settings, load_state
from omnilude.training.settings import TrainingSettings
from omnilude.training.targets import PolicyLayout
from omnilude.training.threads import ThreadChoice
from omnilude.training.workers import find_preset

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
    numbers = [line["iteration"] for line in iteration_lines(folder)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(a["elapsed"] <= b["elapsed"] for a, b in pairwise(load_metrics(folder)))


def iteration_lines(folder: Path) -> list[dict[str, Any]]:
    """The metrics without lines of assessments."""
    return [line for line in load_metrics(folder) if "new_positions" in line]


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
    lines = iteration_lines(tmp_path)
    assert lines[-1]["value_error"] < 0.8 * lines[1]["value_error"]
    trained = load_checkpoint(find_checkpoint(tmp_path), game).network
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


class Remembering(NoDisplay):
    last = Status("")

    def update(self, status: Status) -> None:
        self.last = replace(status)


class Listening(NoDisplay):
    """Remembers what it was told, and that it was closed."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def tell(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None:
        self.said.append("closed")


def test_a_run_says_that_another_version_began_it(tmp_path: Path) -> None:
    game, settings, display = load("tic-tac-toe"), replace(QUICK, positions=200), Listening()
    train(game, tmp_path, settings, display=display)
    file = tmp_path / "settings.toml"
    file.write_text(file.read_text().replace("surprise = true\n", ""))
    train(game, tmp_path, settings, display=display)
    assert [said.rpartition(", ")[2] for said in display.said] == [
        "closed", "without surprise: as by default now", "closed",
    ]  # fmt: skip


def test_nothing_is_left_running_when_a_start_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, display = load("tic-tac-toe"), Listening()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(SettingsError, match="not a run folder"):
        train(game, tmp_path, QUICK, display=display)
    assert display.said == ["closed"]
    made: list[object] = []

    def fail(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("omnilude.training.trainer.find_playouts", fail)
    monkeypatch.setattr("omnilude.training.trainer.make_selfplay", lambda *_, **__: made.append(1))
    with pytest.raises(MemoryError):
        train(game, tmp_path / "run", QUICK, display=display)
    assert display.said == ["closed", "closed"]
    assert not made  # workers that nobody would end


def test_a_preset_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, found = load("tic-tac-toe"), ["tiny"]
    monkeypatch.setattr("omnilude.training.trainer.find_preset", lambda *_: found.pop())
    settings = replace(QUICK, positions=200, network=NetworkSettings(preset="auto"))
    train(game, tmp_path, settings)
    assert not found
    kept = load_settings(tmp_path)
    assert kept == replace(settings, network=NetworkSettings(preset="tiny"))
    # The same command, and one without settings, go on with what was found.
    for more in (replace(settings, positions=300), None):
        train(game, tmp_path, more)
        network = load_checkpoint(find_checkpoint(tmp_path), game).network
        assert network.settings.preset == "tiny"


@pytest.mark.parametrize(
    ("family", "rates", "wanted"),
    [
        ("residual", {"small": 1.0}, "tiny"),
        ("residual", {"small": 0.9 * FAST_RATE}, "small"),
        ("residual", {"small": 2 * FAST_RATE, "medium": FAST_RATE, "large": 1.0}, "medium"),
        ("p3", {}, "small"),
        ("gaz", {}, "small"),
    ],
)
def test_presets_are_measured_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, family: str, rates: dict[str, float], wanted: str
) -> None:
    game = load("tic-tac-toe")
    measured: list[str] = []

    def measure(_: Evaluator, network: Network, batch: int) -> float:
        measured.append(network.settings.preset)
        return rates[measured[-1]]

    monkeypatch.setattr("omnilude.training.workers.measure_rate", measure)
    monkeypatch.setattr("omnilude.training.workers.make_evaluator", lambda *_, **__: None)
    settings = replace(QUICK, network=NetworkSettings(family=family, preset="auto"))
    assert find_preset(make_encoding(game), PolicyLayout.of(game).slots, settings) == wanted
    assert measured == list(rates)


@pytest.mark.parametrize("coarse", [False, True])
def test_8_bit_integers_are_calibrated_on_what_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, coarse: bool
) -> None:
    """The worker's and the trainer's own, also while 32-bit floats answer for them."""
    if coarse:
        monkeypatch.setattr("omnilude.search.evaluator.INT8_VALUE_TOLERANCE", -1.0)
    rows: dict[int, list[bytes]] = {}
    quantize: Callable[[OnnxInt8Evaluator, object], None] = OnnxInt8Evaluator._quantize

    def note(evaluator: OnnxInt8Evaluator, slots: object) -> None:
        rows.setdefault(id(evaluator), []).append(evaluator.calibration.tobytes())
        quantize(evaluator, slots)

    monkeypatch.setattr(OnnxInt8Evaluator, "_quantize", note)
    settings = replace(QUICK, positions=500, iteration_positions=250, engine="onnx-int8", workers=1)
    settings = replace(settings, assess_minutes=1e-6)
    summary = train(load("tic-tac-toe"), tmp_path, settings, assess=lambda *_: {})
    assert summary.steps > 0
    assert summary.engine == ("onnx" if coarse else "onnx-int8")
    assert len(rows) == 2
    for of_one in rows.values():
        assert len(set(of_one)) > 1


def test_assessments_change_nothing_that_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does anything else, where nothing is timed and one worker plays."""
    monkeypatch.setattr("omnilude.training.trainer.count_cores", lambda: 1)
    game = load("tic-tac-toe")
    learned = []
    for games in (2, 5):
        settings = replace(
            QUICK,
            positions=1200,
            iteration_positions=400,
            workers=1,
            overlap=False,
            auto_playouts=False,
            commit_seconds=600.0,
            assess_minutes=1e-6,
            assess_games=games,
            assess_simulations=games,
        )
        assess = Assessment(game, games=games, simulations=games, opponents=["random"])
        folder = tmp_path / str(games)
        assert train(game, folder, settings, assess=assess).scores
        with Run(folder, game, None) as run:
            learned.append(run.load_tensors())
    for name, tensor in learned[0].items():
        assert (tensor == learned[1][name]).all(), name


def test_a_run_can_be_trained_outside_the_main_thread(tmp_path: Path) -> None:
    done = []
    settings = replace(QUICK, positions=300, workers=1)
    thread = threading.Thread(
        target=lambda: done.append(train(load("tic-tac-toe"), tmp_path, settings))
    )
    thread.start()
    thread.join()
    assert done[0].finished


def test_a_kill_during_an_assessment_loses_only_that(tmp_path: Path) -> None:
    """However long it takes, and however seldom the run commits by itself."""
    game, display = load("tic-tac-toe"), Remembering()
    settings = replace(QUICK, positions=1000, commit_seconds=600.0, assess_minutes=1e-6)
    settings = replace(settings, iteration_positions=300, checkpoint_minutes=1e-6)
    written: list[tuple[int, int, float]] = []
    shown: list[tuple[int, int]] = []

    def assess(*_: object) -> dict[str, float]:
        state = load_state(tmp_path)
        assert state is not None
        written.append((state.positions, state.steps, state.elapsed))
        shown.append((display.last.positions, display.last.steps))
        assert {one["step"] for one in state.checkpoints} >= {state.steps}
        if len(written) == 2:
            raise MemoryError  # nothing is written after it, as after a kill
        return {"nobody": 0.5}

    with pytest.raises(MemoryError):
        train(game, tmp_path, settings, assess=assess, display=display)
    assert [(positions, steps) for positions, steps, _ in written] == shown
    assert shown[1] > shown[0] > (0, 0)
    with Run(tmp_path, game, None) as run:
        assert (run.state.positions, run.state.steps) == shown[1]
        assert sum(chunk.positions for chunk in run.load_chunks()) == shown[1][0]
        assert run.state.iteration == len(iteration_lines(tmp_path))
    check_folder(tmp_path, game)
    assert train(game, tmp_path, assess=assess).finished
    assert all(a < b for a, b in pairwise(written))
    check_folder(tmp_path, game)  # every iteration has its line


@pytest.mark.parametrize("budget", [{"positions": 300}, {"positions": 0, "minutes": 0.01}])
def test_a_run_killed_in_its_last_assessment_is_assessed_all_the_same(
    tmp_path: Path, budget: dict[str, Any]
) -> None:
    game, settings = load("tic-tac-toe"), replace(QUICK, assess_minutes=600.0, **budget)
    asked: list[int] = []

    def assess(*_: object) -> dict[str, float]:
        state = load_state(tmp_path)
        assert state is not None
        asked.append(state.steps)
        if len(asked) == 1:
            raise MemoryError  # nothing is written after it, as after a kill
        return {"nobody": 0.5}

    with pytest.raises(MemoryError):
        train(game, tmp_path, settings, assess=assess)
    assert "score/nobody" not in load_metrics(tmp_path)[-1]
    for _ in range(2):  # and not once more
        summary = train(game, tmp_path, assess=assess)
        assert summary.finished
        assert summary.scores == {"nobody": 0.5}
        assert asked == [summary.steps] * 2
        assert load_metrics(tmp_path)[-1]["score/nobody"] == 0.5
    check_folder(tmp_path, game)


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
