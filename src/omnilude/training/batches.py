"""Batches for the learner: drawn from the replay buffer, shown under a random symmetry, encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from omnilude.games.survey import choose_at_once
from omnilude.games.symmetry import Symmetry, find_symmetries
from omnilude.training.replay import Entries, Replay, Samples
from omnilude.training.targets import PolicyLayout, mix_values

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games import Game

PARTS = 8
"""A batch is cut into so many parts, each shown under a symmetry of its own."""


@dataclass(frozen=True, slots=True)
class PolicyTarget:
    """Target policies of a batch, an entry for each legal slot; a segment is a row and player."""

    index: torch.Tensor  # int64 [entries]: row * S + column
    segment: torch.Tensor  # int64 [entries]: row * players + player
    probs: torch.Tensor  # float32 [entries]
    rows: int  # rows that have a policy
    entropy: float  # of the targets, summed over entries


@dataclass(frozen=True, slots=True)
class Batch:
    """n positions as tensors. `rows` and `finals` live until the next batch is made."""

    rows: torch.Tensor  # float32 [n, E]
    values: torch.Tensor  # float32 [n, players]
    policy: PolicyTarget
    reply: PolicyTarget
    finals: torch.Tensor | None  # float32 [n, E]: the encoded end of the game
    ended: torch.Tensor  # float32 [n]: 1 where `finals` is indeed the end


class BatchMaker:
    """Makes batches of one size, in arrays that are made once."""

    def __init__(
        self,
        game: Game,
        encoding: Encoding,
        replay: Replay,
        *,
        size: int,
        symmetries: Sequence[Symmetry] = (),
        finals: bool = True,
        seed: int = 0,
    ) -> None:
        self.encoding = encoding
        self.replay = replay
        self.layout = PolicyLayout.of(game)
        self.random = np.random.default_rng(seed)
        self.symmetries = tuple(symmetries)
        self._columns = [s.policy_permutation(game) for s in self.symmetries]  # each [S]
        self._players = [s.player_permutation(game) for s in self.symmetries]  # each [players]
        self._player_of = self.layout.players
        self._rows = np.zeros((size, encoding.size), dtype=np.float32)
        self._finals = np.zeros((size, encoding.size), dtype=np.float32) if finals else None

    def make(self, value_mix: float) -> Batch:
        size = len(self._rows)
        return self.convert(self.replay.gather(self.replay.draw(size, self.random)), value_mix)

    def convert(self, samples: Samples, value_mix: float) -> Batch:
        """A batch of these positions, under random symmetries where there are any."""
        values = mix_values(samples.rewards, samples.q, value_mix)
        if len(self.symmetries) > 1:
            self._transform(samples, values)
        self.encoding.encode(samples.states, self._rows)
        if self._finals is not None:
            self.encoding.encode(samples.finals, self._finals)
        return Batch(
            rows=torch.from_numpy(self._rows),
            values=torch.from_numpy(values),
            policy=self._policy(samples.policy),
            reply=self._policy(samples.reply),
            finals=None if self._finals is None else torch.from_numpy(self._finals),
            ended=torch.from_numpy(samples.ended.astype(np.float32)),
        )

    def _transform(self, samples: Samples, values: NDArray[np.float32]) -> None:
        """Applies a random symmetry to each part of a batch, in place."""
        size = len(values)
        parts = min(PARTS, size)
        chosen = self.random.integers(len(self.symmetries), size=parts)
        for part, number in enumerate(chosen):
            if not number:  # the identity is the first
                continue
            begin, end = size * part // parts, size * (part + 1) // parts
            symmetry = self.symmetries[number]
            samples.states[begin:end] = symmetry.apply_states(samples.states[begin:end])
            samples.finals[begin:end] = symmetry.apply_states(samples.finals[begin:end])
            values[begin:end, self._players[number]] = values[begin:end].copy()
            for entries in (samples.policy, samples.reply):
                first, last = entries.rows.searchsorted((begin, end))
                entries.columns[first:last] = self._columns[number][entries.columns[first:last]]

    def _policy(self, entries: Entries) -> PolicyTarget:
        segment = entries.rows * len(self.layout.slots) + self._player_of[entries.columns]
        rows = 1 + np.count_nonzero(np.diff(entries.rows)) if len(entries.rows) else 0
        logs = np.log(np.maximum(entries.probs, 1e-30))
        return PolicyTarget(
            index=torch.from_numpy(entries.rows * self.layout.size + entries.columns),
            segment=torch.from_numpy(segment),
            probs=torch.from_numpy(entries.probs),
            rows=int(rows),
            entropy=-float(entries.probs @ logs),
        )


def usable_symmetries(game: Game) -> tuple[Symmetry, ...]:
    """Those that show positions which may occur, and force nothing on players; the identity first.

    Where the initial position is itself under a symmetry, all others that may occur come in pairs.
    But where players choose at the same time, roles are not exchanged so: who does what when all
    are alike is a convention, and a network that must treat them alike could not hold one. There
    roles are exchanged if the initial position tells them apart, and the same ones choose in it
    (hunters at two places); else it is another who begins, and positions that never occur.
    """
    initial = game.initial_states(1)
    # This search has a limit of time, which a slow machine may reach in a large game.
    found = find_symmetries(game)
    choosing = _choosers(game, initial)
    simultaneous = any(map(_exchanges, found)) and choose_at_once(game)

    def usable(symmetry: Symmetry) -> bool:
        image = symmetry.apply_states(initial)
        fixed = bool((image == initial).all())
        if not simultaneous or not _exchanges(symmetry):
            return fixed
        return not fixed and _choosers(game, image) == choosing

    return tuple(s for s in found if usable(s))


def _choosers(game: Game, states: NDArray[np.uint8]) -> list[int]:
    """The roles that have a choice in the first of the states."""
    batch = game.describe(states)
    return [role for role in range(len(game.roles)) if len(batch.legal(0, role)) > 1]


def _exchanges(symmetry: Symmetry) -> bool:
    return symmetry.roles != tuple(range(len(symmetry.roles)))
