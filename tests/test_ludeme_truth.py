"""Ludemic games against what an independent engine recorded: whole games, and perft."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import omnilude
from omnilude.errors import RulesError
from omnilude.games import Game
from omnilude.games.perft import perft, perft_ends
from omnilude.games.replays import EXACT, REFUSED, find_pairs, replay_one
from omnilude.rules.library import bundled_games

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "truth" / "ludii"
MISSING = "no recorded ludemic games beside the project (../shared/truth/ludii)"
EVERY = 12
"""One in so many recorded games is replayed here; `omnilude replay` does all."""
OWN = {"Reversi": "othello"}
"""Our name where it is another."""
NODES = int(os.environ.get("OMNILUDE_PERFT_NODES", "60000"))
"""Depths with more sequences than these are left to longer runs."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)


@cache
def perfts() -> dict[str, dict[str, Any]]:
    path = FOLDER / "perft.json"
    games: dict[str, dict[str, Any]] = {}
    if path.is_file():
        games = json.loads(path.read_text(encoding="utf-8"))["games"]
    return games


def pairs() -> list[tuple[Path, Path | None]]:
    return find_pairs(FOLDER / "trials", FOLDER / "lud") if FOLDER.is_dir() else []


# Small records first: a sample of short games of all sorts.
SAMPLE = sorted(pairs(), key=lambda pair: pair[0].stat().st_size)[: len(pairs()) * 3 // 4 : EVERY]


@pytest.mark.parametrize("pair", SAMPLE, ids=lambda pair: pair[0].name.split(".txt")[0])
def test_recorded_games_are_exact_or_refused(pair: tuple[Path, Path | None]) -> None:
    result = replay_one(*pair, FOLDER / "def")
    assert result.status in (EXACT, REFUSED, "no description"), result.reason


def depth_of(record: dict[str, Any]) -> int:
    return sum(nodes <= NODES for nodes in record["nodes"])


def check_perft(game: Game, record: dict[str, Any]) -> None:
    """Sequences, and how many of them end the game in which way."""
    depth = depth_of(record)
    assert perft(game, depth) == record["nodes"][:depth]
    ends = perft_ends(game, depth)
    assert [found.total() for found in ends] == record["terminal"][:depth]
    for result, rewards in {"p1_win": (1, 0), "p2_win": (0, 1), "draw": (0.5, 0.5)}.items():
        assert [found[rewards] for found in ends] == record[result][:depth], result


def own_name(name: str) -> str | None:
    wanted = OWN.get(name, name.lower().replace(" ", "-"))
    return next((n for n in bundled_games(".lud") if n.removesuffix(".lud") == wanted), None)


@pytest.mark.parametrize("name", perfts())
def test_perft_of_our_own_descriptions(name: str) -> None:
    record, own = perfts()[name], own_name(name)
    if own is None:
        pytest.skip(f"{name} is not bundled")
    check_perft(omnilude.load(own), record)


@pytest.mark.parametrize("name", perfts())
def test_perft_of_their_descriptions(name: str) -> None:
    record = perfts()[name]
    path = next(iter(FOLDER.glob(f"lud/**/{name}.lud")), None)
    if path is None:
        pytest.skip("no such file")
    try:
        game = omnilude.load(path, definitions=FOLDER / "def")
    except RulesError as error:
        pytest.skip(f"refused: {error.message}")
    check_perft(game, record)
