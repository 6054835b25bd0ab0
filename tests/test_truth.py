"""Every record of the public rulesheets is reproduced: roles, moves, perft, playouts, goals."""

from __future__ import annotations

import os

import pytest

import omnilude
import truth
from omnilude import LoadSettings

# These need more than five seconds each, most of them for a circuit of millions of instances.
HEAVY = frozenset()
ALL = os.environ.get("OMNILUDE_ALL_TRUTH") == "1"
NODES = {"circuit": 50_000, "interpreter": 300}


def parameters() -> list[object]:
    heavy = pytest.mark.skipif(not ALL, reason="takes long: run with OMNILUDE_ALL_TRUTH=1")
    return [
        pytest.param(name, marks=[pytest.mark.slow, heavy] if name in HEAVY else [])
        for name in truth.records()
    ]


@pytest.mark.parametrize("name", parameters())
def test_record_is_reproduced(name: str) -> None:
    record = truth.records()[name]
    game = omnilude.load(truth.rulesheet(name), LoadSettings(check_playouts=0))
    truth.check_start(game, record)
    truth.check_playouts(game, record)
    truth.check_perft(game, record, NODES[game.engine])


@pytest.mark.skipif(not truth.records(), reason=truth.MISSING)
def test_there_are_records() -> None:
    assert len(truth.records()) >= 158
