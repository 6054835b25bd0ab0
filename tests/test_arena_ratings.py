"""Ratings recover the strengths that made the results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from omnilude.arena.ratings import rate
from omnilude.errors import SettingsError


def expected_points(elo: NDArray[np.float64], games: float) -> NDArray[np.float64]:
    points = games / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))
    np.fill_diagonal(points, 0)
    return points


@given(st.lists(st.integers(-600, 600), min_size=2, max_size=7))
@settings(max_examples=40, deadline=None)
def test_strengths_are_recovered(strengths: list[int]) -> None:
    elo = np.array(strengths, dtype=float)
    names = [str(n) for n in range(len(elo))]
    ratings = rate(names, expected_points(elo, 1000), anchor="0", prior=1e-6)
    assert [r.elo.value for r in ratings] == pytest.approx(list(elo - elo[0]), abs=0.5)


def test_a_known_score() -> None:
    # 75 % is 191 points; and the interval of a share of 100 games, by the delta method.
    weak, strong = rate(["a", "b"], np.array([[0, 25], [75.0, 0]]), anchor="a", prior=1e-9)
    assert strong.elo.value == pytest.approx(190.85, abs=0.01)
    half = 1.96 * 400 / np.log(10) / np.sqrt(100 * 0.75 * 0.25)
    assert strong.elo.high - strong.elo.value == pytest.approx(half, rel=1e-3)
    assert (weak.elo.low, weak.elo.value, weak.elo.high) == (0, 0, 0)
    assert strong.games == 100


def test_who_wins_everything_is_rated_all_the_same() -> None:
    ratings = rate(["a", "b", "c"], np.array([[0, 0, 0], [50.0, 0, 0], [50, 50, 0]]), anchor="a")
    values = [r.elo.value for r in ratings]
    assert values == sorted(values)
    assert values[-1] < 3000
    assert ratings[2].elo.low < values[2] < ratings[2].elo.high


def test_who_never_met_gets_a_wide_interval() -> None:
    points = np.zeros((3, 3))
    points[0, 1] = points[1, 0] = 50
    far = rate(["a", "b", "c"], points, anchor="a")
    assert far[1].elo.value == pytest.approx(0)
    assert far[2].elo.high - far[2].elo.low > 5 * (far[1].elo.high - far[1].elo.low)


def test_intervals_cover_the_truth() -> None:
    random = np.random.default_rng(3)
    elo = np.array([0.0, 100, 250, 400])
    chance = expected_points(elo, 1)
    inside = 0
    for _ in range(100):
        points = np.zeros((4, 4))
        for i in range(4):
            for j in range(i):
                points[i, j] = random.binomial(40, chance[i, j])
                points[j, i] = 40 - points[i, j]
        ratings = rate(list("abcd"), points, anchor="a")
        inside += sum(
            r.elo.low <= e <= r.elo.high for r, e in zip(ratings[1:], elo[1:], strict=True)
        )
    assert inside >= 270  # 95 % of 300 would be 285


def test_without_an_anchor_the_mean_is_zero() -> None:
    ratings = rate(["a", "b"], np.array([[0, 3.0], [7, 0]]))
    assert sum(r.elo.value for r in ratings) == pytest.approx(0)


def test_wrong_points_are_refused() -> None:
    with pytest.raises(SettingsError, match="anchor"):
        rate(["a"], np.zeros((1, 1)), anchor="b")
    with pytest.raises(SettingsError, match="points"):
        rate(["a"], np.zeros((2, 2)))
