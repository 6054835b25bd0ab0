"""What a run says of itself while it goes on, and at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(slots=True)
class Status:
    """A moment of a run."""

    game: str
    phase: str = "starting"  # self-play, learning, assessing
    elapsed: float = 0.0
    seconds_left: float | None = None  # None where there is no budget to tell it by
    progress: float = 0.0  # share of the budget
    iteration: int = 0
    games: int = 0
    positions: int = 0
    steps: int = 0
    rate: float = 0.0  # positions a second, lately, learning included
    play_rate: float = 0.0  # positions a second of self-play, were it alone
    window: int = 0  # positions that samples are drawn from
    search_share: float = 0.0  # of self-play time, what is not the network
    cache_hits: float = 0.0  # share of the evaluations that were remembered
    engine: str = ""
    losses: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)


class Display(Protocol):
    """Shows a run to a person."""

    def update(self, status: Status) -> None:
        """Called several times a second."""

    def tell(self, text: str) -> None:
        """Something worth a line of its own."""

    def close(self) -> None: ...


class NoDisplay:
    def update(self, status: Status) -> None: ...
    def tell(self, text: str) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run stands when `train` returns."""

    folder: Path
    game: str
    finished: bool  # the budget is used up
    elapsed: float
    iterations: int
    games: int
    positions: int
    steps: int
    parameters: int
    engine: str
    rate: float  # positions a second, over this session
    search_share: float
    memory: int  # bytes of this process at most
    losses: dict[str, float]
    scores: dict[str, float]
    checkpoint: Path | None  # the newest
    pictures: tuple[Path, ...] = ()

    @property
    def hint(self) -> str:
        """What to do next."""
        if self.finished:
            return f"{self.folder} is done; a larger budget and the same command go on from here"
        return f"stopped before its end; the same command goes on where {self.folder} stands"


def summarise_speed(metrics: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Positions a second of self-play alone and of the whole run, and where the time went."""
    metrics = [line for line in metrics if "seconds" in line]  # others are of assessments
    if not metrics:
        return {}
    # The first iteration waits for engines and caches.
    lines = metrics[1:] or metrics
    total = {
        name: sum(line.get(name, 0.0) for line in lines)
        for name in ("new_positions", "seconds", "play_seconds", "learn_seconds", "new_steps")
    }
    parts = ("gather", "evaluate", "scatter", "drain")
    spent = {part: sum(line.get(f"time/{part}", 0.0) for line in lines) for part in parts}
    work = sum(spent.values())
    return {
        "positions": total["new_positions"],
        "selfplay_positions_per_second": total["new_positions"] / max(1e-9, total["play_seconds"]),
        "positions_per_second": total["new_positions"] / max(1e-9, total["seconds"]),
        "steps_per_second": total["new_steps"] / max(1e-9, total["learn_seconds"]),
        "search_share": 1 - spent["evaluate"] / work if work else 0.0,
        **{f"share_{part}": spent[part] / work if work else 0.0 for part in parts},
        "cache_hits": sum(line.get("cache_hits", 0.0) for line in lines) / len(lines),
        "evaluations": sum(line.get("count/evaluations", 0) for line in lines),
    }


class Rate:
    """How fast a count grows, over about the last minute."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, time: float, count: int) -> float:
        """Takes note of the count at a time; returns how much it grew a second."""
        self._seen.append((time, count))
        while len(self._seen) > 2 and time - self._seen[1][0] > self._seconds:
            self._seen.popleft()
        first_time, first_count = self._seen[0]
        return (count - first_count) / (time - first_time) if time > first_time else 0.0
