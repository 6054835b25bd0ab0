"""What all commands share: how errors are shown, the options that mean the same everywhere."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from omnilude.errors import OmniludeError, RulesError, SettingsError, WorkerDied

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HALF_WRITTEN = re.compile(r"\.([^/]+)\.\d+-\d+\.part$")


class ErrorGroup(TyperGroup):
    """Says what is wrong in one message: a traceback helps nobody who wrote rules."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OmniludeError as error:
            _print_error(error)
            raise typer.Exit(1) from error
        except OSError as error:
            # Without a file they are about something else, such as a pipe that nobody reads any
            # more; but where a disk is full, what was being written is not told.
            if error.filename is None and error.errno not in NO_ROOM:
                raise
            what = "write" if error.filename is None else f"read or write {_file_of(error)}"
            _print_error(OmniludeError(f"cannot {what}: {error.strerror}"))
            raise typer.Exit(1) from error


FILE = "[FILE]"
"""The metavar of options that may stand without a value, in a `BareCommand`."""


class BareCommand(TyperCommand):
    """A command whose options for files may stand without one, and are the empty text then.

    Typer knows options with a value and flags, but none that can be both.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        bare = {name for option in self.params if option.metavar == FILE for name in option.opts}
        args = [
            f"{arg}=" if arg in bare and after.startswith("-") else arg
            for arg, after in pairwise([*args, "-"])
        ]
        return super().parse_args(ctx, args)


GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="Name of a bundled game, or path of a rulesheet.")
]
EngineOption = Annotated[
    str,
    typer.Option(help="'circuit', 'interpreter', or 'auto': the circuit where it can be had."),
]
CodeOption = Annotated[
    bool,
    typer.Option(
        "--machine-code/--no-machine-code",
        help="Run the circuit as machine code, or by the portable evaluator.",
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        min=0, max=(1 << 64) - 1, help="Of the random moves: the same seed, the same games."
    ),
]
ThreadsOption = Annotated[
    int, typer.Option(min=0, help="Threads; 0: as many as the machine has cores.")
]


ChoicesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="'HEADING=ITEM'",
        help="Choose among the options of a ludemic description, such as 'Board Size=7x7'; may be "
        "repeated.",
    ),
]
RulesetOption = Annotated[
    str | None, typer.Option(help="One of the rulesets of a ludemic description.")
]
DefinitionsOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder of definitions that a ludemic description uses.", exists=True, file_okay=False
    ),
]


def read_choices(choices: Sequence[str] | None) -> dict[str, str]:
    """What --option says, as heading and item."""
    chosen: dict[str, str] = {}
    for text in choices or ():
        heading, sign, item = text.partition("=")
        if not sign:
            raise SettingsError(f"--option must look like 'Board Size=7x7', not {text!r}")
        chosen[heading.strip()] = item.strip()
    return chosen


def print_commands(console: Console, commands: Sequence[tuple[str, str]]) -> None:
    """Commands of ours, and beside each what it does."""
    width = max(len(command) for command, _ in commands)
    for command, told in commands:
        console.print(f"omnilude {command:<{width}}   {told}", highlight=False, soft_wrap=True)


def make_table(title: str, columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """A table that fits 80 columns: what it is about, numbers, then texts."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for column in texts:
        table.add_column(column)
    return table


def _file_of(error: OSError) -> str:
    """The file that an error is about, where it was being written (`networks/files.py`) the one
    that was asked for."""
    return _HALF_WRITTEN.sub(r"\1", str(error.filename))


def _print_error(error: OmniludeError) -> None:
    """The message in red; for rules also the line and a mark below the column."""
    console = Console(stderr=True, soft_wrap=True)
    if isinstance(error, WorkerDied) and error.trace:  # not the fault of who reads this
        console.print(Text(error.trace.rstrip(), style="dim"))
    if not isinstance(error, RulesError):
        console.print(Text(f"error: {error}", style="red"))
        return
    place = f":{error.line}:{error.column}" if error.position else ""
    console.print(Text(f"{error.file}{place}: {error.message}", style="red"))
    if error.position and Path(error.file).is_file():
        lines = Path(error.file).read_text(errors="replace").split("\n")
        if error.position.line <= len(lines):
            line = lines[error.position.line - 1].replace("\t", " ")
            console.print(Text(f"  {line}\n  {' ' * (error.position.column - 1)}^", style="dim"))
    if error.hint:
        console.print(Text(f"hint: {error.hint}", style="cyan"))
