"""Evaluation under symmetries: a position and its images, and the mean of what is said of them.

What a network says of positions that are alike should be alike. Where it is not, the errors are its
own, and partly cancel out (AlphaGo Zero averaged like this, over rotations and reflections).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omnilude.errors import SettingsError
from omnilude.games.permutations import invert

if TYPE_CHECKING:
    from omnilude.encoding import Encoding
    from omnilude.games.symmetry import Symmetry
    from omnilude.networks.network import Network
    from omnilude.search.evaluator import Answers, Evaluator, Rows


class SymmetricEvaluator:
    """An evaluator that asks another one about every image, and puts the answers back in place."""

    def __init__(
        self, inner: Evaluator, encoding: Encoding, symmetries: Sequence[Symmetry]
    ) -> None:
        """One of the symmetries must be the identity, if the position itself is to count."""
        if encoding.kind != "planes":
            raise SettingsError("only encodings of kind 'planes' show positions under symmetries")
        if not symmetries:
            raise SettingsError("evaluation under symmetries needs at least one of them")
        self.inner = inner
        sources = encoding.sources
        shown = np.flatnonzero(sources >= 0)
        element_of = np.zeros(sources.max(initial=-1) + 1, dtype=np.intp)
        element_of[sources[shown]] = shown
        self._elements = []  # of a symmetry, [E]: where each element of the image comes from
        for symmetry in symmetries:
            origins = np.arange(encoding.size)
            origins[shown] = element_of[invert(symmetry.fluents)[sources[shown]]]
            self._elements.append(origins)
        self._slots = [s.policy_permutation(encoding.game) for s in symmetries]
        self._players = [s.player_permutation(encoding.game) for s in symmetries]

    @property
    def engine(self) -> str:
        return self.inner.engine

    def __call__(self, rows: Rows) -> Answers:
        images = np.concatenate([rows[:, origins] for origins in self._elements])
        all_logits, all_values = self.inner(images)
        count, share = len(rows), np.float32(1 / len(self._elements))
        logits = np.zeros((count, all_logits.shape[1]), dtype=np.float32)
        values = np.zeros((count, all_values.shape[1]), dtype=np.float32)
        for number, (slots, players) in enumerate(zip(self._slots, self._players, strict=True)):
            part = slice(number * count, (number + 1) * count)
            logits += all_logits[part][:, slots]
            values += all_values[part][:, players]
        # The mean of logits is the geometric mean of policies.
        return logits * share, values * share

    def refresh(self, network: Network) -> None:
        self.inner.refresh(network)
