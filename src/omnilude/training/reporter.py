"""What a run tells: lines of metrics, TensorBoard, the display, the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omnilude.training.memory import peak_memory
from omnilude.training.progress import Display, Rate, Status
from omnilude.training.run import Run
from omnilude.training.selfplay import Harvest, Times


class Reporter:
    """Keeps the status of a run, and passes it on."""

    def __init__(self, game: str, run: Run, display: Display, engine: str) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.run, self.display = run, display
        self.status = Status(game=game, engine=engine, scores=dict(run.state.scores))
        self.times = Times()  # of this session
        self._rate = Rate()
        # What a killed session wrote after its last commit is told to be void.
        self._board = SummaryWriter(
            str(run.folder / "tensorboard"), purge_step=run.state.positions + 1
        )

    def show(
        self, phase: str, elapsed: float, positions: int | None = None, steps: int | None = None
    ) -> None:
        """Renews the display."""
        state, status, settings = self.run.state, self.status, self.run.settings
        status.phase, status.elapsed, status.iteration = phase, elapsed, state.iteration
        status.games = state.games
        status.positions = state.positions if positions is None else positions
        status.steps = state.steps if steps is None else steps
        status.progress = settings.progress(elapsed, status.positions)
        status.rate = self._rate.add(elapsed, status.positions)
        left = []
        if settings.minutes:
            left.append(60 * settings.minutes - elapsed)
        if settings.positions and status.rate:
            left.append((settings.positions - status.positions) / status.rate)
        status.seconds_left = max(0.0, min(left)) if left else None
        self.display.update(status)

    def log(
        self,
        harvest: Harvest,
        losses: Mapping[str, float],
        **others: float,
    ) -> None:
        """Writes the line of an iteration."""
        state, status = self.run.state, self.status
        counts, times = harvest.counters, harvest.times
        evaluations, cached = counts.get("evaluations", 0), counts.get("cached", 0)
        self.times.add(times)
        status.search_share = times.search_share
        status.cache_hits = cached / max(1, cached + evaluations)
        status.play_rate = counts.get("positions", 0) / max(1e-9, others["play_seconds"])
        status.losses = dict(losses) or status.losses
        status.window = int(others["window"])
        line: dict[str, Any] = {
            "iteration": state.iteration,
            "positions": state.positions,
            "games": state.games,
            "steps": state.steps,
            "new_positions": harvest.positions,
            "new_games": harvest.games,
            "mean_length": harvest.positions / max(1, harvest.games),
            "search_share": status.search_share,
            "cache_hits": status.cache_hits,
            "memory": peak_memory(),
            **others,
            **{f"time/{name}": getattr(times, name) for name in Times.__slots__},
            **{f"count/{name}": count for name, count in counts.items()},
            **losses,
        }
        self._write(line)

    def log_scores(self, scores: Mapping[str, float], elapsed: float) -> None:
        """Writes the line of an assessment."""
        state = self.run.state
        self.status.scores = dict(scores)
        at = {"iteration": state.iteration, "positions": state.positions, "elapsed": elapsed}
        self._write(at | {f"score/{name}": score for name, score in scores.items()})

    def _write(self, line: dict[str, Any]) -> None:
        state = self.run.state
        line = {k: round(v, 6) if isinstance(v, float) else v for k, v in line.items()}
        self.run.add_metrics(line)
        for name, value in line.items():
            if name not in ("iteration", "positions", "elapsed"):
                self._board.add_scalar(name, value, state.positions)

    def close(self) -> None:
        self._board.close()
