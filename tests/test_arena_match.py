"""Matches with stand-in players: seats, scores, intervals, and that games repeat."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.players import Player, Positions, RandomPlayer
from omnilude.arena.results import MatchResult, bootstrap_mean, count_effective, unique_names
from omnilude.arena.seating import list_seatings, seat_together
from omnilude.errors import SettingsError
from omnilude.games import Game, load
from omnilude.games.loading import load_text
from omnilude.games.statistics import wilson
from omnilude.search.pool import Analysis

# Three roles choose at the same time, and each is paid for its own choice alone.
CHOOSE = """
(role a) (role b) (role c) (init start)
(<= (legal ?r low) (role ?r) (true start)) (<= (legal ?r high) (role ?r) (true start))
(<= (next (did ?r ?m)) (does ?r ?m))
(<= terminal (true (did a low))) (<= terminal (true (did a high)))
(<= (goal ?r 20) (true (did ?r low))) (<= (goal ?r 70) (true (did ?r high)))
"""
ENDLESS = """
(role a) (role b) (init p) (legal a go) (legal b go) (next p) (<= terminal (true q))
(goal a 0) (goal b 0)
"""
STUCK = """
(role a) (role b) (init p) (<= (legal a go) (true p)) (<= (legal b go) (true p))
(<= (next q) (does a go)) (<= terminal (true r)) (<= (goal a 0) terminal) (<= (goal b 0) terminal)
(<= (next r) (true r))
"""


class Stub:
    """Plays by a rule: from the legal slots of a role to one of them."""

    deterministic = True

    def __init__(self, name: str, rule: Callable[[NDArray[np.int32]], int]) -> None:
        self.name, self.rule = name, rule
        self.asked: list[Positions] = []

    def choose(self, positions: Positions) -> NDArray[np.int32]:
        self.asked.append(positions)
        count, roles = positions.plays.shape
        moves = np.full((count, roles), -7, dtype=np.int32)  # nobody should look at these
        for n, role in np.argwhere(positions.plays):
            moves[n, role] = self.rule(positions.batch.legal(n, role))
        return moves

    def analyse(self, positions: Positions) -> Analysis:
        raise NotImplementedError

    def begin(self) -> None:
        pass

    def fork(self, seed: int) -> Stub:
        return self

    def describe(self) -> dict[str, Any]:
        return {"kind": "stub"}


def first(name: str = "first") -> Stub:
    return Stub(name, lambda legal: int(legal[0]))


def last(name: str = "last") -> Stub:
    return Stub(name, lambda legal: int(legal[-1]))


def wants(game: Game, text: str, name: str) -> Stub:
    slot = game.core.find_move(0, text)
    assert all(game.core.find_move(role, text) == slot for role in range(len(game.roles)))
    return Stub(name, lambda legal: slot if slot in legal else int(legal[0]))


def randoms(game: Game, count: int = 2) -> list[Player]:
    return [RandomPlayer(game, name=f"random {n}") for n in range(count)]


@pytest.fixture(scope="module")
def connect_four() -> Game:
    return load("connect-four")


# --- seats ---


@pytest.mark.parametrize(
    ("contestants", "players", "count"),
    [(2, 2, 2), (2, 3, 6), (3, 3, 6), (1, 3, 1), (3, 2, 6), (2, 1, 2), (3, 4, 36), (2, 4, 14)],
)
def test_seatings_are_fair(contestants: int, players: int, count: int) -> None:
    seatings = list_seatings(contestants, players)
    assert len(seatings) == len(set(seatings)) == count
    table = np.array(seatings)
    for player in range(players):  # every contestant sits in every role equally often
        assert len(set(np.bincount(table[:, player], minlength=contestants).tolist())) == 1
    if contestants <= players:
        assert all(len(set(seating)) == contestants for seating in seatings)


def test_two_against_three_roles_meet_one_against_two() -> None:
    expected = {(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)}
    assert set(list_seatings(2, 3)) == expected
    assert seat_together(2, 3) == [(0, 0, 0), (1, 1, 1)]


def test_too_many_seatings_are_an_error() -> None:
    with pytest.raises(SettingsError, match="too many ways"):
        list_seatings(2, 30)
    with pytest.raises(SettingsError, match="more than"):
        list_seatings(12, 5)


def test_games_are_rounded_up_to_whole_rounds(connect_four: Game) -> None:
    result = play_match(connect_four, randoms(connect_four), MatchSettings(games=5))
    assert result.games == 6
    assert result.seats.tolist() == [[0, 1], [1, 0]] * 3


# --- scores ---


def test_simultaneous_moves_of_three_roles() -> None:
    game = load_text(CHOOSE)
    high, low = wants(game, "high", "high"), wants(game, "low", "low")
    result = play_match(game, [high, low], MatchSettings(games=12, threads=1, random_plies=0))
    # Each role is paid for its own choice, whoever sits beside it.
    for place in range(3):
        assert result.tally(0, place).score.value == pytest.approx(0.7)
        assert result.tally(1, place).score.value == pytest.approx(0.2)
        assert result.tally(0, place).games == 6
    assert result.tally(0).wins == result.tally(1).losses == 12
    assert result.tally(0).win_rate == wilson(6, 6)  # each seating was played twice
    assert result.pair_points().tolist() == [[0, 12], [0, 0]]
    assert set(result.lengths) == {1}
    assert all(positions.plays.any() for positions in (*high.asked, *low.asked))


def test_three_contestants_and_a_shared_best_score() -> None:
    game = load_text(CHOOSE)
    players = [wants(game, "high", "h1"), wants(game, "high", "h2"), wants(game, "low", "low")]
    result = play_match(game, players, MatchSettings(games=6, random_plies=0))
    for contestant, (wins, draws, losses) in enumerate([(0, 6, 0), (0, 6, 0), (0, 0, 6)]):
        tally = result.tally(contestant)
        assert (tally.wins, tally.draws, tally.losses) == (wins, draws, losses)
    assert result.pair_points()[0].tolist() == [0, 3, 6]


def test_played_together_each_contestant_has_its_own_games() -> None:
    game = load_text(CHOOSE)
    players = [wants(game, "high", "high"), wants(game, "low", "low")]
    result = play_match(game, players, MatchSettings(games=8, together=True))
    assert [result.tally(n).games for n in range(2)] == [4, 4]
    assert [result.tally(n).score.value for n in range(2)] == pytest.approx([0.7, 0.2])
    assert result.tally(0).wins + result.tally(0).draws + result.tally(0).losses == 0
    assert result.pair_points().sum() == 0


def test_roles_of_the_first_contestant_may_be_fixed() -> None:
    game = load_text(CHOOSE)
    players = [wants(game, "high", "high"), wants(game, "low", "low")]
    result = play_match(game, players, MatchSettings(games=3, roles=("b",)))
    assert result.seats.tolist() == [[1, 0, 1]] * 3
    assert result.tally(0, 1).games == 3
    assert result.tally(0, 0).games == 0
    with pytest.raises(SettingsError, match="no player 'd', only a, b, c"):
        play_match(game, players, MatchSettings(roles=("d",)))
    with pytest.raises(SettingsError, match="some of the roles, but not all"):
        play_match(game, players, MatchSettings(roles=("a", "b", "c")))


def test_single_player_games() -> None:
    game = load("eight-puzzle")
    result = play_match(game, randoms(game), MatchSettings(games=4))
    assert result.seats.tolist() == [[0], [1], [0], [1]]


def test_games_without_end_are_cut_and_stuck_games_end() -> None:
    for text, end, length, reward in ((ENDLESS, "cut", 7, 0.5), (STUCK, "stuck", 1, 0.0)):
        game = load_text(text)
        result = play_match(game, randoms(game), MatchSettings(games=4, max_length=7))
        assert result.to_json()["ends"][end] == 4
        assert set(result.lengths) == {length}
        assert (result.rewards == reward).all()
        assert result.tally(0).draws == 4


def test_players_are_asked_only_where_they_have_a_choice(connect_four: Game) -> None:
    one, two = first(), last()
    play_match(connect_four, [one, two], MatchSettings(games=2, threads=1, random_plies=0))
    for player in (one, two):
        for positions in player.asked:
            for n in range(len(positions.states)):
                roles = np.flatnonzero(positions.plays[n])
                assert any(len(positions.batch.legal(n, role)) > 1 for role in roles)
            again = connect_four.describe(positions.states)
            assert (again.offsets == positions.batch.offsets).all()
            assert (again.moves == positions.batch.moves).all()


def test_a_match_takes_the_cores_it_may_use(
    connect_four: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    result = play_match(connect_four, randoms(connect_four), MatchSettings(games=8, batch=2))
    assert result.settings["threads"] == 1
    assert result.to_json()["versions"]["cores"] == 1


# --- luck ---


def test_a_match_repeats_whatever_the_batches_and_threads() -> None:
    game = load("race-dice")  # chance moves too
    assert any(game.chance)

    def play(**changes: Any) -> dict[str, Any]:
        wanted = MatchSettings(**{"games": 60, "seed": 3, **changes})
        played: dict[str, Any] = play_match(game, randoms(game), wanted).to_json()["played"]
        return played

    expected = play(threads=1)
    assert play(threads=1) == expected
    assert play(threads=3, batch=7) == expected
    assert play(seed=4) != expected


def test_certain_players_get_random_openings(connect_four: Game) -> None:
    def play(**changes: Any) -> MatchResult:
        return play_match(connect_four, [first(), last()], MatchSettings(games=40, **changes))

    assert play(random_plies=0).distinct == 2
    result = play()
    assert result.settings["random_plies"] == 4
    assert result.distinct > 30
    mixed = play_match(connect_four, [first(), *randoms(connect_four, 1)], MatchSettings(games=4))
    assert mixed.settings["random_plies"] == 0


def test_seatings_of_a_round_share_their_opening(connect_four: Game) -> None:
    one, two = first(), first("again")
    result = play_match(connect_four, [one, two], MatchSettings(games=60, threads=1))
    # The same player on both sides: the two games of a round are the same game.
    assert (result.rewards[0::2] == result.rewards[1::2]).all()
    assert (result.lengths[0::2] == result.lengths[1::2]).all()
    assert result.tally(0).wins == result.tally(0).losses


def test_random_players_are_uniform() -> None:
    game = load_text(CHOOSE)
    result = play_match(game, randoms(game, 1), MatchSettings(games=4000, seed=1))
    for place in range(3):
        assert abs((result.rewards[:, place] > 0.5).mean() - 0.5) < 0.04
    together = (result.rewards > 0.5).sum(axis=1)  # roles choose independently of each other
    shares = np.bincount(together, minlength=4) / 4000
    assert np.abs(shares - np.array([1, 3, 3, 1]) / 8).max() < 0.04


# --- intervals, files ---


def test_wilson_interval_of_known_values() -> None:
    # Brown, Cai and DasGupta (2001) and any textbook: 8 of 10 gives 0.490 to 0.943.
    estimate = wilson(8, 10)
    assert (round(estimate.low, 3), round(estimate.high, 3)) == (0.490, 0.943)
    assert round(wilson(100, 100).low, 4) == 0.9630


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
def test_games_that_all_end_alike_leave_room_for_others(reward: float) -> None:
    found = bootstrap_mean(np.full(50, reward), np.arange(50, dtype=np.int32))
    assert found.value == pytest.approx(reward)
    assert found.high - found.low == pytest.approx(1 - wilson(50, 50).low)
    assert 0 <= found.low <= reward <= found.high <= 1
    once = bootstrap_mean(np.full(50, reward), np.zeros(50, dtype=np.int32))
    assert once.high - once.low == pytest.approx(1 - wilson(1, 1).low)  # one game, fifty times


def test_bootstrap_interval_agrees_with_the_normal_one() -> None:
    values = np.random.default_rng(0).choice([0.0, 0.5, 1.0], size=400, p=[0.3, 0.2, 0.5])
    estimate = bootstrap_mean(values, np.arange(400, dtype=np.int32))
    half = 1.96 * values.std() / 20
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.low == pytest.approx(values.mean() - half, abs=0.01)
    assert estimate.high == pytest.approx(values.mean() + half, abs=0.01)
    assert np.isnan(bootstrap_mean(np.empty(0), np.empty(0, dtype=np.int32)).value)


def test_repeated_games_make_no_interval_narrower(connect_four: Game) -> None:
    values = np.random.default_rng(0).choice([0.0, 0.5, 1.0], size=100)
    numbers = np.arange(100, dtype=np.int32)
    once = bootstrap_mean(values, numbers)
    again = bootstrap_mean(np.repeat(values, 4), np.repeat(numbers, 4))
    assert [again.value, again.low, again.high] == pytest.approx([once.value, once.low, once.high])
    assert bootstrap_mean(np.repeat(values, 4), np.repeat(numbers, 4)) == again
    assert count_effective(np.repeat(numbers, 4)) == 100
    assert count_effective(np.array([0, 0, 0, 1], dtype=np.int32)) == pytest.approx(1.6)
    assert count_effective(numbers[:0]) == 0
    # Two players without randomness: two games, one for each seating.
    settings = MatchSettings(games=40, random_plies=0)
    result = play_match(connect_four, [first(), last()], settings)
    tally, red = result.tally(0), result.tally(0, 0)
    assert (tally.games, tally.effective, red.games, red.effective) == (40, 2, 20, 1)
    assert tally.win_rate == wilson(tally.wins / 20, 2)
    assert red.win_rate == wilson(red.wins / 20, 1)
    assert (tally.score.low, tally.score.high) == (result.rewards.min(), result.rewards.max())


def test_results_survive_json(connect_four: Game) -> None:
    result = play_match(connect_four, randoms(connect_four), MatchSettings(games=10))
    data = json.loads(json.dumps(result.to_json()))
    assert MatchResult.from_json(data).tally(0) == result.tally(0)
    assert data["settings"]["seed"] == 0
    assert data["versions"]["omnilude"]
    assert data["tallies"]["random 0"]["all"]["games"] == 10
    assert result.table().row_count == 6


def test_names_are_told_apart() -> None:
    assert unique_names(["a", "b", "a", "a"]) == ("a", "b", "a (2)", "a (3)")


@pytest.mark.parametrize(
    "wrong",
    [{"games": 0}, {"seed": -1}, {"random_plies": -1}, {"cut_reward": 2}, {"batch": 0}],
)
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        MatchSettings(**wrong)


def test_an_error_in_a_player_ends_the_match(connect_four: Game) -> None:
    def fail(legal: NDArray[np.int32]) -> int:
        raise RuntimeError("lost my mind")

    with pytest.raises(RuntimeError, match="lost my mind"):
        play_match(connect_four, [first(), Stub("bad", fail)], MatchSettings(games=50))
