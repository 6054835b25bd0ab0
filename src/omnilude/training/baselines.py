"""What ours is compared with, as settings of ours: `omnilude train GAME --baseline gaz`.

GAZ is P3's baseline (P3, 2.3); 'p3' is GAZ with the input and the network of P3.
"""

from __future__ import annotations

from typing import Any

from omnilude.errors import SettingsError

GAZ_SEARCH: dict[str, Any] = {
    "root": "puct",
    "first_play": "zero",
    "solver": False,
    "reuse": False,
    "full_fraction": 1.0,
    "temperature": 1.0,
    "temperature_moves": 1_000_000,
    "policy_temperature": 1.0,
}
"""P3, 2.3: formula (1), moves drawn in proportion to visits; noise at the root as in AlphaZero."""
GAZ_TRAINING: dict[str, Any] = {
    "value_mix": 0.5,
    "value_mix_at_end": None,
    "value_loss": "mse",
    "policy_softmax": "all",
    "simulations_at_start": 0,
    "auto_playouts": False,
    "archive_share": 0.0,
    "reply_weight": 0.0,
    "final_weight": 0.0,
    "surprise": False,
    "augment": False,
    "ema_decay": 0.0,
}
"""P3, 2.3 and equation (3); what only we have is off. Optimiser, batches, window and rates, of
which P3 says nothing, are ours."""
GAZ_PLAY = ":root=puct:first_play=zero:solver=false"
"""In the spec of a player: searched as GAZ has learned. Networks know that themselves, but for
those of versions before 0.3."""
SIMULATIONS = 300
"""P3's, in self-play."""


def gaz_changes(simulations: int) -> dict[str, Any]:
    """The training settings of GAZ."""
    return {
        "family": "gaz",
        "encoding": "propositions",
        "simulations": simulations,
        **GAZ_SEARCH,
        **GAZ_TRAINING,
    }


BASELINES = {
    "gaz": gaz_changes(SIMULATIONS),
    "p3": {**gaz_changes(SIMULATIONS), "family": "p3", "encoding": "planes"},
}


def find_baseline(name: str) -> dict[str, Any]:
    """The settings of a baseline, by the names of their options; without a name there are none."""
    if name and name not in BASELINES:
        raise SettingsError(f"baseline must be {' or '.join(BASELINES)}, not {name!r}")
    return BASELINES.get(name, {})
