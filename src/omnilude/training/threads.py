"""How many threads to learn with: measured, and measured again now and then.

A small network gains nothing from a second thread, and where another process wants the cores too,
threads that wait for each other can be ten times slower than one alone.
"""

from __future__ import annotations

PROBED_STEPS = 6
PROBED_SECONDS = 0.5
"""A measurement ends after so many steps, or so much time."""
PROBED_PHASES = 12
"""Another number is tried again after so many phases of learning."""


def learning_threads(cores: int) -> int:
    """The most that learn while the others play on."""
    return max(1, cores // 2)


class ThreadChoice:
    """Chooses between 1, 2, 4, ... threads and one for each core."""

    def __init__(self, cores: int) -> None:
        doubled = {1 << power for power in range(cores.bit_length()) if 1 << power < cores}
        self.candidates = sorted(doubled | {cores})
        self._seconds: dict[int, float] = {}  # of a step, by number of threads
        self._phases = 0
        self._probed = 0

    def choose(self) -> tuple[int, bool]:
        """A number of threads, and whether it is only to be tried for a few steps."""
        for threads in self.candidates:
            if threads not in self._seconds:
                return threads, True
        if self._phases >= PROBED_PHASES:
            self._phases = 0
            self._probed += 1
            return self.candidates[self._probed % len(self.candidates)], True
        return self.best, False

    def note(self, threads: int, steps: int, seconds: float, *, phase: bool) -> None:
        """What was measured; `phase` says that it was the end of a phase of learning."""
        if steps:
            self._seconds[threads] = seconds / steps
        self._phases += phase

    @property
    def best(self) -> int:
        return min(self._seconds, key=lambda threads: self._seconds[threads], default=1)
