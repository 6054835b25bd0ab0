"""How fast a machine learns: positions of self-play a second, and what limits it.

    python -m omnilude.arena.experiments.throughput --seconds 60

Each line is a short training run in a process of its own, measured after its first iteration.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from omnilude.arena.experiments.common import (
    RESULTS,
    ResultFile,
    read_numbers,
    run_apart,
    run_experiment,
    train_once,
)
from omnilude.arena.results import find_versions
from omnilude.errors import SettingsError
from omnilude.networks.settings import USUAL_PRESET
from omnilude.training.options import change_settings
from omnilude.training.settings import TrainingSettings

PEER_RATE = 342
"""Positions a second of mctx + pgx with a residual net of 32 channels and 2 blocks, Gumbel with 32
simulations, Connect Four, two cores; measured once on a machine like this one."""
ALONE = {"replay_ratio": 0.05}
"""Next to no learning: both cores play nearly all of the time."""
RUNS: dict[str, dict[str, Any]] = {
    "self-play alone": ALONE,
    "self-play alone, without playouts from leaves": {**ALONE, "auto_playouts": False},
    "with learning": {},
    "with learning, in turns instead of at the same time": {"overlap": False},
}
"""All with the default network, which has the peer's shape: 32 channels, 2 blocks."""


def measure(game: str, changes: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A run of so many seconds, in a folder that is thrown away."""
    fixed = {"preset": USUAL_PRESET, "minutes": seconds / 60, "assess_minutes": 0.0}
    settings = change_settings(TrainingSettings(), {**changes, **fixed})
    with tempfile.TemporaryDirectory() as folder:
        result = run_apart(train_once, game, Path(folder) / "run", settings)
    result.pop("run")
    if not result["speed"]:
        raise SettingsError(f"no iteration was finished in {seconds:g} s: take more seconds")
    return result


def main(
    game: Annotated[str, typer.Option()] = "connect-four",
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = 60.0,
    simulations: Annotated[int, typer.Option()] = 32,
    workers: Annotated[str, typer.Option(help="Numbers of worker processes.")] = "1,2,4,8",
    seed: Annotated[int, typer.Option()] = 0,
    iteration_positions: Annotated[int, typer.Option(help="Between phases of learning.")] = 4096,
    output: Annotated[Path, typer.Option()] = RESULTS / "throughput.json",
) -> None:
    counts = read_numbers(workers, "workers", least=0)
    settings = {"game": game, "seconds": seconds, "simulations": simulations, "seed": seed}
    file = ResultFile(output, "throughput", {**settings, "peer": PEER_RATE})
    # How fast another version was is of no use: a new one is measured anew.
    settings["omnilude"] = find_versions()["omnilude"]
    common: dict[str, Any] = {
        "simulations": simulations,
        "seed": seed,
        "iteration_positions": iteration_positions,
    }
    for name, special in RUNS.items():
        changes = {**common, **special}
        file.part(
            f"run/{name}",
            {**settings, "changes": changes},
            lambda changes=changes: measure(game, changes, seconds),  # type: ignore[misc]
        )
    for count in counts:
        changes = {**common, "backend": "processes", "workers": count}
        file.part(
            f"workers/{count}",
            {**settings, "changes": changes},
            lambda changes=changes: measure(game, changes, seconds),  # type: ignore[misc]
        )


if __name__ == "__main__":
    run_experiment(main)
