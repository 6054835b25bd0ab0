"""Every switch of the search, in one place; the command line is made from these fields too."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeVar

from omnilude.errors import SettingsError
from omnilude.fields import check_fields
from omnilude.spelling import name_known

T = TypeVar("T")
Root = Literal["gumbel", "puct"]

MOST = (1 << 31) - 1
"""No setting of the core may be greater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a tree is searched. The defaults are those of self-play; `for_play` those of matches."""

    simulations: int = 32
    """Walks from the root to a leaf for each move. With 'gumbel', players who choose at the same
    time share them."""
    root: Root = "gumbel"
    """'gumbel': sequential halving and completed-Q targets (Danihelka et al. 2022), which improves
    the policy even with few simulations. 'puct': P3's formula (1), visits as targets."""

    policy_temperature: float = 1.5
    """The network's policy to the power of 1/temperature is what a search begins with: above 1 it
    is flattened, so that targets made from it, and networks from them, do not get ever sharper."""
    c_puct: float = 1.5
    """Weight of the prior in P3's formula (1)."""
    first_play: Literal["parent", "zero"] = "parent"
    """Value of a move not yet tried: that of the position less a reduction, or 0 (P3)."""
    first_play_reduction: float = 0.2
    """How much less, times the square root of the prior already tried (KataGo)."""

    considered: int = 16
    """Gumbel: how many moves of a role sequential halving begins with."""
    c_visit: float = 50.0
    c_scale: float = 0.2
    """Gumbel: values count (c_visit + most visits) * c_scale beside logits."""

    noise_fraction: float = 0.25
    """PUCT: share of Dirichlet noise in the priors at the root; 0 for play."""
    noise_total: float = 10.0
    """PUCT: Dirichlet concentration, divided between the legal moves (AlphaZero: about 10)."""
    temperature: float = 1.0
    """PUCT: moves are drawn with probability visits^(1/temperature). Gumbel: size of the noise,
    which draws them from the improved policy^(1/temperature)."""
    temperature_moves: int = 12
    """After so many moves of a game the temperature is `final_temperature`."""
    final_temperature: float = 0.0
    """0: always the best move, so that results say what the position was worth."""

    reuse: bool = False
    """PUCT: keep the part of the tree below the move that was played. Cached evaluations make a
    fresh tree almost free, and sequential halving needs one."""
    solver: bool = True
    """Back up what is solved (a forced win is a win, whatever the mean says)."""
    cache: int = 1 << 16
    """Positions whose evaluation is remembered until the weights change: the greatest power of two
    up to this number that fits into 96 MiB."""

    playouts: int = 0
    """Random playouts from every leaf, side by side in the engine's lanes; 0: none. They share
    random numbers: results depend on how many trees a pool has. Given to `omnilude train`, it
    switches `auto_playouts` off."""
    playout_weight: float = 0.5
    """Their share in the value of a leaf, beside the network's (AlphaGo's lambda). It switches
    `auto_playouts` off too."""

    full_fraction: float = 1.0
    """Share of the moves searched in full (playout-cap randomisation); the others use
    `fast_simulations`, without noise, and give no policy target."""
    fast_simulations: int = 8
    """Simulations of the moves that are not searched in full."""

    max_length: int = 1000
    """A game that gets so long is cut: rewards are those of the search at that point."""

    def __post_init__(self) -> None:
        check_fields(
            self,
            at_least={1: "simulations considered fast_simulations max_length"},
            above_0="noise_total policy_temperature",
            shares="noise_fraction full_fraction playout_weight",
            at_most=MOST,
        )

    @classmethod
    def for_play(cls, simulations: int = 100, **changes: Any) -> SearchSettings:
        """To win rather than to explore: no noise, the best move always, and values count for more
        than in training, where they would make the policy sharp too soon."""
        play = {
            "noise_fraction": 0.0,
            "temperature": 0.0,
            "final_temperature": 0.0,
            "temperature_moves": 0,
            "full_fraction": 1.0,
            "policy_temperature": 1.0,
            "c_scale": 1.0,
        }
        return make_settings(cls, {"simulations": simulations, **play, **changes})

    def as_learned(self) -> dict[str, Any]:
        """Of these, what play keeps to: by which rules the targets were made."""
        return {"root": self.root, "first_play": self.first_play, "solver": self.solver}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UctSettings:
    """Plain UCT with random playouts (P1's and P3's opponent)."""

    iterations: int = 1000
    """Walks from the root to a leaf for each move; 0: only `seconds` count."""
    seconds: float = 0.0
    """Time for each move; 0: only `iterations` count. Positions that are searched together, up to
    256 of them, share it."""
    playouts: int = 1
    """Random playouts from each leaf, side by side in the engine's lanes."""
    exploration: float = 0.7071
    """Weight of sqrt(ln N / n), for rewards from 0 to 1 (UCB1 has sqrt 2)."""
    max_length: int = 1000
    """Playouts are cut after so many moves, and so are walks in the tree; what is cut is worth 0.5
    to every role."""

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "playouts max_length"}, at_most=MOST)
        if self.iterations == 0 and self.seconds == 0:
            raise SettingsError("UCT needs a number of iterations or of seconds")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def make_settings(kind: type[T], values: dict[str, Any]) -> T:
    """A settings object from plain values; an unknown name is an error that names the known."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise SettingsError(f"{kind.__name__} has no {name!r}, only {name_known(name, known)}")
    return kind(**values)
