"""Symmetries of a game: permutations of roles, fluents and moves under which it plays the same.

Rotations, reflections, the exchange of like roles: none is declared, all are found. Most are
proved: they are the automorphisms of the graph of ground rules (core/datalog/rule_graph.h), so
legal, next, goal and terminal commute with them in every position. What rules written in one
direction hide is proposed by other means and accepted only if it held in thousands of positions
of random play. Where a game begins is no part of it: a symmetry may map the initial state to a
position that never occurs, such as the other role to move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.errors import RulesError, SettingsError, Unsupported
from omnilude.games.game import Game
from omnilude.games.permutations import Permutations, invert, sample_group
from omnilude.games.symmetry_check import (
    Points,
    Positions,
    commutes,
    map_states,
    sample_positions,
    seen_points,
)
from omnilude.games.symmetry_search import extend_group, prove_symmetries

_ENDS = 16  # without so many ends of games in the sample, candidates are not believed


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One permutation; what it does to states, policy vectors and values of players."""

    roles: tuple[int, ...]  # role r becomes roles[r]
    fluents: NDArray[np.int32]  # fluent f becomes fluents[f]
    slots: tuple[NDArray[np.int32], ...]  # slot m of role r becomes slots[r][m] of roles[r]

    @cached_property
    def _sources(self) -> NDArray[np.int32]:
        return invert(self.fluents)

    def apply_states(self, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The images of states, [states, state_bytes]; percepts are set to zero."""
        return map_states(states, self._sources)

    def policy_permutation(self, game: Game) -> NDArray[np.int32]:
        """[slots of all players]: a policy vector's entry i belongs at the result's i-th entry."""
        sizes = [game.slots(role) for role in game.players]
        first = dict(zip(game.players, np.cumsum([0, *sizes]).tolist(), strict=False))
        return np.concatenate(
            [first[self.roles[role]] + self.slots[role] for role in game.players], dtype=np.int32
        )

    def player_permutation(self, game: Game) -> NDArray[np.int32]:
        """[players]: the value of player i, in the order of `game.players`, goes to entry i."""
        return np.array([game.players.index(self.roles[r]) for r in game.players], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Symmetries:
    """What was found; iterating gives the elements, the identity first."""

    elements: tuple[Symmetry, ...] = field(repr=False)
    """All of them, or a sample of at most `limit` where there are more."""
    method: Literal["rules", "playouts", "none"]
    """How all elements are known: proved from the rules, or some only tried out in random play."""
    order: int
    """How many there are."""
    proved: int
    """How many of them are proved from the rules: a subgroup."""

    def __iter__(self) -> Iterator[Symmetry]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __getitem__(self, index: int) -> Symmetry:
        return self.elements[index]


def find_symmetries(
    game: Game,
    *,
    limit: int = 64,
    seconds: float = 5.0,
    positions: int = 4096,
    candidates: bool = True,
    seed: int = 1,
) -> Symmetries:
    """The symmetries of a game that has a circuit, as a group of permutations.

    Every element given back was checked on `positions` positions of random play. Of more than
    `limit` elements a sample is drawn that depends on `seed` alone; elements that differ only in
    what never changed in the sample (the colour of squares that stay empty) count as one there.
    With `candidates` false only what the rules prove is kept. The time limit is that of the
    searches, not of the checks; where it cuts a search short, fewer symmetries are found.
    """
    if not isinstance(game.core, _core.CircuitGame) or game.program is None:
        raise Unsupported(
            f"{game.name} has no circuit, and symmetries are found only in circuits", file=game.file
        )
    if limit < 1 or positions < 1 or seconds <= 0:
        raise SettingsError("limit, positions and seconds must be positive")
    stop = time.monotonic() + seconds
    points = Points(game)
    group = prove_symmetries(game, points, seconds)
    proved = group.order
    sample = sample_positions(game, points, positions, seconds / 5, seed)
    if candidates and proved < limit and _shows_goals(game, sample):
        group = extend_group(game, points, group, sample, stop)
    elements, order = group.elements, group.order
    if elements is None:
        elements = sample_group(group.generators, 4 * limit, seed)
    if order > limit:
        elements = _choose(elements, points, sample, limit, seed)
    for element in elements:
        if not commutes(game, points, element, sample):
            raise RulesError(
                "a symmetry of the rules is none of the game",
                file=game.file,
                hint="this is a fault of omnilude: please report it with the rulesheet",
            )
    return Symmetries(
        tuple(_make_symmetry(points, element) for element in elements),
        "none" if order == 1 else "rules" if order == proved else "playouts",
        order,
        proved,
    )


def _make_symmetry(points: Points, permutation: Permutations) -> Symmetry:
    roles = tuple(int(role) for role in permutation[: points.roles])
    slots = tuple(
        permutation[points.first_slot[r] : points.first_slot[r + 1]]
        - np.int32(points.first_slot[roles[r]])
        for r in range(points.roles)
    )
    return Symmetry(roles, points.fluent_map(permutation), slots)


def _shows_goals(game: Game, sample: Positions) -> bool:
    """Whether the sample says anything of goals: each player ended with this and with that."""
    rewards = sample.rewards[sample.terminal][:, list(game.players)]
    return len(rewards) >= _ENDS and bool((rewards.min(axis=0) < rewards.max(axis=0)).all())


def _choose(
    elements: Permutations, points: Points, sample: Positions, limit: int, seed: int
) -> Permutations:
    """At most `limit` elements, the identity first, that differ in something seen in play."""
    seen = seen_points(points, sample)
    _, different = np.unique(elements[:, seen], axis=0, return_index=True)
    rest = np.random.default_rng(seed).permutation(different[different > 0])
    chosen: Permutations = elements[np.concatenate([[0], np.sort(rest[: limit - 1])])]
    return chosen
