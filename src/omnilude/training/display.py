"""Progress on the screen: a panel that renews itself, or a line now and then without a terminal."""

from __future__ import annotations

import time

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from omnilude.training.progress import Display, Status

LINE_SECONDS = 10.0
"""Time between lines where there is no terminal."""
SHOWN_LOSSES = {
    "policy_loss": "policy",
    "policy_divergence": "divergence",
    "value_loss": "value",
    "value_error": "error",
}


def make_display(console: Console | None = None) -> Display:
    """What suits the console."""
    console = console or Console()
    return LiveDisplay(console) if console.is_terminal else LineDisplay(console)


class LiveDisplay:
    def __init__(self, console: Console) -> None:
        self.console = console
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._last = 0.0
        self._live.start()

    def update(self, status: Status) -> None:
        now = time.monotonic()
        if now - self._last >= 0.25:
            self._last = now
            self._live.update(panel(status), refresh=True)

    def tell(self, text: str) -> None:
        self._live.console.print(Text(text, style="yellow"))

    def close(self) -> None:
        self._live.stop()


class LineDisplay:
    def __init__(self, console: Console) -> None:
        self.console = console
        self._last = 0.0

    def update(self, status: Status) -> None:
        now = time.monotonic()
        if now - self._last >= LINE_SECONDS:
            self._last = now
            self.console.print(line(status), highlight=False, soft_wrap=True)

    def tell(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    def close(self) -> None: ...


def panel(status: Status) -> Group:
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column()
    left = "" if status.seconds_left is None else clock(status.seconds_left)
    table.add_row("elapsed", clock(status.elapsed), "time left", left)
    table.add_row("games", f"{status.games:,}", "positions", f"{status.positions:,}")
    table.add_row(
        "positions/s",
        f"{status.rate:,.0f}",
        "in self-play",
        f"{status.play_rate:,.0f}, {status.search_share:.0%} of it search, engine",
    )
    table.add_row(
        "iteration",
        f"{status.iteration}, {status.phase}",
        "evaluations",
        f"{status.engine}, {status.cache_hits:.0%} from the cache",
    )
    table.add_row("steps", f"{status.steps:,}", "replay window", f"{status.window:,}")
    bar = ProgressBar(total=1.0, completed=status.progress, width=60)
    parts: list[Table | Text | Padding] = [
        Text(f"Training {status.game}", style="bold"),
        Padding(bar, 0),  # by itself it does not end its line
        table,
    ]
    if status.losses:
        parts.append(Text("losses       " + say_losses(status)))
    if status.scores:
        parts.append(Text("strength     " + say_scores(status), style="green"))
    return Group(*parts)


def line(status: Status) -> str:
    parts = [
        f"{clock(status.elapsed)} {status.phase}",
        f"{status.games:,} games",
        f"{status.positions:,} positions",
        f"{status.rate:,.0f}/s",
    ]
    if status.losses:
        parts.append("losses " + say_losses(status))
    if status.scores:
        parts.append("strength " + say_scores(status))
    if status.seconds_left is not None:
        parts.append(f"{clock(status.seconds_left)} left")
    return " · ".join(parts)


def say_losses(status: Status) -> str:
    shown = {n: status.losses[key] for key, n in SHOWN_LOSSES.items() if key in status.losses}
    return ", ".join(f"{name} {value:.3f}" for name, value in shown.items())


def say_scores(status: Status) -> str:
    return ", ".join(f"{name} {score:.0%}" for name, score in status.scores.items())


def clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
