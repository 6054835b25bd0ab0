"""Whether the goals of P3's games are reached, and where not, by how much: said from the results.

A goal is a mean score against UCT, or to be ahead of UCT and GAZ when all of them play the same
seat against UCT.
"""

from __future__ import annotations

from collections.abc import Mapping
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
            slow = any_match.timed and not setting.endswith("each")
            verdict = _measure(ours, goal.slow if slow and goal.slow else goal.least)
        if verdict:
            lines.append(f"{setting}: {verdict}")
    return lines


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
        return f"reached ({score['value']:.1f} of {least:g})"
    possible = " (within its interval)" if score["high"] >= least else ""
    return f"short by {least - score['value']:.1f} of {least:g}{possible}"
