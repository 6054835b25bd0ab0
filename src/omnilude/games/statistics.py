"""What random play tells of a game: rewards, length, branching factor, who moves when, speed.

Every number comes from the core's playouts, or from `random_play`, which goes through the batch
interface and shows each position on the way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnilude.errors import SettingsError
from omnilude.games.chance import count_legal
from omnilude.games.game import Batch, Game

MAX_LENGTH = 100_000
CHUNKS = 64
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number estimated from a sample, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleStatistics:
    """How one role fared; rewards and goals are over the finished playouts."""

    role: str
    chance: bool
    reward: Estimate
    goals: dict[int, Estimate]
    """Share of each goal value, 0 to 100, that occurred; 100 is a win in most rulesheets."""
    branching: float
    """Mean number of legal moves where there was more than one; 0 where there never was."""
    legal_moves: float
    """Mean number of legal moves over all positions."""
    decisions: float
    """Share of the positions in which the role had more than one move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What a number of random playouts came to."""

    playouts: int
    seed: int
    finished: int
    """Playouts that reached a terminal state."""
    stuck: int
    """Playouts that ended because a role had no legal move."""
    cut: int
    """Playouts that were stopped at the greatest length."""
    steps: int
    """Joint moves made."""
    roles: tuple[RoleStatistics, ...]
    length: Estimate
    shortest: int
    longest: int
    quantiles: dict[float, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Random playouts a second of wall-clock time."""

    playouts: float
    steps: float
    threads: int


def collect_statistics(
    game: Game,
    playouts: int,
    *,
    seed: int = 1,
    threads: int = 1,
    max_length: int = MAX_LENGTH,
    progress: Callable[[int], None] | None = None,
) -> Statistics:
    """Plays at random and counts; the same for a seed, whatever the number of threads.

    The playouts are made in chunks with seeds of their own, so that `progress` can be told how
    many are done. How they are divided depends on their number alone.
    """
    if playouts < 1 or threads < 1 or max_length < 1:
        raise SettingsError("playouts, threads and max_length must be at least 1")
    if not 0 <= seed < 1 << 64:
        raise SettingsError(f"seed must be from 0 to 2^64 - 1, but is {seed}")
    chunks = max(1, min(CHUNKS, playouts // 256))
    seeds = [seed, *np.random.SeedSequence(seed).generate_state(chunks - 1, np.uint64).tolist()]
    parts, done = [], 0
    for number, chunk_seed in enumerate(seeds):
        count = playouts * (number + 1) // chunks - done
        parts.append(
            game.playouts(
                count, seed=chunk_seed, threads=threads, max_length=max_length, detailed=True
            )
        )
        done += count
        if progress:
            progress(done)
    return _summarise(game, parts, playouts, seed)


def measure_speed(
    game: Game,
    *,
    seconds: float = 1.0,
    threads: int = 1,
    seed: int = 1,
    max_length: int = MAX_LENGTH,
) -> Speed:
    """Plays without keeping statistics, which cost time; doubles until a run is long enough."""
    count = 64
    while True:
        start = time.perf_counter()
        result = game.playouts(count, seed=seed, threads=threads, max_length=max_length)
        taken = time.perf_counter() - start
        if taken >= seconds / 2:
            return Speed(playouts=count / taken, steps=result["steps"] / taken, threads=threads)
        count *= 2 if taken > seconds / 64 else 8


def wilson(successes: float, trials: float) -> Estimate:
    """A share with its Wilson score interval: honest also near 0 and 1, unlike the normal one."""
    if not trials:
        return Estimate(math.nan, 0.0, 1.0)
    share = successes / trials
    weight = Z95 * Z95 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = Z95 * math.sqrt(share * (1 - share) / trials + weight / trials / 4) / (1 + weight)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half))


def format_percent(share: Estimate, digits: int = 1) -> str:
    """A share and its interval: 87.0 [79.0, 92.2]."""
    value, low, high = (
        f"{100 * number:.{digits}f}" for number in (share.value, share.low, share.high)
    )
    return f"{value} [{low}, {high}]"


def estimate_mean(values: Sequence[float], counts: Sequence[int]) -> Estimate:
    """The mean of values that occurred so many times, with its normal interval."""
    total = sum(counts)
    if not total:
        return Estimate(math.nan, math.nan, math.nan)
    mean = sum(v * n for v, n in zip(values, counts, strict=True)) / total
    square = sum(n * (v - mean) ** 2 for v, n in zip(values, counts, strict=True))
    half = Z95 * math.sqrt(square / max(1, total - 1) / total)
    return Estimate(mean, mean - half, mean + half)


def _summarise(game: Game, parts: Sequence[dict[str, Any]], playouts: int, seed: int) -> Statistics:
    finished, stuck, cut, steps = (
        sum(part[key] for part in parts) for key in ("finished", "stuck", "cut", "steps")
    )
    roles = []
    for number, role in enumerate(game.roles):
        goals: dict[int, int] = {}
        for part in parts:
            for of, value, count in part["outcomes"]:
                if of == number and count:
                    goals[value] = goals.get(value, 0) + count
        legal = sum(part["legal_moves"][number] for part in parts)
        choices = sum(part["choices"][number] for part in parts)
        roles.append(
            RoleStatistics(
                role=role,
                chance=game.chance[number],
                reward=estimate_mean([value / 100 for value in goals], list(goals.values())),
                goals={value: wilson(goals[value], finished) for value in sorted(goals)},
                # At the other steps there was exactly one: a role without a move ends a playout.
                branching=(legal - (steps - choices)) / choices if choices else 0.0,
                legal_moves=legal / steps if steps else 0.0,
                decisions=choices / steps if steps else 0.0,
            )
        )
    lengths = np.zeros(max(len(part["lengths"]) for part in parts), dtype=np.int64)
    for part in parts:
        lengths[: len(part["lengths"])] += np.asarray(part["lengths"], dtype=np.int64)
    reached = lengths.cumsum() / lengths.sum()
    seen = lengths.nonzero()[0].tolist()
    return Statistics(
        playouts=playouts,
        seed=seed,
        finished=finished,
        stuck=stuck,
        cut=cut,
        steps=steps,
        roles=tuple(roles),
        length=estimate_mean(seen, lengths[seen].tolist()),
        shortest=seen[0],
        longest=seen[-1],
        quantiles={q: int(np.searchsorted(reached, q - 1e-12)) for q in QUANTILES},
    )


@dataclass(frozen=True, slots=True)
class Step:
    """The same step of many random games."""

    states: NDArray[np.uint8]  # [games, state_bytes]
    batch: Batch
    legal: NDArray[np.int64]  # [games, roles]: number of legal moves
    live: NDArray[np.bool_]  # [games]: neither terminal nor without a legal move for some role
    moves: NDArray[np.int32]  # [live games, roles]: what is played next


def random_play(game: Game, count: int, *, seed: int, max_length: int) -> Iterator[Step]:
    """Plays `count` games at random, all at the same time; those that end drop out.

    The last step has no live games, unless `max_length` moves were made before.
    """
    random = np.random.default_rng(seed)
    states = game.initial_states(count)
    for _ in range(max_length + 1):
        batch = game.describe(states)
        legal = count_legal(batch)
        live = ~batch.terminal & (legal > 0).all(axis=1)
        first = batch.offsets[:-1].reshape(legal.shape)[live]
        picked = first + (random.random(first.shape) * legal[live]).astype(np.int64)
        moves = batch.moves[picked].astype(np.int32)
        yield Step(states, batch, legal, live, moves)
        if not live.any():
            return
        states = states[live]
        game.advance(states, moves)
