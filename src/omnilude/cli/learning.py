"""Commands about learning: encode, symmetries, train, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from omnilude.arena.specs import OPPONENTS, list_checkpoints
from omnilude.cli.options import BaselineOption, apply_changes, with_training_options
from omnilude.cli.shared import (
    FILE,
    BareCommand,
    GameArgument,
    SeedOption,
    make_table,
    print_commands,
)
from omnilude.errors import SettingsError
from omnilude.games import Game, load
from omnilude.games.statistics import random_play
from omnilude.training.baselines import find_baseline
from omnilude.training.run import RUNS, find_folder, load_settings

if TYPE_CHECKING:
    from omnilude.training.progress import Summary
    from omnilude.training.settings import TrainingSettings

app = typer.Typer()

MOST_SYMMETRIES = 12
"""Symmetries described one by one; there may be thousands."""
MOST_PLIES = 200
"""Of a random game in whose middle a picture is made."""


@app.command(cls=BareCommand)
def encode(
    game: GameArgument,
    kind: Annotated[str, typer.Option(help="'planes' (P3), or 'propositions' (GAZ).")] = "planes",
    png: Annotated[
        str | None,
        typer.Option(metavar=FILE, help="Draw what the network sees; without a file in GAME.png."),
    ] = None,
    plies: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Random moves before that picture.",
            show_default="half of a random game's",
        ),
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Show how the states of a game become the numbers that a network reads."""
    from omnilude.encoding import make_encoding

    if plies is not None and png is None:
        raise SettingsError("--plies says what is drawn: give --png too")
    loaded = load(game)
    encoding = make_encoding(loaded, kind)
    console = Console()
    console.print(Text(str(encoding)), soft_wrap=True)
    if png is not None:
        file = Path(png or f"{loaded.name}.png")
        states, made = _play_at_random(loaded, plies, seed)
        file.parent.mkdir(parents=True, exist_ok=True)
        encoding.draw(states, file)
        end = ", the last position before the end" if made < (plies or 0) else ""
        told = f"drawn after {made} random move{'s' * (made != 1)}{end}: {file}"
        console.print(told, highlight=False, soft_wrap=True)


@app.command()
def symmetries(game: GameArgument) -> None:
    """Find the symmetries of a game: ways to exchange cells, pieces and roles that change nothing.

    They are found in the rules, none is declared. Training shows positions under those that leave
    the initial position as it is; of roles that move at the same time it exchanges only such as the
    initial position tells apart.
    """
    from omnilude.games.symmetry import find_symmetries

    loaded = load(game)
    console = Console()
    with console.status("searching"):
        found = find_symmetries(loaded)
    tried = found.order - found.proved
    console.print(
        f"{loaded.name}: {found.order:,} symmetries, the identity among them; "
        f"{found.proved:,} follow from the rules"
        + (f", {tried:,} hold in random play" if tried else ""),
        highlight=False,
        soft_wrap=True,
    )
    table = make_table("", ["number", "fluents moved", "moves moved"], ["roles"])
    for number, symmetry in enumerate(found.elements[:MOST_SYMMETRIES]):
        roles = [
            f"{loaded.roles[a]} → {loaded.roles[b]}" for a, b in enumerate(symmetry.roles) if a != b
        ]
        table.add_row(
            str(number),
            str(sum(int(f) != n for n, f in enumerate(symmetry.fluents))),
            str(sum(int(m) != n for slots in symmetry.slots for n, m in enumerate(slots))),
            ", ".join(roles) or "as they are",
        )
    console.print(table)
    if found.order > MOST_SYMMETRIES:
        console.print(f"... and {found.order - MOST_SYMMETRIES:,} more", highlight=False)


@app.command()
@with_training_options
def train(
    game: GameArgument,
    run: Annotated[
        str,
        typer.Option(
            help="Name of the run (its folder in runs/), or a path.", show_default="that of GAME"
        ),
    ] = "",
    baseline: BaselineOption = "",
    opponents: Annotated[
        str, typer.Option(help="Fixed opponents that show the strength; '' for none.")
    ] = ", ".join(OPPONENTS),
    *,
    changes: dict[str, Any],
) -> None:
    """Learn to play a game by playing it.

    The run is a folder. The same command goes on where the run was stopped or killed, and with a
    larger budget (--minutes) it goes on beyond its end.
    """
    from omnilude.encoding import check_encodable

    loaded = load(game)
    check_encodable(loaded)  # before anything is written
    changes = {**find_baseline(baseline), **changes}
    usual = RUNS / (f"{loaded.name}-{baseline}" if baseline else loaded.name)
    folder = find_folder(run) if run else usual
    console = Console()
    summary = train_player(console, loaded, folder, changes, opponents)
    print_summary(console, summary)
    console.print("\nWhat to try next", style="bold")
    print_commands(console, suggest_commands(loaded, summary.folder))


def suggest_commands(game: Game, folder: Path) -> list[tuple[str, str]]:
    """What can be done with a run, each with a word about it."""
    from omnilude.arena.assess import share_interest

    if share_interest(game):  # nobody to play against, nor to be rated beside
        commands = [(f"match {folder} uct:1000 --together", "its score beside that of UCT")]
    else:
        commands = [(f"match {folder} uct:1000", "play against UCT, in all seats")]
        if len(list_checkpoints(folder)) > 1:
            commands.append((f"rate {folder}", "the strength of its checkpoints over time"))
    return [*commands, (f"export {folder} --onnx", "the network for other programs")]


@app.command(cls=BareCommand)
def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or one of its checkpoints.")],
    onnx: Annotated[
        str,
        typer.Option(
            metavar=FILE,
            help="The file to write; without one player.onnx in the folder of the run.",
        ),
    ],
    step: Annotated[int | None, typer.Option(help="A checkpoint of the run; else newest.")] = None,
) -> None:
    """Write the network of a run as ONNX, which describes its own input and output."""
    from omnilude.arena.specs import find_checkpoint, find_game
    from omnilude.networks import export_onnx, load_checkpoint

    path = find_folder(run)
    # Of a checkpoint it is that of the run. Without the game only the names of moves are missing.
    game = find_game(str(path), needed=False) or find_game(str(path.parent.parent), needed=False)
    checkpoint = load_checkpoint(find_checkpoint(path, step), game)
    facts: dict[str, Any] = {"game": checkpoint.game, "step": checkpoint.step}
    if game is not None:
        facts["moves"] = name_moves(game)
    file = Path(onnx or (path / "player.onnx" if path.is_dir() else f"{path.stem}.onnx"))
    written = export_onnx(checkpoint.network, file, metadata=facts)
    network = checkpoint.network
    Console().print(
        f"{written}: {checkpoint.game}, step {checkpoint.step}, "
        f"{network.parameter_count:,} parameters\n"
        f"rows [n, {network.encoding.size}] to logits [n, {sum(network.slots)}] and values "
        f"[n, {len(network.slots)}]; its metadata say what each number means",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )


def name_moves(game: Game) -> dict[str, list[str]]:
    """What the slots of each player mean, in the order of a policy."""
    return {
        game.roles[player]: [str(game.move(player, slot)) for slot in range(game.slots(player))]
        for player in game.players
    }


def train_player(
    console: Console, game: Game, folder: Path, changes: dict[str, Any], opponents: str
) -> Summary:
    """Trains, or goes on with a run, while the console shows how it goes."""
    from omnilude.training.display import make_display
    from omnilude.training.loop import train as train_network
    from omnilude.training.settings import TrainingSettings

    settings = apply_changes(load_settings(folder) or TrainingSettings(), changes)
    console.print(f"{game.name} in {folder}", style="bold", highlight=False)
    with console.status("PyTorch is being loaded"):
        assess = make_assessment(game, settings, opponents)
    return train_network(game, folder, settings, assess=assess, display=make_display(console))


def make_assessment(game: Game, settings: TrainingSettings, opponents: str) -> Any:
    """What tells the strength during training; None where that is not wanted."""
    wanted = [spec.strip() for spec in opponents.split(",") if spec.strip()]
    if not settings.assess_minutes or not wanted:
        return None
    from omnilude.arena.assess import Assessment

    return Assessment(
        game,
        games=settings.assess_games,
        simulations=settings.assess_simulations,
        search=settings.search.as_learned(),
        opponents=wanted,
        max_length=settings.search.max_length,
    )


def print_summary(console: Console, summary: Summary) -> None:
    table = make_table(f"{summary.game}: {summary.folder}", ["what", "value"])
    for name, value in (
        ("time", f"{summary.elapsed / 60:.1f} minutes"),
        ("games", f"{summary.games:,}"),
        ("positions", f"{summary.positions:,}"),
        ("positions a second", f"{summary.rate:,.0f}"),
        ("steps of learning", f"{summary.steps:,}"),
        ("parameters", f"{summary.parameters:,}"),
        ("evaluated by", summary.engine),
        ("search and engine, of self-play", f"{summary.search_share:.0%}"),
        ("memory at most", f"{summary.memory / 2**30:.2f} GiB"),
    ):
        table.add_row(name, value)
    for opponent, score in summary.scores.items():
        table.add_row(f"mean score, {opponent}", f"{score:.1%}")
    console.print(table)
    settings = load_settings(summary.folder)
    if summary.scores and settings:
        console.print(
            f"Scores are of {settings.assess_games} games each, {settings.assess_simulations} "
            "simulations a move, without playouts from leaves: `omnilude match` tells more "
            "exactly.",
            style="dim",
            highlight=False,
        )
    for picture in summary.pictures:
        console.print(f"written: {picture}", highlight=False, soft_wrap=True)
    console.print(summary.hint, highlight=False, soft_wrap=True)


def _play_at_random(game: Game, plies: int | None, seed: int) -> tuple[NDArray[np.uint8], int]:
    """The state after so many random moves, or as many as there are before the end, and their
    number; without one, half of a random game's."""
    if plies is None:
        plies = (_play_at_random(game, MOST_PLIES, seed)[1] + 1) // 2
    states, made = game.initial_states(1), 0
    for number, step in enumerate(random_play(game, 1, seed=seed, max_length=plies)):
        if step.live.all():
            states, made = step.states, number
    return states, made
