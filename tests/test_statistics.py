"""Statistics of random play, and what a survey finds out about a game."""

import math

import pytest

import omnilude
from omnilude.games.loading import load_text
from omnilude.games.statistics import (
    collect_statistics,
    estimate_mean,
    measure_speed,
    random_play,
    wilson,
)
from omnilude.games.survey import find_board, survey_game

STUCK = """
(role a) (role b)
(init (at 0))
(legal a left) (legal a right)
(<= (legal b wait) (true (at 0)))
(<= (next (at 1)) (does a left))
(<= (next done) (does a right))
(<= terminal (true done))
(goal a 100)
"""
ENDLESS = (
    "(role a) (init p) (legal a go) (<= (next p) (does a go)) (<= terminal (true q)) (goal a 0)"
)


def test_wilson_interval() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20.
    share = wilson(81, 263)
    assert (round(share.low, 4), round(share.high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 20).low == 0.0
    assert round(wilson(0, 20).high, 4) == 0.1611
    assert math.isnan(wilson(0, 0).value)


def test_mean_with_interval() -> None:
    mean = estimate_mean([0.0, 1.0], [50, 50])
    assert mean.value == 0.5
    assert mean.high - mean.value == pytest.approx(1.96 * 0.5 / math.sqrt(99), rel=1e-3)


def test_tic_tac_toe_has_its_well_known_statistics() -> None:
    result = collect_statistics(omnilude.load("tic-tac-toe"), 200_000, seed=5)
    assert result.finished == result.playouts == 200_000
    assert result.stuck == result.cut == 0
    first, second = result.roles
    # Exact values for random play.
    for share, expected in ((first.goals[100], 737 / 1260), (first.goals[50], 8 / 63)):
        assert share.value == pytest.approx(expected, abs=0.005)
        assert share.low < share.value < share.high
    assert first.goals[100] == second.goals[0]
    assert first.reward.value + second.reward.value == pytest.approx(1)
    assert (result.shortest, result.longest) == (5, 9)
    assert 5 <= result.quantiles[0.05] <= result.quantiles[0.5] <= result.quantiles[0.95] <= 9
    assert result.steps == pytest.approx(result.length.value * 200_000)
    assert first.legal_moves * result.steps == pytest.approx(
        first.branching * first.decisions * result.steps + (1 - first.decisions) * result.steps
    )


def test_same_seed_same_statistics_whatever_the_threads() -> None:
    game = omnilude.load("kuhn-poker")
    told: list[int] = []
    one = collect_statistics(game, 5000, seed=3, progress=told.append)
    assert one == collect_statistics(game, 5000, seed=3, threads=2)
    assert one != collect_statistics(game, 5000, seed=4)
    assert told == sorted(told)
    assert told[-1] == 5000
    assert [role.chance for role in one.roles] == [False, False, True]


def test_branching_factor_of_a_fixed_game() -> None:
    # Both always have two moves, for ten rounds.
    result = collect_statistics(omnilude.load("prisoners-dilemma"), 300)
    for role in result.roles:
        assert (role.branching, role.legal_moves, role.decisions) == (2.0, 2.0, 1.0)
    assert result.length.value == result.length.low == 10


def test_stuck_and_cut_playouts_are_counted() -> None:
    stuck = collect_statistics(load_text(STUCK), 2000)
    assert stuck.stuck + stuck.finished == 2000
    assert 850 < stuck.stuck < 1150
    endless = collect_statistics(load_text(ENDLESS), 100, max_length=50)
    assert endless.cut == 100
    assert 50 <= endless.longest < 60  # the core looks at the length now and then only


def test_wrong_settings() -> None:
    game = omnilude.load("tic-tac-toe")
    for wrong in ({"playouts": 0}, {"playouts": 1, "threads": 0}, {"playouts": 1, "seed": -1}):
        with pytest.raises(omnilude.SettingsError):
            collect_statistics(game, **wrong)


def test_speed_is_measured() -> None:
    speed = measure_speed(omnilude.load("tic-tac-toe"), seconds=0.05)
    assert 5 * speed.playouts <= speed.steps <= 9 * speed.playouts


def test_random_play_shows_every_position() -> None:
    game = omnilude.load("tic-tac-toe")
    steps = list(random_play(game, 50, seed=1, max_length=100))
    assert len(steps) == 10
    assert sum(int(step.batch.terminal.sum()) for step in steps) == 50
    assert not steps[-1].live.any()
    assert len(list(random_play(game, 50, seed=1, max_length=3))) == 4


@pytest.mark.parametrize(
    ("name", "kind", "board"),
    [
        ("connect-four", "turn-taking", "6x7 cells"),
        ("tic-tac-toe-3d-4", "turn-taking", "4x4x4 cells"),
        ("pacman-3p", "simultaneous", "8x8 cells"),
        ("eight-puzzle", "single player", "3x3 cells"),
        ("kuhn-poker", "turn-taking, with chance, hidden information", None),
        ("tower", "simultaneous", None),
    ],
)
def test_survey_of_bundled_games(name: str, kind: str, board: str | None) -> None:
    survey = survey_game(omnilude.load(name))
    assert (survey.kind, survey.board) == (kind, board)
    assert survey.stuck == survey.odd_goals == survey.cut == 0
    assert sum(survey.choosers.values()) == pytest.approx(1)


def test_survey_finds_what_is_wrong_with_rules() -> None:
    stuck = survey_game(load_text(STUCK), playouts=100)
    assert 0 < stuck.stuck < 100
    assert stuck.odd_goals == 100 - stuck.stuck  # b has no goal
    assert survey_game(load_text(ENDLESS), playouts=7, max_length=20).cut == 7


def test_boards_are_found_by_their_coordinates() -> None:
    letters = [f"(square {c} {r} pawn)" for c in "abcde" for r in range(1, 5)]
    assert find_board(letters) == "4x5 cells"
    assert find_board(["(score red 5 x)", "(score blue 7 x)"]) is None
    assert find_board([]) is None
