"""P3's network (section 3.5), laid out from the shape of the planes alone.

Three convolutions of F1, 2 F1 and 4 F1 filters, a fourth back to the number of channels; flattened
and joined with the flat part; one fully connected layer of the same size, then halved until it is
smaller than the board; from there a policy layer and two value layers for each player.

Beyond P3, which has one group of planes: with several, each gets its own four convolutions and the
largest board counts as the board; without any, only the fully connected part remains and halves
to below 50, the size of GAZ's common layer.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from omnilude.networks.convolution import Convolution
from omnilude.networks.layout import Layout, PlaneLayout, places
from omnilude.networks.network import Network
from omnilude.networks.settings import NetworkSettings

BOARD_SIZE_WITHOUT_PLANES = 50


def first_filters(shape: Sequence[int], channels: int) -> int:
    """F1: the power of two, at least 2, nearest to max(shape) * channels (P3, equation 10).

    12 lies halfway between 8 and 16, and P3's Table 3 gives 16.
    """
    size = max(shape) * channels
    below = 1 << size.bit_length() - 1
    return max(2, below if size < 1.5 * below else 2 * below)


def halved_sizes(size: int, board_size: int) -> list[int]:
    """Sizes of the fully connected layers: the same, then halves until below the board size."""
    sizes = [size]
    while sizes[-1] >= board_size and sizes[-1] > 1:
        sizes.append(sizes[-1] // 2)
    return sizes


def _tower(planes: PlaneLayout) -> nn.Sequential:
    channels = len(planes.channels)
    filters = first_filters(planes.shape, channels)
    sizes = [channels, filters, 2 * filters, 4 * filters, channels]
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [Convolution(inputs, outputs, planes.shape), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten())


class P3Network(Network):
    def __init__(self, encoding: Layout, slots: Sequence[int], settings: NetworkSettings) -> None:
        super().__init__(encoding, slots, settings)
        board_size = max(map(places, encoding.groups), default=BOARD_SIZE_WITHOUT_PLANES)
        self.towers = nn.ModuleList(_tower(planes) for planes in encoding.groups)
        layers: list[nn.Module] = []
        before = encoding.size
        for size in halved_sizes(encoding.size, board_size):
            layers += [nn.Linear(before, size), nn.ReLU()]
            before = size
        self.common = nn.Sequential(*layers)
        self.policies = nn.ModuleList(nn.Linear(before, count) for count in slots)
        self.values = nn.ModuleList(
            nn.Sequential(nn.Linear(before, board_size), nn.ReLU(), nn.Linear(board_size, 1))
            for _ in slots
        )

    def heads(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        planes, flat = self.split_rows(rows)
        parts = [tower(x) for tower, x in zip(self.towers, planes, strict=True)]
        common = self.common(torch.cat([*parts, flat], 1))
        logits = torch.cat([head(common) for head in self.policies], 1)
        return logits, torch.cat([head(common) for head in self.values], 1)
