"""P3's games: ours and GAZ, trained as long, against UCT and against each other (P3, section 4).

    python -m omnilude.arena.experiments.p3 --minutes 10

What is scaled down from P3: minutes instead of hours of training, on two cores instead of a
graphics card; one training (--seeds for more) instead of three. What is scaled up: at least 100
games a match instead of 50, and an engine with which UCT has many times the iterations a second.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

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
from omnilude.arena.experiments.plan import PLANS, Evaluation, Plan, list_matches
from omnilude.arena.match import MatchSettings
from omnilude.errors import SettingsError
from omnilude.training.baselines import GAZ_PLAY, gaz_changes
from omnilude.training.run import RUNS


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
    file: ResultFile,
    game: str,
    plan: Plan,
    how: Evaluation,
    seed: int,
    runs: Path,
    *,
    timed: bool,
    gaz: bool,
) -> None:
    """Plays all matches of a game, as far as the file has not got them yet."""
    folders = list_folders(runs, game, seed)
    paths = {name: str(file.find_network(folder)) for name, folder in folders.items()}
    matches = [match for match in list_matches(plan, how) if gaz or not match.with_gaz]
    by_time = {spec: None for match in matches if match.timed for spec in match.players}
    compared = (f"{game}/seed {seed}/fitted", list(by_time))
    for match in matches:
        if match.timed and not timed:
            continue
        settings = MatchSettings(**{"games": how.games, "seed": seed, **match.changes})
        name = match.name(game, seed)
        match_part(
            file, name, game, match.players, settings, paths, compared if match.timed else None
        )
    if how.curve_points and not plan.together:
        players = {"ours": "", "gaz": GAZ_PLAY} if gaz else {"ours": ""}
        for name, options in players.items():
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
    gaz: Annotated[bool, typer.Option(help="Train and play GAZ too.")] = True,
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
            for player in ("ours", "gaz") if gaz else ("ours",):
                train_player(file, name, player, how, seed, runs)
            play_game(file, name, PLANS[name], how, seed, runs, timed=timed, gaz=gaz)


if __name__ == "__main__":
    run_experiment(main)
