"""Does learning learn? Tic-tac-toe, trained for a minute, must never lose again.

python -m omnilude.arena.experiments.tictactoe
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omnilude.arena.experiments.common import (
    RESULTS,
    ResultFile,
    match_part,
    run_experiment,
    train_part,
)
from omnilude.arena.match import MatchSettings
from omnilude.training.run import RUNS

OPPONENTS = ("random", "uct:100", "uct:1000")


def main(
    game: Annotated[str, typer.Option()] = "tic-tac-toe",
    minutes: Annotated[float, typer.Option(help="Of the training.")] = 1.0,
    games: Annotated[int, typer.Option(help="Of each match.")] = 1000,
    seed: Annotated[int, typer.Option()] = 0,
    simulations: Annotated[int, typer.Option(help="A move in the matches.")] = 100,
    opponents: Annotated[str, typer.Option(help="Separated by commas.")] = ",".join(OPPONENTS),
    output: Annotated[Path, typer.Option()] = RESULTS / "tictactoe.json",
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = RUNS,
) -> None:
    settings = {"game": game, "minutes": minutes, "games": games, "simulations": simulations}
    file = ResultFile(output, "tictactoe", settings)
    folder = runs / f"{game}-{minutes:g}-minutes-{seed}"
    train_part(file, "training", game, folder, {"minutes": minutes, "seed": seed})
    for opponent in (spec.strip() for spec in opponents.split(",")):
        match_part(
            file,
            f"match/{opponent}",
            game,
            [f"ours:sims={simulations}", opponent],
            MatchSettings(games=games, seed=seed),
            {"ours": str(file.find_network(folder))},
        )


if __name__ == "__main__":
    run_experiment(main)
