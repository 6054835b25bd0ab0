"""Commands whose options are the fields of a settings dataclass: one source for both."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from omnilude.errors import SettingsError
from omnilude.training.baselines import BASELINES
from omnilude.training.options import Option, change_settings, list_options
from omnilude.training.settings import TrainingSettings

PANELS = {"": "Training", "search": "Search in self-play", "network": "Network"}
BaselineOption = Annotated[
    str,
    typer.Option(
        metavar="|".join(BASELINES),
        help="Learn as published players do; options that are given count all the same.",
        show_default="ours",
    ),
]


def with_training_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds an option for each training setting to a command, whose last parameter takes them.

    That parameter, `changes`, is a dictionary of those that were given, by name.
    """
    options = list_options(TrainingSettings)
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "changes"]
    parameters = [*own, *(_make_parameter(option) for option in options)]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        values = {option.name: arguments.pop(option.name) for option in options}
        given = {name: value for name, value in values.items() if value is not None}
        command(**arguments, changes=given)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return run


def apply_changes(settings: TrainingSettings, changes: dict[str, Any]) -> TrainingSettings:
    """Settings with what was given on the command line."""
    if changes.keys() & {"playouts", "playout_weight"}:  # what is given need not be found out
        changes = {"auto_playouts": False, **changes}
    changed = change_settings(settings, changes)
    if "playout_weight" in changes and not (changed.auto_playouts or changed.search.playouts):
        raise SettingsError("playout_weight says nothing without playouts: give their number too")
    return changed


def _make_parameter(option: Option) -> inspect.Parameter:
    name = option.name.replace("_", "-")
    flags = (f"--{name}/--no-{name}",) if option.kind is bool else (f"--{name}",)
    text = option.help
    if option.choices and not all(f"'{choice}'" in text for choice in option.choices):
        text = f"{' or '.join(option.choices)}. {text}"
    default = "unset" if option.default is None else str(option.default)
    info = typer.Option(
        *flags,
        help=text,
        show_default=default,
        metavar={int: "N", float: "X", bool: None}.get(option.kind, "TEXT"),
        rich_help_panel=PANELS.get(option.section, option.section),
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[option.kind | None, info],
    )
