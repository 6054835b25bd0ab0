"""Evaluation under symmetries: images are encoded as they should be, answers come back in place."""

import numpy as np
import pytest

from omnilude.encoding import make_encoding
from omnilude.errors import SettingsError
from omnilude.games import load
from omnilude.games.statistics import random_play
from omnilude.games.symmetry import find_symmetries
from omnilude.networks import NetworkSettings, build_network
from omnilude.search.evaluator import Answers, Rows, TorchEvaluator
from omnilude.search.symmetric import SymmetricEvaluator
from test_networks import randomise


class Echo:
    """Remembers what it was asked."""

    engine = "echo"

    def __init__(self, slots: int, players: int) -> None:
        self.slots, self.players = slots, players
        self.seen: list[Rows] = []

    def __call__(self, rows: Rows) -> Answers:
        self.seen.append(rows)
        return np.zeros((len(rows), self.slots), "f4"), np.zeros((len(rows), self.players), "f4")

    def refresh(self, network: object) -> None:
        raise AssertionError("an echo has no weights")


def positions(name: str) -> np.ndarray:
    return np.concatenate(
        [s.states.copy() for s in random_play(load(name), 8, seed=5, max_length=60)]
    )[:200]


@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four", "breakthrough-6x6", "pacman-3p", "connect-four-3p"]
)
def test_images_are_rows_of_images(name: str) -> None:
    """What the network is shown is the encoding of the image of the state."""
    game = load(name)
    encoding = make_encoding(game)
    symmetries = find_symmetries(game).elements
    states = positions(name)
    slots = sum(game.slots(role) for role in game.players)
    echo = Echo(slots, len(game.players))
    SymmetricEvaluator(echo, encoding, symmetries)(encoding.encode(states))
    parts = np.split(echo.seen[0], len(symmetries))
    for symmetry, part in zip(symmetries, parts, strict=True):
        np.testing.assert_array_equal(part, encoding.encode(symmetry.apply_states(states)))


@pytest.mark.parametrize("name", ["tic-tac-toe", "connect-four-3p"])
def test_like_positions_get_like_answers(name: str) -> None:
    """Averaged over the whole group, the answers to an image are the images of the answers."""
    game = load(name)
    encoding = make_encoding(game)
    slots = [game.slots(role) for role in game.players]
    network = randomise(build_network(encoding, slots, NetworkSettings(preset="tiny")), 3)
    symmetries = find_symmetries(game).elements
    plain = TorchEvaluator(network)
    evaluator = SymmetricEvaluator(plain, encoding, symmetries)
    states = positions(name)
    logits, values = evaluator(encoding.encode(states))
    assert np.abs(logits - plain(encoding.encode(states))[0]).max() > 1e-3  # it does something
    for symmetry in symmetries:
        their_logits, their_values = evaluator(encoding.encode(symmetry.apply_states(states)))
        np.testing.assert_allclose(
            their_logits[:, symmetry.policy_permutation(game)], logits, atol=1e-4
        )
        np.testing.assert_allclose(
            their_values[:, symmetry.player_permutation(game)], values, atol=1e-5
        )


def test_what_cannot_be_shown_under_symmetries_is_refused() -> None:
    game = load("tic-tac-toe")
    symmetries = find_symmetries(game).elements
    echo = Echo(18, 2)
    with pytest.raises(SettingsError, match="only encodings of kind 'planes'"):
        SymmetricEvaluator(echo, make_encoding(game, "propositions"), symmetries)
    with pytest.raises(SettingsError, match="at least one"):
        SymmetricEvaluator(echo, make_encoding(game), ())
