"""Players with networks in games of every kind; the networks have learned nothing."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import omnilude
from omnilude.arena import network_players
from omnilude.arena.assess import Assessment
from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.specs import explain_spec, make_player
from omnilude.encoding import make_encoding
from omnilude.games import Game, State, load
from omnilude.networks import NetworkSettings, build_network, save_checkpoint

CHEAP = ":engine=torch:symmetries=1"


def save_untrained(game: Game, folder: Path) -> Path:
    slots = [game.slots(player) for player in game.players]
    network = build_network(make_encoding(game), slots, NetworkSettings(preset="tiny"))
    return save_checkpoint(folder / game.name, network, game)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


@pytest.fixture(scope="module")
def game() -> Game:
    return load("tic-tac-toe")


@pytest.fixture(scope="module")
def untrained(game: Game, folder: Path) -> Path:
    return save_untrained(game, folder)


# Chance; three roles that move at the same time; three roles in turn; one role.
@pytest.mark.parametrize("name", ["race-dice", "pacman-3p", "connect-four-3p", "eight-puzzle"])
def test_networks_play_any_game_to_its_end(name: str, folder: Path) -> None:
    game = load(name)
    path = save_untrained(game, folder)
    for options in (f":sims=2{CHEAP}", f":sims=2:root=puct{CHEAP}", ":sims=0:engine=torch"):
        player, state = omnilude.player(f"{path}{options}", seed=1), game.initial()
        while not state.terminal and state.ply < 300:
            moves = player.choose(state)
            assert [move.role for move in moves] == list(range(len(game.roles)))
            state = state.play(moves)
        assert state.terminal


@pytest.mark.parametrize("name", ["race-dice", "pacman-3p", "connect-four-3p", "eight-puzzle"])
def test_networks_analyse_any_game(name: str, folder: Path) -> None:
    game = load(name)
    path = save_untrained(game, folder)
    state = find_choice(game)
    for options in (f":sims=8{CHEAP}", ":sims=0:engine=torch"):
        found = omnilude.player(f"{path}{options}").analyse(state)
        assert [analysis.role for analysis in found.roles] == [game.roles[n] for n in game.players]
        assert [move.role for move in found.chosen] == list(range(len(game.roles)))
        for analysis in found.roles:
            assert 0 <= analysis.value <= 1
            if len(analysis.moves) > 1:
                assert sum(move.prior for move in analysis.moves) == pytest.approx(1, abs=1e-4)
                assert {m.move for m in analysis.moves} == set(state.legal(analysis.role))


def find_choice(game: Game) -> State:
    """The first state in which a player has a choice."""
    state = game.initial()
    while all(len(state.legal(role)) < 2 for role in game.players):
        state = state.play([state.legal(role)[0] for role in game.roles])
    return state


@pytest.mark.parametrize("options", [f":sims=3{CHEAP}", ":sims=0:engine=torch"])
def test_chance_is_not_always_the_same(options: str, folder: Path) -> None:
    game = load("race-dice")
    state, chance = game.initial(), game.chance.index(True)
    assert len(state.legal(chance)) > 1

    def rolls(seed: int) -> list[str]:
        player = omnilude.player(f"{save_untrained(game, folder)}{options}", seed=seed)
        return [str(player.choose(state)[chance]) for _ in range(20)]

    assert len(set(rolls(1))) > 2
    assert rolls(1) == rolls(1) != rolls(2)


def test_moves_are_drawn_at_the_start_of_a_game_only(game: Game, untrained: Path) -> None:
    player = omnilude.player(
        f"{untrained}:sims=16:root=puct{CHEAP}", temperature=1, temperature_moves=2, reuse=False
    )
    state = game.initial()
    assert len({str(player.choose(state, "x")) for _ in range(20)}) > 1
    while state.ply < 2:
        state = state.play(player.choose(state))
    assert len({str(player.choose(state, "x")) for _ in range(20)}) == 1


# --- time ---


@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_the_clock_ends_a_search(
    game: Game, untrained: Path, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 100_000
    monkeypatch.setattr(network_players, "fit_count", lambda *_: most)
    ticks = iter(range(1000))
    clock = SimpleNamespace(perf_counter=lambda: 0.1 * next(ticks), thread_time=time.thread_time)
    monkeypatch.setattr(network_players, "time", clock)
    player = omnilude.player(f"{untrained}:time=1s:root={root}{CHEAP}")
    found = player.analyse(game.initial())
    assert 5 < found.simulations < most
    assert not found.solved
    visits = [move.visits for move in found["x"].moves]
    assert visits[0] == max(visits)  # the chosen one is the first
    assert found.chosen[0] in game.initial().legal("x")
    # Also where it allows no more than a single evaluation.
    monkeypatch.setattr(clock, "perf_counter", iter([0.0, 2.0]).__next__)
    assert player.choose(game.initial(), "x") in game.initial().legal("x")


def test_trees_are_kept_where_that_is_possible(game: Game, untrained: Path, folder: Path) -> None:
    many = load("connect-four-3p")  # searched by PUCT where nothing is said

    def keeps(options: str, of: Game = game, path: Path = untrained) -> bool:
        player: Any = omnilude.player(f"{path}:sims=4{options}{CHEAP}", game=of)
        return bool(player._player.settings.reuse)

    assert keeps(":root=puct")
    assert not keeps(":root=puct:reuse=false")
    assert not keeps("")  # sequential halving begins anew
    path = save_untrained(many, folder)
    assert keeps("", many, path)
    assert not keeps(":root=gumbel", many, path)


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("eight-puzzle", "gumbel"),
        ("connect-four", "gumbel"),
        ("connect-four-3p", "puct"),
        ("pacman-3p", "gumbel"),  # three, but they choose at once
    ],
)
def test_where_many_take_turns_play_searches_by_puct(name: str, root: str, folder: Path) -> None:
    game = load(name)
    path = save_untrained(game, folder)

    def searched(options: str = "") -> Any:
        told = explain_spec(f"{path}{options}", game)["search"]["root"]
        played: Any = make_player(f"{path}{options}{CHEAP}", game)
        assert played.settings.root == told
        return told

    assert searched() == root
    assert {kind: searched(f":root={kind}") for kind in ("gumbel", "puct")} == {
        "gumbel": "gumbel",
        "puct": "puct",
    }
    assert Assessment(game).search.root == root
    assert Assessment(game, search={"root": "puct"}).search.root == "puct"


def test_a_search_by_the_clock_ends_when_its_memory_is_used_up(
    untrained: Path, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_players, "MOST_BYTES", 1 << 15)
    for root in ("puct", "gumbel"):
        player = omnilude.player(f"{untrained}:time=600s:root={root}:solver=no{CHEAP}")
        found = player.analyse(game.initial())
        assert 50 < found.simulations < 2000
        if root == "gumbel":  # in its stages, as many as memory has room for
            visits = [move.visits for move in found[game.roles[0]].moves]
            assert max(visits) > 3 * min(visits)
    monkeypatch.setattr(network_players, "MOST_BYTES", 1 << 16)
    kept = omnilude.player(f"{untrained}:time=600s:root=puct:reuse=yes:solver=no{CHEAP}")
    again = omnilude.player(f"{untrained}:time=600s:root=puct:reuse=no:solver=no{CHEAP}")
    state = game.initial()
    assert again.analyse(state).simulations > 1.5 * kept.analyse(state).simulations


@pytest.mark.parametrize("name", ["tic-tac-toe", "pacman-3p", "race-dice", "kuhn-poker"])
def test_all_players_tell_of_the_same_moves(name: str, folder: Path) -> None:
    """Those of players who have a choice; where chance alone chooses, of none."""
    game = load(name)
    path = save_untrained(game, folder)
    specs = ["random", "uct:20", f"{path}:sims=8{CHEAP}", f"{path}:sims=0:engine=torch"]
    players = [omnilude.player(spec, game=game) for spec in specs]
    state = game.initial()
    while not state.terminal:
        told = [player.analyse(state) for player in players]
        for role in game.players:
            legal = {move.text for move in state.legal(role)}
            found = [{m.move.text for m in a[game.roles[role]].moves} for a in told]
            assert found == [legal if len(legal) > 1 else set()] * len(players)
        state = state.play(players[0].choose(state))


# --- luck ---


def test_who_is_deterministic(game: Game, untrained: Path, folder: Path) -> None:
    tower = load("tower")  # all build at the same time
    together = save_untrained(tower, folder)

    def certain(path: Path, of: Game, options: str = "") -> bool:
        return make_player(f"{path}:sims=4{options}{CHEAP}", of).deterministic

    assert certain(untrained, game)
    assert certain(untrained, game, ":playouts=4")
    assert not certain(untrained, game, ":temperature=1:temperature_moves=1")
    assert not certain(together, tower)
    assert certain(together, tower, ":root=puct")


def test_playouts_do_not_make_games_differ(game: Game, untrained: Path) -> None:
    """Equal positions of a table share them: if games are to differ, openings must be drawn."""
    spec = f"{untrained}:playouts=4:playout_weight=0.5{CHEAP}"
    players = [make_player(f"{spec}:sims={count}", game) for count in (4, 6)]
    settings: dict[str, Any] = {"games": 20, "batch": 20, "threads": 1}
    assert play_match(game, players, MatchSettings(**settings, random_plies=0)).distinct == 2
    result = play_match(game, players, MatchSettings(**settings))
    assert result.settings["random_plies"] == 4
    assert result.distinct > 10
    assert {told["engine"] for told in result.players} == {"torch"}


def test_walks_of_simultaneous_games_follow_the_stream(folder: Path) -> None:
    game = load("tower")
    player = omnilude.player(f"{save_untrained(game, folder)}:sims=16{CHEAP}")
    values = {
        tuple(move.value for role in player.analyse(game.initial()).roles for move in role.moves)
        for _ in range(10)
    }
    assert len(values) > 1  # visits follow the schedule, but what the others do meanwhile is drawn
