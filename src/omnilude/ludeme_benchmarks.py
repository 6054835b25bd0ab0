"""How fast ludemic games are: random playouts beside OpenSpiel's, and loading.

As in `omnilude.benchmarks`: in turns, in the same process, medians of processor time. What the
reference system does was measured once, on another day, and is quoted. OpenSpiel was measured on
that day too: how much slower or faster it is now tells what the machine is worth now, and the
ratio to the reference is corrected by that: an estimate, while one to OpenSpiel is measured. Since
a shared machine changes its pace from minute to minute, one and the same game of OpenSpiel's is
measured beside every game, and what it does there, beside its median, is the pace.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from omnilude import __version__, load
from omnilude.benchmarks import (
    BenchmarkSettings,
    Contest,
    compare,
    format_rate,
    import_openspiel,
    make_openspiel_rollouts,
    make_playouts,
    run_each,
    write_results,
)

REFERENCE_TARGET = 10.0
"""Times the reference system's playouts a second."""
LOAD_TARGET = 0.2
"""Seconds to load a game."""


@dataclass(frozen=True, slots=True)
class LudemeContest:
    """A game with its options, what OpenSpiel calls it, and the reference system's rate."""

    game: str
    reference: float | None = None
    peer: str = ""
    peer_parameters: dict[str, int] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    rules: str = ""
    """Where OpenSpiel's differ."""
    peer_then: float | None = None
    """OpenSpiel's rate on the machine, and on the day, of the reference's."""

    @property
    def title(self) -> str:
        return " ".join([self.game.removesuffix(".lud"), *self.options.values()])


PACE = Contest("othello", "othello", 1, "")
"""What is measured beside every game; which one it is does not matter."""
GO = "a ko forbids the last position alone; games are cut at twice as many moves as points"
CONTESTS = (
    LudemeContest("breakthrough.lud", 1968, "breakthrough", peer_then=19000),
    LudemeContest("connect6", 301),
    LudemeContest("dai-hasami-shogi", 67),
    LudemeContest("fanorona", 855),
    LudemeContest("feed-the-ducks", 1681),
    LudemeContest(
        "gomoku", 9451, "gomoku", {"size": 15}, rules="longer rows win as well", peer_then=11400
    ),
    LudemeContest("hex", 7530, "hex", {"board_size": 11}, rules="no swap", peer_then=17900),
    LudemeContest("hexentafl", 1668),
    LudemeContest("konane", 901),
    LudemeContest("lasca", 1219),
    LudemeContest("minishogi", 80),
    LudemeContest("pentalath", 3894),
    LudemeContest("squava", 74345),
    LudemeContest("surakarta", 526),
    LudemeContest("yavalath", 39320),
    LudemeContest("othello.lud", 1065, "othello", peer_then=2700),
    LudemeContest("go", 118, "go", {"board_size": 19}, rules=GO, peer_then=490),
    LudemeContest(
        "go", None, "go", {"board_size": 9}, {"Board Size": "9x9"}, rules=GO, peer_then=7300
    ),
    LudemeContest(
        "chess", 69, "chess", rules="draws by repetition and by lack of pieces", peer_then=544
    ),
    LudemeContest(
        "amazons", 1577, "amazons", rules="move and shot are three plies, not two", peer_then=11600
    ),
    LudemeContest("english-draughts", 2702, "checkers", peer_then=4500),
    LudemeContest(
        "lines-of-action", 234, "lines_of_action", rules="draws by repetition", peer_then=740
    ),
    LudemeContest("havannah", None, "havannah", {"board_size": 8}),
    LudemeContest("y", None, "y", {"board_size": 13}),
    LudemeContest("backgammon", 4.5, "backgammon", rules="both dice are one move", peer_then=683),
)


def run_contest(contest: LudemeContest, settings: BenchmarkSettings) -> dict[str, Any]:
    start = time.perf_counter()
    game = load(contest.game, options=contest.options)
    loaded = time.perf_counter() - start
    runs = {"omnilude": make_playouts(game, settings.seed)}
    pyspiel = import_openspiel()
    note = ""
    if pyspiel:
        runs["pace"] = make_openspiel_rollouts(pyspiel, PACE, settings.seed)
    if pyspiel and contest.peer:
        peer = Contest(contest.game, contest.peer, 1, contest.rules, contest.peer_parameters)
        try:
            runs["openspiel"] = make_openspiel_rollouts(pyspiel, peer, settings.seed)
        except Exception as error:  # of whatever kind: a game that this version has not got
            note = f"not in this OpenSpiel: {error}"
    rates = compare(runs, settings)
    pace = rates.pop("pace", None)
    ours = rates["omnilude"].median
    return {
        "game": contest.title,
        "options": contest.options,
        "rules": contest.rules,
        "note": note,
        "load_seconds": loaded,
        "playouts_per_second": {name: asdict(rate) for name, rate in rates.items()},
        "to_openspiel": ours / rates["openspiel"].median if "openspiel" in rates else None,
        "reference": contest.reference,
        "to_reference": ours / contest.reference if contest.reference else None,
        "machine": rates["openspiel"].median / contest.peer_then
        if "openspiel" in rates and contest.peer_then
        else None,
        "pace": pace.median if pace else None,
    }


def run_benchmarks(
    settings: BenchmarkSettings | None = None,
    games: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measures the games named, or all; `progress` is told which one is next."""
    settings = settings or BenchmarkSettings(rounds=5, seconds=0.3)
    known = {contest.title: contest for contest in CONTESTS}
    results = run_each(known, games, lambda contest: run_contest(contest, settings), progress)
    machine = correct(results)
    return {
        "omnilude": __version__,
        "settings": asdict(settings),
        "machine": machine,
        "games": results,
    }


def correct(results: Sequence[dict[str, Any]]) -> float:
    """Corrects the ratios to the reference, by the machine and by the pace beside each game.

    Gives back how fast the machine is, by OpenSpiel, beside that on which the reference was
    measured; `pace` of a row becomes what it was beside that game, 1 in the middle.
    """
    paces = [row["pace"] for row in results if row["pace"] is not None]
    usual = statistics.median(paces) if paces else 1.0
    for row in results:
        row["pace"] = row["pace"] / usual if row["pace"] is not None else 1.0
        if row["machine"] is not None:
            row["machine"] /= row["pace"]
    factors = [row["machine"] for row in results if row["machine"] is not None]
    machine = statistics.median(factors) if factors else 1.0
    for row in results:
        if row["to_reference"] is not None:
            row["to_reference_corrected"] = row["to_reference"] / (machine * row["pace"])
    return machine


def make_table(results: dict[str, Any]) -> Table:
    columns = ["playouts/s", "OpenSpiel", "ratio", "reference", "ratio", "goal", "load"]
    machine = results["machine"]
    table = Table(title="Random playouts a second of ludemic games, one core", padding=(0, 0))
    table.add_column("game", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in results["games"]:
        rates = row["playouts_per_second"]
        reference = row["reference"]
        table.add_row(
            row["game"],
            format_rate(rates["omnilude"]["median"]),
            format_rate(rates["openspiel"]["median"]) if "openspiel" in rates else "-",
            _judge(row["to_openspiel"], 1.0),
            format_rate(reference * machine * row["pace"]) if reference else "-",
            _judge(row.get("to_reference_corrected"), REFERENCE_TARGET),
            f"{REFERENCE_TARGET:.0f}x" if reference else "",
            f"{row['load_seconds'] * 1000:.0f} ms",
        )
    return table


def _judge(ratio: float | None, target: float) -> str:
    if ratio is None:
        return "-"
    return f"[{'green' if ratio >= target else 'yellow'}]{ratio:.1f}x[/]"


def print_results(results: dict[str, Any], console: Console) -> None:
    console.print(make_table(results))
    console.print(
        f"reference: as measured on another day, times {results['machine']:.2f}, which is what "
        "OpenSpiel does now beside that day, and times the pace of the machine beside each game",
        style="dim",
    )
    for row in results["games"]:
        if row["rules"] or row["note"]:
            told = "; ".join(text for text in (row["rules"], row["note"]) if text)
            console.print(f"{row['game']} in OpenSpiel: {told}", style="dim")


def measure(path: Path, console: Console) -> None:
    """Measures all, writes the results and prints them."""
    results = run_benchmarks(progress=lambda name: console.print(f"measuring {name}", style="dim"))
    write_results(results, path)
    print_results(results, console)
