"""What a network needs to know of an encoding: where planes and flat elements lie in a row.

`omnilude.encoding.Encoding` fits these protocols. A `StoredLayout` does too: it is what remains
of an encoding in a checkpoint, so that a network can be rebuilt without its game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from omnilude.errors import SettingsError


class PlaneLayout(Protocol):
    """Planes of one shape; elements lie in the row as [channel, d1, ..., dn]."""

    @property
    def offset(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def channels(self) -> Sequence[str]: ...


class Layout(Protocol):
    """A row of `size` elements: the groups of planes one after another, then the flat part."""

    @property
    def kind(self) -> str: ...
    @property
    def groups(self) -> Sequence[PlaneLayout]: ...
    @property
    def flat(self) -> Sequence[str]: ...
    @property
    def flat_offset(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class StoredPlanes:
    offset: int
    shape: tuple[int, ...]
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """The layout of an encoding, read back from its JSON."""

    kind: str
    groups: tuple[StoredPlanes, ...]
    flat: tuple[str, ...]
    flat_offset: int
    size: int
    fingerprint: str
    description: dict[str, Any]

    @classmethod
    def from_json(cls, description: dict[str, Any], fingerprint: str) -> StoredLayout:
        """Raises KeyError, TypeError or ValueError where something is missing or malformed."""
        return cls(
            kind=str(description["kind"]),
            groups=tuple(
                StoredPlanes(
                    offset=int(planes["offset"]),
                    shape=tuple(int(side) for side in planes["shape"]),
                    channels=tuple(str(channel) for channel in planes["channels"]),
                )
                for planes in description["groups"]
            ),
            flat=tuple(str(name) for name in description["flat"]),
            flat_offset=int(description["flat_offset"]),
            size=int(description["size"]),
            fingerprint=fingerprint,
            description=description,
        )

    def to_json(self) -> dict[str, Any]:
        return self.description


def places(planes: PlaneLayout) -> int:
    """Number of places on the board of a group: the product of its dimensions."""
    return math.prod(planes.shape)


def check_layout(layout: Layout) -> None:
    """Planes must follow each other without gaps, then the flat part: networks slice by that."""
    at = 0
    for planes in layout.groups:
        if planes.offset != at or not planes.shape or min(planes.shape) < 1 or not planes.channels:
            raise SettingsError(
                f"the encoding's planes of shape {tuple(planes.shape)} do not follow at {at}"
            )
        at += places(planes) * len(planes.channels)
    if layout.flat_offset != at or layout.size != at + len(layout.flat) or layout.size < 1:
        raise SettingsError(
            f"an encoding with planes up to {at}, its flat part at {layout.flat_offset} and a size "
            f"of {layout.size} leaves gaps in its rows, or has none"
        )
