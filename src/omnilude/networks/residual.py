"""Ours, the default: a small residual network with global pooling on the planes.

For each group of planes a stem and a tower of blocks (all blocks for the largest group, one for
the others); the flat part is added to every place after the stem and joined to the pooled
features. A block is  x + scale * conv(ReLU(conv(x) + bias)),  then ReLU. In every second block,
counted from the last, the bias rests on the mean and maximum of each channel over the board, so
that places far apart know of each other (KataGo, arXiv 1902.10565, section 3.3).

There is no batch norm: the last convolution of a block starts at zero and the first is scaled down
by the number of blocks (Fixup, arXiv 1901.09321). So a network is the same in training and play,
averaging weights is plain averaging, and no layer has to be folded for inference.

Without planes the tower is fully connected, and otherwise the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from omnilude.networks.convolution import Convolution, Pointwise, convolve
from omnilude.networks.layout import Layout, PlaneLayout, places
from omnilude.networks.network import Network, Outputs
from omnilude.networks.settings import NetworkSettings

VALUE_HIDDEN = 64
LEAK = 0.1  # of the value's hidden layer
FLAT_TOWER_WIDTH = 4  # units of the fully connected tower, in channels of the preset
OUTPUT_GAIN = 0.1  # a new network is near to uniform policies and even values


class ResidualNetwork(Network):
    def __init__(self, encoding: Layout, slots: Sequence[int], settings: NetworkSettings) -> None:
        super().__init__(encoding, slots, settings)
        channels, blocks = settings.size
        flat_size = len(encoding.flat)
        largest = max(map(places, encoding.groups), default=0)
        deep = next((i for i, g in enumerate(encoding.groups) if places(g) == largest), 0)
        self.towers = nn.ModuleList(
            _Tower(planes, flat_size, channels, blocks if i == deep else min(blocks, 1))
            for i, planes in enumerate(encoding.groups)
        )
        features = 2 * channels * len(encoding.groups) + flat_size
        if not encoding.groups:
            self.flat_tower = _FlatTower(flat_size, FLAT_TOWER_WIDTH * channels, blocks)
            features = FLAT_TOWER_WIDTH * channels
        head_channels = max(4, channels // 4)
        self.policy = _PolicyHead(encoding.groups, slots, channels, head_channels, features)
        self.value = _ValueHead(encoding.groups, len(slots), channels, head_channels, features)
        self.reply = _PolicyHead(encoding.groups, slots, channels, head_channels, features)
        self.final = _FinalHead(encoding, channels, features)

    def trunk(self, rows: Tensor) -> tuple[list[Tensor], Tensor]:
        """For each group [n, channels, d1, ..., dk], and the features of the whole [n, features]"""
        planes, flat = self.split_rows(rows)
        if not planes:
            return [], self.flat_tower(flat)
        boards = [tower(x, flat) for tower, x in zip(self.towers, planes, strict=True)]
        pooled = [_pool(board) for board in boards]
        return boards, torch.cat([*pooled, flat], 1)

    def heads(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        boards, features = self.trunk(rows)
        return self.policy(boards, features), self.value(boards, features)

    def learn(self, rows: Tensor) -> Outputs:
        boards, features = self.trunk(rows)
        return Outputs(
            logits=self.policy(boards, features),
            value_logits=self.value(boards, features),
            reply_logits=self.reply(boards, features),
            final_logits=self.final(boards, features),
        )


def _pool(x: Tensor) -> Tensor:
    """[n, channels, d1, ..., dk] to [n, 2 * channels]: mean and maximum over the board."""
    axes = tuple(range(2, x.dim()))
    return torch.cat([x.mean(axes), x.amax(axes)], 1)


def _everywhere(x: Tensor, dimensions: int) -> Tensor:
    """[n, channels] to [n, channels, 1, ..., 1], to be added at every place."""
    for _ in range(dimensions):
        x = x.unsqueeze(-1)
    return x


def _output(
    inputs: int, outputs: int, *, bias: bool = True, gain: float = OUTPUT_GAIN
) -> nn.Linear:
    """A layer whose answers are small at first."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    with torch.no_grad():
        layer.weight *= gain
        if bias:
            layer.bias.zero_()
    return layer


class _Tower(nn.Module):
    def __init__(self, planes: PlaneLayout, flat_size: int, channels: int, blocks: int) -> None:
        super().__init__()
        self.stem = Convolution(len(planes.channels), channels, planes.shape)
        self.flat = nn.Linear(flat_size, channels, bias=False) if flat_size else None
        self.blocks = nn.ModuleList(
            _Block(channels, planes.shape, blocks, pooled=(blocks - 1 - i) % 2 == 0)
            for i in range(blocks)
        )

    def forward(self, x: Tensor, flat: Tensor) -> Tensor:
        x = self.stem(x)
        if self.flat is not None:
            x = x + _everywhere(self.flat(flat), x.dim() - 2)
        x = F.relu(x)
        for block in self.blocks:
            x = block(x)
        return x


class _Block(nn.Module):
    def __init__(self, channels: int, shape: Sequence[int], blocks: int, *, pooled: bool) -> None:
        super().__init__()
        self.first = Convolution(channels, channels, shape, gain=blocks**-0.5)
        self.pooled = _output(2 * channels, channels, bias=False) if pooled else None
        self.second = Convolution(channels, channels, shape, gain=0)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        if self.pooled is not None:
            y = y + _everywhere(self.pooled(_pool(x)), x.dim() - 2)
        # Scaling the weights instead of what they give costs nothing, least of all when exported.
        weight = self.second.weight * self.scale
        return F.relu(x + convolve(F.relu(y), weight, self.second.bias, self.second.shape))


class _FlatTower(nn.Module):
    """The fully connected tower of games without planes: [n, F] to [n, width]."""

    def __init__(self, inputs: int, width: int, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.firsts = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.seconds = nn.ModuleList(_output(width, width, gain=0) for _ in range(blocks))

    def forward(self, flat: Tensor) -> Tensor:
        x = F.relu(self.stem(flat))
        for first, second in zip(self.firsts, self.seconds, strict=True):
            x = F.relu(x + second(F.relu(first(x))))
        return x


class _PolicyHead(nn.Module):
    """For each player a few channels of its own, laid flat, and the pooled features."""

    def __init__(
        self,
        groups: Sequence[PlaneLayout],
        slots: Sequence[int],
        channels: int,
        head_channels: int,
        features: int,
    ) -> None:
        super().__init__()
        self.width = head_channels
        self.boards = nn.ModuleList(
            Pointwise(channels, head_channels * len(slots), group.shape) for group in groups
        )
        inputs = head_channels * sum(map(places, groups))
        self.players = nn.ModuleList(_output(inputs, n, bias=False) for n in slots if inputs)
        self.features = _output(features, sum(slots))

    def forward(self, boards: Sequence[Tensor], features: Tensor) -> Tensor:
        logits: Tensor = self.features(features)
        if not self.boards:
            return logits
        maps = [F.relu(layer(x)) for layer, x in zip(self.boards, boards, strict=True)]
        own: list[Tensor] = []
        for player, layer in enumerate(self.players):
            first, last = player * self.width, (player + 1) * self.width
            parts = [x[:, first:last].flatten(1) for x in maps]
            own.append(layer(parts[0] if len(parts) == 1 else torch.cat(parts, 1)))
        return logits + torch.cat(own, 1)


class _ValueHead(nn.Module):
    """Pooled features say how much there is, a few channels laid flat say where.

    All players share the hidden layer; each has its own row of the last one.
    """

    def __init__(
        self,
        groups: Sequence[PlaneLayout],
        players: int,
        channels: int,
        head_channels: int,
        features: int,
    ) -> None:
        super().__init__()
        self.boards = nn.ModuleList(
            Pointwise(channels, head_channels, group.shape) for group in groups
        )
        inputs = features + head_channels * sum(map(places, groups))
        self.hidden = nn.Linear(inputs, VALUE_HIDDEN)
        self.players = _output(VALUE_HIDDEN, players)

    def forward(self, boards: Sequence[Tensor], features: Tensor) -> Tensor:
        maps = [F.relu(layer(x)).flatten(1) for layer, x in zip(self.boards, boards, strict=True)]
        # Features are never negative and change little from row to row, so that with ReLU most of
        # these units ended always on or always off.
        hidden = F.leaky_relu(self.hidden(torch.cat([*maps, features], 1)), LEAK)
        values: Tensor = self.players(hidden)
        return values


class _FinalHead(nn.Module):
    """What will be true at the end, of every element of a row: [n, E]. Only for training."""

    def __init__(self, encoding: Layout, channels: int, features: int) -> None:
        super().__init__()
        self.boards = nn.ModuleList(
            Pointwise(channels, len(group.channels), group.shape, gain=OUTPUT_GAIN)
            for group in encoding.groups
        )
        self.flat = _output(features, len(encoding.flat)) if encoding.flat else None

    def forward(self, boards: Sequence[Tensor], features: Tensor) -> Tensor:
        parts = [layer(x).flatten(1) for layer, x in zip(self.boards, boards, strict=True)]
        if self.flat is not None:
            parts.append(self.flat(features))
        return torch.cat(parts, 1)
