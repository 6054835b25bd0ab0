"""Encodings: from the states of a game to the numbers that a network reads."""

from omnilude.encoding.encoding import Encoding, check_encodable, make_encoding
from omnilude.encoding.layout import Axis, PlaneGroup
from omnilude.encoding.moves import MoveIndices, MoveKind

__all__ = [
    "Axis",
    "Encoding",
    "MoveIndices",
    "MoveKind",
    "PlaneGroup",
    "check_encodable",
    "make_encoding",
]
