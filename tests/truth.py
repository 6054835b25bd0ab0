"""What an independent reasoner says of public rulesheets, and how a game is held against it.

The data is not part of the project: where it is absent, tests that need it are skipped.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from omnilude.games import Game
from omnilude.games.perft import perft

FILE = Path(__file__).resolve().parents[2] / "shared" / "truth" / "gdl" / "truth.json"
MISSING = "no public rulesheets with known answers beside the project (../shared/truth/gdl)"


@cache
def records() -> dict[str, dict[str, Any]]:
    """By game; empty where the data is absent."""
    if not FILE.is_file():
        return {}
    games: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["games"]
    return games


def rulesheet(name: str) -> Path:
    return FILE.parent / str(records()[name]["rulesheet"])


def check_start(game: Game, record: dict[str, Any]) -> None:
    state = game.initial()
    legal = [sorted(map(str, state.legal(role))) for role in game.roles]
    assert list(game.roles) == record["roles"]
    assert len(state.facts) == record["init_size"]
    assert state.terminal == record["init_terminal"]
    if record.get("init_legal") is not None:
        assert [len(moves) for moves in legal] == record["init_legal"]
    if record.get("init_moves_sorted_first64") is not None:
        assert [moves[:64] for moves in legal] == record["init_moves_sorted_first64"]


def check_perft(game: Game, record: dict[str, Any], nodes: int) -> None:
    """Counts that were made and are not above `nodes`."""
    for field in ("perft", "perft_propnet"):
        known = {
            depth: count
            for depth, count in enumerate(record.get(field) or [], start=1)
            if count is not None and count <= nodes
        }
        if known:
            counts = perft(game, max(known))
            assert {depth: counts[depth - 1] for depth in known} == known


def check_playouts(game: Game, record: dict[str, Any]) -> None:
    for field in ("playouts", "playouts_propnet"):
        for number, playout in enumerate(record.get(field) or []):
            _check_playout(game, number, playout)


def _check_playout(game: Game, number: int, playout: dict[str, Any]) -> None:
    state = game.initial()
    for step, joint in enumerate(playout["moves"]):
        assert not state.terminal
        legal = [sorted(map(str, state.legal(role))) for role in game.roles]
        assert [len(moves) for moves in legal] == playout["legal_counts"][step]
        chosen = [
            moves[(step * 7919 + role * 104729 + number * 15485863) % len(moves)]
            for role, moves in enumerate(legal)
        ]
        assert chosen == joint
        state = state.play(joint)
    assert state.terminal == (playout["status"] == "terminal")
    if playout["status"] == "no_legal_move":
        legal = [state.legal(role) for role in game.roles]
        assert [len(moves) for moves in legal] == playout["legal_counts"][-1]
    if playout["status"] == "terminal":
        rewards = [round(100 * reward) for reward in state.reward]
        goals = playout["goals"]
        assert [r for r, g in zip(rewards, goals, strict=True) if g is not None] == [
            goal for goal in goals if goal is not None
        ]
        # Null stands for a role without exactly one goal value.
        assert game.describe(state.block).odd_goals == goals.count(None)
