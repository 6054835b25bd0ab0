"""What P3's games are played for: which players meet, with what budgets, in which matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from omnilude.arena.match import OPENING_PLIES
from omnilude.training.baselines import GAZ_PLAY

Budget = Literal["count", "time", "slow"]
"""Of simulations and iterations; of seconds, the same for both; of seconds, more for UCT."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a game is evaluated."""

    role: str = ""
    """The role whose score counts, against UCT in all others; empty: all seats."""
    together: bool = False
    """All roles are played by the same player, whose score counts."""
    slow_uct: int = 0
    """UCT has also so many times the time."""
    random_plies: int | None = None
    """As in a match's settings: where the players' own randomness would leave most games the
    same."""
    few_lines: bool = False
    """By time most games are the same: they are also played after random plies."""

    @property
    def seating(self) -> dict[str, Any]:
        """Of matches against UCT, as settings."""
        roles = {"roles": (self.role,)} if self.role else {}
        return {**roles, "random_plies": self.random_plies}


PLANS = {
    "connect-four": Plan(),
    "breakthrough-6x6": Plan(slow_uct=4),
    "pacman-3p": Plan(role="pacman", random_plies=OPENING_PLIES),
    "tower": Plan(together=True),
    "connect-four-3p": Plan(role="red", few_lines=True),
    "tic-tac-toe-3d-3": Plan(few_lines=True),
    "tic-tac-toe-3d-4": Plan(),
}

NO_PLAYOUTS = "ours, without playouts"
"""Our network, searched without the playouts from leaves that it was trained with."""
PLAIN = "ours, one evaluation a simulation"
"""As GAZ has it: without playouts, and without a symmetry to average over."""
MORE_PLAYOUTS = "UCT, 48 playouts an iteration"
"""As many as ours has from a leaf: how far they alone lead."""
ONE_EVALUATION = ":playouts=0:symmetries=1"
PAIR_SHARE = 0.1
"""Of the time for a move that ours and GAZ have against each other: trees of networks grow hardly
faster side by side than alone, so that a whole second would take an hour a game."""
TIMED_BATCH = 50
"""Games side by side in matches by time: a table for each of two threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How long and how often."""

    minutes: float = 10.0
    games: int = 400
    timed_games: int = 100
    """Of a match by time, which takes so much longer."""
    simulations: int = 100
    iterations: int = 1000
    seconds: float = 1.0
    gaz_simulations: int = 300
    curve_points: int = 5
    curve_games: int = 40

    @property
    def clock(self) -> dict[str, Any]:
        """What is different in matches by time, as settings."""
        return {"games": self.timed_games, "batch": TIMED_BATCH}


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """One of the matches of a game."""

    setting: str  # for people
    subject: str  # whose result it tells: ours, GAZ or UCT, or one of their variants
    players: tuple[str, ...]
    changes: dict[str, Any]  # of the match's settings
    budget: Budget
    opened: bool = False  # after random plies that other matches of the game do without
    rivals: bool = False  # ours against GAZ

    @property
    def timed(self) -> bool:
        return self.budget != "count"

    @property
    def with_gaz(self) -> bool:
        return any(spec.startswith("gaz:") for spec in self.players)

    def name(self, game: str, seed: int) -> str:
        """Of its part in the file."""
        return f"{game}/seed {seed}/{self.setting}/{self.subject}"


def list_matches(plan: Plan, how: Evaluation) -> list[Match]:
    """All matches of a game, those that P3 had first."""
    return [*_matches_with_uct(plan, how), *_matches_with_gaz(plan, how)]


def _matches_with_uct(plan: Plan, how: Evaluation) -> Iterator[Match]:
    seconds, slow = f"{how.seconds:g}", f"{how.seconds * plan.slow_uct:g}"
    few = f"{how.simulations} simulations, UCT {how.iterations} iterations"
    budgets: list[tuple[Budget, str, str, str]] = [
        ("count", few, f"sims={how.simulations}", f"uct:{how.iterations}"),
        ("time", f"{seconds} s each", f"time={seconds}s", f"uct:{seconds}s"),
    ]
    if plan.slow_uct:
        budgets.append(("slow", f"{seconds} s, UCT {slow} s", f"time={seconds}s", f"uct:{slow}s"))
    for budget, setting, own, uct in budgets:
        timed = budget != "count"
        clock = how.clock if timed else {}
        subjects = {"ours": f"ours:{own}"}
        if not timed:  # how much of it is the network's, how much the playouts'
            subjects[NO_PLAYOUTS] = f"ours:{own}:playouts=0"
            subjects[PLAIN] = f"ours:{own}{ONE_EVALUATION}"
        if not timed or plan.role or plan.together:  # where both are compared in UCT's place
            subjects["GAZ"] = f"gaz:{own}{GAZ_PLAY}"
        if plan.together:
            for subject, spec in {**subjects, "UCT": uct}.items():
                yield Match(setting, subject, (spec,), {"together": True, **clock}, budget)
            continue
        if plan.role:
            subjects["UCT"] = uct
            if not timed:
                subjects[MORE_PLAYOUTS] = f"{uct}:playouts=48"
        for subject, spec in subjects.items():
            yield Match(setting, subject, (spec, uct), {**plan.seating, **clock}, budget)
        # How they play on from where they would not have come to.
        if plan.random_plies is None and (plan.few_lines or not timed):
            label = f"{setting}, after {OPENING_PLIES} random plies"
            drawn = {**plan.seating, "random_plies": OPENING_PLIES, **clock}
            for subject in (name for name in ("ours", "GAZ", "UCT") if name in subjects):
                yield Match(label, subject, (subjects[subject], uct), drawn, budget, opened=True)


def _matches_with_gaz(plan: Plan, how: Evaluation) -> Iterator[Match]:
    pair = (f"ours:sims={how.simulations}", f"gaz:sims={how.simulations}{GAZ_PLAY}")
    if plan.together:  # each by itself
        setting = f"{how.simulations} simulations, after 2 random moves"
        drawn = {"together": True, "random_plies": 2}
        for subject, spec in zip(("ours", "GAZ"), pair, strict=True):
            yield Match(setting, subject, (spec,), drawn, "count", opened=True)
        return
    setting = f"ours against GAZ, {how.simulations} simulations each"
    opening = {"random_plies": plan.random_plies}
    for subject, options in (("ours", ""), (NO_PLAYOUTS, ":playouts=0"), (PLAIN, ONE_EVALUATION)):
        players = (f"{pair[0]}{options}", pair[1])
        yield Match(setting, subject, players, opening, "count", rivals=True)
    # A simulation of ours is more work than one of GAZ's: time is the same for both.
    short = f"{how.seconds * PAIR_SHARE:g}"
    by_time = (f"ours:time={short}s", f"gaz:time={short}s{GAZ_PLAY}")
    setting = f"ours against GAZ, {short} s each"
    yield Match(setting, "ours", by_time, {**opening, **how.clock}, "time", rivals=True)
