"""How much work fits into the time for a move, when one game is played alone.

Games of a match share batches, in which a simulation costs a fraction of what it costs alone. So
that time means what it means in a tournament, a match by time is played with as many simulations
or iterations as a single tree on a single core would have had. Time is that of the processor: what
else the machine does is not the player's fault.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from omnilude.errors import SettingsError
from omnilude.games import Game
from omnilude.games.statistics import random_play

SAMPLES = 6
"""Positions in which it is measured."""
STAGE = 0.25
"""They are from this first part of random games. Later ones are settled so soon that a search runs
through thousands of walks a millisecond, which is of no use to it."""
MOST = 1 << 24
"""Walks of a search at most."""
SHARE = 4
"""Each is searched for about such a part of the time."""

TimeSearch = Callable[[NDArray[np.uint8], int], tuple[int, float]]
"""Searches a state, [1, state_bytes], so often; returns how often it did, and the seconds."""


def fit_count(game: Game, search: TimeSearch, seconds: float) -> int:
    """How often a search walks its tree in that time, on average over positions."""
    if seconds <= 0:
        raise SettingsError(f"the time for a move must be above 0, not {seconds:g}")
    done, taken = 0, 0.0
    states = _sample_states(game, SAMPLES)
    if states:
        search(states[0], 16)  # what is made at the first call is no part of the speed
    for state in states:
        count = 16
        walks, time = search(state, count)
        # A search that ends early has found out everything: there is nothing to measure by more.
        while walks >= count and time < seconds / SHARE / 2 and count < MOST:
            count *= 2
            walks, time = search(state, count)
        done, taken = done + walks, taken + time
    return max(1, round(done / max(taken, 1e-9) * seconds))


def _sample_states(game: Game, count: int) -> list[NDArray[np.uint8]]:
    """States, [1, state_bytes] each, from the start to a part of the length of a random game, in
    which a player has a choice."""
    games = random_play(game, count, seed=0, max_length=1000)
    live = []
    for step in games:
        choosing = step.live & (step.legal[:, list(game.players)] > 1).any(axis=1)
        if choosing.any():
            live.append(step.states[choosing])
    if not live:
        return []
    plies = [round(n * STAGE * (len(live) - 1) / max(1, count - 1)) for n in range(count)]
    return [live[ply][n % len(live[ply]) :][:1].copy() for n, ply in enumerate(plies)]
