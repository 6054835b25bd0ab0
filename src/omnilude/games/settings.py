"""How a game is loaded: budgets, engine, self-check."""

from __future__ import annotations

from dataclasses import dataclass

from omnilude.errors import SettingsError
from omnilude.fields import check_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """Everything has a sensible default; budgets apply to each engine that is tried."""

    seconds: float = 20.0
    """Time to ground the rules and build the circuit; beyond it the game is interpreted."""
    memory: int = 3 << 30
    """Bytes that grounding may use."""
    instances: int = 60_000_000
    """Ground rule instances."""
    engine: str = "auto"
    """'circuit' (fail where it cannot be had), 'interpreter', or 'auto'."""
    machine_code: bool = True
    """Run the circuit as machine code where the processor and the system allow it."""
    width: int = 0
    """Words of 256 lanes for each wire in the portable evaluator: 1, 2, 4, or 0 for automatic."""
    query_seconds: float = 10.0
    """Time that the interpreter may take for one position."""
    check_playouts: int = 20
    """Random playouts checked against the interpreter when a circuit is loaded; 0 for none."""
    check_seconds: float = 0.25
    """Time limit of that check."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.engine not in ("auto", "circuit", "interpreter"):
            raise SettingsError(f"engine must be auto, circuit or interpreter, not {self.engine!r}")
        if self.width not in (0, 1, 2, 4):
            raise SettingsError(f"width must be 0, 1, 2 or 4, not {self.width}")
