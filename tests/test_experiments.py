"""Experiments as programs: what they keep, and how they say what is wrong."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from omnilude.arena.experiments import common, p3
from omnilude.arena.experiments.common import ResultFile
from omnilude.arena.experiments.verdicts import (
    GOALS,
    Goal,
    compare_with_gaz,
    is_missed,
    judge,
    read_curve,
)
from omnilude.training.settings import TrainingSettings

PROJECT = Path(__file__).parent.parent


def test_settings_that_came_later_do_not_make_trainings_again(tmp_path: Path) -> None:
    defaults = {"training": {"old": 1, "new": 2, "search": {"deep": 3}}}
    file, made = ResultFile(tmp_path / "some.json", "some", {}), []

    def make() -> dict[str, Any]:
        made.append(1)
        return {}

    def count(training: dict[str, Any]) -> int:
        file.part("part", {"training": training}, make, defaults=defaults)
        return len(made)

    assert count({"old": 5, "search": {}}) == 1
    assert count({"old": 5, "new": 2, "search": {"deep": 3}}) == 1
    assert count({"old": 5, "new": 2, "search": {"deep": 4}}) == 2
    assert count({"old": 5, "new": 0, "search": {"deep": 4}}) == 3


def test_kept_trainings_are_those_of_the_settings_now() -> None:
    # Nothing is to be trained again because a setting was added.
    data = json.loads((PROJECT / "results" / "p3.json").read_text(encoding="utf-8"))
    defaults = json.loads(json.dumps(TrainingSettings().to_dict()))
    for name, part in data["parts"].items():
        if "/training " in name:
            told = common.add_missing(part["identity"]["training"], defaults)
            assert flatten(told).keys() == flatten(defaults).keys(), name


def flatten(values: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = flatten(value) if isinstance(value, dict) else {"": value}
        flat |= {f"{name}.{rest}": one for rest, one in inner.items()}
    return flat


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["p3", "--only", "go"], "'go' is not one of P3's games"),
        (["p3", "--seeds", "one"], "seeds must be whole numbers, not 'one'"),
        (["p3", "--seeds", ""], "there must be at least one of seeds"),
        (["throughput", "--workers", "1;2"], "workers must be whole numbers"),
        (["ablations", "--output", "broken.json"], "broken.json is not a file of results"),
    ],
)
def test_experiments_say_what_is_wrong_in_a_line(
    arguments: list[str],
    cause: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("{")
    module = importlib.import_module(f"omnilude.arena.experiments.{arguments[0]}")
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match=f"^error: .*{cause}"):
        common.run_experiment(module.main)


def tally(value: float, half: float) -> dict[str, Any]:
    return {"score": {"value": value, "low": value - half, "high": value + half}}


def match_of(subject: str, setting: str = "1 s each") -> p3.Match:
    return p3.Match(setting, subject, (), {}, timed=True)


@pytest.mark.parametrize(
    ("score", "half", "told"),
    [
        (0.97, 0.01, "1 s each: reached (97.0 of 95)"),
        (0.95, 0.01, "1 s each: reached (95.0 of 95; its interval begins at 94.0)"),
        (0.94, 0.02, "1 s each: short by 1.0 of 95 (within its interval)"),
        (0.90, 0.02, "1 s each: short by 5.0 of 95"),
    ],
)
def test_a_score_is_held_against_its_goal(score: float, half: float, told: str) -> None:
    assert judge(Goal(least=95), {match_of("ours"): tally(score, half)}) == [told]


def test_a_goal_is_another_where_uct_thinks_longer() -> None:
    slow = match_of("ours", "1 s, UCT 4 s")
    assert judge(Goal(least=98, slow=100), {slow: tally(0.99, 0.0)}) == [
        "1 s, UCT 4 s: short by 1.0 of 100"
    ]


def test_ours_is_held_against_others_in_its_place() -> None:
    played = {
        match_of("ours"): tally(0.40, 0.02),
        match_of("UCT"): tally(0.35, 0.02),
        match_of("GAZ"): tally(0.41, 0.02),
        match_of("ours", "ours against GAZ, 1 s each"): tally(0.1, 0.0),
    }
    told = "1 s each: ahead of UCT by 5.0, behind GAZ by 1.0 (their intervals overlap)"
    assert judge(Goal(ahead=True), played) == [told]
    assert judge(Goal(ahead=True), {match_of("UCT"): tally(0.3, 0.1)}) == []


def test_what_is_missed_is_known() -> None:
    assert is_missed("1 s each: short by 1.0 of 95 (within its interval)")
    assert is_missed("1 s each: ahead of UCT by 5.0, behind GAZ by 1.0")
    assert not is_missed("1 s each: reached (97.0 of 95)")
    match = match_of("ours", "ours against GAZ, 1 s each")
    told = compare_with_gaz(match, tally(0.4, 0.01), tally(0.6, 0.01))
    assert told == "ours against GAZ, 1 s each: behind GAZ by 20.0"


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((0.2, 0.3, 0.8, 0.9), "rises: later half less earlier half +60.0 ± 10.0 points"),
        ((0.5, 0.4, 0.5, 0.5), "is flat, as far as it tells: "),
        ((0.9, 0.8, 0.2), "falls: "),
        ((0.9,), "too short to tell"),
    ],
)
def test_what_a_curve_says(scores: tuple[float, ...], told: str) -> None:
    assert read_curve([{"tally": tally(score, 0.1)} for score in scores]).startswith(told)


def test_every_game_has_a_goal() -> None:
    assert GOALS.keys() == p3.PLANS.keys()
