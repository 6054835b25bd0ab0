"""Players made from a run, and all that plays with them: matches, ratings, experiments.

One tiny run of tic-tac-toe is trained for all tests; how strong it is does not matter here.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnilude
from omnilude import networks
from omnilude.arena import history, network_players, specs
from omnilude.arena.assess import Assessment, share_interest
from omnilude.arena.experiments import common, p3, tables
from omnilude.arena.experiments import plan as plans
from omnilude.arena.experiments.common import ResultFile, curve_part, match_part
from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.players import Positions
from omnilude.arena.specs import (
    explain_spec,
    find_checkpoint,
    find_game,
    list_checkpoints,
    make_player,
)
from omnilude.encoding import make_encoding
from omnilude.errors import CheckpointError, SettingsError
from omnilude.games import Game, load
from omnilude.games.loading import load_text
from omnilude.networks import checkpoint
from omnilude.search import evaluator
from omnilude.training.options import change_settings
from omnilude.training.progress import summarise_speed
from omnilude.training.run import load_newest_states
from omnilude.training.settings import TrainingSettings

TINY: dict[str, Any] = {
    "minutes": 0.0,
    "positions": 3000,
    "preset": "tiny",
    "simulations": 8,
    "games_per_worker": 16,
    "workers": 1,
    "iteration_positions": 500,
    "batch_size": 32,
    "replay_ratio": 0.5,
    "checkpoint_minutes": 0.0005,
    "engine": "onnx",
}


@pytest.fixture(scope="module")
def game() -> Game:
    return load("tic-tac-toe")


@pytest.fixture(scope="module")
def run(game: Game, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from omnilude.training.loop import train

    folder = tmp_path_factory.mktemp("runs") / "tiny"
    summary = train(game, folder, change_settings(TrainingSettings(), TINY))
    assert summary.finished
    return folder


# --- players ---


def test_a_run_plays_a_game_to_its_end(game: Game, run: Path) -> None:
    player = omnilude.player(run, simulations=10, seed=0)
    state = game.initial()
    while not state.terminal:
        state = state.play(player.choose(state))
    assert sum(state.reward) == pytest.approx(1)


def test_analysis_of_a_run(game: Game, run: Path) -> None:
    found = omnilude.player(f"{run}:sims=20:reuse=false").analyse(game.initial())
    moves = found["x"].moves
    assert found.simulations == 20
    assert len(moves) == 9
    assert sum(move.prior for move in moves) == pytest.approx(1, abs=1e-4)
    assert 0 <= found["x"].value <= 1
    assert moves[0].move == found.chosen[0]


def test_the_policy_alone(game: Game, run: Path) -> None:
    found = omnilude.player(run, simulations=0).analyse(game.initial())
    priors = [move.prior for move in found["x"].moves]
    assert sum(priors) == pytest.approx(1, abs=1e-4)
    assert found["x"].moves[0].prior == max(priors)
    assert found.simulations == 0


def test_what_a_run_is_asked_for_must_make_sense(run: Path) -> None:
    assert explain_spec(str(run), sims=7) == explain_spec(f"{run}:sims=7")
    for options in ("sims=5:time=1s", "sims=0:time=1s"):
        with pytest.raises(SettingsError, match="has both sims and time"):
            explain_spec(f"{run}:{options}")
    with pytest.raises(SettingsError, match=r"has no 'sim'; it has step, time, .* simulations"):
        explain_spec(f"{run}:sim=5")


@pytest.mark.parametrize("options", [":sims=4", ":sims=0"])
def test_integers_are_calibrated_on_what_was_played(
    game: Game, run: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    given = []

    def make(network: Any, *, calibration: Any, **others: Any) -> Any:
        given.append(calibration)
        return evaluator.make_evaluator(network, calibration=calibration, **others)

    monkeypatch.setattr(network_players, "make_evaluator", make)
    states = load_newest_states(run, evaluator.CALIBRATION_ROWS)
    assert states is not None
    assert len(states) == evaluator.CALIBRATION_ROWS
    assert load_newest_states(run, 10**6) is None
    player = make_player(f"{run}{options}:engine=onnx-int8", game)
    player.choose(Positions.of_states(game, game.initial_states(1), np.zeros(1, dtype=np.uint64)))
    assert given[0].tolist() == make_encoding(game).encode(states).tolist()


def test_large_trees_are_searched_in_turns(
    game: Game, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = Positions.of_states(game, game.initial_states(7), np.arange(7, dtype=np.uint64))
    spec = f"{run}:sims=40:playouts=0:engine=onnx"
    expected = make_player(spec, game).analyse(positions)
    monkeypatch.setattr(network_players, "MOST_NODES", 100)
    player = make_player(spec, game)
    found = player.analyse(positions)
    assert isinstance(player, network_players.SearchPlayer)
    assert player._pool is not None
    assert player._pool.games == 2
    assert found.visits.tolist() == expected.visits.tolist()
    assert found.moves.tolist() == expected.moves.tolist()


def test_a_run_is_known_by_its_name(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run, tmp_path / "runs" / "some")
    assert explain_spec("some:sims=7") == explain_spec(f"{run}:sims=7")
    found = find_game("some")
    assert found is not None
    assert found.name == "tic-tac-toe"  # not that of the folder
    with pytest.raises(SettingsError, match="there is no player 'other'"):
        explain_spec("other")
    # What is there by itself is meant, if it is a run.
    shutil.copytree(run, tmp_path / "some")
    shutil.rmtree(tmp_path / "runs" / "some" / "checkpoints")
    assert explain_spec("some:sims=7") == explain_spec(f"{run}:sims=7")


def test_positions_are_evaluated_under_symmetries(game: Game, run: Path) -> None:
    def count(options: str) -> int:
        told = make_player(f"{run}:sims=8{options}", game).fork(1).describe()
        return int(told["symmetries"])

    assert [count(""), count(":symmetries=1"), count(":symmetries=99")] == [2, 1, 8]
    with pytest.raises(SettingsError, match=r"symmetries in .* must be at least 1, not 0"):
        count(":symmetries=0")
    # Under all eight the middle of the first row is like the middle of any side.
    found = omnilude.player(f"{run}:sims=8:symmetries=8").analyse(game.initial())
    priors = {str(move.move): move.prior for move in found["x"].moves}
    sides = [priors[f"(mark {cell})"] for cell in ("1 2", "2 1", "2 3", "3 2")]
    assert sides == pytest.approx([sides[0]] * 4, rel=1e-3)


def test_a_network_is_searched_as_it_has_learned(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = explain_spec(str(run))
    assert (told["search"]["root"], told["search"]["solver"]) == ("gumbel", True)
    read_facts = checkpoint.read_facts
    search = {"root": "puct", "first_play": "zero", "solver": False}

    def read_baseline(path: Path) -> dict[str, Any]:
        facts = read_facts(path)
        return {**facts, "extra": {**facts["extra"], "search": search, "augment": False}}

    monkeypatch.setattr(checkpoint, "read_facts", read_baseline)
    told = explain_spec(str(run))
    assert search.items() <= told["search"].items()
    assert told["symmetries"] == 1
    told = explain_spec(f"{run}:root=gumbel:symmetries=4")
    assert (told["search"]["root"], told["symmetries"]) == ("gumbel", 4)


def test_playouts_count_in_play_as_in_training(
    game: Game, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_facts = checkpoint.read_facts

    def count(weight: float, options: str = "") -> int:
        extra = {"playouts": 48, "playout_weight": weight}
        monkeypatch.setattr(
            checkpoint, "read_facts", lambda path: {**read_facts(path), "extra": extra}
        )
        return int(make_player(f"{run}:sims=8{options}", game).describe()["search"]["playouts"])

    assert [count(0.8), count(0.1), count(0.0)] == [48, 48, 0]
    assert [count(0.1, ":playouts=0"), count(0.0, ":playouts=24")] == [0, 24]


def test_search_by_the_clock(game: Game, run: Path) -> None:
    for root in ("puct", "gumbel"):
        found = omnilude.player(f"{run}:time=0.01s:root={root}").analyse(game.initial())
        assert found.simulations > 1


def test_checkpoints_are_found_by_step(game: Game, run: Path) -> None:
    steps = list_checkpoints(run)
    assert len(steps) > 1
    assert find_checkpoint(run) == steps[max(steps)]
    first = min(steps)
    by_step = make_player(f"{run}:step={first}", game)
    by_path = make_player(str(steps[first]), game)
    assert by_step.describe()["step"] == by_path.describe()["step"] == first
    with pytest.raises(CheckpointError, match="no checkpoint of step 999999, only of"):
        make_player(f"{run}:step=999999", game)


def test_a_run_knows_its_game_and_no_other(game: Game, run: Path, tmp_path: Path) -> None:
    found = find_game(f"{run}:sims=5")
    assert found is not None
    assert found.roles == game.roles
    assert find_game("random") is None
    # A checkpoint by itself names its game; another game may have the same name.
    newest = find_checkpoint(run)
    for path in (newest, newest.with_suffix("") if newest.suffix else newest):
        alone = find_game(f"{path}:sims=5")
        assert alone is not None
        assert alone.name == "tic-tac-toe"
    other = networks.load_checkpoint(newest, game)
    renamed = load_text((run / "rules.kif").read_text(), name="connect-four")
    networks.save_checkpoint(tmp_path / "renamed", other.network, renamed)
    assert find_game(str(tmp_path / "renamed")) is None
    with pytest.raises(CheckpointError, match="other rules"):
        make_player(str(run), load("connect-four"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (":sims=-3", "simulations must be at least 1"),
        (":sims=0:root=puct", "has no options"),
        (":root=oak", "root must be"),
        (":colour=red", "has no 'colour'"),
        (":time=soon", "not a time"),
        (":reuse=maybe", "true or false"),
        (":c_puct=x", "must be a number"),
    ],
)
def test_wrong_options_of_a_run(game: Game, run: Path, options: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_player(f"{run}{options}", game)


# --- matches, assessments, ratings ---


def test_matches_of_runs_repeat(game: Game, run: Path) -> None:
    players = [make_player(f"{run}:sims=8", game), make_player("random", game)]
    first, second = (
        play_match(game, players, MatchSettings(games=20, seed=5, threads=n, batch=5))
        for n in (1, 2)
    )
    assert first.to_json()["played"] == second.to_json()["played"]
    assert first.players[0]["path"] == str(run)
    assert first.players[0]["engine"] in ("torch", "onnx")
    assert len(first.players[0]["weights"]) == 64
    assert first.players[0]["search"]["simulations"] == 8


def test_two_runs_get_random_openings(game: Game, run: Path) -> None:
    players = [make_player(f"{run}:sims={n}", game) for n in (4, 8)]
    assert all(player.deterministic for player in players)
    assert not make_player(f"{run}:root=puct:temperature=1:temperature_moves=4", game).deterministic
    result = play_match(game, players, MatchSettings(games=20))
    assert result.settings["random_plies"] == 4
    assert result.distinct > 5


def test_time_becomes_simulations_in_a_match(game: Game, run: Path) -> None:
    fork = make_player(f"{run}:time=0.01s", game).fork(1)
    told = fork.describe()
    assert told["fitted_to_seconds"] == 0.01
    assert told["search"]["simulations"] > 1
    positions = Positions.of_states(game, game.initial_states(3), game_streams(3))
    assert fork.choose(positions).shape == (3, 2)


def game_streams(count: int) -> Any:
    import numpy as np

    return np.arange(count, dtype=np.uint64)


def test_assessment(game: Game, run: Path) -> None:
    player: Any = make_player(str(run), game)
    assess = Assessment(game, games=4, simulations=4, opponents=("random", "uct:5"))
    scores = assess(player.network, player.evaluator)
    assert set(scores) == {"random", "uct:5"}
    assert all(0 <= score <= 1 for score in scores.values())
    assert scores == assess(player.network, player.evaluator)


def test_an_assessment_tells_the_score_of_the_network(game: Game, run: Path) -> None:
    """However little it has learned, its search beats random play."""
    player: Any = make_player(str(run), game)
    assess = Assessment(game, games=20, simulations=100, opponents=("random",))
    assert assess(player.network, player.evaluator)["random"] > 0.75


def test_common_interests_are_noticed(game: Game) -> None:
    assert not share_interest(game)
    assert not share_interest(load("prisoners-dilemma"))
    assert share_interest(load("tower"))
    assert Assessment(load("tower")).opponents == ()


def test_wrong_opponents_are_refused_before_training(game: Game) -> None:
    for spec, told in (("utc", "there is no player"), ("uct:0", "needs a number of iterations")):
        with pytest.raises(SettingsError, match=told):
            Assessment(game, opponents=("random", spec))
    endless = "(role a) (role b) (init p) (legal a go) (legal b go) (next p)"
    goals = "(<= terminal (true q)) (goal a 0) (goal b 0)"
    assert not share_interest(load_text(f"{endless} {goals}"))  # nobody knows


def test_ratings_of_a_run(game: Game, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = history.RatingSettings(
        games=4, checkpoints=2, simulations=4, anchors=("random", "uct:5")
    )
    rated = history.rate_run(run, game, settings)
    assert [rating.name for rating in rated.ratings][-2:] == ["random", "uct:5"]
    assert len(rated.steps) == 2
    assert (run / "ratings.png").read_bytes().startswith(b"\x89PNG")
    saved = json.loads((run / "ratings.json").read_text())
    assert len(saved["matches"]) == 1 + 4 + 1
    # What was played counts again.
    monkeypatch.setattr(history, "play_match", None)
    assert history.rate_run(run, game, settings) == rated
    # But not where players have come to mean something else.
    monkeypatch.setattr(specs, "SYMMETRIES", 1)
    with pytest.raises(TypeError):
        history.rate_run(run, game, settings)


def test_ratings_need_opponents(run: Path) -> None:
    for name in ("tower", "eight-puzzle"):  # all get the same; there is only one
        with pytest.raises(SettingsError, match="nobody plays against another"):
            history.rate_run(run, load(name))


def test_ratings_need_a_run_with_checkpoints(game: Game, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="not the folder of a run"):
        history.rate_run(tmp_path, game)
    with pytest.raises(SettingsError, match="anchor"):
        history.RatingSettings(anchors=())


# --- experiments ---


def test_results_are_made_once(tmp_path: Path) -> None:
    made = []

    def make() -> dict[str, Any]:
        made.append(1)
        return {"value": len(made)}

    path = tmp_path / "results" / "some.json"
    for identity in ({"n": 1}, {"n": 1}, {"n": 2}):
        ResultFile(path, "some", {}).part("part", identity, make)
    assert len(made) == 2
    assert json.loads(path.read_text())["parts"]["part"]["value"] == 2


def test_matches_are_played_again_when_others_would_play(
    game: Game, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = tmp_path / "run", tmp_path / "some.json"
    shutil.copytree(run, folder)
    played: list[int] = []

    def count_matches(*arguments: Any) -> Any:
        played.append(1)
        return play_match(*arguments)

    def play() -> int:
        """How many matches are played for a part with one and a curve with two."""
        before, settings = len(played), MatchSettings(games=2)
        file = ResultFile(path, "some", {})
        runs = {"ours": str(folder)}
        match_part(file, "match", "tic-tac-toe", ["ours", "random"], settings, runs)
        curve_part(
            file, "curve", "tic-tac-toe", folder, "random",
            options=":sims=2", count=1, settings=settings,
        )  # fmt: skip
        return len(played) - before

    monkeypatch.setattr(common, "play_match", count_matches)
    assert [play(), play()] == [3, 0]
    # Trained anew: other weights under the same name.
    newest = find_checkpoint(folder)
    old = networks.load_checkpoint(newest, game)
    other = networks.build_network(old.network.encoding, old.network.slots, old.network.settings)
    networks.save_checkpoint(newest, other, game, step=old.step, extra=old.extra)
    assert [play(), play()] == [3, 0]
    # A spec without a number of simulations means another player.
    monkeypatch.setattr(specs, "SIMULATIONS", 7)
    assert [play(), play()] == [1, 0]
    # Files of earlier versions do not say who played.
    data = json.loads(path.read_text())
    for part in data["parts"].values():
        del part["identity"]["meanings"]
    path.write_text(json.dumps(data))
    assert [play(), play()] == [3, 0]
    # What cannot be played again stands.
    shutil.rmtree(folder)
    assert play() == 0
    path.unlink()
    with pytest.raises(SettingsError, match="there is no player"):
        play()


def test_parts_of_other_files_are_taken_over(tmp_path: Path) -> None:
    def make(value: int) -> dict[str, Any]:
        return {"value": value}

    one, two = tmp_path / "one.json", tmp_path / "two.json"
    ResultFile(one, "one", {}).part("a", {"n": 1}, lambda: make(1))
    file = ResultFile(two, "two", {})
    file.adopt("b", one, "a")
    file.adopt("b", one, "nothing")
    file.adopt("c", tmp_path / "none.json", "a")
    assert file.part("b", {"n": 1}, lambda: make(2))["value"] == 1
    assert file.part("b", {"n": 2}, lambda: make(2))["value"] == 2
    file.adopt("b", one, "a")
    assert file.part("b", {"n": 2}, lambda: make(3))["value"] == 2
    assert "c" not in file.data["parts"]


def test_networks_outlive_their_runs(game: Game, run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    file = ResultFile(tmp_path / "results" / "some.json", "some", {})
    common.keep_network(game, folder, file.networks)
    assert file.find_network(folder) == folder
    meant = explain_spec(f"{folder}:sims=7")
    shutil.rmtree(folder)
    kept = file.find_network(folder)
    assert kept.parent == tmp_path / "results" / "networks"
    assert explain_spec(f"{kept}:sims=7") == meant  # the same weights: no match is played again
    assert file.find_network(tmp_path / "other") == tmp_path / "other"


def test_what_is_lost_is_trained_again(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, trained = tmp_path / "run", []

    def copy_run(*_: Any) -> dict[str, Any]:
        trained.append(1)
        shutil.copytree(run, folder)
        return {"summary": {"finished": True}}

    monkeypatch.setattr(common, "run_apart", copy_run)

    def train() -> int:
        file = ResultFile(tmp_path / "results" / "some.json", "some", {})
        common.train_part(file, "training", "tic-tac-toe", folder, {})
        return len(trained)

    assert [train(), train()] == [1, 1]
    shutil.rmtree(folder)
    assert train() == 1  # what was kept of the run is enough
    shutil.rmtree(tmp_path / "results" / "networks")
    assert train() == 2


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("plan", [plans.Plan(role="o", slow_uct=4), plans.Plan(together=True)])
def test_an_experiment_from_its_run_to_the_page(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: plans.Plan, timed: bool
) -> None:
    for name in ("ours", "gaz"):
        shutil.copytree(run, tmp_path / f"p3-tic-tac-toe-{name}-0")
    monkeypatch.setattr(p3, "train_part", lambda *_: None)
    for module in (p3, tables):
        monkeypatch.setattr(module, "PLANS", {"tic-tac-toe": plan})
    monkeypatch.setattr(tables, "P3_GAMES", {"tic-tac-toe": "Goal: none."})
    how = {"games": 2, "simulations": 4, "iterations": 5, "seconds": 0.002, "curve_games": 2}
    play = partial(
        p3.main, **how, only="", minutes=1, seeds="0", gaz_simulations=4, curve_points=1,
        output=tmp_path / "p3.json", runs=tmp_path, timed=timed,
    )  # fmt: skip
    play(gaz=False)
    parts = json.loads((tmp_path / "p3.json").read_bytes())["parts"]
    assert any(name.endswith("/ours") for name in parts)
    assert not any("gaz" in name.lower() for name in parts)
    assert not any("gaz" in player for part in parts.values() for player in _specs_of(part))
    play()
    again = json.loads((tmp_path / "p3.json").read_bytes())["parts"]
    assert any(name.endswith("/GAZ") for name in again)
    for name, part in parts.items():  # in time all are measured anew that are compared
        if name.endswith("/fitted"):
            assert again[name]["counts"].keys() > part["counts"].keys()
        elif "fitted" not in part["identity"]:
            assert again[name] == part
    if not timed:
        missing = tables.make_page(tmp_path).split("## What is missing")[1]
        assert "0.002 s" in missing
        assert "100 simulations" not in missing
        return
    page = tables.make_page(tmp_path)
    assert "- tic-tac-toe: " not in page.split("## What is missing")[1]
    assert "iterations a move" in page
    assert ("over time" in page) == (not plan.together)


def _specs_of(part: dict[str, Any]) -> list[str]:
    specs: list[str] = part["identity"].get("players", [])
    return specs


def test_speed_of_a_run() -> None:
    line = {"new_positions": 100, "seconds": 2.0, "play_seconds": 1.0, "new_steps": 10}
    times = {"time/gather": 1.0, "time/evaluate": 8.0, "time/scatter": 1.0, "time/drain": 0.0}
    speed = summarise_speed([{"new_positions": 1, "seconds": 99.0}, {**line, **times}])
    assert speed["selfplay_positions_per_second"] == 100
    assert speed["positions_per_second"] == 50
    assert speed["search_share"] == pytest.approx(0.2)
    assert summarise_speed([]) == {}
