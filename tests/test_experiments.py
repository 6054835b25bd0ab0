"""Experiments as programs: what they keep, and how they say what is wrong."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from omnilude.arena.experiments import common
from omnilude.arena.experiments.common import ResultFile
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
            told = part["identity"]["training"]
            assert common.add_missing(told, defaults).keys() == defaults.keys()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["p3", "--only", "go"], "'go' is not one of P3's games"),
        (["p3", "--seeds", "one"], "seeds must be whole numbers, not 'one'"),
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
