"""What kind of game the rules make: found by looking at its fluents and at random play.

Rules in GDL do not declare turns, boards or even whether a game can get stuck, so these are
findings: true of all that was seen, not proved.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from omnilude import _core
from omnilude.games.game import Game, State
from omnilude.games.statistics import random_play

_FLUENT = re.compile(r"^\(([^\s()]+)((?: [^\s()]+){3,})\)$")
_COORDINATE = re.compile(r"^(\d+|[a-z])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A game as some random playouts show it."""

    playouts: int
    positions: int
    """Positions seen in which moves were made."""
    choosers: dict[int, float]
    """Share of the positions in which so many roles, chance among them, had a choice."""
    simultaneous: bool
    """Some position let more than one role (other than chance) choose."""
    hidden: bool
    """Whether players see different things (GDL-II)."""
    kind: str
    """In words: turn-taking or simultaneous, single player, with chance, hidden information."""
    board: str | None
    """Such as '6x7 cells': rows by columns, where fluents form a grid."""
    stuck: int
    """Playouts that met a position that is not terminal and leaves a role without a move."""
    odd_goals: int
    """Roles that had no goal value, or several, at the end of a playout."""
    cut: int
    """Playouts that did not end within the greatest length, or within the time."""


def survey_game(
    game: Game, *, playouts: int = 64, seed: int = 1, max_length: int = 1000, seconds: float = 10.0
) -> Survey:
    """Plays at random and looks; stops early where `seconds` are not enough."""
    stop = time.monotonic() + seconds
    counts = np.zeros(len(game.roles) + 1, dtype=np.int64)
    simultaneous = hidden = False
    stuck = odd_goals = cut = 0
    players = [number for number, chance in enumerate(game.chance) if not chance]
    facts: set[str] = set()
    for step in random_play(game, playouts, seed=seed, max_length=max_length):
        live = step.legal[step.live]
        counts += np.bincount((live > 1).sum(axis=1), minlength=len(counts))
        simultaneous |= bool(((live[:, players] > 1).sum(axis=1) > 1).any())
        stuck += int((~step.live & ~step.batch.terminal).sum())
        odd_goals += step.batch.odd_goals
        cut = int(step.live.sum())
        sample = State(game, step.states[:1].copy())
        facts.update(sample.facts)
        if game.percepts_used and not hidden:
            # What one player sees and another does not is hidden from the other.
            hidden = len({tuple(sample.percepts(role)) for role in players}) > 1
        if time.monotonic() > stop:
            break
    fluents = game.core.fluents if isinstance(game.core, _core.CircuitGame) else facts
    positions = int(counts.sum())
    return Survey(
        playouts=playouts,
        positions=positions,
        choosers={n: c / positions for n, c in enumerate(counts.tolist()) if c},
        simultaneous=simultaneous,
        hidden=hidden,
        kind=_name_kind(game, len(players), simultaneous, hidden),
        board=find_board(fluents),
        stuck=stuck,
        odd_goals=odd_goals,
        cut=cut,
    )


def choose_at_once(game: Game) -> bool:
    """Whether players choose at the same time somewhere in random play.

    Bounded by plies, not by time: what a run learns should not depend on the machine.
    """
    return survey_game(game, playouts=16, max_length=200, seconds=float("inf")).simultaneous


def _name_kind(game: Game, players: int, simultaneous: bool, hidden: bool) -> str:
    words = ["single player" if players == 1 else "simultaneous" if simultaneous else "turn-taking"]
    if any(game.chance):
        words.append("with chance")
    if hidden:
        words.append("hidden information")
    return ", ".join(words)


def find_board(fluents: Iterable[str]) -> str | None:
    """The size of the board: of the fluent, such as (cell 3 1 red), that fills the largest grid.

    Its last argument is the content, the others are coordinates: numbers or single letters, at
    least two of them, that take at least a quarter of all their combinations.
    """
    cells: dict[str, set[tuple[str, ...]]] = {}
    for fluent in fluents:
        match = _FLUENT.match(fluent)
        if match:
            name, arguments = match.groups()
            coordinates = tuple(arguments.split()[:-1])
            key = f"{name}/{len(coordinates)}"
            cells.setdefault(key, set()).add(coordinates)
    best: tuple[int, str] | None = None
    for places in cells.values():
        axes = [set(values) for values in zip(*places, strict=True)]
        if not all(_COORDINATE.match(value) for axis in axes for value in axis):
            continue
        sizes = [len(axis) for axis in axes]
        volume = 1
        for size in sizes:
            volume *= size
        if min(sizes) < 2 or len(places) * 4 < volume or (best and best[0] >= len(places)):
            continue
        # The first coordinate is the column, as boards are drawn; people name the rows first.
        sizes[:2] = sizes[1::-1]
        best = len(places), "x".join(map(str, sizes)) + " cells"
    return best[1] if best else None
