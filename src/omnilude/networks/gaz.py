"""GAZ, P3's baseline (section 2.3): fully connected layers only.

Layers halve from the size of the input to a common layer of 50; from there each player's head
doubles until it reaches the number of the player's moves. Its input are all propositions of the
game (`make_encoding(game, "propositions")`), but any encoding will do: planes are taken flat.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from omnilude.networks.layout import Layout
from omnilude.networks.network import Network
from omnilude.networks.settings import NetworkSettings

COMMON_SIZE = 50


def halving_sizes(inputs: int) -> list[int]:
    """Sizes of the layers up to the common one."""
    sizes: list[int] = []
    size = inputs // 2
    while size > COMMON_SIZE:
        sizes.append(size)
        size //= 2
    return [*sizes, COMMON_SIZE]


def doubling_sizes(moves: int) -> list[int]:
    """Sizes of a player's layers after the common one; the last is the number of moves."""
    sizes: list[int] = []
    size = 2 * COMMON_SIZE
    while size < moves:
        sizes.append(size)
        size *= 2
    return [*sizes, moves]


def _chain(sizes: Sequence[int]) -> list[nn.Module]:
    """Linear layers through these sizes, with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return layers[:-1]


class GazNetwork(Network):
    def __init__(self, encoding: Layout, slots: Sequence[int], settings: NetworkSettings) -> None:
        super().__init__(encoding, slots, settings)
        self.common = nn.Sequential(
            *_chain([encoding.size, *halving_sizes(encoding.size)]), nn.ReLU()
        )
        self.policies = nn.ModuleList(
            nn.Sequential(*_chain([COMMON_SIZE, *doubling_sizes(moves)])) for moves in slots
        )
        self.values = nn.ModuleList(nn.Linear(COMMON_SIZE, 1) for _ in slots)

    def heads(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        common = self.common(rows)
        logits = torch.cat([head(common) for head in self.policies], 1)
        return logits, torch.cat([head(common) for head in self.values], 1)
