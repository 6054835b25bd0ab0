"""Every switch of a training run, in one place: the settings file and the command line are made
from these fields, and the text below a field is its help."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from omnilude.errors import SettingsError
from omnilude.fields import check_fields
from omnilude.networks.settings import AUTO, NetworkSettings
from omnilude.search.evaluator import Engine
from omnilude.search.settings import SearchSettings

KATAGO_WINDOW = (0.75, 0.4)
"""Exponent and scale of the growing window (KataGo, arXiv 1902.10565, appendix C)."""

LEAST_REPLAY_GIB = 0.01
"""What some thousands of positions take in any game that can be searched."""

CHANGEABLE = (
    "minutes",
    "positions",
    "workers",
    "backend",
    "overlap",
    "engine",
    "replay_gib",
    "commit_seconds",
    "checkpoint_minutes",
    "assess_minutes",
    "assess_games",
    "assess_simulations",
    "kept_games",
)
"""What may differ when a run goes on: how long, on which machine, how often it is written down.
Everything else decides what is learned, and stays as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How a player is trained. The defaults suit ten minutes on two cores."""

    minutes: float = 10.0
    """Budget of time for the whole run, over all restarts; 0: no limit."""
    positions: int = 0
    """Budget of self-play positions; 0: no limit. The budget that is used up first ends the run."""
    seed: int = 0
    """Of first weights, self-play and samples. Runs with the same seed differ all the same: what is
    timed (budgets, engines, playouts, threads) and the order of workers decide too."""

    encoding: Literal["planes", "propositions"] = "planes"
    """What the network sees: fluents laid out as planes (P3), or all propositions (GAZ)."""

    workers: int = 0
    """Self-play workers, each with a pool of trees and a thread; 0: one for each core."""
    backend: Literal["threads", "processes"] = "threads"
    """Workers as threads of one process, or as processes of their own."""
    overlap: bool = True
    """While some cores learn the others go on with self-play; else they all learn."""
    games_per_worker: int = 64
    """Games that a worker plays at once: the size of the batches that are evaluated."""
    engine: Engine = "auto"
    """What evaluates networks in self-play; 'auto' measures at the start."""

    iteration_positions: int = 4096
    """Positions of self-play between two phases of learning."""
    simulations_at_start: int = 0
    """Simulations a move at the start, which grow evenly to the search's `simulations`
    (MiniZero); 0: they do not grow."""
    simulations_grown: float = 0.5
    """Share of the budget after which they have grown."""
    auto_playouts: bool = True
    """Find out how many random playouts a leaf of the search gets at next to no cost, and from the
    results of the run's own games how much they count (at least 0.8 where players choose at the
    same time); else `playouts` and `playout_weight` say so."""
    archive_share: float = 0.5
    """Share of games that begin from a position of the replay buffer (Go-Exploit)."""
    archive_size: int = 2048
    """How many such positions are drawn for an iteration."""

    value_mix: float = 0.5
    """r in the value target r z + (1 - r) q: reward against value of the search (GAZ, P3 2.3)."""
    value_mix_at_end: float | None = None
    """r at the end of the budget, approached evenly; unset: r stays."""
    value_loss: Literal["bce", "mse"] = "bce"
    """Cross-entropy, or squared error (P3's equation 3)."""
    policy_softmax: Literal["auto", "legal", "all"] = "auto"
    """Over the legal slots, as the search does, or over all (P3); 'auto': as the family had it."""
    value_weight: float = 1.0
    """Weight of the value loss; that of the policy is 1."""
    reply_weight: float = 0.15
    """Weight of the auxiliary loss for the policy of the next position (KataGo)."""
    final_weight: float = 0.15
    """Weight of the auxiliary loss for the final position (KataGo's ownership, for any game)."""
    surprise: bool = True
    """Half of a game's weight goes to the positions whose search surprised the network (KataGo)."""
    augment: bool = True
    """Show positions under symmetries found in the rules that leave the initial one as it is."""

    capacity: int = 400_000
    """Positions that the replay buffer holds at most."""
    replay_gib: float = 1.0
    """Memory that it takes at most: where states are large or moves are many the oldest positions
    make room before `capacity` is reached."""
    window: Literal["growing", "full"] = "growing"
    """Draw from a window of the newest positions that grows slower than the run (KataGo), or from
    all that the buffer holds."""
    window_at_start: int = 20_000
    """Size of the growing window until so many positions were played."""
    replay_ratio: float = 4.0
    """Samples drawn for each new position."""
    batch_size: int = 256
    """Samples in a step of learning."""

    optimiser: Literal["adamw", "sgd"] = "adamw"
    """AdamW, or stochastic gradient descent with Nesterov's momentum."""
    learning_rate: float = 2e-3
    """The greatest rate of the schedule."""
    schedule: Literal["decay", "cosine", "constant"] = "decay"
    """'decay': constant, then straight down in the last part of the budget; 'cosine': down all
    the way. Each begins with a warm-up."""
    warmup_steps: int = 100
    """Steps in which the rate rises from 0."""
    decay_share: float = 0.4
    """'decay': the last part of the budget, as a share."""
    final_rate: float = 0.02
    """The rate at the end of the budget, as a share of the greatest."""
    momentum: float = 0.9
    """Of sgd."""
    weight_decay: float = 1e-4
    """Of matrices and filters, not of biases and norms; for adamw decoupled, times the rate."""
    gradient_clip: float = 2.0
    """Greatest norm of a step's gradient; 0: not clipped."""
    ema_decay: float = 0.99
    """Play uses an average of the weights of which each step keeps so much; 0: the weights."""

    commit_seconds: float = 10.0
    """A killed run loses at most about so many seconds, and the games that were under way."""
    checkpoint_minutes: float = 0.5
    """Time between checkpoints; old ones are thinned out so that about 25 remain."""
    kept_games: int = 5000
    """Finished games kept in the run folder, the newest; of each commit the first 200 at most."""
    assess_minutes: float = 1.0
    """Time between assessments against fixed opponents; 0: none."""
    assess_games: int = 20
    """Games of an assessment, for each opponent."""
    assess_simulations: int = 32
    """Simulations a move in assessments."""

    search: SearchSettings = field(default_factory=SearchSettings)
    """Of self-play."""
    network: NetworkSettings = field(default_factory=lambda: NetworkSettings(preset=AUTO))

    def __post_init__(self) -> None:
        check_fields(
            self,
            at_least={
                1: "games_per_worker iteration_positions archive_size capacity window_at_start "
                "batch_size assess_games assess_simulations",
                LEAST_REPLAY_GIB: "replay_gib",
            },
            shares="simulations_grown archive_share value_mix value_mix_at_end decay_share "
            "final_rate ema_decay",
        )
        if self.ema_decay == 1:
            raise SettingsError("ema_decay must be below 1, or the player would never change")
        if self.capacity < self.batch_size:
            raise SettingsError("capacity must be at least batch_size")

    # --- what changes while a run goes on; progress is the share of the budget used, 0 to 1 ---

    def progress(self, elapsed: float, positions: int) -> float:
        shares = [0.0]
        if self.minutes:
            shares.append(elapsed / (60 * self.minutes))
        if self.positions:
            shares.append(positions / self.positions)
        return min(1.0, max(shares))

    def rate_at(self, progress: float, step: int) -> float:
        """The learning rate of a step."""
        share = 1.0
        if self.schedule == "decay" and self.decay_share:
            share = min(1.0, (1 - progress) / self.decay_share)
        elif self.schedule == "cosine":
            share = (1 + math.cos(math.pi * progress)) / 2
        share = self.final_rate + (1 - self.final_rate) * share
        return self.learning_rate * share * min(1.0, (step + 1) / max(1, self.warmup_steps))

    def value_mix_at(self, progress: float) -> float:
        end = self.value_mix if self.value_mix_at_end is None else self.value_mix_at_end
        return self.value_mix + (end - self.value_mix) * progress

    def simulations_at(self, progress: float) -> int:
        if not self.simulations_at_start:
            return self.search.simulations
        grown = min(1.0, progress / self.simulations_grown) if self.simulations_grown else 1.0
        more = self.search.simulations - self.simulations_at_start
        return round(self.simulations_at_start + more * grown)

    def window_at(self, positions: int) -> int:
        """How many of the newest positions are drawn from, after so many were played."""
        if self.window == "full":
            return self.capacity
        if positions <= self.window_at_start:
            return min(self.capacity, self.window_at_start)
        exponent, scale = KATAGO_WINDOW
        growth: float = ((positions / self.window_at_start) ** exponent - 1) / exponent
        return min(self.capacity, round(self.window_at_start * (1 + scale * growth)))

    def to_dict(self) -> dict[str, Any]:
        """Nested, plain values."""
        return asdict(self)
