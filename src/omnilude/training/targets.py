"""From finished games to what a network is to learn from each of their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omnilude.search.pool import GameRecords

if TYPE_CHECKING:
    from omnilude.games import Game


@dataclass(frozen=True, slots=True)
class PolicyLayout:
    """Where the slots of each player lie in the policy vector."""

    slots: tuple[int, ...]  # by player

    @classmethod
    def of(cls, game: Game) -> PolicyLayout:
        return cls(tuple(game.slots(role) for role in game.players))

    @property
    def size(self) -> int:
        """S: the length of the policy vector."""
        return sum(self.slots)

    @property
    def offsets(self) -> NDArray[np.int32]:
        """[players]: the first column of each player."""
        return np.cumsum([0, *self.slots[:-1]], dtype=np.int32)

    @property
    def players(self) -> NDArray[np.int64]:
        """[S]: the player that each column belongs to."""
        return np.repeat(np.arange(len(self.slots)), self.slots)


@dataclass(frozen=True, slots=True)
class Targets:
    """n positions with what is to be learned from them; a game's positions follow each other.

    The reward and the value of the search are kept apart, as their mix may change during a run.
    The policy of a position has an entry for every legal slot of every player with a choice, so it
    also says which slots were legal. A position's `reply` is the policy of the next row.
    """

    states: NDArray[np.uint8]  # [n, bytes]
    finals: NDArray[np.uint8]  # [n, bytes]: the last position of the same game
    rewards: NDArray[np.float32]  # [n, players]: of the game; that of best play where it is solved
    q: NDArray[np.float32]  # [n, players]
    weights: NDArray[np.float32]  # [n]: how often to draw it, beside others; 1 on average
    ended: NDArray[np.bool_]  # [n]: the game was not cut, so that `finals` is its end
    replied: NDArray[np.bool_]  # [n]: the next row is the next position of the game
    policy_counts: NDArray[np.int32]  # [n]: entries of each position
    policy_columns: NDArray[np.int32]  # [entries], columns of the policy vector
    policy_probs: NDArray[np.float32]  # [entries]

    @property
    def positions(self) -> int:
        return len(self.states)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def make_targets(records: GameRecords, layout: PolicyLayout, *, surprise: bool) -> Targets:
    """What n positions of g games teach.

    Positions of reduced searches (playout-cap randomisation) are left out, as in KataGo: their
    values are worse than others', and they have no policy. Where the search has solved a position
    its values count as the result: what play made of it later says nothing new.
    """
    players = len(layout.slots)
    lengths = _lengths(records.game_offsets)  # [g]
    game_of = np.repeat(np.arange(records.games), lengths)  # [n]
    segments = _lengths(records.policy_offsets)  # [n * players]
    counts = segments.reshape(records.positions, players).sum(axis=1)  # [n]
    columns = records.policy_slots + np.repeat(np.tile(layout.offsets, records.positions), segments)
    kept = records.full.astype(bool)
    replied = np.zeros(records.positions, dtype=bool)
    replied[:-1] = (game_of[1:] == game_of[:-1]) & kept[1:] & (counts[1:] > 0)
    weights = np.ones(records.positions, dtype=np.float32)
    if surprise:
        weights = weigh_surprise(records.surprise, game_of, kept)
    entry_kept = np.repeat(kept, counts)
    results = np.where(records.solved[:, None], records.q, records.rewards[game_of])  # [n, players]
    return Targets(
        states=records.states[kept],
        finals=records.final_states[game_of[kept]],
        rewards=results[kept].astype(np.float32),
        q=records.q[kept],
        weights=weights[kept],
        ended=~records.cut.astype(bool)[game_of[kept]],
        replied=replied[kept],
        policy_counts=counts[kept].astype(np.int32),
        policy_columns=columns[entry_kept].astype(np.int32),
        policy_probs=records.policy_probs[entry_kept],
    )


def join_targets(parts: Sequence[Targets]) -> Targets:
    """One after another."""
    return Targets(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Targets)
        }
    )


def weigh_surprise(
    surprise: NDArray[np.float32], game_of: NDArray[np.int64], kept: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """KataGo's policy surprise weighting: half of the weight of a game is shared out evenly, the
    other half in proportion to the surprise. Positions that are not kept get nothing."""
    games = int(game_of[-1]) + 1 if len(game_of) else 0
    told = np.where(kept, np.maximum(surprise, 0), 0).astype(np.float64)  # [n]
    positions = np.bincount(game_of, weights=kept, minlength=games)  # [g]
    total = np.bincount(game_of, weights=told, minlength=games)  # [g]
    surprised = total > 1e-6
    scale = np.where(surprised, 0.5 * positions / np.where(surprised, total, 1), 0)
    even = np.where(surprised, 0.5, 1.0)
    weights = even[game_of] + scale[game_of] * told
    return np.where(kept, weights, 0).astype(np.float32)


def _lengths(offsets: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = offsets.astype(np.int64)
    return wide[1:] - wide[:-1]


def mix_values(
    rewards: NDArray[np.float32], q: NDArray[np.float32], mix: float
) -> NDArray[np.float32]:
    """GAZ's value target r z + (1 - r) q."""
    return (np.float32(mix) * rewards + np.float32(1 - mix) * q).astype(np.float32)
