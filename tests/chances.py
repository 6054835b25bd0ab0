"""Exact chances of random play in small games, and tests of samples against them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from omnilude.games import Game

Outcome = tuple[int, int]  # role, goal value
STUCK = (-1, -1)


def exact_outcomes(
    game: Game, limit: int = 20_000, steps: int = 100
) -> dict[Outcome, float] | None:
    """The chance of each (role, goal value), and of STUCK; None where there is too much to do."""
    roles = len(game.roles)
    chances: dict[Outcome, float] = {}
    states = {game.initial_states(1)[0].tobytes(): 1.0}
    while states:
        steps -= 1
        if len(states) > limit or steps < 0:
            return None
        blocks = np.frombuffer(b"".join(states), np.uint8).reshape(len(states), -1)
        batch = game.describe(blocks)
        rows: list[int] = []
        joints: list[tuple[int, ...]] = []
        weights: list[float] = []
        for i, weight in enumerate(states.values()):
            legal = [batch.legal(i, role).tolist() for role in range(roles)]
            if batch.terminal[i]:
                for role in range(roles):
                    outcome = (role, round(float(batch.rewards[i, role]) * 100))
                    chances[outcome] = chances.get(outcome, 0.0) + weight
            elif not all(legal):
                chances[STUCK] = chances.get(STUCK, 0.0) + weight
            else:
                count = math.prod(map(len, legal))
                if len(joints) + count > limit:
                    return None
                joints += product(*legal)
                rows += [i] * count
                weights += [weight / count] * count
        states = {}
        if joints:
            after = blocks[rows]
            game.advance(after, np.array(joints, np.int32))
            for block, weight in zip(after, weights, strict=True):
                states[block.tobytes()] = states.get(block.tobytes(), 0.0) + weight
    return chances


def sampled_outcomes(result: Mapping[str, Any]) -> dict[Outcome, int]:
    """The same, counted in playouts."""
    counts = {(role, value): count for role, value, count in result["outcomes"] if count}
    return counts | ({STUCK: result["stuck"]} if result["stuck"] else {})


def chi_square_deviation(counts: Mapping[Any, int], chances: Mapping[Any, float]) -> float:
    """How many standard deviations the chi-square statistic lies above its mean.

    The cube root of chi-square over its degrees of freedom is nearly normal (Wilson, Hilferty
    1931). Outcomes expected less than 5 times are taken together; an impossible one is infinite.
    """
    if any(chances.get(key, 0.0) <= 0.0 for key, count in counts.items() if count):
        return math.inf
    total = sum(counts.values())
    cells: list[tuple[float, float]] = []  # expected, found
    rare = [0.0, 0.0]
    for key, chance in chances.items():
        if chance * total < 5:
            rare[0] += chance * total
            rare[1] += counts.get(key, 0)
        else:
            cells.append((chance * total, counts.get(key, 0)))
    if rare[0] >= 5:
        cells.append((rare[0], rare[1]))
    freedom = len(cells) - 1
    if freedom < 1:
        return 0.0
    statistic = sum((found - expected) ** 2 / expected for expected, found in cells)
    mean = 1 - 2 / (9 * freedom)
    return float((np.cbrt(statistic / freedom) - mean) / math.sqrt(2 / (9 * freedom)))
