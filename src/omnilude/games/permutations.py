"""Groups of permutations, given by generators: all elements where they are few, else a sample.

A permutation is an int32 array [points]: point i goes to the i-th entry. Several are rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Permutations = NDArray[np.int32]

# Product replacement (Celler et al. 1995): how many entries, and how many steps before the first
# product counts as random.
_ENTRIES = 12
_MIXING = 200


def close_group(generators: Permutations, limit: int) -> Permutations | None:
    """All elements, [order, points], the identity first; None where there are more than `limit`.

    Breadth first: elements that take few generators come early.
    """
    points = generators.shape[1]
    identity = np.arange(points, dtype=np.int32)
    seen = {identity.tobytes()}
    elements = [identity]
    for element in elements:  # grows while it is read
        for product in generators[:, element]:
            key = product.tobytes()
            if key not in seen:
                if len(elements) == limit:
                    return None
                seen.add(key)
                elements.append(product)
    return np.stack(elements)


def sample_group(generators: Permutations, count: int, seed: int) -> Permutations:
    """Nearly uniform random elements, [count, points], the identity first; some may be equal."""
    random = np.random.default_rng(seed)
    size = max(_ENTRIES, len(generators))
    entries = [generators[i % len(generators)] for i in range(size)]
    current = np.arange(generators.shape[1], dtype=np.int32)
    out = [current]
    for step in range(_MIXING + len(generators) + count - 1):
        i, j = random.choice(len(entries), 2, replace=False)
        other = entries[j] if random.random() < 0.5 else invert(entries[j])
        entries[i] = other[entries[i]]
        current = entries[i][current]
        if len(out) < count and step >= _MIXING + len(generators):
            out.append(current)
    return np.stack(out)


def invert(permutation: Permutations) -> Permutations:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation), dtype=permutation.dtype)
    return inverse
