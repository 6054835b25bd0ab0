"""Measuring: `omnilude bench` the engine, `omnilude bench train` a machine's learning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from omnilude import benchmarks
from omnilude.cli.options import apply_changes, with_training_options
from omnilude.cli.shared import GameArgument, SeedOption, make_table
from omnilude.errors import SettingsError
from omnilude.games import load

DEFAULT = "engine"


class _DefaultGroup(TyperGroup):
    """A group whose first word may be left out: `omnilude bench` is `omnilude bench engine`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_DefaultGroup, help="Measure the engine (the default), or what training will do here."
)


@app.command()
def engine(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Some of the games; else all.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each; the median counts.")] = 7,
    seconds: Annotated[float, typer.Option(help="Length of a turn.")] = 0.4,
    seed: SeedOption = 1,
    output: Annotated[Path | None, typer.Option(help="JSON file for the results.")] = None,
) -> None:
    """Measure playouts, threads and search nodes, beside OpenSpiel where it is installed."""
    console = Console()
    settings = benchmarks.BenchmarkSettings(rounds=rounds, seconds=seconds, seed=seed)
    with console.status("measuring") as status:
        results = benchmarks.run_benchmarks(
            settings, games or (), lambda name: status.update(f"measuring {name}")
        )
    benchmarks.print_results(results, console)
    if output:
        try:
            benchmarks.write_results(results, output)
        except OSError as error:
            raise SettingsError(f"cannot write {output}: {error.strerror}") from error


@app.command()
@with_training_options
def train(
    game: GameArgument,
    seconds: Annotated[float, typer.Option(min=1, help="Length of the measurement.")] = 30.0,
    *,
    changes: dict[str, Any],
) -> None:
    """Say what a training run will do on this machine, from a short one that is thrown away.

    Takes the options of `omnilude train`; --minutes is the length of the run that is asked about.
    """
    from omnilude.arena.experiments.throughput import measure
    from omnilude.training.settings import TrainingSettings

    settings = apply_changes(TrainingSettings(), changes)
    name = load(game).name
    console = Console()
    short = {key: value for key, value in changes.items() if key != "minutes"}
    result = measure(game, short, seconds)
    speed, summary = result["speed"], result["summary"]
    rate = speed["positions_per_second"]
    length = summary["positions"] / max(1, summary["games"])
    table = make_table(f"{name} on this machine", ["what", "value"])
    for what, value in (
        ("evaluated by", summary["engine"]),
        ("parameters", f"{summary['parameters']:,}"),
        ("self-play, positions a second", f"{speed['selfplay_positions_per_second']:,.0f}"),
        ("learning, steps a second", f"{speed['steps_per_second']:,.0f}"),
        ("both in turns, positions a second", f"{rate:,.0f}"),
        ("engine and search, of self-play", f"{speed['search_share']:.0%}"),
        ("evaluations from the cache", f"{speed['cache_hits']:.0%}"),
        ("memory so far", f"{summary['memory'] / 2**30:.2f} GiB"),
    ):
        table.add_row(what, value)
    console.print(table)
    minutes = settings.minutes
    if settings.positions:
        by_positions = settings.positions / rate / 60
        minutes = min(minutes or by_positions, by_positions)
    positions = rate * minutes * 60
    console.print(
        f"A run of {minutes:.1f} minutes will play about {positions:,.0f} positions, "
        f"{positions / length:,.0f} games of today's length.",
        highlight=False,
        soft_wrap=True,
    )
