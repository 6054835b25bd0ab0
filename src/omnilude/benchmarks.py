"""How fast the engine is: playouts beside OpenSpiel's, threads, the cost of a search node.

OpenSpiel (optional) runs in the same process: its C++ rollouts, the very loop that its own tree
search uses. What is compared runs in turns, because other work on a machine comes and goes; every
figure is the median of its turns. Time is that of the processor, for the same reason; only two
threads against one, and loading, go by the clock on the wall.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from omnilude import LoadSettings, __version__, _core, load
from omnilude.errors import SettingsError
from omnilude.fields import check_fields
from omnilude.games import Game
from omnilude.games.statistics import MAX_LENGTH, random_play

MACHINE_CODE_FACTOR = 3.0
"""With machine code the targets below are this much higher."""
THREADS_TARGET = 1.8

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Contest:
    """A game, what OpenSpiel calls it, and the ratio of speeds to reach without machine code."""

    game: str
    peer: str
    target: float
    rules: str
    peer_parameters: dict[str, int] = field(default_factory=dict)
    node_target: float | None = None  # nanoseconds a state


CONTESTS = (
    Contest("connect-four", "connect_four", 150, "the same rules", node_target=100),
    Contest("breakthrough", "breakthrough", 60, "the same rules", node_target=150),
    Contest("breakthrough-6x6", "breakthrough", 90, "the same rules", {"rows": 6, "columns": 6}),
    Contest("othello", "othello", 150, "the same rules; a pass is a move in both"),
    Contest("tic-tac-toe", "tic_tac_toe", 120, "the same rules"),
    Contest(
        "checkers",
        "checkers",
        20,
        "the same rules, each jump a move of its own, drawn after 40 moves without a capture",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSettings:
    """How long and how often things are measured."""

    rounds: int = 7
    """Turns of each competitor; the median counts."""
    seconds: float = 0.4
    """Length of a turn, about."""
    seed: int = 1
    batch: int = 512
    """States at once when the cost of a search node is measured."""

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "rounds batch"}, above_0="seconds")


@dataclass(frozen=True, slots=True)
class Rate:
    """Playouts a second, or nanoseconds, over the rounds."""

    median: float
    quartiles: tuple[float, float]
    count: int  # playouts or calls in a round

    @classmethod
    def of(cls, values: Sequence[float], count: int) -> Rate:
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
        return cls(middle, (low, high), count)


def import_openspiel() -> Any | None:
    """OpenSpiel's module, or None where it is not installed."""
    try:
        return importlib.import_module("pyspiel")
    except ImportError:
        return None


def make_openspiel_rollouts(pyspiel: Any, contest: Contest, seed: int) -> Callable[[int], None]:
    """A function that makes so many of OpenSpiel's native rollouts from the initial state.

    The evaluator cannot be called from Python by itself, but a search of a single simulation does
    nothing else than have it evaluate the root: all rollouts in one call of C++.
    """
    game = pyspiel.load_game(contest.peer, contest.peer_parameters)
    state = game.new_initial_state()
    while state.is_chance_node():  # where a search cannot begin
        state.apply_action(state.chance_outcomes()[0][0])

    def roll(count: int) -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(count, seed)
        bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 1000, False, seed, False)
        bot.mcts_search(state)

    return roll


def make_playouts(game: Game, seed: int, threads: int = 1) -> Callable[[int], None]:
    def play(count: int) -> None:
        game.playouts(count, seed=seed, threads=threads, max_length=MAX_LENGTH)

    return play


def compare(
    runs: dict[str, Callable[[int], None]],
    settings: BenchmarkSettings,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Rate]:
    """Playouts a second of each, measured in turns."""
    counts = {name: _calibrate(run, settings.seconds) for name, run in runs.items()}
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(settings.rounds):
        for name, run in runs.items():
            rates[name].append(counts[name] / _time(run, counts[name], clock))
    return {name: Rate.of(values, counts[name]) for name, values in rates.items()}


def _time(
    run: Callable[[int], None], count: int, clock: Callable[[], float] = time.process_time
) -> float:
    start = clock()
    run(count)
    return clock() - start


def _calibrate(run: Callable[[int], None], seconds: float) -> int:
    """How many playouts take about so long."""
    run(1)  # what is made at the first call is no part of the speed
    count = 64
    while (taken := _time(run, count)) < seconds / 4:
        count *= 4
    return max(1, round(count * seconds / taken))


def measure_node(game: Game, settings: BenchmarkSettings) -> Rate:
    """Nanoseconds a state to apply a joint move to packed states and describe what follows.

    The states and moves are from all stages of random games; each call gets a fresh copy of them,
    whose cost is included.
    """
    before, moves = [], []
    for step in random_play(game, settings.batch, seed=settings.seed, max_length=1000):
        before.append(step.states[step.live])
        moves.append(step.moves)
    states, joint = np.concatenate(before), np.concatenate(moves)
    chosen = np.random.default_rng(settings.seed).permutation(len(states))[: settings.batch]
    states, joint = states[chosen], joint[chosen]
    work = np.empty_like(states)

    def expand(count: int) -> None:
        for _ in range(count):
            np.copyto(work, states)
            game.advance(work, joint)
            game.describe(work)

    count = _calibrate(expand, settings.seconds / 2)
    times = [_time(expand, count) / count / len(states) * 1e9 for _ in range(settings.rounds)]
    return Rate.of(times, count)


def run_contest(contest: Contest, settings: BenchmarkSettings) -> dict[str, Any]:
    """Everything that is measured of one game."""
    start = time.perf_counter()
    game = load(contest.game)
    loaded = time.perf_counter() - start
    game.playouts(1, seed=settings.seed, max_length=MAX_LENGTH)
    ready = time.perf_counter() - start
    portable = load(contest.game, LoadSettings(machine_code=False))
    runs = {"portable": make_playouts(portable, settings.seed)}
    if _core.machine_code_possible():
        runs["machine_code"] = make_playouts(game, settings.seed)
    pyspiel = import_openspiel()
    if pyspiel:
        runs["openspiel"] = make_openspiel_rollouts(pyspiel, contest, settings.seed)
    rates = compare(runs, settings)
    threads = compare(
        {str(n): make_playouts(game, settings.seed, n) for n in (1, 2)},
        # Wall time is noisier than processor time: longer turns.
        replace(settings, seconds=3 * settings.seconds),
        time.perf_counter,
    )
    peer = rates.get("openspiel")
    return {
        "game": contest.game,
        "rules": contest.rules,
        "load_seconds": loaded,
        "first_playout_seconds": ready,
        "playouts_per_second": {name: asdict(rate) for name, rate in rates.items()},
        "ratios": {
            name: rate.median / peer.median
            for name, rate in rates.items()
            if peer and rate is not peer
        },
        "targets": {
            "portable": contest.target,
            "machine_code": contest.target * MACHINE_CODE_FACTOR,
        },
        "threads": {name: asdict(rate) for name, rate in threads.items()},
        "two_threads": threads["2"].median / threads["1"].median,
        "node_nanoseconds": asdict(measure_node(game, settings)),
        "node_target": contest.node_target,
    }


def run_each(
    known: Mapping[str, C],
    games: Sequence[str],
    run: Callable[[C], dict[str, Any]],
    progress: Callable[[str], None] | None,
) -> list[dict[str, Any]]:
    """What comes of the contests named, or of all; `progress` is told which one is next."""
    for name in games:
        if name not in known:
            raise SettingsError(f"there is no benchmark of {name!r}, only of {', '.join(known)}")
    results = []
    for name in games or known:
        if progress:
            progress(name)
        results.append(run(known[name]))
    return results


def run_benchmarks(
    settings: BenchmarkSettings | None = None,
    games: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measures the games named, or all; `progress` is told which one is next."""
    settings = settings or BenchmarkSettings()
    known = {contest.game: contest for contest in CONTESTS}
    results = run_each(known, games, lambda contest: run_contest(contest, settings), progress)
    return {
        "omnilude": __version__,
        "openspiel": _openspiel_version(),
        "python": platform.python_version(),
        "settings": asdict(settings),
        "threads_target": THREADS_TARGET,
        "games": results,
    }


def _openspiel_version() -> str | None:
    return importlib.metadata.version("open_spiel") if import_openspiel() else None


def write_results(results: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def print_results(results: dict[str, Any], console: Console) -> None:
    for table in make_tables(results):
        console.print(table)
    if results["openspiel"] is None:
        console.print("OpenSpiel is not installed: pip install 'omnilude\\[bench]'")
        return
    for row in results["games"]:
        console.print(f"{row['game']} in OpenSpiel: {row['rules']}", style="dim")


def make_tables(results: dict[str, Any]) -> list[Table]:
    """The results for people: green where a target is met, yellow where not."""
    speed = _table(
        "Random playouts a second, one core",
        ["OpenSpiel", "portable", "ratio", "goal", "machine code", "ratio", "goal"],
    )
    other = _table(
        "Search node (advance + describe), two threads, loading",
        ["ns a state", "goal", "2 threads", "goal", "load", "1st playout"],
    )
    for row in results["games"]:
        rates = row["playouts_per_second"]
        cells = [_rate(rates, "openspiel")]
        for name in ("portable", "machine_code"):
            ratio, target = row["ratios"].get(name), row["targets"][name]
            cells += [_rate(rates, name), _judge(ratio, target, "x"), f"{target:.0f}x"]
        speed.add_row(row["game"], *cells)
        node, limit = row["node_nanoseconds"]["median"], row["node_target"]
        other.add_row(
            row["game"],
            f"{node:.0f}" if limit is None else _judge(node, limit, "", least=False),
            "" if limit is None else f"{limit:.0f}",
            _judge(row["two_threads"], results["threads_target"], "x", digits=2),
            f"{results['threads_target']}x",
            f"{row['load_seconds'] * 1000:.0f} ms",
            f"{row['first_playout_seconds'] * 1000:.0f} ms",
        )
    return [speed, other]


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, padding=(0, 0))
    table.add_column("game", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _rate(rates: dict[str, Any], name: str) -> str:
    return format_rate(rates[name]["median"]) if name in rates else "-"


def format_rate(rate: float) -> str:
    """Three digits and a unit: 35.6 M, 982 k, 77.1."""
    size, unit = (1e6, " M") if rate >= 1e6 else (1e3, " k") if rate >= 1e3 else (1.0, "")
    shown = rate / size
    return f"{shown:.{0 if shown >= 100 else 1 if shown >= 10 else 2}f}{unit}"


def _judge(
    value: float | None, target: float, unit: str, *, least: bool = True, digits: int = 0
) -> str:
    if value is None:
        return "-"
    met = value >= target if least else value <= target
    return f"[{'green' if met else 'yellow'}]{value:.{digits}f}{unit}[/]"
