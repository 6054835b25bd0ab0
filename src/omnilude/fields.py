"""Fields of settings: by what every class of settings refuses what makes no sense."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from omnilude.errors import SettingsError


def check_fields(
    settings: Any,
    *,
    at_least: Mapping[float, str] | None = None,
    above_0: str = "",
    shares: str = "",
    at_most: float = math.inf,
) -> None:
    """Refuses fields of a frozen dataclass that are not what their annotations say, and numbers out
    of bounds. To be called first in `__post_init__`: what follows may rely on the types.

    `at_least` has the names of fields by their lower bound; numbers that it does not name must not
    be negative, those in `shares` are from 0 to 1. Numbers of numpy become plain ones, which can be
    written to files.
    """
    kind: type = type(settings)
    hints, positive, parts = _read_hints(kind), above_0.split(), shares.split()
    least = {name: bound for bound, names in (at_least or {}).items() for name in names.split()}
    assert hints.keys() >= {*least, *positive, *parts}
    for name, hint in hints.items():
        given = getattr(settings, name)
        try:
            value = _fit(given, hint)
        except TypeError:
            raise SettingsError(f"{name} must be {_describe(hint)}, not {given!r}") from None
        if value is not given:
            object.__setattr__(settings, name, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if name in parts:
            if not 0 <= value <= 1:
                raise SettingsError(f"{name} must be between 0 and 1, not {value!r}")
        elif name in positive:
            if not value > 0:
                raise SettingsError(f"{name} must be above 0, not {value!r}")
        elif not value >= least.get(name, 0):  # nor is what is not a number
            raise SettingsError(f"{name} must be at least {least.get(name, 0)}, not {value!r}")
        if value > at_most:
            raise SettingsError(f"{name} must be at most {at_most}, not {value!r}")
        if value == math.inf:
            raise SettingsError(f"{name} must be finite, not {value!r}")


@cache
def _read_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _fit(value: Any, hint: Any) -> Any:
    """A value that is what an annotation says, without numpy's types; else a TypeError."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):  # something, or None
        return None if value is None else _fit(value, _not_none(hint))
    if origin is tuple and isinstance(value, tuple | list):
        return tuple(_fit(one, inner[0]) for one in value)
    if origin is Literal and isinstance(value, str) and value in inner:
        return value
    if origin is None:
        plain = value.item() if isinstance(value, np.generic) else value
        kinds = (int, float) if hint is float else (hint,)
        if isinstance(plain, kinds) and isinstance(plain, bool) == (hint is bool):
            return plain  # to Python True is a number, but not to us
    raise TypeError


def _describe(hint: Any) -> str:
    """What an annotation asks for, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return f"{_describe(_not_none(hint))} or None"
    if origin is tuple:
        return f"a tuple, each item {_describe(inner[0])}"
    if origin is Literal:
        return " or ".join(inner)
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return words.get(hint) or f"of type {hint.__name__}"


def _not_none(hint: Any) -> Any:
    return next(one for one in get_args(hint) if one is not NoneType)
