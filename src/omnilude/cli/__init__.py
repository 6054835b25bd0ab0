"""The command line: `omnilude --help`.

Commands import what they need when they run: `omnilude games` should not wait for PyTorch.
"""

from __future__ import annotations

from typing import Annotated

import typer

from omnilude import __version__
from omnilude.cli import bench, demo, learning, matches, replays, rules
from omnilude.cli.shared import ErrorGroup

app = typer.Typer(
    cls=ErrorGroup,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="General game playing: give it the rules of a game, and it teaches itself to play.",
    epilog="GAME is the name of a bundled game ('omnilude games' lists them) or a path to rules.",
)


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"omnilude {__version__}")
        raise typer.Exit


# --version alone is a complete command.
app.info.invoke_without_command = True

app.add_typer(rules.app)
app.add_typer(learning.app)
app.add_typer(matches.app)
app.add_typer(replays.app)
app.add_typer(bench.app, name="bench")
app.add_typer(demo.app)
