"""How many random playouts a leaf gets, and how much they count."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from omnilude import load
from omnilude.arena.specs import explain_spec
from omnilude.networks import NetworkSettings
from omnilude.search.settings import SearchSettings
from omnilude.training.loop import train
from omnilude.training.playouts import (
    AT_ONCE,
    COUNTS,
    TRUST,
    PlayoutWeight,
    choose_playouts,
    least_share,
)
from omnilude.training.run import load_metrics, load_state
from omnilude.training.settings import TrainingSettings

Values = NDArray[np.float32]


def weigh(values: Values, playouts: Values, rewards: Values) -> float:
    weight = PlayoutWeight()
    weight.add(values, playouts, rewards)
    return weight.share


def results_of(chances: Values, seed: int = 0) -> Values:
    return (np.random.default_rng(seed).random(chances.shape) < chances).astype(np.float32)


def noise(seed: int, size: int = 4000) -> Values:
    return np.random.default_rng(seed).random((size, 2)).astype(np.float32)


def test_who_foretells_results_gets_the_say() -> None:
    known, other = noise(1), noise(2)
    assert weigh(values=other, playouts=known, rewards=results_of(known)) > 0.9
    assert weigh(values=known, playouts=other, rewards=results_of(known)) < 0.1
    both = (known + other) / 2
    assert weigh(known, other, results_of(both)) == pytest.approx(0.5**TRUST, abs=0.1)


def test_playouts_without_news_get_no_say() -> None:
    known = noise(1)
    assert weigh(known, np.full_like(known, 0.3), results_of(known)) == 0
    assert weigh(known, 1 - known, np.ones_like(known)) == 0  # nothing to foretell
    assert weigh(known, 1 - known, results_of(known)) < 0.5


def test_until_something_is_known_playouts_decide() -> None:
    assert PlayoutWeight().share == 1
    assert PlayoutWeight([]).share == 1


def test_old_positions_are_forgotten() -> None:
    known, other = noise(1), noise(2)
    weight = PlayoutWeight()
    weight.add(other, known, results_of(known))
    for seed in range(30):
        weight.add(known, other, results_of(known, seed))
    assert weight.share < 0.1
    again = PlayoutWeight(json.loads(json.dumps(weight.moments)))
    assert again.share == weight.share


@given(st.lists(st.tuples(*[st.floats(0, 1, width=32) for _ in range(3)]), min_size=1, max_size=20))
def test_a_share_is_a_share(rows: list[tuple[float, float, float]]) -> None:
    table = np.array(rows, dtype=np.float32)
    assert 0 <= weigh(table[:, :1], table[:, 1:2], table[:, 2:]) <= 1


def test_playouts_are_as_many_as_cost_little() -> None:
    game = load("tic-tac-toe")
    assert choose_playouts(game, rows_per_second=1, batch=16, max_length=1000) == COUNTS[-1]
    assert choose_playouts(game, rows_per_second=1e12, batch=16, max_length=1000) == 0


def test_players_who_choose_at_once_keep_listening_to_playouts() -> None:
    assert least_share(load("pacman-3p")) == least_share(load("tower")) == AT_ONCE
    assert least_share(load("connect-four-3p")) == least_share(load("race-dice")) == 0


def tiny_settings(auto: bool) -> TrainingSettings:
    return TrainingSettings(
        minutes=0.0,
        positions=1200,
        workers=1,
        games_per_worker=16,
        engine="torch",
        iteration_positions=300,
        batch_size=32,
        assess_minutes=0.0,
        auto_playouts=auto,
        network=NetworkSettings(preset="tiny"),
        search=SearchSettings(simulations=8),
    )


@pytest.mark.parametrize("auto", [True, False])
def test_a_run_finds_and_keeps_its_weight(tmp_path: Path, auto: bool) -> None:
    train(load("tic-tac-toe"), tmp_path / "run", tiny_settings(auto))
    state, metrics = load_state(tmp_path / "run"), load_metrics(tmp_path / "run")
    assert state is not None
    if not auto:
        assert not state.playouts
        assert {line["playouts"] for line in metrics} == {0}
        return
    weights = [line["playout_weight"] for line in metrics]
    assert all(line["playouts"] in COUNTS for line in metrics)
    assert all(0 <= weight <= 1 for weight in weights)
    assert PlayoutWeight(state.playouts).share == pytest.approx(weights[-1], abs=1e-4)
    assert state.checkpoints[-1]["playouts"] == metrics[-1]["playouts"]


def test_how_many_there_are_is_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is busy when the run goes on does not change what is learned."""
    game, folder = load("tic-tac-toe"), tmp_path / "run"
    for found, positions in ((COUNTS[1], 300), (0, 600)):
        monkeypatch.setattr("omnilude.training.trainer.find_playouts", lambda *_, n=found: n)
        train(game, folder, replace(tiny_settings(auto=True), positions=positions))
    assert {line["playouts"] for line in load_metrics(folder)} == {COUNTS[1]}


def test_their_least_share_counts_in_a_run_and_in_its_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that would find them worthless, in a game of choices at the same time."""
    monkeypatch.setattr(PlayoutWeight, "share", 0.0)
    monkeypatch.setattr("omnilude.training.trainer.find_playouts", lambda *_: COUNTS[0])
    train(load("tower"), tmp_path / "run", tiny_settings(auto=True))
    metrics = load_metrics(tmp_path / "run")
    assert {line["playout_weight"] for line in metrics} == {AT_ONCE}
    told = explain_spec(str(tmp_path / "run"))
    assert told["search"]["playout_weight"] == AT_ONCE
    assert told["search"]["playouts"] == metrics[-1]["playouts"] == COUNTS[0]
