"""Games: what a compiled rulesheet can do, one state at a time or in batches."""

from omnilude.games.game import Batch, Game, Move, State
from omnilude.games.loading import load

__all__ = ["Batch", "Game", "Move", "State", "load"]
