"""Players against each other: specs, matches, ratings, and the papers' experiments.

Nothing here imports PyTorch until a player needs a network.
"""

from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.players import Player, Positions, RandomPlayer, UctPlayer
from omnilude.arena.results import MatchResult
from omnilude.arena.specs import make_player

__all__ = [
    "MatchResult",
    "MatchSettings",
    "Player",
    "Positions",
    "RandomPlayer",
    "UctPlayer",
    "make_player",
    "play_match",
]
