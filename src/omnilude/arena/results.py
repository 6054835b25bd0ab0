"""What a match came to: every game, and the scores of contestants over all games or by role."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Table

from omnilude.games.statistics import Estimate, format_percent, wilson
from omnilude.networks.files import write_atomically
from omnilude.training.workers import count_cores

RESAMPLES = 2000
ENDS = ("finished", "cut", "stuck")
"""How a game ended: by the rules, at the limit of length, or because a role had no legal move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How a contestant fared, with 95 % intervals."""

    games: int
    effective: float  # independent games that they are worth; the intervals are of so many
    wins: int  # games in which its score was above that of every other
    draws: int  # games in which it shared the best score
    losses: int
    win_rate: Estimate  # Wilson
    score: Estimate  # mean reward; bootstrap

    def to_json(self) -> dict[str, Any]:
        """JSON has no nan: a rate of no games is null."""
        data = asdict(self)
        for name in ("win_rate", "score"):
            data[name] = {k: None if np.isnan(v) else v for k, v in data[name].items()}
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """All games of a match, in the order of their numbers."""

    game: str
    contestants: tuple[str, ...]
    roles: tuple[str, ...]  # of the players
    seats: NDArray[np.int32]  # [games, players]: which contestant played
    rewards: NDArray[np.float64]  # [games, players]
    lengths: NDArray[np.int32]  # [games]
    ends: NDArray[np.int32]  # [games] into ENDS
    sequences: NDArray[np.int32]  # [games]: the same number where the same moves were made
    settings: dict[str, Any]
    players: tuple[dict[str, Any], ...]  # settings of the contestants
    seconds: float

    @property
    def games(self) -> int:
        return len(self.seats)

    @property
    def distinct(self) -> int:
        """Games that differ."""
        return len(np.unique(self.sequences))

    def scores(self) -> NDArray[np.float64]:
        """[games, contestants]: mean reward over a contestant's roles; nan where it sat out."""
        scores = np.full((self.games, len(self.contestants)), np.nan)
        for number in range(len(self.contestants)):
            mine = self.seats == number
            rows = mine.any(axis=1)
            total = np.where(mine, self.rewards, 0).sum(axis=1)
            scores[rows, number] = total[rows] / mine.sum(axis=1)[rows]
        return scores

    def tally(self, contestant: int, role: int | None = None) -> Tally:
        """Over all games that a contestant played, or those in which it played a role.

        `role` is the place of the role in `roles`. Then the score is that role's reward, while a
        win is still a win of the contestant with all its roles.
        """
        scores = self.scores()
        mine = ~np.isnan(scores[:, contestant])
        rewards = scores[:, contestant]
        if role is not None:
            mine &= self.seats[:, role] == contestant
            rewards = self.rewards[:, role]
        own = scores[mine, contestant]
        others = np.delete(scores, contestant, axis=1)[mine]
        met = ~np.isnan(others).all(axis=1)
        best = np.where(np.isnan(others), -np.inf, others).max(axis=1, initial=-np.inf)
        # Rewards are hundredths: what differs by less is the same reward, averaged otherwise.
        wins = int((met & (own > best + 1e-6)).sum())
        losses = int((met & (own < best - 1e-6)).sum())
        sequences = self.sequences[mine]
        # Wins and games are both counted as fewer, where games repeat.
        weight = count_effective(sequences[met]) / max(1, met.sum())
        return Tally(
            games=len(sequences),
            effective=count_effective(sequences),
            wins=wins,
            draws=int(met.sum()) - wins - losses,
            losses=losses,
            win_rate=wilson(weight * wins, weight * int(met.sum())),
            score=bootstrap_mean(rewards[mine], sequences),
        )

    def pair_points(self) -> NDArray[np.float64]:
        """[contestants, contestants]: points of row against column, half a point for a draw."""
        scores = self.scores()
        ahead = scores[:, :, None] - scores[:, None, :]
        points = np.where(ahead > 1e-6, 1.0, np.where(ahead < -1e-6, 0.0, 0.5))
        points[np.isnan(ahead)] = 0
        total: NDArray[np.float64] = points.sum(axis=0)
        np.fill_diagonal(total, 0)
        return total

    def to_json(self, *, games: bool = True) -> dict[str, Any]:
        """The tallies, which readers want, and every game, from which they follow."""
        data = {
            "game": self.game,
            "contestants": list(self.contestants),
            "roles": list(self.roles),
            "settings": self.settings,
            "players": list(self.players),
            "versions": find_versions(),
            "seconds": round(self.seconds, 3),
            "games": self.games,
            "distinct": self.distinct,
            "ends": {end: int((self.ends == n).sum()) for n, end in enumerate(ENDS)},
            "tallies": {
                name: {
                    "all": self.tally(number).to_json(),
                    **{
                        role: tally.to_json()
                        for place, role in enumerate(self.roles)
                        if (tally := self.tally(number, place)).games
                    },
                }
                for number, name in enumerate(self.contestants)
            },
        }
        if games:
            data["played"] = {
                "seats": self.seats.tolist(),
                "rewards": np.round(self.rewards, 6).tolist(),
                "lengths": self.lengths.tolist(),
                "ends": self.ends.tolist(),
                "sequences": self.sequences.tolist(),
            }
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MatchResult:
        played = data["played"]
        shape = (-1, len(data["roles"]))
        return cls(
            game=data["game"],
            contestants=tuple(data["contestants"]),
            roles=tuple(data["roles"]),
            seats=np.asarray(played["seats"], dtype=np.int32).reshape(shape),
            rewards=np.asarray(played["rewards"], dtype=np.float64).reshape(shape),
            lengths=np.asarray(played["lengths"], dtype=np.int32),
            ends=np.asarray(played["ends"], dtype=np.int32),
            sequences=np.asarray(played["sequences"], dtype=np.int32),
            settings=data["settings"],
            players=tuple(data["players"]),
            seconds=data["seconds"],
        )

    def table(self) -> Table:
        """For people: a line for each contestant, and one for each role that it played."""
        table = Table(
            title=f"{self.game}: {self.games} games ({self.distinct} different)",
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            title_justify="left",
        )
        table.add_column("player", overflow="fold")
        for column in ("games", "+/=/−", "win rate, %", "mean score, %"):
            table.add_column(column, justify="right", no_wrap=True)
        for number, name in enumerate(self.contestants):
            table.add_row(name, *_cells(self.tally(number)), style="bold")
            for place, role in enumerate(self.roles):
                tally = self.tally(number, place)
                if tally.games:
                    table.add_row(f"  as {role}", *_cells(tally))
        return table


def count_effective(sequences: NDArray[np.int32]) -> float:
    """How many independent games these are worth, of which some repeat each other: the square of
    their number by the sum of the squares of the repetitions (Kish 1965)."""
    repetitions = np.unique(sequences, return_counts=True)[1].astype(np.float64)
    return float(len(sequences) ** 2 / (repetitions**2).sum()) if len(sequences) else 0.0


def bootstrap_mean(
    values: NDArray[np.float64], sequences: NDArray[np.int32], *, seed: int = 0
) -> Estimate:
    """The mean with its 95 % percentile interval, from resampled games; games that repeat each
    other (whose `sequences` of moves have one number) are drawn together or not at all.

    Where all values are the same there is nothing to resample: then as many games as Wilson's
    interval allows may have been of another kind, and such a game worth anything from 0 to 1."""
    if not len(values):
        return Estimate(np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if values.min() == values.max():
        effective = count_effective(sequences)
        alike = wilson(effective, effective).low
        return Estimate(mean, mean * alike, mean + (1 - mean) * (1 - alike))
    random = np.random.default_rng(seed)
    numbers = np.unique(sequences, return_inverse=True)[1]
    sums = np.stack([np.bincount(numbers, values), np.bincount(numbers)])
    # How often each total and size is drawn is all that matters: rewards have few values.
    (totals, sizes), counts = np.unique(sums, axis=1, return_counts=True)
    drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=RESAMPLES)
    means = drawn @ totals / (drawn @ sizes)
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return Estimate(mean, min(low, mean), max(high, mean))


def find_versions() -> dict[str, Any]:
    """What a result depends on besides its settings."""
    versions: dict[str, Any] = {"python": platform.python_version(), "cores": count_cores()}
    for package in ("omnilude", "numpy", "torch", "onnxruntime"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return versions


def write_json(path: Path, data: Any) -> None:
    """Whole or not at all, whenever the process is killed."""
    write_atomically(path, (json.dumps(data, indent=1, allow_nan=False) + "\n").encode())


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names told apart by a number where several are the same."""
    return tuple(
        name if names.index(name) == place else f"{name} ({names[:place].count(name) + 1})"
        for place, name in enumerate(names)
    )


def _cells(tally: Tally) -> list[str]:
    met = tally.wins + tally.draws + tally.losses
    return [
        str(tally.games),
        f"{tally.wins}/{tally.draws}/{tally.losses}" if met else "",
        format_percent(tally.win_rate).replace("[", "\\[") if met else "",
        format_percent(tally.score).replace("[", "\\["),  # the bracket is no markup
    ]
