"""Networks: from rows of an encoding to the policy and value of every player.

`settings` and `layout` are light; everything else needs PyTorch, which takes seconds to import,
so the names below are looked up when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from omnilude.networks.settings import PRESETS, NetworkSettings

if TYPE_CHECKING:
    from omnilude.networks.build import build_network
    from omnilude.networks.checkpoint import (
        Checkpoint,
        load_checkpoint,
        rules_fingerprint,
        save_checkpoint,
    )
    from omnilude.networks.export import export_onnx
    from omnilude.networks.network import Network, Outputs

_HOMES = {
    "Checkpoint": "checkpoint",
    "Network": "network",
    "Outputs": "network",
    "build_network": "build",
    "export_onnx": "export",
    "load_checkpoint": "checkpoint",
    "rules_fingerprint": "checkpoint",
    "save_checkpoint": "checkpoint",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"omnilude.networks.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "PRESETS",
    "Checkpoint",
    "Network",
    "NetworkSettings",
    "Outputs",
    "build_network",
    "export_onnx",
    "load_checkpoint",
    "rules_fingerprint",
    "save_checkpoint",
]
