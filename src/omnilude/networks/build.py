"""From settings to a network."""

from __future__ import annotations

from collections.abc import Sequence

from omnilude.networks.gaz import GazNetwork
from omnilude.networks.layout import Layout
from omnilude.networks.network import Network
from omnilude.networks.p3 import P3Network
from omnilude.networks.residual import ResidualNetwork
from omnilude.networks.settings import NetworkSettings

_FAMILIES: dict[str, type[Network]] = {
    "residual": ResidualNetwork,
    "p3": P3Network,
    "gaz": GazNetwork,
}


def build_network(
    encoding: Layout, slots: Sequence[int], settings: NetworkSettings | None = None
) -> Network:
    """A new network with random weights (from torch's generator) for a game's encoding and slots.

    `slots` are the numbers of slots of the players, in the order of `game.players`.
    """
    settings = settings or NetworkSettings()
    return _FAMILIES[settings.family](encoding, slots, settings)
