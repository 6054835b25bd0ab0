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

from omnilude.arena.experiments.p3 import Match


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


def judge(goal: Goal, played: Mapping[Match, dict[str, Any]]) -> list[str]:
    """A line for each setting in which ours met UCT; `played` has the tally of each match."""
    lines = []
    settings = {match.setting: match for match in played if "against GAZ" not in match.setting}
    for setting, any_match in settings.items():
        told = {match.subject: t for match, t in played.items() if match.setting == setting}
        ours = told.get("ours")
        if ours is None:
            continue
        if goal.ahead:
            rivals = {name: told[name] for name in RIVALS if name in told}
            verdict = ", ".join(_compare(ours, name, rival) for name, rival in rivals.items())
        else:
            slow = any_match.timed and "each" not in setting
            verdict = _measure(ours, goal.slow if slow and goal.slow else goal.least)
        if verdict:
            lines.append(f"{setting}: {verdict}")
    return lines


def is_missed(verdict: str) -> bool:
    return "short by" in verdict or "behind" in verdict


def compare_with_gaz(match: Match, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """A line for a match of ours against GAZ, from the tallies of both."""
    return f"{match.setting}: {_compare(ours, 'GAZ', theirs)}"


def read_curve(points: Sequence[dict[str, Any]]) -> str:
    """Whether the later half of a curve is above the earlier: would more minutes have helped?"""
    scores = [point["tally"]["score"] for point in points]
    later, earlier = scores[len(scores) // 2 :], scores[: len(scores) // 2]
    if not earlier:
        return "too short to tell"
    rise = spread = 0.0
    for half, sign in ((later, 1), (earlier, -1)):
        rise += sign * sum(score["value"] for score in half) / len(half)
        errors = [(score["high"] - score["low"]) / 2 / NORMAL for score in half]
        spread += sum(error**2 for error in errors) / len(half) ** 2
    margin = NORMAL * math.sqrt(spread)
    found = (
        "rises" if rise > margin else "falls" if rise < -margin else "is flat, as far as it tells"
    )
    return f"{found}: later half less earlier half {100 * rise:+.1f} ± {100 * margin:.1f} points"


def _compare(ours: dict[str, Any], name: str, rival: dict[str, Any]) -> str:
    lead = 100 * (ours["score"]["value"] - rival["score"]["value"])
    # Rough, and rather too careful: intervals that overlap a little may still be told apart.
    apart = (
        ours["score"]["low"] > rival["score"]["high"]
        or ours["score"]["high"] < rival["score"]["low"]
    )
    where = f"{'ahead of' if lead > 0 else 'behind'} {name} by {abs(lead):.1f}"
    if lead == 0:
        where = f"level with {name}"
    return where + ("" if apart else " (their intervals overlap)")


def _measure(ours: dict[str, Any], least: float) -> str:
    score = {key: 100 * value for key, value in ours["score"].items()}
    if score["value"] >= least:
        doubt = f"; its interval begins at {score['low']:.1f}" if score["low"] < least else ""
        return f"reached ({score['value']:.1f} of {least:g}{doubt})"
    possible = " (within its interval)" if score["high"] >= least else ""
    return f"short by {least - score['value']:.1f} of {least:g}{possible}"
