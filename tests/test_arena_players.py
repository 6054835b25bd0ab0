"""Specs of players, players for single states, and how much work fits into a time."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import omnilude
from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.players import Positions, RandomPlayer, UctPlayer, join_analyses
from omnilude.arena.specs import find_game, make_player, make_uct_settings, split_spec
from omnilude.arena.timing import fit_count
from omnilude.errors import CheckpointError, IllegalMove, SettingsError
from omnilude.games import Game, State, load
from omnilude.games.loading import load_text

STUCK = """
(role a) (role b) (init p) (<= (legal a go) (true p)) (<= (legal b go) (true p))
(<= (next q) (does a go)) (<= terminal (true r)) (<= (goal a 0) terminal) (<= (goal b 0) terminal)
(<= (next r) (true r))
"""


@pytest.fixture(scope="module")
def game() -> Game:
    return load("tic-tac-toe")


# --- specs ---


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("random", ("random", {})),
        ("uct:1000", ("uct", {"iterations": "1000"})),
        ("uct:0.5s", ("uct", {"time": "0.5s"})),
        ("uct:100:playouts=8", ("uct", {"iterations": "100", "playouts": "8"})),
        ("uct:100,playouts=8", ("uct", {"iterations": "100", "playouts": "8"})),
        ("runs/a:sims=5:time=1s", ("runs/a", {"simulations": "5", "time": "1s"})),
    ],
)
def test_specs_are_split(spec: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert split_spec(spec) == expected


def test_uct_settings_from_specs() -> None:
    def settings(spec: str) -> Any:
        return make_uct_settings(spec, split_spec(spec)[1])

    assert (settings("uct:300").iterations, settings("uct:300").seconds) == (300, 0)
    assert (settings("uct:2s").iterations, settings("uct:2s").seconds) == (0, 2)
    assert settings("uct:1s:exploration=1.5:playouts=4").exploration == 1.5
    assert settings("uct:time=1s:iterations=50").iterations == 50


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "names no player"),
        ("uct", "needs a number of iterations or a time"),
        ("uct:many", "whole number, not 'many'"),
        ("uct:0", "iterations or of seconds"),
        ("uct:0s", "not a time above 0"),
        ("uct:100:playouts=x", "playouts in .* must be a whole number"),
        ("uct:100:sims=3", "has no 'simulations'"),
        ("uct:100:100", "sets iterations twice"),
        ("uct:100:playouts=", "not of the form name=value"),
        ("random:seed=1", "has no options"),
        ("runs/nowhere", "there is no player 'runs/nowhere': give random"),
        ("alphago", "there is no player 'alphago': give random"),
    ],
)
def test_specs_that_make_no_sense(spec: str, message: str, game: Game) -> None:
    with pytest.raises(SettingsError, match=message):
        make_player(spec, game)


def test_options_may_be_given_apart(game: Game) -> None:
    player = make_player("uct:100", game, playouts=3)
    assert isinstance(player, UctPlayer)
    assert player.settings.playouts == 3
    with pytest.raises(SettingsError, match="playouts is set twice"):
        make_player("uct:100:playouts=2", game, playouts=3)
    player = make_player("uct", game, seconds=2)  # by their short names too
    assert isinstance(player, UctPlayer)
    assert player.settings.seconds == 2


def test_names_that_were_meant_are_told(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path("runs/tower")
    run.mkdir(parents=True)
    (run / "settings.toml").touch()
    (run.parent / "towe.json").touch()  # has no weights
    for spec, meant in (
        ("towr", run),
        ("Tower", run),
        ("runs/towwer:sims=5", run),
        ("rndom", "random"),
    ):
        with pytest.raises(SettingsError, match=f"no player '{spec}'; did you mean '{meant}'\\?$"):
            make_player(spec, game)
    with pytest.raises(SettingsError) as raised:
        omnilude.player("uct:100", simulations=20)
    assert str(raised.value).startswith("'uct:100' has no 'simulations'; it has iterations, ")
    with pytest.raises(SettingsError, match="did you mean 'playouts'"):
        make_player("uct:100:playout=2", game)


@pytest.mark.parametrize("path", [".", "..", "/", "runs"])
def test_folders_that_are_no_runs(
    path: str, game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    with pytest.raises(CheckpointError, match=f"there is no run or checkpoint '{path}'"):
        omnilude.player(path, game=game)
    assert find_game(path) is None


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seeds_out_of_range(seed: int) -> None:
    with pytest.raises(SettingsError, match=r"from 0 to 2\^64 - 1"):
        omnilude.player("random", seed=seed)


# --- single states ---


@pytest.mark.parametrize("name", ["tic-tac-toe", "tower", "race-dice", "eight-puzzle"])
@pytest.mark.parametrize("spec", ["random", "uct:20"])
def test_a_player_plays_any_game_to_its_end(name: str, spec: str) -> None:
    game, player = load(name), omnilude.player(spec, seed=1)
    state = game.initial()
    for _ in range(300):
        if state.terminal:
            break
        moves = player.choose(state)
        assert [move.role for move in moves] == list(range(len(game.roles)))
        state = state.play(moves)
    assert state.terminal


def test_one_role_or_some_roles(game: Game) -> None:
    state = game.initial()
    assert omnilude.player("uct:50").choose(state, "x").role == game.role_number("x")
    (move,) = omnilude.player("uct:50", roles=["o"]).choose(state)
    assert str(move) == "noop"
    with pytest.raises(IllegalMove, match="no role 'z'"):
        omnilude.player("random").choose(state, "z")


def test_the_same_seed_chooses_the_same() -> None:
    state = load("connect-four").initial()

    def choices(seed: int) -> list[str]:
        player = omnilude.player("random", seed=seed)
        return [str(player.choose(state, "red")) for _ in range(20)]

    assert choices(1) == choices(1) != choices(2)
    assert len(set(choices(1))) > 2  # but one player does not repeat itself


def test_analysis_shows_what_uct_thinks(game: Game) -> None:
    # x wins at once in the corner.
    state = game.initial()
    turns = [("mark 1 1", 0), ("mark 2 1", 1), ("mark 1 2", 0), ("mark 2 2", 1)]
    for text, role in turns:
        moves = ["noop", "noop"]
        moves[role] = f"({text})"
        state = state.play(moves)
    found = omnilude.player("uct:400").analyse(state)
    assert str(found.chosen[0]) == "(mark 1 3)"
    best = found["x"].moves[0]
    assert str(best.move) == "(mark 1 3)"
    assert best.value == 1
    assert best.visits == max(move.visits for move in found["x"].moves)
    assert found["x"].value > 0.8 > found["o"].value
    assert "(mark 1 3)" in str(found)
    with pytest.raises(KeyError):
        found["z"]


def test_analysis_of_random_players(game: Game) -> None:
    found = omnilude.player("random").analyse(game.initial())
    assert [move.prior for move in found["x"].moves] == pytest.approx([1 / 9] * 9)
    assert math.isnan(found["x"].value)
    assert "-" in str(found)


def test_the_end_is_the_end(game: Game) -> None:
    state, player = game.initial(), omnilude.player("random")
    while not state.terminal:
        state = state.play(player.choose(state))
    with pytest.raises(IllegalMove, match="over"):
        player.choose(state)


def test_a_role_without_a_move_ends_it_too() -> None:
    state = load_text(STUCK).initial().play(["go", "go"])
    assert not state.terminal
    for spec in ("random", "uct:5"):
        with pytest.raises(IllegalMove, match="a has no legal move"):
            omnilude.player(spec).choose(state)
        with pytest.raises(IllegalMove, match="a has no legal move"):
            omnilude.player(spec).analyse(state)


def test_states_know_their_ply(game: Game) -> None:
    state = game.initial()
    later = state.play(["(mark 1 1)", "noop"]).play(["noop", "(mark 2 1)"])
    assert (state.ply, later.ply) == (0, 2)
    assert later == State(game, later.block.copy())


def test_wrong_players_are_refused_at_once(game: Game) -> None:
    with pytest.raises(SettingsError, match="no player 'runs/typo'"):
        omnilude.player("runs/typo", simulations=100)
    with pytest.raises(SettingsError, match="has no 'threads'"):
        omnilude.player("uct:10", threads=2)  # a single tree has a single thread
    with pytest.raises(SettingsError, match="must be a whole number"):
        omnilude.player("uct:10", playouts="x")
    with pytest.raises(SettingsError, match="names no player"):
        omnilude.player("")
    with pytest.raises(SettingsError, match="no player 'nobody'"):
        omnilude.player("nobody", game=game)
    with pytest.raises(SettingsError, match="seed"):
        omnilude.player("random", seed=-1)


def test_players_do_not_import_torch() -> None:
    code = """
import sys, omnilude
game = omnilude.load("tic-tac-toe")
omnilude.player("uct:10").choose(game.initial())
found = {"torch", "matplotlib", "onnxruntime", "tensorboard"} & set(sys.modules)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# --- matches and time ---


def test_uct_beats_random(game: Game) -> None:
    players = [make_player("uct:200", game), make_player("random", game)]
    result = play_match(game, players, MatchSettings(games=40, seed=2))
    assert result.tally(0).wins > 30
    again = play_match(game, players, MatchSettings(games=40, seed=2, threads=1))
    assert again.to_json()["played"] == result.to_json()["played"]
    assert result.players[0]["iterations"] == 200


def test_more_iterations_are_stronger() -> None:
    game = load("connect-four")
    players = [make_player("uct:400", game), make_player("uct:20", game)]
    assert play_match(game, players, MatchSettings(games=40)).tally(0).wins > 25


def test_work_that_fits_a_time(game: Game) -> None:
    def search(state: NDArray[np.uint8], count: int) -> tuple[int, float]:
        assert state.shape == (1, game.state_bytes)
        return count, 0.01 + count * 1e-4

    # 10,000 a second, and a start that matters less the longer the search.
    assert fit_count(game, search, 100.0) == pytest.approx(1_000_000, rel=0.01)
    with pytest.raises(SettingsError):
        fit_count(game, search, 0)


def test_time_is_measured_where_there_is_a_choice() -> None:
    game = load("race-dice")  # begins with a roll

    def search(state: NDArray[np.uint8], count: int) -> tuple[int, float]:
        batch = game.describe(state)
        assert any(len(batch.legal(0, role)) > 1 for role in game.players)
        return min(count, 5000), count * 1e-6  # soon knows everything

    assert fit_count(game, search, 1.0) < 2_000_000


def test_players_by_the_clock_get_a_fixed_number_in_matches(game: Game) -> None:
    fork = UctPlayer(game, make_uct_settings("uct:0.01s", {"time": "0.01s"})).fork(seed=3)
    assert fork.settings.seconds == 0
    assert fork.settings.iterations > 10
    assert fork.describe()["fitted_to_seconds"] == 0.01


def test_players_by_the_clock_get_what_was_measured(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for all matches; where a number was given too, the smaller counts."""
    asked: list[float] = []

    def fit(_: Game, search: object, seconds: float) -> int:
        asked.append(seconds)
        return 123

    monkeypatch.setattr("omnilude.arena.players.fit_count", fit)
    for options, wanted in (("", 123), (":iterations=50", 50), (":iterations=500", 123)):
        asked.clear()
        player = make_player(f"uct:2s{options}", game)
        forks = [player.fork(seed) for seed in (3, 4)]
        assert [fork.describe()["iterations"] for fork in forks] == [wanted, wanted]
        assert asked == [2.0]


def test_analyses_are_joined(game: Game) -> None:
    player = RandomPlayer(game)
    states = game.initial_states(5)
    streams = np.arange(5, dtype=np.uint64)
    whole = player.analyse(Positions.of_states(game, states, streams))
    parts = [
        player.analyse(Positions.of_states(game, states[part], streams[part]))
        for part in (slice(0, 2), slice(2, 5))
    ]
    joined = join_analyses(parts)
    for name in ("moves", "offsets", "slots", "priors", "simulations"):
        assert (getattr(joined, name) == getattr(whole, name)).all()


def test_folders_that_are_no_checkpoints(game: Game, tmp_path: Any) -> None:
    with pytest.raises(CheckpointError):
        make_player(str(tmp_path), game)
