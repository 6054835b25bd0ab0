"""Optimisers over one long vector.

A small network has dozens of small tensors, and a step over each of them costs more than its
arithmetic. Here all weights are views of one vector, and so are their gradients: a step, the norm
of the gradient and the average of the weights are a handful of operations. (torch.optim would also
import a compiler, for seconds and a hundred megabytes.)
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

ALIGNMENT = 16
"""Numbers that tensors are rounded up to, so that each begins with a cache line."""
ADAM_DECAYS = (0.9, 0.99)
ADAM_EPSILON = 1e-8


class FlatWeights:
    """The parameters of a network, moved into one vector; those that decay come first.

    Matrices and filters decay, biases, norms and scales do not.
    """

    def __init__(self, network: nn.Module) -> None:
        parameters = list(network.parameters())
        ordered = sorted(parameters, key=lambda parameter: parameter.ndim <= 1)
        self.vector = torch.zeros(sum(map(_room, ordered)))
        self.decaying = sum(_room(p) for p in ordered if p.ndim > 1)
        self._places = []
        start = 0
        for parameter in ordered:
            part = self.vector[start : start + parameter.numel()].view_as(parameter)
            part.copy_(parameter.detach())
            parameter.data = part
            self._places.append((parameter, start))
            start += _room(parameter)

    def make_gradient(self) -> Tensor:
        """A vector of zeros that the gradients of the parameters are views of from now on."""
        gradient = torch.zeros_like(self.vector)
        for parameter, start in self._places:
            parameter.grad = gradient[start : start + parameter.numel()].view_as(parameter)
        return gradient


class Optimiser:
    """AdamW (Loshchilov and Hutter 2019), or gradient descent with Nesterov's momentum."""

    def __init__(
        self, weights: FlatWeights, *, kind: str, weight_decay: float, momentum: float
    ) -> None:
        self.weights = weights
        self.gradient = weights.make_gradient()
        self.kind = kind
        self.weight_decay = weight_decay
        self.momentum = momentum
        names = ("first", "second") if kind == "adamw" else ("velocity",)
        self.moments = {name: torch.zeros_like(weights.vector) for name in names}

    @torch.no_grad()
    def clip(self, most: float) -> Tensor:
        """Scales the gradient down to a norm of `most`, 0 for any; returns the norm it had."""
        norm: Tensor = self.gradient.norm()
        if most:
            self.gradient.mul_((most / (norm + 1e-6)).clamp_(max=1.0))
        return norm

    @torch.no_grad()
    def step(self, rate: float, number: int) -> None:
        """One step against the gradient, which is then forgotten; steps are counted from 1."""
        vector, gradient = self.weights.vector, self.gradient
        decaying = vector[: self.weights.decaying]
        if self.kind == "adamw":
            decaying.mul_(1 - rate * self.weight_decay)
            first, second = self.moments["first"], self.moments["second"]
            keep_first, keep_second = ADAM_DECAYS
            first.lerp_(gradient, 1 - keep_first)
            second.mul_(keep_second).addcmul_(gradient, gradient, value=1 - keep_second)
            scale = second.div(1 - keep_second**number).sqrt_().add_(ADAM_EPSILON)
            vector.addcdiv_(first, scale, value=-rate / (1 - keep_first**number))
        else:
            gradient[: self.weights.decaying].add_(decaying, alpha=self.weight_decay)
            velocity = self.moments["velocity"]
            velocity.mul_(self.momentum).add_(gradient)
            vector.add_(gradient.add_(velocity, alpha=self.momentum), alpha=-rate)
        gradient.zero_()


def copy_buffers(source: nn.Module, target: nn.Module) -> None:
    """What a network has besides weights, if anything."""
    pairs: Iterable[tuple[Tensor, Tensor]] = zip(source.buffers(), target.buffers(), strict=True)
    for theirs, mine in pairs:
        mine.copy_(theirs)


def _room(parameter: Tensor) -> int:
    return -(-parameter.numel() // ALIGNMENT) * ALIGNMENT
