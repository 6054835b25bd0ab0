"""Experiments: what they play and keep, what their page says, and how they say what is wrong."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from omnilude.arena.experiments import ablations, common, p3, tables
from omnilude.arena.experiments.common import ResultFile, match_part
from omnilude.arena.experiments.plan import PLANS, Budget, Evaluation, Match, list_matches
from omnilude.arena.experiments.published import P3_CLAIMS
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
    assert judge(Goal(ahead=True), {ours: tally(0.3, 0.1)}) == []  # others have not played yet


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
    """It is measured in turns, once for all of them; the middle counts. Where it is measured anew,
    all are played again."""
    file, measured, game = ResultFile(tmp_path / "some.json", "some", {}), [], "tic-tac-toe"

    def fit(player: UctPlayer) -> int:
        if not player.fitted:
            measured.append(player.settings.seconds)
            player.fitted = round(100 * player.settings.seconds * [3, 1, 2][len(measured) // 2 % 3])
        return player.fitted

    monkeypatch.setattr(UctPlayer, "fit", fit)
    settings = MatchSettings(games=2, threads=1)
    compared = ("fitted", ["uct:1s", "uct:4s"])

    def play(*specs: str) -> list[int]:
        played = match_part(file, " ".join(specs), game, specs, settings, compared=compared)
        assert [player["fitted_to_seconds"] for player in played["players"]] == [
            float(spec[4:-1]) for spec in specs
        ]
        return [player["iterations"] for player in played["players"]]

    for _ in range(2):
        assert play("uct:1s", "uct:4s") == [200, 800]
        assert play("uct:1s", "uct:1s") == [200, 200]
        assert measured == [1.0, 4.0] * 3
    del file.data["parts"]["fitted"]
    monkeypatch.setattr(UctPlayer, "fit", lambda player: 300)
    assert play("uct:1s", "uct:4s") == [300, 300]
    assert play("uct:1s", "uct:1s") == [300, 300]


def test_what_was_measured_for_a_match_alone_stands_until_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, settings = ResultFile(tmp_path / "some.json", "some", {}), MatchSettings(games=2)

    def fit(player: UctPlayer) -> int:
        player.fitted = 7
        return 7

    monkeypatch.setattr(UctPlayer, "fit", fit)
    compared = ("fitted", ["uct:1s", "uct:2s"])

    def play(*specs: str, **options: Any) -> dict[str, Any]:
        return match_part(file, " ".join(specs), "tic-tac-toe", specs, settings, **options)

    before = play("uct:1s", "uct:1s")
    assert play("uct:1s", "uct:1s", compared=compared) is before
    play("uct:1s", "uct:2s", compared=compared)
    after = play("uct:1s", "uct:1s", compared=compared)
    assert after["identity"]["fitted"] == {"uct:1s": 7}


@pytest.mark.parametrize("game_name", list(PLANS))
def test_every_game_is_played_as_was_asked_for(game_name: str) -> None:
    """With 100 simulations against 1,000 iterations, with a second for each, Breakthrough with four
    times the time for UCT too, and against GAZ; 100 games or more."""
    how, plan = Evaluation(), PLANS[game_name]
    matches = list_matches(plan, how)
    found = {match.name(game_name, 0): match for match in matches}
    assert len(found) == len(matches)
    for match in matches:
        assert match.changes.get("games", how.games) >= 100
    few = "100 simulations, UCT 1000 iterations"
    searched = ":root=puct:first_play=zero:solver=false"
    wanted = {
        f"{few}/ours": ("ours:sims=100", "uct:1000"),
        f"{few}/GAZ": (f"gaz:sims=100{searched}", "uct:1000"),
        "1 s each/ours": ("ours:time=1s", "uct:1s"),
    }
    if game_name == "breakthrough-6x6":
        wanted["1 s, UCT 4 s/ours"] = ("ours:time=1s", "uct:4s")
    if plan.together:  # all seats are one player's; UCT plays for itself
        wanted = {name: players[:1] for name, players in wanted.items()}
        wanted |= {f"{few}/UCT": ("uct:1000",), "1 s each/UCT": ("uct:1s",)}
    else:
        for setting, budget in (("100 simulations", "sims=100"), ("0.1 s", "time=0.1s")):
            pair = (f"ours:{budget}", f"gaz:{budget}{searched}")
            wanted[f"ours against GAZ, {setting} each/ours"] = pair
    for name, players in wanted.items():
        assert found[f"{game_name}/seed 0/{name}"].players == players


def test_the_experiment_is_by_default_what_was_planned() -> None:
    options = inspect.signature(p3.main).parameters
    planned = asdict(Evaluation())
    assert {name: options[name].default for name in planned} == planned


def test_all_figures_of_p3_are_shown() -> None:
    shown = {
        (game_name, tables._kind(match), match.subject)
        for game_name, plan in PLANS.items()
        for match in list_matches(plan, Evaluation())
    }
    assert P3_CLAIMS.keys() <= shown


@pytest.mark.parametrize("effective", [3.0, 80.0])
def test_the_page_says_where_games_repeat(effective: float) -> None:
    part = {
        "players": [], "distinct": 30, "games": 100, "contestants": ["ours"],
        "tallies": {"ours": {"all": {"effective": effective}}},
    }  # fmt: skip
    notes = tables._budget_notes([("a match, GAZ", part)])
    told = "a match, GAZ: 30 of 100 games differ, and the interval is that of 3"
    assert notes == ([told] if effective < 50 else [])


def test_the_page_stands_without_results(tmp_path: Path) -> None:
    page = tables.make_page(tmp_path)
    for section in ("P3: six games", "ablations", "Throughput", "Does it learn", "missing"):
        assert section in page
    for name in PLANS:
        assert f"### {name}" in page
        assert f"- {name}: everything" in page
    assert "95 %" in page


def test_the_page_is_that_of_the_results() -> None:
    root = Path(__file__).parent.parent
    page = (root / "RESULTS.md").read_text(encoding="utf-8")
    told = "python -m omnilude.arena.experiments.tables writes it anew"
    assert tables.make_page(root / "results") == page, told


def test_the_page_tells_of_other_trainings(tmp_path: Path) -> None:
    """Also where the first has not played yet, and with what the time came to."""
    match = list_matches(PLANS["connect-four"], Evaluation())[0]
    score = {"value": 0.5, "low": 0.4, "high": 0.6}
    tally = {"score": score, "effective": 9.0}
    uct = {"kind": "uct", "iterations": 70, "fitted_to_seconds": 1.0}
    part = {
        "players": [uct, uct], "distinct": 9, "games": 9, "contestants": ["ours"],
        "tallies": {"ours": {"all": tally}},
    }  # fmt: skip
    trained = {"versions": {"omnilude": "9.9"}}
    parts = {
        "tower/seed 0/training": {},
        match.name("connect-four", 5): part,
        "connect-four/seed 5/training ours": trained,
    }
    assert tables._list_seeds(parts, "connect-four") == [5]
    assert tables._list_seeds(parts, "pacman-3p") == [0]
    told = tables._other_trainings(parts, "connect-four", [match], [5])
    assert told == [
        f"{match.setting}, ours: another training has 50.0 [40.0, 60.0] (seed 5, version 9.9)",
        f"{match.setting}, ours, seed 5: 70 iterations against 70 iterations a move",
    ]


def test_inputs_are_counted() -> None:
    assert ablations.count_inputs("tic-tac-toe")["base"] == 20


def test_matches_of_experiments_keep_no_games(tmp_path: Path) -> None:
    file = ResultFile(tmp_path / "x.json", "x", {})
    part = match_part(
        file, "m", "tic-tac-toe", ["ours:20", "random"], MatchSettings(games=4), {"ours": "uct"}
    )
    assert part["contestants"] == ["ours:20", "random"]
    assert "played" not in part
    assert part["players"][0]["iterations"] == 20


def sleep_and_tell(file: Path) -> dict[str, int]:
    file.write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
    return {}


APART = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from omnilude.arena.experiments.common import run_apart
from test_experiments import sleep_and_tell
if __name__ == "__main__":
    run_apart(sleep_and_tell, Path(sys.argv[1]))
"""


def test_what_runs_apart_ends_with_its_parent(tmp_path: Path) -> None:
    script, file = tmp_path / "apart.py", tmp_path / "pid"
    script.write_text(APART, encoding="utf-8")
    folder = str(Path(__file__).parent)
    with subprocess.Popen([sys.executable, str(script), str(file), folder]) as parent:
        while not (file.is_file() and file.read_text(encoding="utf-8")):
            assert parent.poll() is None
            time.sleep(0.05)
        child = int(file.read_text(encoding="utf-8"))
        parent.kill()
    for _ in range(200):
        if not is_running(child):
            break
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Neither gone nor waiting to be buried."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
