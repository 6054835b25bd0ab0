"""Rulesheets with every name scrambled, as servers of general game playing do it.

Only the words of the language stay, and the numbers that are goals: a game whose goals are other
words could not be scored.
"""

from __future__ import annotations

import random
import re

from omnilude.games import Game
from omnilude.games.loading import load_text, load_views
from omnilude.games.settings import LoadSettings
from omnilude.rules.library import bundled_games, read_rulesheet

_TOKEN = re.compile(r"[()]|[^\s()]+")
_KEPT = frozenset(
    "( ) <= not or and distinct role init true next legal does goal terminal sees base input "
    "random".split()
)


# However busy the machine: where a game is a circuit, it must not be interpreted when scrambled.
_PATIENT = LoadSettings(seconds=100)


class Scrambled:
    """A game, and the same game under other names."""

    def __init__(self, game: Game, text: str, seed: int) -> None:
        self.game = game
        views = load_views(game, _PATIENT).view_names
        goals = [n for n in views if n.startswith("(goal ")]
        kept = _KEPT | {text[:-1].split()[-1] for text in goals} | {"0", "100"}
        plain = re.sub(r";[^\n]*", "", text)
        words = sorted({t for t in _TOKEN.findall(plain) if t[0] != "?"} - kept)
        chooser = random.Random(seed)
        letters = "bcdfghjklmnpqrstvwxyz"
        new: dict[str, None] = {}
        while len(new) < len(words):
            new.setdefault("".join(chooser.choices(letters, k=6)))
        self.names = dict(zip(words, new, strict=True))
        self.scrambled: Game = load_text(
            self.translate(plain), name=f"scrambled {game.name}", settings=_PATIENT
        )

    def translate(self, text: str) -> str:
        """A text of the game in the words of the scrambled one."""
        return _TOKEN.sub(lambda m: self.names.get(m.group(), m.group()), text)


def scramble_bundled(name: str, seed: int) -> Scrambled:
    text = read_rulesheet(bundled_games()[name])
    return Scrambled(load_text(text, name=name), text, seed)
