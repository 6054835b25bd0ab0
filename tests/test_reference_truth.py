"""The reference interpreter against an independent reasoner, on public rulesheets.

The data is not part of the project; without it these tests are skipped.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import reference

TRUTH = Path(__file__).resolve().parents[2] / "shared" / "truth" / "gdl" / "truth.json"
MAX_NODES = 3000  # perft above this is left to faster interpreters

SMALL = [
    "2pttc",
    "asteroidsSerial",
    "blocker",
    "connectFour",
    "crissrace",
    "futoshiki4",
    "gt_two_thirds_4p",
    "hanoi",
    "kalaha_2009",
    "knightThrough",
    "majorities",
    "nim2",
    "pacman3p",
    "roshambo2",
    "ruleDepthLinear",
    "ticTacToe",
    "tictactoe_3player",
]

pytestmark = pytest.mark.skipif(not TRUTH.is_file(), reason=f"no reference data at {TRUTH}")


@cache
def truth() -> dict[str, Any]:
    """Read the records of all games."""
    games: dict[str, Any] = json.loads(TRUTH.read_text(encoding="utf-8"))["games"]
    return games


@cache
def game(name: str) -> reference.ReferenceGame:
    """Load a rulesheet once."""
    return reference.load(TRUTH.parent / truth()[name]["rulesheet"])


@pytest.mark.parametrize("name", SMALL)
def test_start(name: str) -> None:
    record, rules = truth()[name], game(name)
    state = rules.initial()
    moves = [rules.legal(state, role) for role in rules.roles]
    assert rules.roles == record["roles"]
    assert len(rules.facts(state)) == record["init_size"]
    assert rules.terminal(state) == record["init_terminal"]
    assert [len(of_role) for of_role in moves] == record["init_legal"]
    assert [of_role[:64] for of_role in moves] == record["init_moves_sorted_first64"]


@pytest.mark.parametrize("name", SMALL)
def test_perft(name: str) -> None:
    for depth, nodes in enumerate(truth()[name]["perft"][:2], start=1):
        if nodes is not None and nodes <= MAX_NODES:
            assert game(name).perft(depth) == nodes


@pytest.mark.parametrize("name", SMALL)
def test_playout(name: str) -> None:
    record, rules = truth()[name]["playouts"][0], game(name)
    state = rules.initial()
    steps = zip(record["moves"], record["legal_counts"], strict=True)
    for step, (joint, counts) in enumerate(steps):
        assert not rules.terminal(state)
        legal = [rules.legal(state, role) for role in rules.roles]
        assert [len(moves) for moves in legal] == counts
        chosen = [
            moves[(step * 7919 + index * 104729) % len(moves)] for index, moves in enumerate(legal)
        ]
        assert chosen == joint
        state = rules.next(state, joint)
    assert record["status"] == "terminal"
    assert rules.terminal(state)
    for role, goal in zip(rules.roles, record["goals"], strict=True):
        values = rules.goals(state, role)
        assert values == [goal] if goal is not None else len(values) != 1
