"""Which network is built, and how large. Needs no PyTorch, so that command lines stay quick."""

from __future__ import annotations

from dataclasses import dataclass

from omnilude.errors import SettingsError
from omnilude.fields import check_fields

FAMILIES = ("residual", "p3", "gaz")

PRESETS: dict[str, tuple[int, int]] = {  # channels, blocks of the residual network
    "tiny": (16, 1),
    "small": (32, 2),
    "medium": (32, 4),
    "large": (64, 6),
}
USUAL_PRESET = "small"
AUTO = "auto"
"""Stands for the preset that suits the machine, which a run finds when it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """The family and size of a network; `p3` and `gaz` take their sizes from the game alone."""

    family: str = "residual"
    """'residual' (ours), 'p3' (the n-D CNN of P3) or 'gaz' (P3's baseline, fully connected)."""
    preset: str = USUAL_PRESET
    """Size of the residual network: 'tiny', 'small', 'medium' or 'large'; 'auto': by what the
    machine evaluates a second, measured when a run begins and kept from then on."""
    channels: int | None = None
    """Channels of the residual network instead of the preset's; quickest are multiples of 8."""
    blocks: int | None = None
    """Residual blocks instead of the preset's."""

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "channels"})
        if self.family not in FAMILIES:
            raise SettingsError(
                f"network family must be one of {', '.join(FAMILIES)}, not {self.family!r}"
            )
        if self.preset not in (*PRESETS, AUTO):
            raise SettingsError(
                f"network preset must be one of {', '.join(PRESETS)} or {AUTO}, not {self.preset!r}"
            )
        for name, most in (("channels", 1024), ("blocks", 100)):
            if (getattr(self, name) or 0) > most:
                raise SettingsError(f"{name} must be at most {most}, not {getattr(self, name)}")

    @property
    def size(self) -> tuple[int, int]:
        """Channels and blocks of the residual network."""
        if self.preset == AUTO:
            raise SettingsError(f"a network needs one of the presets {', '.join(PRESETS)}")
        channels, blocks = PRESETS[self.preset]
        return (
            channels if self.channels is None else self.channels,
            blocks if self.blocks is None else self.blocks,
        )
