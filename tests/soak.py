"""Random play of all bundled ludemic games: `make soak` does it with the sanitizers.

Moves are drawn, listed with statistics, and made one at a time through the interface of all games,
in turns; whatever goes wrong is an error of the core or of a sanitizer.
"""

from __future__ import annotations

import argparse

import numpy as np

import omnilude
from omnilude.games import Game
from omnilude.rules.library import bundled_games

LONGEST = 400


def play_drawn(game: Game, plies: int, seed: int) -> int:
    """Moves of random play, of which only one each ply is made."""
    made = 0
    while made < plies:
        made += int(game.playouts(1, seed=seed + made, max_length=LONGEST)["steps"])
    return made


def play_listed(game: Game, plies: int, seed: int) -> int:
    """The same with all moves listed, through `describe` and `advance`."""
    random = np.random.default_rng(seed)
    made = 0
    while made < plies:
        states = game.initial_states(1)
        for _ in range(LONGEST):
            batch = game.describe(states)
            if batch.terminal[0]:
                break
            roles = range(len(game.roles))
            moves = [random.choice(batch.legal(0, role)) for role in roles]
            game.advance(states, np.array([moves], dtype=np.int32))
            made += 1
    return made


def soak(plies: int, *, seed: int = 1, listed: float = 0.1) -> dict[str, int]:
    """At least so many plies, about as many of every game; a share of them is listed."""
    names = bundled_games(".lud")
    each = -(-plies // len(names))
    made = {}
    for name in names:
        game = omnilude.load(name)
        few = round(each * listed)
        made[name] = play_listed(game, few, seed) + play_drawn(game, each - few, seed)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = soak(options.plies, seed=options.seed)
    for name, count in made.items():
        print(f"{name:24s} {count:9,d}")
    print(f"{sum(made.values()):,} plies of {len(made)} games")


if __name__ == "__main__":
    main()
