"""`omnilude demo`: from rules to a player that taught itself, in a few minutes."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from omnilude.arena.match import MatchSettings
from omnilude.arena.single import StatePlayer
from omnilude.arena.specs import make_player
from omnilude.cli.learning import print_summary, suggest_commands, train_player
from omnilude.cli.matches import print_match, show_match
from omnilude.cli.shared import print_commands
from omnilude.games import Game, State, load
from omnilude.rules.library import bundled_games
from omnilude.training.run import load_settings, load_state

app = typer.Typer()

GAME = "connect-four"
OPPONENT = "uct:200"
NEXT = (
    ("games", "the other games that come with it"),
    ("train tic-tac-toe --minutes 1", "another game, in a minute"),
    ("check my-game.kif", "your own rules, in GDL: train them too"),
    ("bench", "the speed of the engine"),
)


@app.command()
def demo(
    minutes: Annotated[float, typer.Option(min=0.01, help="Of training.")] = 2.0,
    games: Annotated[int, typer.Option(min=2, help="Of the match against UCT.")] = 20,
    pause: Annotated[float, typer.Option(min=0, help="Seconds between moves.")] = 0.4,
    run: Annotated[
        Path, typer.Option(help="Folder of the run; where one is done, the next free.")
    ] = Path("runs/demo"),
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=(1 << 64) - 1,
            help="Of training and match; runs of one seed differ too, as training goes by time.",
        ),
    ] = 1,
) -> None:
    """Train Connect Four for two minutes, play a match against UCT, show a game and the plots."""
    console = Console()
    run = choose_folder(run, minutes, seed)
    path = bundled_games()[GAME]
    start = time.perf_counter()
    game = load(GAME)
    taken = time.perf_counter() - start
    rules = sum(
        1 for line in path.read_text().splitlines() if line.strip() and not line.startswith(";")
    )
    console.rule("From rules to a game")
    console.print(
        f"Connect Four, from the {rules} lines of rules in {path.name}: compiled in "
        f"{taken * 1000:.0f} ms, and checked against a plain reading of the rules.\n"
        "Nothing else is known about the game; the network is made from the rules too.\n"
    )
    console.rule(f"{minutes:g} minutes of self-play and learning")
    summary = train_player(
        console,
        game,
        run,
        {"minutes": minutes, "seed": seed, "assess_minutes": max(0.1, minutes / 4)},
        "random, uct:100",
    )
    print_summary(console, summary)
    console.rule(f"A match against {OPPONENT}, in both seats")
    players = [make_player(str(run), game, simulations=64), make_player(OPPONENT, game)]
    players[0].name = "taught itself"
    result = show_match(console, game, players, MatchSettings(games=games, seed=seed))
    print_match(console, result)
    console.rule("One more game, to watch")
    _show_game(console, game, str(run), seed, pause)
    console.rule("What to try next")
    longer = (f"train {GAME} --run {run} --minutes {max(10, 5 * minutes):g}", "go on with this run")
    print_commands(console, [longer, *suggest_commands(game, run), *NEXT])


def choose_folder(run: Path, minutes: float, seed: int) -> Path:
    """The folder, if there is no run in it or one to go on with; else RUN-2, and so on."""
    folders = (run if n == 1 else run.with_name(f"{run.name}-{n}") for n in count(1))
    return next(folder for folder in folders if _is_open(folder, minutes, seed))


def _is_open(folder: Path, minutes: float, seed: int) -> bool:
    settings, state = load_settings(folder), load_state(folder)
    if settings is None or state is None:
        return True
    return settings.seed == seed and state.elapsed < 60 * min(minutes, settings.minutes)


def _show_game(console: Console, game: Game, run: str, seed: int, pause: float) -> None:
    """A game against UCT: in place in a terminal, position after position elsewhere."""
    first, second = game.roles
    ours = StatePlayer(run, game, seed=seed, simulations=64, roles=[first])
    theirs = StatePlayer(OPPONENT, game, seed=seed, roles=[second])
    state, said = game.initial(), f"{first} taught itself, {second} is UCT"
    with Live(console=console, auto_refresh=False) as live:
        while True:
            if console.is_terminal:
                live.update(_picture(state, said), refresh=True)
            else:
                console.print(_picture(state, said))
            time.sleep(pause)
            if state.terminal:
                break
            moves = [*ours.choose(state), *theirs.choose(state)]
            movers = [n for n, role in enumerate(game.roles) if len(state.legal(role)) > 1]
            said = ", ".join(f"{game.roles[n]} plays {moves[n]}" for n in movers) or said
            state = state.play(moves)
    rewards = zip(game.roles, state.reward, strict=True)
    console.print("The end: " + ", ".join(f"{role} {reward:g}" for role, reward in rewards) + "\n")


def _picture(state: State, said: str) -> Text:
    # The board alone: its legend and the other facts would only flicker.
    lines = [line for line in str(state).splitlines() if line.startswith("  ")]
    picture = Text("\n".join([f"{said:<40}", *lines, ""]))
    for sign, style in ((r"r", "bold red"), (r"y", "bold yellow"), (r"\.", "dim")):
        picture.highlight_regex(rf"(?<= ){sign}(?= |$|\n)", style)
    return picture
