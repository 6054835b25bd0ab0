"""Every record of the public rulesheets is reproduced: roles, moves, perft, playouts, goals."""

from __future__ import annotations

import os

import pytest

import omnilude
import truth
from omnilude import LoadSettings

# Their circuits are too large: asked for at once, the interpreter saves the time to find that out.
# With OMNILUDE_ALL_TRUTH=1 they are loaded as a user would.
INTERPRETED = frozenset({"chess", "laikLee_hex", "merrills", "mummymaze1p", "sudoku"})
ALL = os.environ.get("OMNILUDE_ALL_TRUTH") == "1"
NODES = {"circuit": 200_000 if ALL else 50_000, "interpreter": 300}


@pytest.mark.skipif(not truth.records(), reason=truth.MISSING)
@pytest.mark.parametrize("name", truth.records())
def test_record_is_reproduced(name: str) -> None:
    record = truth.records()[name]
    engine = "interpreter" if name in INTERPRETED and not ALL else "auto"
    game = omnilude.load(truth.rulesheet(name), LoadSettings(check_playouts=0, engine=engine))
    truth.check_start(game, record)
    truth.check_playouts(game, record)
    truth.check_perft(game, record, NODES[game.engine])


@pytest.mark.skipif(not truth.records(), reason=truth.MISSING)
def test_there_are_records() -> None:
    assert len(truth.records()) >= 158
