"""Measures playouts and loading of ludemic games; writes results/ludemes.json."""

from pathlib import Path

from rich.console import Console

from omnilude.ludeme_benchmarks import measure

RESULTS = Path(__file__).parent.parent / "results" / "ludemes.json"

if __name__ == "__main__":
    measure(RESULTS, Console())
