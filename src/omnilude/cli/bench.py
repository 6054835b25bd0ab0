"""Measuring: `omnilude bench` the engine, `omnilude bench train` a machine's learning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from omnilude import benchmarks
from omnilude.cli.options import BaselineOption, apply_changes, with_training_options
from omnilude.cli.shared import GameArgument, SeedOption, make_table
from omnilude.games import load
from omnilude.training.baselines import find_baseline

if TYPE_CHECKING:
    from omnilude.training.estimate import Estimate

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
        benchmarks.write_results(results, output)


@app.command()
@with_training_options
def train(
    game: GameArgument = "connect-four",
    seconds: Annotated[float, typer.Option(min=0.1, help="Of each measurement.")] = 3.0,
    processes: Annotated[bool, typer.Option(help="Also try workers as processes.")] = True,
    baseline: BaselineOption = "",
    *,
    changes: dict[str, Any],
) -> None:
    """Say what a training run will do on this machine, and which settings suit it.

    Takes the options of `omnilude train`; --minutes and --positions are the length of the run
    that is asked about, --workers and --backend how it shares out the cores.
    """
    from omnilude.training.estimate import estimate_training
    from omnilude.training.settings import TrainingSettings

    settings = apply_changes(TrainingSettings(), {**find_baseline(baseline), **changes})
    loaded = load(game)
    console = Console()
    with console.status("measuring") as status:
        estimate = estimate_training(
            loaded,
            settings,
            seconds=seconds,
            processes=processes,
            tell=lambda what: status.update(f"measuring {what}"),
        )
    print_estimate(estimate, console)
    if settings.minutes:
        console.print(
            f"A run of {settings.minutes:g} minutes will play about "
            f"{estimate.positions * settings.minutes * 60:,.0f} positions.",
            highlight=False,
        )
    if settings.positions:
        console.print(
            f"{settings.positions:,} positions will take about "
            f"{settings.positions / estimate.positions / 60:.1f} minutes.",
            highlight=False,
        )


def print_estimate(estimate: Estimate, console: Console) -> None:
    """What was measured, and what it means for a run."""
    from omnilude.training.estimate import POSITIONS

    _print_rates(console, estimate)
    for threads, rate in estimate.samples.items():
        console.print(f"learning with {threads} thread{'s' * (threads > 1)}: {rate:,.0f} samples/s")
    console.print(
        f"a run of {POSITIONS:,} positions, {estimate.replay_ratio:g} samples each, takes about "
        f"{estimate.seconds / 60:.1f} minutes ({estimate.positions:,.0f} positions/s)"
    )
    if estimate.waiting > 0.05:
        console.print(
            f"learning is the limit: cores that do not learn wait {estimate.waiting:.0%} of the "
            "time; a smaller --replay-ratio or more --simulations give them something to do"
        )
    best = estimate.best
    preset = f"--preset {estimate.recommended_preset} " if len(estimate.evaluations) > 1 else ""
    times = best.positions / estimate.asked.positions
    gain = "" if best == estimate.asked else f" ({times:.2f}x in self-play)"
    console.print(f"recommended: {preset}--workers {best.workers} --backend {best.backend}{gain}")


def _print_rates(console: Console, estimate: Estimate) -> None:
    """Tables of what was measured; their titles are lines, which may be wider than the tables."""
    engines = list(next(iter(estimate.evaluations.values())))
    table = make_table("", ["preset", *engines])
    for preset, rates in estimate.evaluations.items():
        table.add_row(preset, *(f"{rates[engine]:,.0f}" for engine in engines))
    title = f"{estimate.game} on {estimate.cores} cores: evaluations a second, one thread"
    console.print(title, table, highlight=False, soft_wrap=True)
    columns = ["workers x threads", "positions/s", "simulations/s", "network", "other", "cached"]
    table = make_table("", columns)
    for layout in estimate.layouts:
        table.add_row(
            layout.name,
            f"{layout.positions:,.0f}",
            f"{layout.simulations:,.0f}",
            f"{layout.times['evaluate']:.0%}",
            f"{1 - layout.times['evaluate']:.0%}",
            f"{layout.cache_hits:.0%}",
        )
    title = f"Self-play, preset {estimate.preset}, {estimate.engine}; other: search and engine"
    console.print(title, table, highlight=False, soft_wrap=True)
