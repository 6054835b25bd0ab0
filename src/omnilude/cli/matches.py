"""Commands about strength: match, rate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.players import Player
from omnilude.arena.results import MatchResult, write_json
from omnilude.arena.specs import ANCHORS, explain_spec, find_game, make_player, suggest_player
from omnilude.cli.shared import SeedOption, ThreadsOption, make_table
from omnilude.errors import SettingsError
from omnilude.games import Game, load
from omnilude.training.run import find_folder

app = typer.Typer()


@app.command()
def match(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYER...",
            help="random, uct:1000, uct:1s, runs/NAME, runs/NAME:sims=400, runs/NAME:time=1s, ...",
        ),
    ],
    game: Annotated[
        str, typer.Option(help="Needed unless a player is a run, which knows its game.")
    ] = "",
    games: Annotated[int, typer.Option(min=1, help="Games; all seats equally often.")] = 100,
    seed: SeedOption = 0,
    roles: Annotated[
        str,
        typer.Option(help="Roles of the first player, such as 'pacman'; the second has the rest."),
    ] = "",
    together: Annotated[
        bool, typer.Option("--together", help="Each player plays all roles of its own games.")
    ] = False,
    random_plies: Annotated[
        int | None, typer.Option(min=0, help="Random moves at the start of each game.")
    ] = None,
    max_length: Annotated[int, typer.Option(min=1, help="Longer games are cut.")] = 1000,
    batch: Annotated[int, typer.Option(min=1, help="Games side by side in a thread.")] = 64,
    threads: ThreadsOption = 0,
    output: Annotated[Path | None, typer.Option(help="JSON file for the result.")] = None,
) -> None:
    """Let players play against each other, in all seats, and say who is stronger."""
    loaded = _find_game(players, game)
    settings = MatchSettings(
        games=games,
        seed=seed,
        roles=tuple(role.strip() for role in roles.split(",") if role.strip()),
        together=together,
        random_plies=random_plies,
        max_length=max_length,
        batch=batch,
        threads=threads,
    )
    if output:
        _check_writable(output)
    console = Console()
    with console.status("the players get ready"):
        contestants = [make_player(spec, loaded) for spec in players]
    result = show_match(console, loaded, contestants, settings)
    print_match(console, result)
    if output:
        write_json(output, result.to_json())


@app.command()
def rate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name of a run, or its folder.")],
    games: Annotated[int, typer.Option(min=2, help="Games of each pair.")] = 40,
    checkpoints: Annotated[int, typer.Option(min=2, help="At most so many, evenly spread.")] = 8,
    sims: Annotated[int, typer.Option(min=0, help="Simulations a move; 0: policy alone.")] = 32,
    anchors: Annotated[
        str, typer.Option(help="Fixed players; the first has rating 0.")
    ] = ", ".join(ANCHORS),
    seed: SeedOption = 0,
    threads: ThreadsOption = 0,
) -> None:
    """Rate the checkpoints of a run (Elo): how the player grew stronger over time."""
    from omnilude.arena.history import FILE, PICTURE, RatingSettings, rate_run

    folder = find_folder(run)
    loaded = find_game(str(folder))
    if loaded is None:
        raise SettingsError(f"{folder} is not the folder of a run{suggest_player(folder)}")
    settings = RatingSettings(
        games=games,
        checkpoints=checkpoints,
        simulations=sims,
        anchors=tuple(spec.strip() for spec in anchors.split(",") if spec.strip()),
        seed=seed,
        threads=threads,
    )
    console = Console()
    with _progress(console) as bar:
        task = bar.add_task("", total=None)
        history = rate_run(
            folder,
            loaded,
            settings,
            progress=lambda name, done, total: bar.update(
                task, description=name, completed=done, total=total
            ),
        )
    columns = ["player", "minutes", "Elo", "95 %", "games", "effective"]
    table = make_table(f"{loaded.name}: {folder}", columns)
    for rating in history.ratings:
        minutes = history.minutes.get(rating.name)
        half = (rating.elo.high - rating.elo.low) / 2
        table.add_row(
            rating.name,
            "" if minutes is None else f"{minutes:.1f}",
            f"{rating.elo.value:.0f}",
            f"± {half:.0f}",
            f"{history.games[rating.name]}",
            f"{rating.games:.0f}",
        )
    console.print(table)
    for name in (FILE, PICTURE):
        console.print(f"written: {folder / name}", highlight=False, soft_wrap=True)


def show_match(
    console: Console, game: Game, players: list[Player], settings: MatchSettings
) -> MatchResult:
    """Plays a match with a bar that shows how far it is."""
    with _progress(console) as bar:
        task = bar.add_task("playing", total=None)
        return play_match(
            game,
            players,
            settings,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def print_match(console: Console, result: MatchResult) -> None:
    console.print(result.table())
    ends = result.to_json()["ends"]
    for end, what in (("cut", "too long, and cut"), ("stuck", "ended by a role without a move")):
        if ends[end]:
            console.print(f"{ends[end]} games were {what}", style="yellow")
    if result.distinct < result.games / 2:
        console.print(
            f"only {result.distinct} of {result.games} games differ: --random-plies makes more",
            style="yellow",
        )
    console.print(f"{result.seconds:.1f} s", style="dim", highlight=False)


def _check_writable(file: Path) -> None:
    """Before a long match, not after it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise SettingsError(f"cannot write {file}: not a file in a folder that may be written to")


def _find_game(players: list[str], name: str) -> Game:
    if name:
        return load(name)
    for spec in players:
        game = find_game(spec)
        if game is not None:
            return game
    for spec in players:
        explain_spec(spec)  # which may be wrong in itself, and then that is what to say
    raise SettingsError("which game? give --game, or a player that is a run")


def _progress(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=console, transient=True)
