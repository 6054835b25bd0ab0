"""The command line: `omnilude --help`."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE, SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from omnilude import __version__, _core, benchmarks
from omnilude.errors import OmniludeError, RulesError, SettingsError
from omnilude.games import Game, State, load
from omnilude.games.perft import perft as count_sequences
from omnilude.games.settings import LoadSettings
from omnilude.games.statistics import (
    MAX_LENGTH,
    Estimate,
    Statistics,
    collect_statistics,
    measure_speed,
)
from omnilude.games.survey import survey_game
from omnilude.rules.library import bundled_games

MOST_GOALS = 4
"""Goal values shown for a role; games that pay by points have dozens."""


class _Group(TyperGroup):
    """Says what is wrong in one message: a traceback helps nobody who wrote rules."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OmniludeError as error:
            _print_error(error)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="General game playing: give it the rules of a game, and it plays.",
    epilog="GAME is the name of a bundled game ('omnilude games' lists them) or a path to rules.",
)

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="Name of a bundled game, or path of a rulesheet.")
]
EngineOption = Annotated[
    str,
    typer.Option(help="'circuit', 'interpreter', or 'auto': the circuit where it can be had."),
]
CodeOption = Annotated[
    bool,
    typer.Option(
        "--machine-code/--no-machine-code",
        help="Run the circuit as machine code, or by the portable evaluator.",
    ),
]
SeedOption = Annotated[
    int, typer.Option(min=0, help="Of the random moves: the same seed, the same games.")
]


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"omnilude {__version__}")
        raise typer.Exit


# --version alone is a complete command.
app.info.invoke_without_command = True


@app.command()
def games() -> None:
    """List the bundled games: players, kind, board and size."""
    table = _table(
        "Bundled games", ["game", "players", "fluents", "moves", "board"], ["engine", "kind"]
    )
    for name in bundled_games():
        game = load(name, LoadSettings(check_playouts=0))
        survey = survey_game(game, playouts=16, max_length=200)
        size = game.circuit_size
        table.add_row(
            name,
            str(game.chance.count(False)),
            str(size["fluents"]) if size else "",
            str(sum(game.slots(role) for role in game.roles)),
            (survey.board or "").removesuffix(" cells"),
            game.engine,
            survey.kind,
        )
    Console().print(table)


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Path of a rulesheet, or a game.")],
    engine: EngineOption = "auto",
    machine_code: CodeOption = True,
) -> None:
    """Check the rules in FILE and say what game they make.

    Wrong rules are shown with line, column and a hint, and end with exit code 1. What random play
    finds (positions without a legal move, doubtful goals, games without end) is listed too.
    """
    console = Console()
    start = time.perf_counter()
    game = load(file, LoadSettings(engine=engine, machine_code=machine_code))
    taken = time.perf_counter() - start
    survey = survey_game(game, playouts=64 if game.engine == "circuit" else 4)
    title = f"{game.name}: the rules can be played"
    facts = Table(title=title, box=SIMPLE, show_header=False, title_justify="left")
    facts.add_column(style="bold")
    facts.add_column()
    facts.add_row("kind", survey.kind)
    chance = dict(zip(game.roles, game.chance, strict=True))
    facts.add_row("roles", ", ".join(f"{r} (chance)" if chance[r] else r for r in game.roles))
    facts.add_row(
        "turns",
        ", ".join(f"{_say_choosers(n)} {share:.0%}" for n, share in survey.choosers.items())
        + f" of {survey.positions:,} random positions",
    )
    facts.add_row("hidden information", "yes" if survey.hidden else "none seen")
    facts.add_row("board", survey.board or "none found")
    moves = ", ".join(f"{role} {game.slots(role)}" for role in game.roles)
    facts.add_row("moves in all", moves)
    facts.add_row("engine", f"{game.engine}, loaded in {taken:.2f} s")
    if isinstance(game.core, _core.CircuitGame):
        size = {key: value for key, value in game.core.size.items() if key != "odd_goal"}
        for key, value in size.items():
            facts.add_row(f"  {key.replace('_', ' ')}", _say(value))
        facts.add_row("  playout gates", _say(game.core.playout_gates))
    console.print(facts)
    findings = list(game.warnings)
    if game.circuit_size and game.circuit_size["odd_goal"]:
        findings.append("a goal value may be something else than a whole number from 0 to 100")
    if survey.stuck:
        findings.append(
            f"{survey.stuck} of {survey.playouts} random playouts met a position that is not "
            "terminal and in which a role has no legal move"
        )
    if survey.odd_goals:
        findings.append(
            f"{survey.odd_goals} times in {survey.playouts} random playouts a role ended without "
            "a goal value or with several (the greatest counts, or 0)"
        )
    if survey.cut:
        findings.append(
            f"{survey.cut} of {survey.playouts} random playouts did not end within 1000 moves "
            "or 10 seconds"
        )
    for finding in findings:
        console.print(Text(f"warning: {finding}", style="yellow"))
    if not findings:
        console.print(Text("no warnings", style="green"))


@app.command()
def perft(
    game: GameArgument,
    depth: Annotated[int, typer.Option(min=1, help="Joint moves in a sequence.")] = 4,
    engine: EngineOption = "auto",
    machine_code: CodeOption = True,
) -> None:
    """Count the sequences of joint moves of each length up to --depth.

    Two implementations of the same rules must agree on these numbers.
    """
    loaded = load(game, LoadSettings(engine=engine, machine_code=machine_code))
    start = time.perf_counter()
    counts = count_sequences(loaded, depth)
    taken = time.perf_counter() - start
    table = _table(f"{loaded.name}: perft", ["depth", "sequences"])
    for number, count in enumerate(counts, start=1):
        table.add_row(str(number), f"{count:,}")
    console = Console()
    console.print(table)
    rate = benchmarks.format_rate(sum(counts) / taken)
    console.print(f"{sum(counts):,} in {taken:.2f} s: {rate} a second")


@app.command()
def playout(
    game: GameArgument,
    playouts: Annotated[int, typer.Option("-n", min=1, help="Number of playouts.")] = 100_000,
    seed: SeedOption = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads; results are the same.")] = 1,
    max_length: Annotated[
        int, typer.Option(min=1, help="Playouts are cut after so many moves.")
    ] = MAX_LENGTH,
    engine: EngineOption = "auto",
    machine_code: CodeOption = True,
) -> None:
    """Play at random: rewards by role with 95 % intervals, length, branching factor, speed."""
    console = Console()
    loaded = load(game, LoadSettings(engine=engine, machine_code=machine_code))
    result = _collect(console, loaded, playouts, seed, threads, max_length)
    _print_statistics(console, loaded, result)
    _print_speed(console, loaded, threads, seed, max_length)


@app.command()
def bench(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Some of the games; else all.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each; the median counts.")] = 7,
    seconds: Annotated[float, typer.Option(help="Length of a turn.")] = 0.4,
    seed: SeedOption = 1,
    output: Annotated[Path | None, typer.Option(help="JSON file for the results.")] = None,
) -> None:
    """Measure playouts, threads and search nodes, beside OpenSpiel where it is installed."""
    console = Console()
    settings = benchmarks.BenchmarkSettings(rounds=rounds, seconds=seconds, seed=seed)
    with console.status("measuring") as status:
        results = benchmarks.run_benchmarks(
            settings, games or (), lambda name: status.update(f"measuring {name}")
        )
    benchmarks.print_results(results, console)
    if output:
        try:
            benchmarks.write_results(results, output)
        except OSError as error:
            raise SettingsError(f"cannot write {output}: {error.strerror}") from error


@app.command()
def demo(
    pause: Annotated[float, typer.Option(min=0, help="Seconds between moves.")] = 0.5,
    seed: SeedOption = 1,
) -> None:
    """Half a minute: a random game of Connect Four from its rules, statistics, and the speed."""
    console = Console()
    path = bundled_games()["connect-four"]
    start = time.perf_counter()
    game = load("connect-four")
    taken = time.perf_counter() - start
    rules = sum(
        1 for line in path.read_text().splitlines() if line.strip() and not line.startswith(";")
    )
    console.rule("From rules to a game")
    console.print(
        f"Connect Four, from the {rules} lines of rules in {path.name}: compiled in "
        f"{taken * 1000:.0f} ms, and checked against a plain reading of the rules.\n"
        "Here is a game of two players who move at random:\n"
    )
    _show_game(console, game, random.Random(seed), pause)
    console.rule("A million such games")
    _print_statistics(console, game, _collect(console, game, 1_000_000, seed, 1, MAX_LENGTH))
    _print_speed(console, game, 1, seed, MAX_LENGTH)
    console.rule("Beside hand-written C++")
    _compare_speed(console, seed)
    console.rule("What to try next")
    console.print(
        "omnilude games                      the other games that come with it\n"
        "omnilude check pacman-3p            what the rules of a game make of it\n"
        "omnilude playout othello -n 1000000 the statistics of another game\n"
        "omnilude perft checkers --depth 7   count sequences of moves\n"
        "omnilude check my-game.kif          your own rules, in GDL\n"
        "omnilude bench                      the speed of six games, measured with care",
        highlight=False,
    )


def _show_game(console: Console, game: Game, chooser: random.Random, pause: float) -> None:
    """A random game: in place in a terminal, position after position elsewhere."""
    state, said = game.initial(), "the start"
    with Live(console=console, auto_refresh=False) as live:
        while True:
            if console.is_terminal:
                live.update(_picture(state, said), refresh=True)
            else:
                console.print(_picture(state, said))
            time.sleep(pause)
            if state.terminal:
                break
            legal = [state.legal(role) for role in game.roles]
            moves = [chooser.choice(choices) for choices in legal]
            movers = [n for n, choices in enumerate(legal) if choices[0].text != "noop"]
            said = ", ".join(f"{game.roles[n]} plays {moves[n]}" for n in movers)
            state = state.play(moves)
    rewards = zip(game.roles, state.reward, strict=True)
    console.print("The end: " + ", ".join(f"{role} {reward:g}" for role, reward in rewards) + "\n")


def _picture(state: State, said: str) -> Text:
    # The board alone: its legend and the other facts would only flicker.
    lines = [line for line in str(state).splitlines() if line.startswith("  ")]
    picture = Text("\n".join([f"{said:<30}", *lines, ""]))
    for sign, style in ((r"r", "bold red"), (r"y", "bold yellow"), (r"\.", "dim")):
        picture.highlight_regex(rf"(?<= ){sign}(?= |$|\n)", style)
    return picture


def _compare_speed(console: Console, seed: int) -> None:
    pyspiel = benchmarks.import_openspiel()
    if pyspiel is None:
        console.print("OpenSpiel is not installed, so there is nothing to compare with.\n")
        return
    with console.status("measuring"):
        contest = benchmarks.CONTESTS[0]
        runs = {
            "Omnilude, from the rules": benchmarks.make_playouts(load(contest.game), seed),
            "OpenSpiel, hand-written": benchmarks.make_openspiel_rollouts(pyspiel, contest, seed),
        }
        rates = benchmarks.compare(runs, benchmarks.BenchmarkSettings(rounds=5, seed=seed))
    ours, theirs = (rate.median for rate in rates.values())
    for name, rate in rates.items():
        console.print(f"{name}: {benchmarks.format_rate(rate.median)} playouts a second, one core")
    console.print(f"That is [bold green]{ours / theirs:.0f} times[/] the speed.\n")


def _collect(
    console: Console, game: Game, playouts: int, seed: int, threads: int, max_length: int
) -> Statistics:
    columns = (
        TextColumn("playing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=playouts)
        return collect_statistics(
            game,
            playouts,
            seed=seed,
            threads=threads,
            max_length=max_length,
            progress=lambda done: progress.update(task, completed=done),
        )


def _print_statistics(console: Console, game: Game, result: Statistics) -> None:
    title = f"{game.name}: {result.playouts:,} random playouts, seed {result.seed}"
    rewards = _table(title, ["role", "mean reward"], ["share of each goal, 95 % interval"])
    moves = _table("", ["role", "mean moves", "branching factor", "has a choice"])
    for role in result.roles:
        often = sorted(role.goals, key=lambda value: -role.goals[value].value)[:MOST_GOALS]
        goals = [
            f"{value:>3}: {_percent(role.goals[value])}" for value in sorted(often, reverse=True)
        ]
        if len(role.goals) > MOST_GOALS:
            goals.append(f"and {len(role.goals) - MOST_GOALS} other values")
        reward = f"{role.reward.value:.4f} ± {role.reward.high - role.reward.value:.4f}"
        if not role.chance:
            rewards.add_row(role.role, reward, "\n".join(goals))
        moves.add_row(
            f"{role.role} (chance)" if role.chance else role.role,
            f"{role.legal_moves:.2f}",
            f"{role.branching:.2f}",
            f"{role.decisions:.1%}",
        )
    console.print(rewards, moves)
    quantiles = ", ".join(f"{q:.0%} {length}" for q, length in result.quantiles.items())
    error = result.length.high - result.length.value
    console.print(
        f"length: mean {result.length.value:.2f} ± {error:.2f}, from {result.shortest} to "
        f"{result.longest}; {quantiles}",
        highlight=False,
    )
    if result.stuck or result.cut:
        console.print(
            f"{result.stuck:,} playouts stuck (a role without a move), {result.cut:,} cut",
            style="yellow",
        )


def _print_speed(console: Console, game: Game, threads: int, seed: int, max_length: int) -> None:
    with console.status("measuring the speed"):
        speed = measure_speed(game, threads=threads, seed=seed, max_length=max_length)
    console.print(
        f"speed: {benchmarks.format_rate(speed.playouts)} playouts and "
        f"{benchmarks.format_rate(speed.steps)} moves a second, {threads} "
        f"thread{'s' if threads > 1 else ''}\n",
        highlight=False,
    )


def _table(title: str, columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """A table that fits 80 columns: what it is about, numbers, then texts."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for column in texts:
        table.add_column(column)
    return table


def _percent(share: Estimate) -> str:
    value, low, high = (100 * x for x in (share.value, share.low, share.high))
    return f"{value:5.2f} % \\[{low:.2f}, {high:.2f}]"  # the bracket is no markup


def _say(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _say_choosers(count: int) -> str:
    return ("nobody has a choice in", "one role in")[count] if count < 2 else f"{count} roles in"


def _print_error(error: OmniludeError) -> None:
    """The message in red; for rules also the line and a mark below the column."""
    console = Console(stderr=True, soft_wrap=True)
    if not isinstance(error, RulesError):
        console.print(Text(f"error: {error}", style="red"))
        return
    place = f":{error.line}:{error.column}" if error.position else ""
    console.print(Text(f"{error.file}{place}: {error.message}", style="red"))
    if error.position and Path(error.file).is_file():
        lines = Path(error.file).read_text(errors="replace").split("\n")
        if error.position.line <= len(lines):
            line = lines[error.position.line - 1].replace("\t", " ")
            console.print(Text(f"  {line}\n  {' ' * (error.position.column - 1)}^", style="dim"))
    if error.hint:
        console.print(Text(f"hint: {error.hint}", style="cyan"))
