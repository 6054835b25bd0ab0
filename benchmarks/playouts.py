"""Measures playouts, threads and search nodes; prints tables and writes results/playouts.json."""

from pathlib import Path

from rich.console import Console

from omnilude.benchmarks import print_results, run_benchmarks, write_results

RESULTS = Path(__file__).parent.parent / "results" / "playouts.json"


def main() -> None:
    console = Console()
    results = run_benchmarks(progress=lambda name: console.print(f"measuring {name}", style="dim"))
    write_results(results, RESULTS)
    print_results(results, console)


if __name__ == "__main__":
    main()
