"""How strong a network is while it learns: short matches against fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omnilude.arena.match import MatchSettings, play_match
from omnilude.arena.network_players import SearchPlayer
from omnilude.arena.specs import OPPONENTS, choose_root, explain_spec, make_player
from omnilude.games import Game
from omnilude.games.statistics import random_play
from omnilude.search.settings import SearchSettings

if TYPE_CHECKING:
    from omnilude.networks import Network
    from omnilude.search.evaluator import Evaluator


class Assessment:
    """Called with a network and what evaluates it; gives the mean score against each opponent.

    Every assessment plays with the same seed: what changes from one to the next is the network.
    In a game for one, or in which all have the same interest, nobody is played against: the score
    is that of the network in all roles.
    """

    def __init__(
        self,
        game: Game,
        *,
        games: int = 20,
        simulations: int = 32,
        search: Mapping[str, Any] | None = None,
        opponents: Sequence[str] = OPPONENTS,
        max_length: int = 200,
        seed: int = 0,
    ) -> None:
        """`search`: what of it play keeps to, as the network has learned by it."""
        self.game = game
        learned = SearchSettings.for_play(simulations, reuse=False, **(search or {}))
        self.search = replace(learned, root=choose_root(game, learned.root))
        for spec in opponents:
            explain_spec(spec)  # what is wrong with it is said now, not in the middle of training
        self.opponents = () if share_interest(game) else tuple(opponents)
        # One thread: the evaluator that training lends serves one at a time.
        self.settings = MatchSettings(
            games=games, seed=seed, max_length=max_length, threads=1, batch=max(games, 8)
        )

    def __call__(self, network: Network, evaluator: Evaluator) -> Mapping[str, float]:
        player = SearchPlayer(self.game, network, self.search, evaluator=evaluator, name="network")
        scores: dict[str, float] = {}
        for opponent in self.opponents:
            other = make_player(opponent, self.game)
            result = play_match(self.game, [player, other], self.settings)
            scores[opponent] = result.tally(0).score.value
        if not self.opponents:
            result = play_match(self.game, [player], self.settings)
            scores["own score"] = result.tally(0).score.value
        return scores


def share_interest(game: Game, samples: int = 500) -> bool:
    """Whether all players always got the same in random games: there is nobody to beat. Where no
    random game came to its end that is not known, and taken not to be so."""
    players, ended = list(game.players), 0
    if len(players) < 2:
        return True
    for step in random_play(game, samples, seed=0, max_length=300):
        rewards = step.batch.rewards[step.batch.terminal][:, players]
        ended += len(rewards)
        if (rewards != rewards[:, :1]).any():
            return False
    return ended > 0
