"""What every class of settings refuses: fields of another type, numbers that make no sense."""

import json
import math
import tomllib
from dataclasses import asdict, dataclass, fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from omnilude.arena.history import RatingSettings
from omnilude.arena.match import MatchSettings
from omnilude.benchmarks import BenchmarkSettings
from omnilude.errors import SettingsError
from omnilude.fields import check_fields
from omnilude.games.settings import LoadSettings
from omnilude.networks.settings import NetworkSettings
from omnilude.search.settings import MOST, SearchSettings, UctSettings
from omnilude.training.settings import TrainingSettings
from omnilude.training.toml import write_toml

KINDS = (
    SearchSettings,
    UctSettings,
    NetworkSettings,
    TrainingSettings,
    MatchSettings,
    RatingSettings,
    LoadSettings,
    BenchmarkSettings,
)
WRONG: dict[Any, list[Any]] = {
    int: ["x", "3", 2.5, 3.0, True, [3], math.nan, math.inf, -1, np.float64(3), np.array([3])],
    float: ["x", "0.5", True, [0.5], math.nan, math.inf, -math.inf, -1, 1j, np.array(0.5)],
    bool: ["no", "", 0, 1, 1.0, None, []],
    str: [3, True, b"x", ["x"], None],
    Literal: ["steam", "", 3, True, ["x"], None, np.array(["x"])],
    tuple: ["ab", 3, (3,), ("a", None), None, {"a"}, ["a", ["b"]]],
}


FIELDS = [(kind, name, hint) for kind in KINDS for name, hint in get_type_hints(kind).items()]


@pytest.mark.parametrize(("kind", "name", "hint"), FIELDS, ids=str)
def test_fields_are_what_their_annotations_say(kind: Any, name: str, hint: Any) -> None:
    optional = NoneType in get_args(hint)
    plain = next(one for one in get_args(hint) if one is not NoneType) if optional else hint
    wrong = WRONG.get(plain) or WRONG.get(get_origin(plain)) or [3, "x", {}]
    for value in [one for one in wrong if not (optional and one is None)]:
        with pytest.raises(SettingsError, match=rf"^(network )?{name} must be .+, not ") as raised:
            kind(**{name: value})
        assert repr(value) in str(raised.value)
    if not optional:
        with pytest.raises(SettingsError, match=f"{name} must be "):
            kind(**{name: None})


@pytest.mark.parametrize(
    ("kind", "wrong", "told"),
    [
        (TrainingSettings, {"minutes": "x"}, "minutes must be a number, not 'x'"),
        (TrainingSettings, {"batch_size": 256.5}, "batch_size must be a whole number, not 256.5"),
        (TrainingSettings, {"minutes": math.inf}, "minutes must be finite, not inf"),
        (TrainingSettings, {"batch_size": 0}, "batch_size must be at least 1, not 0"),
        (TrainingSettings, {"replay_gib": 0.001}, "replay_gib must be at least 0.01, not 0.001"),
        (TrainingSettings, {"ema_decay": 1.5}, "ema_decay must be between 0 and 1, not 1.5"),
        (TrainingSettings, {"search": 3}, "search must be of type SearchSettings, not 3"),
        (SearchSettings, {"solver": "no"}, "solver must be true or false, not 'no'"),
        (SearchSettings, {"noise_total": 0}, "noise_total must be above 0, not 0"),
        (SearchSettings, {"cache": MOST + 1}, f"cache must be at most {MOST}, not {MOST + 1}"),
        (UctSettings, {"playouts": 0}, "playouts must be at least 1, not 0"),
        (NetworkSettings, {"channels": "x"}, "channels must be a whole number or None, not 'x'"),
        (NetworkSettings, {"channels": 0}, "channels must be at least 1, not 0"),
        (NetworkSettings, {"blocks": 101}, "blocks must be at most 100, not 101"),
        (MatchSettings, {"games": 2.5}, "games must be a whole number, not 2.5"),
        (MatchSettings, {"roles": "ab"}, "roles must be a tuple, each item a text, not 'ab'"),
        (RatingSettings, {"checkpoints": 1}, "checkpoints must be at least 2, not 1"),
        (LoadSettings, {"seconds": math.nan}, "seconds must be at least 0, not nan"),
        (BenchmarkSettings, {"seconds": 0}, "seconds must be above 0, not 0"),
    ],
    ids=str,
)
def test_errors_say_what_a_field_must_be(kind: Any, wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as raised:
        kind(**wrong)
    assert str(raised.value) == told


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy_are_as_good(kind: Any) -> None:
    usual = kind()
    given: dict[str, Any] = {}
    for name, value in ((one.name, getattr(usual, one.name)) for one in fields(kind)):
        if isinstance(value, bool):
            given[name] = np.bool_(value)
        elif isinstance(value, int):
            given[name] = np.int64(value)
        elif isinstance(value, float):
            given[name] = np.float64(value)
        elif isinstance(value, tuple):
            given[name] = list(value)
    settings = kind(**given)
    assert settings == usual
    # And become plain, or files of them could not be written, or not be read again.
    assert json.dumps(asdict(settings)) == json.dumps(asdict(usual))
    hash(settings)
    if kind is not RatingSettings and kind is not MatchSettings:  # TOML has no tuples
        assert tomllib.loads(write_toml(settings)) == tomllib.loads(write_toml(usual))


def test_single_precision_and_whole_numbers_are_numbers() -> None:
    settings = SearchSettings(c_puct=np.float32(0.5), c_scale=1, temperature=np.int8(2))  # type: ignore[arg-type]
    assert (settings.c_puct, settings.c_scale, settings.temperature) == (0.5, 1, 2)


@dataclass(frozen=True, slots=True)
class Small:
    number: int = 3

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "nubmer"})


def test_bounds_of_fields_that_are_not_there_are_a_mistake() -> None:
    with pytest.raises(AssertionError):
        Small()
