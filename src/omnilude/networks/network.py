"""What every network has in common: the row it takes, the outputs it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from omnilude.errors import SettingsError
from omnilude.networks.layout import Layout, check_layout, places
from omnilude.networks.settings import NetworkSettings


@dataclass(frozen=True, slots=True)
class Outputs:
    """What training compares with its targets; n rows, S slots of all players, E elements."""

    logits: Tensor  # [n, S]
    value_logits: Tensor  # [n, players]
    reply_logits: Tensor | None = None  # [n, S]: the policies of the next position
    final_logits: Tensor | None = None  # [n, E]: what will be true at the end of the game


class Network(nn.Module):
    """From rows [n, E] to logits [n, S] and values [n, players].

    Logits are raw, of all slots of all players one after another: the search takes the softmax
    over the legal slots of each player. Values are rewards expected, from 0 to 1.
    Nothing here behaves differently in training and in play, and no layer mixes rows.
    """

    def __init__(self, encoding: Layout, slots: Sequence[int], settings: NetworkSettings) -> None:
        super().__init__()
        check_layout(encoding)
        if not slots or min(slots) < 1:
            raise SettingsError(f"every player needs at least one slot, not {tuple(slots)}")
        self.encoding = encoding
        self.slots = tuple(slots)
        self.settings = settings

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values, for play and export."""
        logits, value_logits = self.heads(rows)
        return logits, torch.sigmoid(value_logits)

    def heads(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and value logits."""
        raise NotImplementedError

    def learn(self, rows: Tensor) -> Outputs:
        """Everything that training has targets for."""
        logits, value_logits = self.heads(rows)
        return Outputs(logits, value_logits)

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def split_rows(self, rows: Tensor) -> tuple[list[Tensor], Tensor]:
        """Rows [n, E] as planes, a [n, channels, d1, ..., dk] for each group, and flat [n, F]."""
        planes: list[Tensor] = []
        for group in self.encoding.groups:
            channels = len(group.channels)
            part = rows[:, group.offset : group.offset + channels * places(group)]
            part = part.reshape(-1, channels, *group.shape)
            if len(group.shape) == 2 and not torch.onnx.is_in_onnx_export():
                # PyTorch's convolutions are up to 1.5 times quicker with the channels last.
                part = part.contiguous(memory_format=torch.channels_last)
            planes.append(part)
        return planes, rows[:, self.encoding.flat_offset :]
