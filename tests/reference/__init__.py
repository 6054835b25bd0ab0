"""A slow, independent GDL interpreter: the oracle of the differential tests.

It shares no code with the engine.  Use it as ``game = reference.load(path_or_text)``.
"""

from .interpreter import ReferenceGame, State, load
from .kif import KifError, parse, to_kif
from .prover import UnsafeError, UnstratifiedError

__all__ = [
    "KifError",
    "ReferenceGame",
    "State",
    "UnsafeError",
    "UnstratifiedError",
    "load",
    "parse",
    "to_kif",
]
