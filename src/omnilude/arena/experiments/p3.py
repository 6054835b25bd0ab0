"""P3's games: ours and GAZ, trained as long, against UCT and against each other (P3, section 4).

    python -m omnilude.arena.experiments.p3 --minutes 10

What is scaled down from P3: minutes instead of hours of training, on two cores instead of a
graphics card; one training (--seeds for more) instead of three. What is scaled up: at least 100
games a match instead of 50, and an engine with which UCT has many times the iterations a second.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from omnilude.arena.experiments.common import (
    RESULTS,
    ResultFile,
    curve_part,
    match_part,
    read_numbers,
    run_experiment,
    train_part,
)
from omnilude.arena.match import OPENING_PLIES, MatchSettings
from omnilude.errors import SettingsError
from omnilude.training.baselines import GAZ_PLAY, gaz_changes
from omnilude.training.run import RUNS


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
    "connect-four-3p": Plan(role="red"),
    "tic-tac-toe-3d-3": Plan(),
    "tic-tac-toe-3d-4": Plan(),
}

NO_PLAYOUTS = "ours, without playouts"
"""Our network, searched without the playouts from leaves that it was trained with."""
MORE_PLAYOUTS = "UCT, 48 playouts an iteration"
"""As many as ours has from a leaf: how far they alone lead."""
PAIR_SHARE = 0.1
"""Of the time for a move that ours and GAZ have against each other: trees of networks grow hardly
faster side by side than alone, so that a whole second would take an hour a game."""
TIMED_BATCH = 50
"""Games side by side in matches by time: a table for each of two threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How long and how often; the defaults are the issue's."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """One of the matches of a game; `subject` is whose result it tells."""

    setting: str
    subject: str  # ours, GAZ or UCT
    players: tuple[str, ...]
    changes: dict[str, Any]  # of the match's settings
    timed: bool = False

    def name(self, game: str, seed: int) -> str:
        """Of its part in the file."""
        return f"{game}/seed {seed}/{self.setting}/{self.subject}"


def list_matches(plan: Plan, how: Evaluation) -> list[Match]:
    """All matches of a game, those that P3 had first."""
    seconds, slow = f"{how.seconds:g}", f"{how.seconds * plan.slow_uct:g}"
    budgets = [
        (
            f"{how.simulations} simulations, UCT {how.iterations} iterations",
            f"sims={how.simulations}",
            f"uct:{how.iterations}",
        ),
        (f"{seconds} s each", f"time={seconds}s", f"uct:{seconds}s"),
    ]
    if plan.slow_uct:
        budgets.append((f"{seconds} s, UCT {slow} s", f"time={seconds}s", f"uct:{slow}s"))
    matches = []
    for setting, budget, uct in budgets:
        timed = "time" in budget
        clock = {"games": how.timed_games, "batch": TIMED_BATCH} if timed else {}
        subjects = {"ours": f"ours:{budget}"}
        if "sims" in budget:  # how much of it is the network's, how much the playouts'
            subjects[NO_PLAYOUTS] = f"ours:{budget}:playouts=0"
        if not timed or plan.role or plan.together:  # where both are compared in UCT's place
            subjects["GAZ"] = f"gaz:{budget}{GAZ_PLAY}"
        if plan.together:
            for subject, spec in {**subjects, "UCT": uct}.items():
                matches.append(Match(setting, subject, (spec,), {"together": True, **clock}, timed))
            continue
        if plan.role:
            subjects["UCT"] = uct
            if not timed:
                subjects[MORE_PLAYOUTS] = f"{uct}:playouts=48"
        for subject, spec in subjects.items():
            matches.append(Match(setting, subject, (spec, uct), {**plan.seating, **clock}, timed))
        # How they play on from where they would not have come to. By time only where a few lines of
        # play would tell everything: two seats have more of them, and other players more noise.
        if plan.random_plies is None and (plan.role or not timed):
            label = f"{setting}, after {OPENING_PLIES} random plies"
            drawn = {**plan.seating, "random_plies": OPENING_PLIES, **clock}
            for subject in ("ours", "GAZ", *(["UCT"] if plan.role else [])):
                matches.append(Match(label, subject, (subjects[subject], uct), drawn, timed))
    pair = (f"ours:sims={how.simulations}", f"gaz:sims={how.simulations}{GAZ_PLAY}")
    if plan.together:
        setting = f"{how.simulations} simulations, after 2 random moves"
        for subject, spec in zip(("ours", "GAZ"), pair, strict=True):
            matches.append(Match(setting, subject, (spec,), {"together": True, "random_plies": 2}))
    else:
        setting = f"ours against GAZ, {how.simulations} simulations each"
        opening = {"random_plies": plan.random_plies}
        matches.append(Match(setting, "ours", pair, opening))
        matches.append(Match(setting, NO_PLAYOUTS, (f"{pair[0]}:playouts=0", pair[1]), opening))
        # A simulation of ours is more work than one of GAZ's: time is the same for both.
        short = f"{how.seconds * PAIR_SHARE:g}"
        by_time = (f"ours:time={short}s", f"gaz:time={short}s{GAZ_PLAY}")
        clock = {"games": how.timed_games, "batch": TIMED_BATCH}
        setting = f"ours against GAZ, {short} s each"
        matches.append(Match(setting, "ours", by_time, {**opening, **clock}, timed=True))
    return matches


def list_folders(runs: Path, game: str, seed: int) -> dict[str, Path]:
    return {name: runs / f"p3-{game}-{name}-{seed}" for name in ("ours", "gaz")}


def train_player(
    file: ResultFile, game: str, name: str, how: Evaluation, seed: int, runs: Path
) -> None:
    """Trains ours or GAZ, if the file has not got it yet."""
    changes = {} if name == "ours" else gaz_changes(how.gaz_simulations)
    wanted = {"minutes": how.minutes, "seed": seed, **changes}
    folder = list_folders(runs, game, seed)[name]
    train_part(file, f"{game}/seed {seed}/training {name}", game, folder, wanted)


def play_game(
    file: ResultFile, game: str, plan: Plan, how: Evaluation, seed: int, runs: Path, *, timed: bool
) -> None:
    """Plays all matches of a game, as far as the file has not got them yet."""
    folders = list_folders(runs, game, seed)
    for match in list_matches(plan, how):
        if match.timed and not timed:
            continue
        settings = MatchSettings(**{"games": how.games, "seed": seed, **match.changes})
        paths = {name: str(file.find_network(folder)) for name, folder in folders.items()}
        match_part(file, match.name(game, seed), game, match.players, settings, paths)
    if how.curve_points and not plan.together:
        for name, options in (("ours", ""), ("gaz", GAZ_PLAY)):
            curve_part(
                file,
                f"{game}/seed {seed}/curve {name}",
                game,
                folders[name],
                f"uct:{how.iterations}",
                options=f":sims={how.simulations}{options}",
                count=how.curve_points,
                settings=MatchSettings(games=how.curve_games, seed=seed, **plan.seating),
            )


def main(
    only: Annotated[str, typer.Option(help="Games, separated by commas; all if empty.")] = "",
    minutes: Annotated[float, typer.Option(help="Of each training.")] = 10.0,
    games: Annotated[int, typer.Option(help="Of each match.")] = 400,
    timed_games: Annotated[int, typer.Option(help="Of each match by time.")] = 100,
    seeds: Annotated[str, typer.Option(help="One training of each kind for each.")] = "0",
    simulations: Annotated[int, typer.Option(help="Of ours and GAZ, a move.")] = 100,
    iterations: Annotated[int, typer.Option(help="Of UCT, a move.")] = 1000,
    seconds: Annotated[float, typer.Option(help="A move, in matches by time.")] = 1.0,
    timed: Annotated[bool, typer.Option(help="Matches by time, which take longest.")] = True,
    gaz_simulations: Annotated[int, typer.Option(help="In GAZ's self-play (P3: 300).")] = 300,
    curve_points: Annotated[int, typer.Option(help="Checkpoints on each curve; 0: none.")] = 5,
    curve_games: Annotated[int, typer.Option(help="For each of them.")] = 40,
    output: Annotated[Path, typer.Option()] = RESULTS / "p3.json",
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = RUNS,
) -> None:
    chosen = [name.strip() for name in only.split(",") if name.strip()] or list(PLANS)
    for name in chosen:
        if name not in PLANS:
            raise SettingsError(f"{name!r} is not one of P3's games: {', '.join(PLANS)}")
    how = Evaluation(
        minutes=minutes,
        games=games,
        timed_games=timed_games,
        simulations=simulations,
        iterations=iterations,
        seconds=seconds,
        gaz_simulations=gaz_simulations,
        curve_points=curve_points,
        curve_games=curve_games,
    )
    file = ResultFile(output, "p3", asdict(how))
    numbers = read_numbers(seeds, "seeds")
    for seed in numbers:
        for name in chosen:  # one whole game after another: what was begun can be finished later
            for player in ("ours", "gaz"):
                train_player(file, name, player, how, seed, runs)
            play_game(file, name, PLANS[name], how, seed, runs, timed=timed)


if __name__ == "__main__":
    run_experiment(main)
