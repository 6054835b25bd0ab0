"""UCT against a slow and obvious one, and its bound of memory."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from omnilude import load
from omnilude.games import Game, State
from omnilude.search.pool import search_uct
from omnilude.search.reference import WORD, F, Node, RandomStream, ReferenceSearch
from omnilude.search.settings import SearchSettings, UctSettings
from searching import GAMES, random_state

loaded = cache(load)


class ReferenceUct(ReferenceSearch):
    """The reference search with UCB1 in the place of its rule, and playouts in that of a network:
    an edge that was not tried goes first, any of them; then whose value and bonus are greatest."""

    def __init__(self, game: Game, settings: UctSettings, seed: int, stream: int) -> None:
        self.uct = settings
        self.seeds = RandomStream(0, 0)
        self.seeds.state = ((seed ^ 0x5851F42D4C957F2D) * 0xD1342543DE82EF95 + stream) & WORD
        search = SearchSettings(
            simulations=settings.iterations,
            root="puct",
            noise_fraction=0,
            solver=False,
            max_length=settings.max_length,
        )
        super().__init__(game, self.play_out, search, seed)

    def play_out(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        uct, seed = self.uct, self.seeds._next()
        rewards = self.game.core.rollouts(state.block, uct.playouts, seed, uct.max_length)[0]
        slots = sum(self.game.slots(role) for role in self.game.players)
        return np.zeros(slots, dtype=F), rewards[list(self.game.players)].astype(F)

    def _select(self, node: Node, role: int, explorer: int | None) -> int:
        edges = node.choices[role]
        if role not in self.player_of:
            return self.random.below(len(edges))
        untried = [number for number, edge in enumerate(edges) if not edge.visits]
        if untried:
            return untried[self.random.below(len(untried))]
        log_visits = F(math.log(sum(edge.visits for edge in edges)))
        scores = [
            self._q(node, role, number)
            + F(self.uct.exploration) * np.sqrt(log_visits / F(edge.visits))
            for number, edge in enumerate(edges)
        ]
        return scores.index(max(scores))


@pytest.mark.sanitize
@pytest.mark.parametrize("playouts", [1, 7])
@pytest.mark.parametrize("name", GAMES)
def test_uct_is_that_of_the_reference(name: str, playouts: int) -> None:
    game = loaded(name)
    settings = UctSettings(iterations=90, playouts=playouts, exploration=0.6, max_length=40)
    compared = 0
    for stream, plies in enumerate((0, 2, 5, 9)):
        state = random_state(game, plies, seed=plies)
        if not any(len(state.legal(role)) > 1 for role in game.players):
            continue
        found = search_uct(
            game, state.block, settings, seed=4, streams=np.array([stream], dtype=np.uint64)
        )
        reference = ReferenceUct(game, settings, seed=4, stream=stream)
        root = reference.search(state, stream=stream)
        assert int(found.simulations[0]) == root.visits - 1 == 90
        for player, role in enumerate(game.players):
            edges = root.choices.get(role, [])
            part = slice(found.offsets[player], found.offsets[player + 1])
            if edges:
                assert [edge.slot for edge in edges] == list(found.slots[part])
                assert [edge.visits for edge in edges] == list(found.visits[part])
                compared += 1
            assert found.values[0, player] == pytest.approx(root.mean(player), abs=1e-5)
    assert compared


def test_uct_by_time_ends_when_its_memory_is_used_up() -> None:
    game = loaded("connect-four")
    state = game.initial().block

    def walk(most_bytes: int, seconds: float) -> int:
        settings = UctSettings(iterations=0, seconds=seconds)
        return int(search_uct(game, state, settings, most_bytes=most_bytes).simulations[0])

    few = walk(1 << 16, 20.0)  # returns at once
    assert 16 < few < 1000
    assert few < walk(1 << 18, 20.0) < 4000
    # What is asked for by number is done by number.
    settings = UctSettings(iterations=3000)
    assert search_uct(game, state, settings, most_bytes=1 << 16).simulations[0] == 3000
