"""The command that replays recorded games."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from omnilude.games import replays

app = typer.Typer()


@app.command()
def replay(
    trials: Annotated[
        Path, typer.Argument(help="Folder of recorded games.", exists=True, file_okay=False)
    ],
    descriptions: Annotated[
        Path, typer.Option(help="Folder with their descriptions.", exists=True, file_okay=False)
    ],
    definitions: Annotated[
        Path,
        typer.Option(help="Folder of the definitions they use.", exists=True, file_okay=False),
    ],
    only: Annotated[list[str] | None, typer.Option(help="A game by name; may be repeated.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    output: Annotated[Path | None, typer.Option(help="Write a page of the results.")] = None,
) -> None:
    """Replay games that another engine recorded, and count which are exact.

    At every ply the number of legal moves and all effects of the move must agree, at the end the
    winner and the rankings. Exit code 1 if any replay is wrong.
    """
    console = Console()
    pairs = replays.find_pairs(trials, descriptions)
    if only:
        pairs = [pair for pair in pairs if pair[0].name.split(".txt")[0] in only]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task("replaying", total=len(pairs))

        def show(result: replays.Replay) -> None:
            progress.advance(task)
            if result.status in (replays.WRONG, replays.SLOW):
                text = f"{result.name}: {result.status} {result.reason}"
                console.print(text, style="red", highlight=False, markup=False)

        results = replays.replay_all(pairs, definitions, workers=workers, show=show)
    for status, count in replays.count_statuses(results).items():
        console.print(f"{status:>15} {count:5}")
    if only:
        for result in results:
            console.print(f"{result.name}: {result.status} {result.reason}".rstrip())
    if output is not None:
        command = "omnilude replay TRIALS --descriptions FOLDER --definitions FOLDER --output FILE"
        output.write_text(replays.write_page(results, command), encoding="utf-8")
        console.print(f"written: {output}")
    if any(result.status == replays.WRONG for result in results):
        raise typer.Exit(1)
