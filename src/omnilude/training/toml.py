"""Settings as TOML: written with their help, read with the standard library."""

from __future__ import annotations

import json
import textwrap
import tomllib
from typing import Any, TypeVar

from omnilude.errors import SettingsError
from omnilude.spelling import name_known
from omnilude.training.options import Option, change_settings, list_options

T = TypeVar("T")


def write_toml(settings: Any, title: str = "") -> str:
    """The text of a settings file: every field, with its help above it."""
    lines = [f"# {line}" for line in textwrap.wrap(title, 98)]
    section = ""
    for option in list_options(type(settings)):
        if option.section != section:
            section = option.section
            lines += ["", f"[{section}]"]
        value = getattr(getattr(settings, section, settings), option.name)
        lines += ["", *(f"# {line}" for line in textwrap.wrap(_explain(option), 98))]
        lines.append(
            f"# {option.name} is unset" if value is None else f"{option.name} = {_write(value)}"
        )
    return "\n".join(lines).lstrip("\n") + "\n"


def read_toml(text: str, defaults: T, *, file: str = "settings") -> T:
    """Settings from the text of a settings file; what it does not name is as in `defaults`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {error}") from error
    options = list_options(type(defaults))
    sections = {option.section for option in options if option.section}
    settings = defaults
    for section in ("", *sorted(sections)):
        values = table if not section else table.get(section, {})
        if not isinstance(values, dict):
            raise SettingsError(f"{file}: {section} must be a table")
        known = [option.name for option in options if option.section == section]
        values = {name: value for name, value in values.items() if section or name not in sections}
        for name in values:
            if name not in known:
                where = f"[{section}]" if section else "the settings"
                raise SettingsError(
                    f"{file}: {where} has no {name!r}, only {name_known(name, known)}"
                )
        try:
            settings = change_settings(settings, values)
        except SettingsError as error:
            raise SettingsError(f"{file}: {error}") from error
    return settings


def missing_settings(text: str, kind: type) -> list[str]:
    """The settings that have a default but are not in the text of a settings file."""
    table = tomllib.loads(text)
    return [
        option.name
        for option in list_options(kind)
        if option.default is not None
        and option.name not in (table.get(option.section, {}) if option.section else table)
    ]


def _explain(option: Option) -> str:
    if not option.choices or all(f"'{choice}'" in option.help for choice in option.choices):
        return option.help
    return f"{' | '.join(option.choices)}. {option.help}"


def _write(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # JSON's strings are TOML's basic strings, but for a character that TOML wants escaped.
    return (
        json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        if isinstance(value, str)
        else repr(value)
    )
