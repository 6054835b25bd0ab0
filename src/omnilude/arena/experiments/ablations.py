"""P3's ablations (its Figures 3 and 5): what the network sees, and what it is made of.

    python -m omnilude.arena.experiments.ablations --minutes 10

All variants train as long, with the same search and the same losses (those of GAZ); only input
and network differ. Our own default, with everything it has, stands beside them.
"""

from __future__ import annotations

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
from omnilude.arena.experiments.p3 import list_folders
from omnilude.arena.experiments.plan import PLANS, Evaluation
from omnilude.arena.match import MatchSettings
from omnilude.games import load
from omnilude.training.baselines import GAZ_PLAY, gaz_changes
from omnilude.training.run import RUNS

VARIANTS: dict[str, dict[str, Any]] = {
    "all propositions, fully connected": {"family": "gaz", "encoding": "propositions"},
    "base propositions, fully connected": {"family": "gaz", "encoding": "planes"},
    "base propositions, CNN": {"family": "p3", "encoding": "planes"},
}
"""GAZ; GAZ with P3's input; P3."""
OURS = "ours, default"


def count_inputs(game: str) -> dict[str, Any]:
    """How many numbers a network reads (P3, Figure 3)."""
    from omnilude.encoding import make_encoding

    loaded = load(game)
    return {
        "base": len(loaded.core.fluents) if loaded.engine == "circuit" else None,  # type: ignore[attr-defined]
        "planes": make_encoding(loaded, "planes").size,
        "all": make_encoding(loaded, "propositions").size,
    }


def main(
    game: Annotated[str, typer.Option()] = "connect-four",
    minutes: Annotated[float, typer.Option(help="Of each training.")] = 10.0,
    games: Annotated[int, typer.Option(help="Of each match.")] = 400,
    seeds: Annotated[str, typer.Option(help="One training of each variant for each.")] = "0",
    simulations: Annotated[int, typer.Option(help="In self-play of the variants.")] = 100,
    playing: Annotated[int, typer.Option(help="Simulations a move in the matches.")] = 100,
    iterations: Annotated[int, typer.Option(help="Of UCT, a move.")] = 1000,
    curve_points: Annotated[int, typer.Option(help="Checkpoints on each curve; 0: none.")] = 5,
    curve_games: Annotated[int, typer.Option(help="For each of them.")] = 40,
    output: Annotated[Path, typer.Option()] = RESULTS / "ablations.json",
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = RUNS,
) -> None:
    numbers = read_numbers(seeds, "seeds")
    settings = {
        "game": game,
        "minutes": minutes,
        "games": games,
        "simulations": simulations,
        "playing": playing,
        "iterations": iterations,
    }
    file = ResultFile(output, "ablations", settings)
    for name in PLANS:
        file.part(f"inputs/{name}", {"game": name}, lambda name=name: count_inputs(name))  # type: ignore[misc]
    for seed in numbers:
        for place, variant in enumerate((*VARIANTS, OURS)):
            changes = {"minutes": minutes, "seed": seed}
            if variant in VARIANTS:
                changes |= {**gaz_changes(simulations), **VARIANTS[variant]}
            folder = runs / f"ablation-{game}-{place}-{seed}"
            label = f"seed {seed}/{variant}"
            if variant == OURS and minutes == Evaluation().minutes:
                folder = list_folders(runs, game, seed)["ours"]  # the same run as among P3's games
                trained = f"{game}/seed {seed}/training ours"
                file.adopt(f"{label}/training", output.with_name("p3.json"), trained)
            train_part(file, f"{label}/training", game, folder, changes)
            options = f":sims={playing}" + (
                f"{GAZ_PLAY}:symmetries=1" if variant in VARIANTS else ""
            )
            opponent = f"uct:{iterations}"
            match_part(
                file,
                f"{label}/match",
                game,
                [f"net{options}", opponent],
                MatchSettings(games=games, seed=seed),
                {"net": str(file.find_network(folder))},
            )
            if curve_points:
                curve_part(
                    file,
                    f"{label}/curve",
                    game,
                    folder,
                    opponent,
                    options=options,
                    count=curve_points,
                    settings=MatchSettings(games=curve_games, seed=seed),
                )


if __name__ == "__main__":
    run_experiment(main)
