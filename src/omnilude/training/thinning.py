"""Which of many checkpoints to keep: few, spread over the whole run."""

from __future__ import annotations

from collections.abc import Sequence


def thin(times: Sequence[float], most: int) -> list[int]:
    """Numbers of those to drop so that at most `most` remain; the first and the last stay.

    Again and again the one goes that leaves the smallest gap. So gaps double one after another,
    from the oldest on, and stay even while a run grows longer.
    """
    kept = list(range(len(times)))
    dropped = []
    while len(kept) > max(2, most):
        gaps = [times[after] - times[before] for before, after in zip(kept, kept[2:], strict=False)]
        dropped.append(kept.pop(1 + gaps.index(min(gaps))))
    return dropped
