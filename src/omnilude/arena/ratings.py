"""Ratings: the strengths that explain best who beat whom (Bradley and Terry 1952), on Elo's scale.

A difference of 400 points means odds of 10 to 1. A contestant who won all games would be rated
without limit; a prior (a few draws against an average contestant) keeps every rating finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude.arena.results import MatchResult, count_effective
from omnilude.errors import SettingsError
from omnilude.games.statistics import Z95, Estimate

ELO = 400 / np.log(10)
"""Elo points for a factor e in the odds."""
PRIOR_DRAWS = 1.0
"""Imaginary draws of everybody against a contestant of average strength."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The strength of a contestant beside that of the anchor, with its 95 % interval."""

    name: str
    elo: Estimate
    games: float  # those that repeat each other count less


def rate(
    names: Sequence[str],
    points: NDArray[np.float64],
    *,
    anchor: str | None = None,
    prior: float = PRIOR_DRAWS,
) -> list[Rating]:
    """Ratings from points[i, j], what i scored against j with half a point for a draw.

    The anchor has rating 0 and no interval: the others' intervals are of the difference from it.
    Without an anchor the mean is 0. Intervals are from the curvature of the likelihood.
    """
    count = len(names)
    if points.shape != (count, count) or (points < 0).any():
        raise SettingsError("points must be one number, not negative, for each pair of names")
    if anchor is not None and anchor not in names:
        raise SettingsError(f"the anchor {anchor!r} is not among {', '.join(names)}")
    games = points + points.T
    np.fill_diagonal(games, 0)
    won = points.sum(axis=1) - np.diag(points)
    strength = np.zeros(count)
    for _ in range(200):
        gradient, curvature = _likelihood(strength, games, won, prior)
        step = np.linalg.solve(curvature, gradient)
        # Newton's steps may overshoot where everybody won or lost everything.
        strength += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    _, curvature = _likelihood(strength, games, won, prior)
    # Differences from the anchor, or from the mean, as a linear map of strengths.
    zero = np.full(count, 1 / count)
    if anchor is not None:
        zero = np.eye(count)[names.index(anchor)]
    difference = np.eye(count) - zero
    covariance = difference @ np.linalg.inv(curvature) @ difference.T
    values = ELO * (difference @ strength)
    halves = ELO * Z95 * np.sqrt(np.maximum(np.diag(covariance), 0))
    return [
        Rating(name, Estimate(float(v), float(v - half), float(v + half)), float(played))
        for name, v, half, played in zip(names, values, halves, games.sum(axis=1), strict=True)
    ]


def collect_points(results: Sequence[MatchResult]) -> tuple[list[str], NDArray[np.float64]]:
    """Everybody who played, and points[i, j] of all matches together."""
    names = list(dict.fromkeys(name for result in results for name in result.contestants))
    points = np.zeros((len(names), len(names)))
    for result in results:
        places = [names.index(name) for name in result.contestants]
        weight = count_effective(result.sequences) / result.games
        points[np.ix_(places, places)] += weight * result.pair_points()
    return names, points


def _likelihood(
    strength: NDArray[np.float64],
    games: NDArray[np.float64],
    won: NDArray[np.float64],
    prior: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradient, and minus the second derivatives, of the log-likelihood with its prior."""
    expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    own = 1 / (1 + np.exp(-strength))  # against the imaginary contestant, whose strength is 0
    gradient = won - (games * expected).sum(axis=1) + prior * (0.5 - own)
    information = games * expected * (1 - expected)
    curvature = -information
    np.fill_diagonal(curvature, information.sum(axis=1) + prior * own * (1 - own))
    return gradient, curvature
