"""Training settings: help, TOML, options, schedules."""

import math
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnilude.arena.experiments import p3
from omnilude.arena.experiments.plan import Evaluation
from omnilude.errors import SettingsError
from omnilude.search.evaluator import ENGINES
from omnilude.search.settings import SearchSettings
from omnilude.training.baselines import find_baseline
from omnilude.training.documentation import renew
from omnilude.training.options import change_settings, describe_fields, flatten, list_options
from omnilude.training.settings import CHANGEABLE, TrainingSettings
from omnilude.training.toml import missing_settings, read_toml, write_toml

OPTIONS = list_options(TrainingSettings)


def test_options_have_unique_names_and_all_training_fields_have_help() -> None:
    names = [option.name for option in OPTIONS]
    assert len(names) == len(set(names))
    assert {"simulations", "preset", "learning_rate"} <= set(names)
    without = [o.name for o in OPTIONS if not o.help and not o.section]
    assert without == []
    assert set(CHANGEABLE) <= set(names)
    defaults = flatten(TrainingSettings())
    assert {option.name: option.default for option in OPTIONS} == defaults
    assert defaults["preset"] == "auto"


class Described:
    """Not a field's text."""

    first: int
    second: int
    """Of both."""
    alone: int

    third: int
    """Of the
    third."""


def test_a_field_without_text_shares_that_of_the_field_right_below() -> None:
    wanted = {"first": "Of both.", "second": "Of both.", "alone": "", "third": "Of the third."}
    assert describe_fields(Described) == wanted


def options_of(settings: TrainingSettings) -> dict[str, object]:
    return flatten(settings)


@st.composite
def changed_settings(draw: st.DrawFn) -> TrainingSettings:
    positive = st.floats(0.0, 1e6)
    share = st.floats(0.0, 0.99)
    return change_settings(
        TrainingSettings(),
        {
            "minutes": draw(positive),
            "learning_rate": draw(positive),
            "value_mix_at_end": draw(st.none() | share),
            "engine": draw(st.sampled_from(ENGINES)),
            "schedule": draw(st.sampled_from(["decay", "cosine", "constant"])),
            "surprise": draw(st.booleans()),
            "capacity": draw(st.integers(256, 10**9)),
            "simulations": draw(st.integers(1, 10**6)),
            "channels": draw(st.none() | st.integers(1, 512)),
        },
    )


@given(changed_settings())
def test_toml_round_trip(settings: TrainingSettings) -> None:
    text = write_toml(settings, "a title")
    assert read_toml(text, TrainingSettings()) == settings
    table = tomllib.loads(text)
    assert table["search"]["simulations"] == settings.search.simulations


def test_settings_that_a_file_does_not_name() -> None:
    text = write_toml(TrainingSettings())
    assert missing_settings(text, TrainingSettings) == []
    for line in ("surprise = true\n", "c_scale = 0.2\n"):
        text = text.replace(line, "")
    assert missing_settings(text, TrainingSettings) == ["surprise", "c_scale"]


def test_partial_file_keeps_defaults_and_takes_whole_numbers_for_floats() -> None:
    settings = read_toml("minutes = 3\n[search]\nsimulations = 7\n", TrainingSettings())
    assert settings.minutes == 3.0
    assert isinstance(settings.minutes, float)
    assert settings.search.simulations == 7
    assert settings.batch_size == TrainingSettings().batch_size


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense = 1", "nonsense"),
        ("[search]\nminutes = 1", "minutes"),
        ("[other]\nminutes = 1", "other"),
        ("minutes = 'long'", "minutes"),
        ("batch_size = true", "batch_size"),
        ("batch_size = 1.5", "batch_size"),
        ("search = 3", "search"),
        ("minutes = ", "here.toml"),
        ("optimiser = 'lion'", "adamw"),
        ("engine = 'steam'", "onnx-int8"),
        ("value_mix = 2.0", "value_mix"),
    ],
)
def test_wrong_files_are_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_toml(text, TrainingSettings(), file="here.toml")


def test_options_change_inner_settings_and_dashes_are_underscores() -> None:
    settings = change_settings(TrainingSettings(), {"full-fraction": 0.25, "preset": "tiny"})
    assert settings.search.full_fraction == 0.25
    assert settings.network.preset == "tiny"
    with pytest.raises(SettingsError, match="no setting 'colour'"):
        change_settings(TrainingSettings(), {"colour": 1})


@pytest.mark.parametrize("schedule", ["decay", "cosine", "constant"])
def test_rate_warms_up_and_goes_down(schedule: str) -> None:
    settings = change_settings(
        TrainingSettings(), {"schedule": schedule, "warmup_steps": 10, "final_rate": 0.1}
    )
    assert settings.rate_at(0, 0) == pytest.approx(settings.learning_rate / 10)
    assert settings.rate_at(0, 9) == pytest.approx(settings.learning_rate)
    rates = [settings.rate_at(p / 20, 1000) for p in range(21)]
    assert all(a >= b - 1e-12 for a, b in pairwise(rates))
    end = settings.learning_rate * (1 if schedule == "constant" else 0.1)
    assert rates[-1] == pytest.approx(end)


def test_progress_takes_the_budget_that_ends_first() -> None:
    settings = TrainingSettings(minutes=1.0, positions=1000)
    assert settings.progress(30.0, 100) == pytest.approx(0.5)
    assert settings.progress(6.0, 900) == pytest.approx(0.9)
    assert settings.progress(600.0, 0) == 1.0
    assert replace(settings, minutes=0.0, positions=0).progress(1e9, 10**9) == 0.0


def test_schedules_of_values_and_simulations() -> None:
    settings = TrainingSettings(
        value_mix=1.0,
        value_mix_at_end=0.5,
        simulations_at_start=2,
        simulations_grown=0.5,
        search=SearchSettings(simulations=32),
    )
    assert [settings.value_mix_at(p) for p in (0.0, 0.5, 1.0)] == [1.0, 0.75, 0.5]
    assert [settings.simulations_at(p) for p in (0.0, 0.25, 0.5, 1.0)] == [2, 17, 32, 32]
    assert TrainingSettings().simulations_at(0.0) == TrainingSettings().search.simulations


P3_TRAINING: dict[str, Any] = {
    "simulations": 300,
    "root": "puct",
    "first_play": "zero",
    "solver": False,
    "reuse": False,
    "playouts": 0,
    "full_fraction": 1.0,
    "policy_temperature": 1.0,
    "temperature": 1.0,
    "noise_fraction": 0.25,
    "noise_total": 10.0,
    "value_mix": 0.5,
    "value_mix_at_end": None,
    "value_loss": "mse",
    "policy_softmax": "all",
    "simulations_at_start": 0,
    "auto_playouts": False,
    "archive_share": 0.0,
    "reply_weight": 0.0,
    "final_weight": 0.0,
    "surprise": False,
    "augment": False,
    "ema_decay": 0.0,
}
"""P3, 2.3, with the noise of AlphaZero."""
GAZ = {"family": "gaz", "encoding": "propositions"}
OF_P3 = {"family": "p3", "encoding": "planes"}


def test_baselines_are_what_p3_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the command line, and what experiments order as GAZ."""
    ordered: dict[str, Any] = {}
    monkeypatch.setattr(p3, "train_part", lambda *arguments: ordered.update(arguments[-1]))
    p3.train_player(None, "", "gaz", Evaluation(), 0, Path())  # type: ignore[arg-type]
    for changes, own in ((find_baseline("gaz"), GAZ), (find_baseline("p3"), OF_P3), (ordered, GAZ)):
        settings = change_settings(TrainingSettings(), changes)
        wanted, told = P3_TRAINING | own, flatten(settings)
        assert {name: told[name] for name in wanted} == wanted
        # Moves are drawn in proportion to visits until a game ends.
        assert settings.search.temperature_moves >= settings.search.max_length


@given(st.integers(0, 10**8))
def test_window_grows_slower_than_the_run_and_never_beyond_capacity(positions: int) -> None:
    settings = TrainingSettings(window_at_start=1000, capacity=50_000)
    window = settings.window_at(positions)
    assert min(1000, window) == 1000
    assert window <= min(50_000, max(1000, positions))
    assert window <= settings.window_at(positions + 1000)
    assert math.isfinite(window)


def test_the_documentation_has_every_setting() -> None:
    """If not: python -m omnilude.training.documentation docs/training.md"""
    text = (Path(__file__).parent.parent / "docs" / "training.md").read_text(encoding="utf-8")
    assert renew(text) == text
