"""Experiments as programs: what they keep, and how they say what is wrong."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from omnilude.arena.experiments import common
from omnilude.arena.experiments.common import ResultFile, fit_part, match_part
from omnilude.arena.experiments.plan import PLANS, Budget, Match
from omnilude.arena.experiments.verdicts import GOALS, Goal, Verdict, judge, read_curve
from omnilude.arena.match import MatchSettings
from omnilude.arena.players import UctPlayer
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


def match_of(
    subject: str, setting: str = "1 s each", budget: Budget = "time", *, rivals: bool = False
) -> Match:
    return Match(setting, subject, (), {}, budget, rivals=rivals)


@pytest.mark.parametrize(
    ("score", "half", "told", "missed"),
    [
        (0.97, 0.01, "reached (97.0 of 95)", False),
        (0.95, 0.01, "reached (95.0 of 95; its interval begins at 94.0)", False),
        (0.94, 0.02, "short by 1.0 of 95 (within its interval)", True),
        (0.90, 0.02, "short by 5.0 of 95", True),
    ],
)
def test_a_score_is_held_against_its_goal(
    score: float, half: float, told: str, missed: bool
) -> None:
    match = match_of("ours")
    assert judge(Goal(least=95), {match: tally(score, half)}) == [Verdict(match, told, missed)]


def test_a_goal_is_another_where_uct_thinks_longer() -> None:
    slow = match_of("ours", "1 s, UCT 4 s", "slow")
    assert judge(Goal(least=98, slow=100), {slow: tally(0.99, 0.0)}) == [
        Verdict(slow, "short by 1.0 of 100", True)
    ]


@pytest.mark.parametrize(
    ("gaz", "told"),
    [(0.41, "behind GAZ by 1.0 (their intervals overlap)"), (0.2, "ahead of GAZ by 20.0")],
)
def test_ours_is_held_against_others_in_its_place(gaz: float, told: str) -> None:
    ours = match_of("ours")
    played = {
        ours: tally(0.40, 0.02),
        match_of("UCT"): tally(0.35, 0.02),
        match_of("GAZ"): tally(gaz, 0.02),
        match_of("GAZ", "other seconds"): tally(0.9, 0.0),
        match_of("ours", "ours against GAZ", rivals=True): tally(0.1, 0.0),
    }
    told = f"ahead of UCT by 5.0, {told}"
    assert judge(Goal(ahead=True), played) == [Verdict(ours, told, gaz > 0.4)]
    assert judge(Goal(ahead=True), {match_of("UCT"): tally(0.3, 0.1)}) == []


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        # However it began.
        ((0.0, 0.1, 0.2, 0.3, 0.8, 0.9), "rises: after 5 to 6 minutes less after 3 to 4 +60.0 ±"),
        ((0.2, 0.5, 1.0, 1.0, 1.0, 1.0), "is flat, as far as it tells: "),
        ((0.9, 0.8, 0.2), "falls: after 3 minutes less after 2 -60.0 ± 14.1 points"),
        ((0.9, 0.8), "is too short to tell"),
    ],
)
def test_what_a_curve_says(scores: tuple[float, ...], told: str) -> None:
    points = [
        {"tally": tally(score, 0.1), "elapsed": 60.0 * minute}
        for minute, score in enumerate(scores, start=1)
    ]
    assert read_curve(points).startswith(told)


def test_every_game_has_a_goal() -> None:
    assert GOALS.keys() == PLANS.keys()


def test_matches_that_are_compared_have_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is measured in turns, once for all of them; the middle counts."""
    file, measured = ResultFile(tmp_path / "some.json", "some", {}), []

    def fit(player: UctPlayer) -> int:
        if not player.fitted:
            measured.append(player.settings.seconds)
            player.fitted = round(100 * player.settings.seconds * [3, 1, 2][len(measured) // 2 % 3])
        return player.fitted

    monkeypatch.setattr(UctPlayer, "fit", fit)
    specs = ["uct:1s", "uct:4s"]
    for _ in range(2):
        told = fit_part(file, "fitted", "tic-tac-toe", specs, {})
        assert told == {"uct:1s": 200, "uct:4s": 800}
    assert measured == [1.0, 4.0] * 3
    settings = MatchSettings(games=2, threads=1)
    played = match_part(file, "m", "tic-tac-toe", specs, settings, fit=lambda: told)
    assert [player["iterations"] for player in played["players"]] == [200, 800]
    assert [player["fitted_to_seconds"] for player in played["players"]] == [1.0, 4.0]
    assert len(measured) == 6
