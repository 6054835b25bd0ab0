"""Whether the goals of P3's games are reached, and where not, by how much, and what the curve of
the training says then: told from the results.

A goal is a mean score against UCT, or to be ahead of UCT and GAZ when all of them play the same
seat against UCT. How ours does against GAZ itself is no goal, but told as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omnilude.arena.experiments.plan import Match


@dataclass(frozen=True, slots=True)
class Goal:
    """What a game's mean scores, in percent, are held against."""

    least: float = 0.0
    """Score that is to be reached."""
    slow: float = 0.0
    """The same where UCT thinks longer; 0: `least`."""
    ahead: bool = False
    """Ours is to be ahead of the others in its place."""


GOALS = {
    "connect-four": Goal(least=95),
    "breakthrough-6x6": Goal(least=98, slow=100),
    "pacman-3p": Goal(ahead=True),
    "tower": Goal(least=100),
    "connect-four-3p": Goal(ahead=True),
    "tic-tac-toe-3d-3": Goal(least=50),
    "tic-tac-toe-3d-4": Goal(least=50),
}
RIVALS = ("UCT", "GAZ")
NORMAL = 1.96
"""Half of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Verdict:
    match: Match
    text: str
    missed: bool


def judge(goal: Goal, played: Mapping[Match, dict[str, Any]]) -> list[Verdict]:
    """One for each setting in which ours met UCT; `played` has the tally of each match."""
    verdicts = []
    for match, ours in played.items():
        if match.subject != "ours" or match.rivals:
            continue
        if goal.ahead:
            told = {m.subject: t for m, t in played.items() if m.setting == match.setting}
            rivals = {name: told[name] for name in RIVALS if name in told}
            if not rivals:  # not played yet
                continue
            text = ", ".join(compare(ours, name, rival) for name, rival in rivals.items())
            missed = any(_lead(ours, rival) < 0 for rival in rivals.values())
        else:
            least = goal.slow if match.budget == "slow" and goal.slow else goal.least
            text, missed = _measure(ours, least), 100 * ours["score"]["value"] < least
        verdicts.append(Verdict(match, text, missed))
    return verdicts


def compare(ours: dict[str, Any], name: str, rival: dict[str, Any]) -> str:
    """Which of two tallies is ahead, and by how much."""
    lead = _lead(ours, rival)
    # Rough, and rather too careful: intervals that overlap a little may still be told apart.
    apart = (
        ours["score"]["low"] > rival["score"]["high"]
        or ours["score"]["high"] < rival["score"]["low"]
    )
    where = f"{'ahead of' if lead > 0 else 'behind'} {name} by {abs(lead):.1f}"
    if lead == 0:
        where = f"level with {name}"
    return where + ("" if apart else " (their intervals overlap)")


def read_curve(points: Sequence[dict[str, Any]]) -> str:
    """Whether the last third of a curve is above the third before: would more minutes have helped?
    The first third tells how it began."""
    third = len(points) // 3
    if not third:
        return "is too short to tell"
    parts = (points[-third:], points[-2 * third : -third])
    rise = spread = 0.0
    for part, sign in zip(parts, (1, -1), strict=True):
        scores = [point["tally"]["score"] for point in part]
        rise += sign * sum(score["value"] for score in scores) / third
        errors = [(score["high"] - score["low"]) / 2 / NORMAL for score in scores]
        spread += sum(error**2 for error in errors) / third**2
    margin = NORMAL * math.sqrt(spread)
    found = (
        "rises" if rise > margin else "falls" if rise < -margin else "is flat, as far as it tells"
    )
    late, early = (
        " to ".join(dict.fromkeys(f"{p['elapsed'] / 60:.0f}" for p in (part[0], part[-1])))
        for part in parts
    )
    return (
        f"{found}: after {late} minutes less after {early} "
        f"{100 * rise:+.1f} ± {100 * margin:.1f} points"
    )


def _lead(ours: dict[str, Any], rival: dict[str, Any]) -> float:
    """In points of a hundred."""
    return 100 * float(ours["score"]["value"] - rival["score"]["value"])


def _measure(ours: dict[str, Any], least: float) -> str:
    score = {key: 100 * value for key, value in ours["score"].items()}
    if score["value"] >= least:
        doubt = f"; its interval begins at {score['low']:.1f}" if score["low"] < least else ""
        return f"reached ({score['value']:.1f} of {least:g}{doubt})"
    possible = " (within its interval)" if score["high"] >= least else ""
    return f"short by {least - score['value']:.1f} of {least:g}{possible}"
