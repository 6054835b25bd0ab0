"""The learner: a network, its optimiser, and the average of its weights that plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from omnilude.errors import CheckpointError, LearningError
from omnilude.networks import build_network
from omnilude.training.batches import Batch, PolicyTarget
from omnilude.training.optimiser import FlatWeights, Optimiser, copy_buffers
from omnilude.training.settings import TrainingSettings

if TYPE_CHECKING:
    from omnilude.networks import Network

METRICS = (
    "loss",
    "policy_loss",
    "policy_divergence",
    "value_loss",
    "value_error",
    "reply_loss",
    "final_loss",
    "gradient_norm",
)
"""What a step reports. The divergence is the policy loss less the entropy of its targets; the
value error is the mean distance from the target."""

MOST_LOGIT = 1e6
"""Beyond this a search refuses what a network says (`check_numbers` in core/search/pool.cpp)."""


class Learner:
    """Learns from batches. `network` is what is trained, `player` the average that plays."""

    def __init__(self, network: Network, settings: TrainingSettings) -> None:
        self.network = network
        self.player = build_network(network.encoding, network.slots, network.settings)
        self.player.load_state_dict(network.state_dict())
        self.player.eval().requires_grad_(False)
        self.settings = settings
        self.step = 0
        softmax = settings.policy_softmax
        if softmax == "auto":
            softmax = "legal" if settings.network.family == "residual" else "all"
        self._legal_only = softmax == "legal"
        self._average = FlatWeights(self.player)
        self.optimiser = Optimiser(
            FlatWeights(network),
            kind=settings.optimiser,
            weight_decay=settings.weight_decay,
            momentum=settings.momentum,
        )

    def learn(
        self,
        steps: int,
        make_batch: Callable[[float], Batch],
        *,
        rate: Callable[[int], float],
        value_mix: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> tuple[int, dict[str, float]]:
        """Makes steps until `stop`; returns how many, and the mean of each metric.

        A `LearningError` says that the weights are of no use any more: they must not be kept.
        """
        self.network.train()
        totals = torch.zeros(len(METRICS))
        done, batch = 0, None
        while done < steps and not stop():
            batch = make_batch(value_mix)
            totals += self._learn(batch, rate(self.step))
            done += 1
        self.network.eval()
        if batch is not None:
            self._check_answers(batch.rows)
        means = (totals / max(1, done)).tolist()
        return done, dict(zip(METRICS, means, strict=True)) if done else {}

    def judge(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """[n, players]: the values that the player gives to positions."""
        with torch.inference_mode():
            _, values = self.player(torch.from_numpy(rows))
        judged: NDArray[np.float32] = values.numpy()
        return judged

    def _learn(self, batch: Batch, rate: float) -> Tensor:
        settings = self.settings
        outputs = self.network.learn(batch.rows)
        zero = torch.zeros(())
        policy = self._policy_loss(outputs.logits, batch.policy)
        value = value_loss(outputs.value_logits, batch.values, settings.value_loss)
        reply = final = zero
        if outputs.reply_logits is not None and settings.reply_weight:
            reply = self._policy_loss(outputs.reply_logits, batch.reply)
        if outputs.final_logits is not None and batch.finals is not None and settings.final_weight:
            final = final_loss(outputs.final_logits, batch.finals, batch.ended)
        loss = (
            policy
            + settings.value_weight * value
            + settings.reply_weight * reply
            + settings.final_weight * final
        )
        loss.backward()  # type: ignore[no-untyped-call]
        norm = self.optimiser.clip(settings.gradient_clip)
        if not norm.isfinite():
            raise self._diverged("the gradient is no number")
        self.step += 1
        self.optimiser.step(rate, self.step)
        self._move_player()
        divergence = policy.detach() - batch.policy.entropy / max(1, batch.policy.rows)
        error = (outputs.value_logits.detach().sigmoid() - batch.values).abs().mean()
        found = (loss, policy, divergence, value, error, reply, final, norm)
        return torch.stack([one.detach() for one in found])

    @torch.inference_mode()
    def _check_answers(self, rows: Tensor) -> None:
        for network in (self.network, self.player):
            logits, values = network(rows)
            # Written so that nan is found too.
            if not logits.abs().max() < MOST_LOGIT or not values.isfinite().all():
                raise self._diverged("the network's answers are no numbers, or beyond all bounds")

    def _diverged(self, why: str) -> LearningError:
        return LearningError(
            f"learning has diverged at step {self.step}: {why}. The same command goes on from the "
            "last commit; if it comes to this again, train in another folder with a smaller "
            "learning_rate"
        )

    def _policy_loss(self, logits: Tensor, target: PolicyTarget) -> Tensor:
        if self._legal_only:
            return legal_policy_loss(logits, target, len(self.network.slots))
        return full_policy_loss(logits, target, self.network.slots)

    @torch.no_grad()
    def _move_player(self) -> None:
        """Towards the network; faster at first, when there is nothing to keep."""
        keep = min(self.settings.ema_decay, self.step / (9 + self.step))
        self._average.vector.lerp_(self.optimiser.weights.vector, 1 - keep)
        copy_buffers(self.network, self.player)

    # --- everything that must survive a restart, as named tensors ---

    def tensors(self) -> dict[str, Tensor]:
        tensors = {f"network.{name}": t for name, t in self.network.state_dict().items()}
        tensors |= {f"player.{name}": t for name, t in self.player.state_dict().items()}
        return tensors | {f"optimiser.{name}": t for name, t in self.optimiser.moments.items()}

    def load_tensors(self, tensors: Mapping[str, Tensor], step: int) -> None:
        parts: dict[str, dict[str, Tensor]] = {"network": {}, "player": {}, "optimiser": {}}
        try:
            for name, tensor in tensors.items():
                part, _, rest = name.partition(".")
                parts[part][rest] = tensor
            self.network.load_state_dict(parts["network"])
            self.player.load_state_dict(parts["player"])
            for name, moment in self.optimiser.moments.items():
                moment.copy_(parts["optimiser"][name])
        except (RuntimeError, KeyError) as error:
            raise CheckpointError(f"the saved weights are of another network: {error}") from error
        self.step = step


def legal_policy_loss(logits: Tensor, target: PolicyTarget, players: int) -> Tensor:
    """Cross-entropy with the softmax over the legal slots of each player, summed over players,
    averaged over the rows that have a policy. Slots that were not legal get no gradient."""
    if not target.rows:
        return torch.zeros(())
    segments = len(logits) * players
    chosen = logits.flatten().index_select(0, target.index)  # [entries]
    highest = torch.full((segments,), -torch.inf).scatter_reduce_(
        0, target.segment, chosen.detach(), "amax"
    )
    shifted = chosen - highest.index_select(0, target.segment)
    sums = torch.zeros(segments).index_add(0, target.segment, shifted.exp())
    logs = shifted - sums.index_select(0, target.segment).log()
    return -(target.probs @ logs) / target.rows


def full_policy_loss(logits: Tensor, target: PolicyTarget, slots: tuple[int, ...]) -> Tensor:
    """P3's: the softmax is over all slots of a player."""
    if not target.rows:
        return torch.zeros(())
    logs = torch.cat([part.log_softmax(1) for part in torch.split(logits, list(slots), 1)], 1)
    return -(target.probs @ logs.flatten().index_select(0, target.index)) / target.rows


def value_loss(logits: Tensor, values: Tensor, kind: str) -> Tensor:
    """Mean over rows and players."""
    if kind == "mse":
        return F.mse_loss(logits.sigmoid(), values)
    return F.binary_cross_entropy_with_logits(logits, values)


def final_loss(logits: Tensor, finals: Tensor, ended: Tensor) -> Tensor:
    """Cross-entropy for every element of the final position, where the game did end."""
    losses = F.binary_cross_entropy_with_logits(logits, finals, reduction="none").mean(1)
    return (losses * ended).sum() / ended.sum().clamp(min=1)
