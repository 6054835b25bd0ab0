"""Settings as options: what each field of a settings dataclass is called, takes and means, read
from the class itself, so that the command line and the settings file never say anything else."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from omnilude.errors import SettingsError
from omnilude.spelling import name_known

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a settings dataclass, or of a dataclass inside it."""

    section: str  # name of the field that holds the inner dataclass; "" for the outer one
    name: str
    kind: type  # bool, int, float or str
    choices: tuple[str, ...]  # none where any value will do
    optional: bool  # whether it may be unset
    default: Any
    help: str


def list_options(kind: type) -> tuple[Option, ...]:
    """All fields of a settings dataclass, those of inner dataclasses after the others.

    Names are unique over all sections, so that they can be given without the section.
    """
    if kind not in _options:
        _options[kind] = tuple(_read_options(kind))
    return _options[kind]


_options: dict[type, tuple[Option, ...]] = {}


def _read_options(kind: type) -> list[Option]:
    assert is_dataclass(kind)
    hints, texts = get_type_hints(kind), describe_fields(kind)
    options: list[Option] = []
    inner: list[Option] = []
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            assert isinstance(hint, type)
            given = _default(field)  # whose defaults may be others than those of its class
            inner += [
                replace(option, section=field.name, default=getattr(given, option.name))
                for option in list_options(hint)
            ]
            continue
        arguments = [hint] if get_origin(hint) is Literal else list(get_args(hint)) or [hint]
        optional = NoneType in arguments
        arguments = [argument for argument in arguments if argument is not NoneType]
        choices = tuple(str(choice) for a in arguments for choice in get_args(a))
        options.append(
            Option(
                section="",
                name=field.name,
                kind=str if choices else arguments[0],
                choices=choices,
                optional=optional,
                default=_default(field),
                help=texts[field.name],
            )
        )
    return options + inner


def describe_fields(kind: type) -> dict[str, str]:
    """The text below each field of a class; one without shares that of the field right below."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    texts: dict[str, str] = {}
    waiting: list[str] = []
    end = 0
    for node in body.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                if node.lineno != end + 1:
                    waiting = []
                waiting.append(name)
                texts[name] = ""
            case ast.Expr(value=ast.Constant(value=str(text))):
                texts |= dict.fromkeys(waiting, " ".join(text.split()))
                waiting = []
        end = node.end_lineno or 0
    return texts


def flatten(settings: Any) -> dict[str, Any]:
    """Every value by the name of its option."""
    return {
        option.name: getattr(getattr(settings, option.section, settings), option.name)
        for option in list_options(type(settings))
    }


def change_settings(settings: T, values: Mapping[str, Any]) -> T:
    """Settings with some values changed, by the names of their options; '-' may stand for '_'."""
    options = {option.name: option for option in list_options(type(settings))}
    changes: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            known = name_known(key.replace("-", "_"), list(options))
            raise SettingsError(f"there is no setting {key!r}, only {known}")
        changes.setdefault(option.section, {})[option.name] = convert(option, value)
    outer = changes.pop("", {})
    for section, inner in changes.items():
        outer[section] = replace(getattr(settings, section), **inner)
    return replace(settings, **outer)  # type: ignore[type-var]


def convert(option: Option, value: Any) -> Any:
    """A value as the option's type; an error where it is of another."""
    if value is None and option.optional:
        return None
    if option.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, option.kind) or (isinstance(value, bool) and option.kind is not bool):
        raise SettingsError(f"{option.name} must be of type {option.kind.__name__}, not {value!r}")
    return value


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else None
