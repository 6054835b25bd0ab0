"""The replay buffer: a ring of the newest positions, in plain arrays of bounded size.

Positions have numbers that only grow; number k lies in place k modulo the capacity. So do the
entries of their policies in a ring of their own, as positions have different numbers of legal
moves. Everything is drawn and gathered without a loop over positions. Each ring takes at most half
of the memory that the buffer may take: where states are large its capacity is smaller than was
asked for, and where there are many moves the oldest positions go before it is reached.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from omnilude.training.targets import Targets

if TYPE_CHECKING:
    from omnilude.games import Game
    from omnilude.training.settings import TrainingSettings

FIRST_ENTRIES = 1 << 16
"""Entries that the ring of policies has room for at first; it doubles when it is full."""
ENTRY_BYTES = 8
OTHER_BYTES = 22
"""Of a position, beside its two states, rewards and values: weight, two marks, count, start."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Sparse policies of a batch: each entry a probability at a row and a column."""

    rows: NDArray[np.int64]  # [entries], ascending
    columns: NDArray[np.int64]  # [entries]
    probs: NDArray[np.float32]  # [entries]


@dataclass(frozen=True, slots=True)
class Samples:
    """n positions out of the buffer."""

    states: NDArray[np.uint8]  # [n, bytes]
    finals: NDArray[np.uint8]  # [n, bytes]
    rewards: NDArray[np.float32]  # [n, players]
    q: NDArray[np.float32]  # [n, players]
    ended: NDArray[np.bool_]  # [n]
    policy: Entries
    reply: Entries  # of the next position; nothing at the end of a game


class Replay:
    """The newest positions: at most `capacity` of them, in at most so many bytes."""

    def __init__(
        self, capacity: int, state_bytes: int, players: int, most_bytes: int = 1 << 30
    ) -> None:
        self._row_bytes = 2 * state_bytes + 8 * players + OTHER_BYTES
        capacity = max(1, min(capacity, most_bytes // 2 // self._row_bytes))
        self.capacity = capacity
        self.added = 0
        """Positions ever added: one more than the number of the newest."""
        self.window = capacity
        """How many of the newest are drawn from."""
        self._oldest = 0  # number of the oldest position that is still there
        self._most_entries = max(1, most_bytes // 2 // ENTRY_BYTES)
        # The system gives memory when it is first written to: a large capacity costs nothing yet.
        self._states = np.empty((capacity, state_bytes), dtype=np.uint8)
        self._finals = np.empty((capacity, state_bytes), dtype=np.uint8)
        self._rewards = np.empty((capacity, players), dtype=np.float32)
        self._q = np.empty((capacity, players), dtype=np.float32)
        self._weights = np.empty(capacity, dtype=np.float32)
        self._ended = np.empty(capacity, dtype=bool)
        self._replied = np.empty(capacity, dtype=bool)
        self._counts = np.empty(capacity, dtype=np.int64)
        self._starts = np.empty(capacity, dtype=np.int64)  # number of the first entry
        entries = min(FIRST_ENTRIES, self._most_entries)
        self._columns = np.empty(entries, dtype=np.int32)
        self._probs = np.empty(entries, dtype=np.float32)
        self._entries = 0  # ever added
        self._cumulative: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, game: Game, settings: TrainingSettings) -> Replay:
        """A buffer for positions of a game."""
        most_bytes = round(settings.replay_gib * 2**30)
        return cls(settings.capacity, game.state_bytes, len(game.players), most_bytes)

    def __len__(self) -> int:
        return self.added - self._oldest

    @property
    def full(self) -> bool:
        """Whether positions had to make room for others, or would have to."""
        return self._oldest > 0 or len(self) == self.capacity

    @property
    def nbytes(self) -> int:
        """Memory that is in use."""
        written = min(self.added, self.capacity)
        return written * self._row_bytes + self._columns.nbytes + self._probs.nbytes

    def add(self, targets: Targets) -> None:
        """Adds positions as the newest; the oldest make room."""
        counts = targets.policy_counts.astype(np.int64)
        # Of more than can be there at once the newest are taken.
        fitting = int(counts[::-1].cumsum().searchsorted(self._most_entries, side="right"))
        extra = max(0, len(counts) - min(fitting, self.capacity))
        skipped, counts = int(counts[:extra].sum()), counts[extra:]
        if extra:  # they came and went, and all that was there before them
            self.added += extra
            self._oldest = self.added
        places = self._places(self.added, len(counts))
        for ring, values in (
            (self._states, targets.states),
            (self._finals, targets.finals),
            (self._rewards, targets.rewards),
            (self._q, targets.q),
            (self._weights, targets.weights),
            (self._ended, targets.ended),
            (self._replied, targets.replied),
        ):
            ring[places] = values[extra:]
        total = int(counts.sum())
        oldest = self._find_oldest(len(counts), total)
        # An entry is needed as long as its position is; the oldest position that stays has the
        # oldest entries.
        stay = oldest < self.added
        first_entry = int(self._starts[oldest % self.capacity]) if stay else self._entries
        self._make_room(first_entry, total)
        self._counts[places] = counts
        self._starts[places] = self._entries + counts.cumsum() - counts
        entry_places = (self._entries + np.arange(total)) % len(self._columns)
        self._columns[entry_places] = targets.policy_columns[skipped:]
        self._probs[entry_places] = targets.policy_probs[skipped:]
        self._entries += total
        self.added += len(counts)
        self._oldest = oldest
        self._cumulative = None

    def set_window(self, positions: int) -> None:
        """Draw only from so many of the newest positions."""
        self.window = max(1, min(positions, self.capacity))
        self._cumulative = None

    def draw(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Numbers of positions from the window, with replacement, in proportion to weights."""
        drawn_from = min(len(self), self.window)
        first = self.added - drawn_from
        if self._cumulative is None:
            weights = self._weights[self._places(first, drawn_from)]
            self._cumulative = weights.cumsum(dtype=np.float64)
        targets = random.random(count) * self._cumulative[-1]
        found = self._cumulative.searchsorted(targets, side="right")
        return cast("NDArray[np.int64]", first + np.minimum(found, drawn_from - 1))

    def gather(self, numbers: NDArray[np.int64]) -> Samples:
        """The positions of these numbers."""
        places = numbers % self.capacity
        following = (places + 1) % self.capacity
        replies = np.where(self._replied[places], self._counts[following], 0)
        return Samples(
            states=self._states[places],
            finals=self._finals[places],
            rewards=self._rewards[places],
            q=self._q[places],
            ended=self._ended[places],
            policy=self._gather_entries(self._starts[places], self._counts[places]),
            reply=self._gather_entries(self._starts[following], replies),
        )

    def states(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """[n, bytes]: the states alone of these numbers."""
        return self._states[numbers % self.capacity]

    def _gather_entries(self, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Entries:
        ends = counts.cumsum()
        total = int(ends[-1]) if len(ends) else 0
        places = np.arange(total) + np.repeat(starts - ends + counts, counts)
        places %= len(self._columns)
        return Entries(
            rows=np.repeat(np.arange(len(counts)), counts),
            columns=self._columns[places].astype(np.int64),
            probs=self._probs[places],
        )

    def _places(self, first: int, count: int) -> NDArray[np.int64]:
        return (first + np.arange(count)) % self.capacity

    def _find_oldest(self, positions: int, entries: int) -> int:
        """The number of the oldest position that may stay beside so many new ones."""
        first = min(self.added, max(self._oldest, self.added + positions - self.capacity))
        beyond = self._entries + entries - self._most_entries  # entries before this one must go
        if first == self.added or self._starts[first % self.capacity] >= beyond:
            return first
        starts = self._starts
        return first + bisect_left(
            range(first, self.added), beyond, key=lambda number: starts[number % self.capacity]
        )

    def _make_room(self, oldest: int, more: int) -> None:
        """Lets the ring of entries hold those from `oldest` on, and so many more."""
        size = len(self._columns)
        if self._entries - oldest + more <= size:
            return
        while self._entries - oldest + more > size:
            size = min(2 * size, self._most_entries)
        live = np.arange(oldest, self._entries)
        old, new = live % len(self._columns), live % size
        columns, probs = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
        columns[new], probs[new] = self._columns[old], self._probs[old]
        self._columns, self._probs = columns, probs
