"""The directions that steps and rays may have, in the order that everything is sorted by."""

from __future__ import annotations

from math import pi

CLASSES = (
    "All",
    "Angled",
    "Adjacent",
    "Axial",
    "Orthogonal",
    "Diagonal",
    "OffDiagonal",
    "SameLayer",
    "Upward",
    "Downward",
    "Rotational",
    "Base",
    "Support",
)
COMPASS_ORDER = ("N", "E", "S", "W", "NE", "SE", "NW", "SW")
FINE_ORDER = ("NNW", "WNW", "WSW", "SSW", "SSE", "ESE", "ENE", "NNE")
ROUND = ("CW", "CCW", "In", "Out")
SPATIAL = (
    *("U", "UN", "UNE", "UE", "USE", "US", "USW", "UW", "UNW"),
    *("D", "DN", "DNE", "DE", "DSE", "DS", "DSW", "DW", "DNW"),
)
DIRECTIONS = (*CLASSES, *COMPASS_ORDER, *FINE_ORDER, *ROUND, *SPATIAL)
INDEX = {name: number for number, name in enumerate(DIRECTIONS)}
FIRST_SPECIFIC = len(CLASSES)

COMPASS = (
    *("N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE"),
    *("S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"),
)
"""Clockwise, a sixteenth of a turn each."""
ROUND_ORDER = ("Out", "CW", "In", "CCW")
SPATIAL_ORDER = (
    *("D", "DN", "DNE", "DE", "DSE", "DS", "DSW", "DW", "DNW"),
    *("U", "UN", "UNE", "UE", "USE", "US", "USW", "UW", "UNW"),
)
FAMILIES = (COMPASS, ROUND_ORDER, SPATIAL_ORDER)
RANK = {name: rank for family in FAMILIES for rank, name in enumerate(family)}
"""Of a specific direction within its family."""

_COARSE = ("E", "NE", "N", "NW", "W", "SW", "S", "SE")
_FINE = (
    *("E", "ENE", "NE", "NNE", "N", "NNW", "NW", "WNW"),
    *("W", "WSW", "SW", "SSW", "S", "SSE", "SE", "ESE"),
)


def name_angle(angle: float, *, fine: bool, level: int) -> str:
    """The direction of an angle from 0 to 2 pi, counter-clockwise from east; level -1 is down, 1
    up. Angles right between two sectors are common: they are compared with limits that are made
    as the reference system makes them."""
    sectors = _FINE if fine else _COARSE
    wide = 2 * pi / len(sectors)
    sector = sectors[0]
    for number, name in enumerate(sectors):
        if angle < wide / 2 + number * wide:
            sector = name
            break
    if level == 0:
        return sector
    if len(sector) == 3:  # between an axis and a diagonal
        sector = sector[1:]
    return ("U" if level > 0 else "D") + sector
