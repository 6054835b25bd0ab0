"""Commands about rules and engines: what a game is, and random play."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from omnilude import _core, benchmarks
from omnilude.cli.ludemes import explain
from omnilude.cli.shared import (
    ChoicesOption,
    CodeOption,
    DefinitionsOption,
    EngineOption,
    GameArgument,
    RulesetOption,
    SeedOption,
    make_table,
    read_choices,
)
from omnilude.games import Game, load
from omnilude.games.perft import perft as count_sequences
from omnilude.games.perft import perft_ends
from omnilude.games.settings import LoadSettings
from omnilude.games.statistics import (
    MAX_LENGTH,
    Statistics,
    collect_statistics,
    format_percent,
    measure_speed,
)
from omnilude.games.survey import survey_game
from omnilude.rules.library import bundled_games

MOST_GOALS = 4
"""Goal values shown for a role; games that pay by points have dozens."""

app = typer.Typer()


@app.command()
def games() -> None:
    """List the bundled games: players, kind, board and size."""
    columns = ["game", "players", "fluents", "moves", "board"]
    table = make_table("Bundled games", columns, ["rules", "kind"])
    for name, path in bundled_games().items():
        game = load(name, LoadSettings(check_playouts=0))
        described = game.ludemes is not None
        # In a circuit's lanes many games cost no more than one.
        survey = survey_game(game, playouts=1 if described else 16, max_length=200)
        size = game.circuit_size
        board = (survey.board or "").removesuffix(" cells")
        if game.ludemes is not None:
            board = str(game.ludemes.context.count_sites(game.ludemes.context.kind))
        table.add_row(
            name,
            str(game.chance.count(False)),
            str(size["fluents"]) if size else "",
            "" if described else str(sum(game.slots(role) for role in game.roles)),
            board,
            path.suffix[1:],
            survey.kind,
        )
    Console().print(table)


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Path of a rulesheet, or a game.")],
    engine: EngineOption = "auto",
    machine_code: CodeOption = True,
    choices: ChoicesOption = None,
    ruleset: RulesetOption = None,
    definitions: DefinitionsOption = None,
) -> None:
    """Check the rules in FILE and say what game they make.

    Wrong rules are shown with line, column and a hint, and end with exit code 1. What random play
    finds (positions without a legal move, doubtful goals, games without end) is listed too.
    """
    console = Console()
    start = time.perf_counter()
    game = load(
        file,
        LoadSettings(engine=engine, machine_code=machine_code),
        options=read_choices(choices),
        ruleset=ruleset,
        definitions=definitions,
    )
    taken = time.perf_counter() - start
    if game.ludemes is not None:
        explain(console, game, taken)
        return
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
    ends: Annotated[
        bool, typer.Option(help="Count also those that end the game, and how; takes longer.")
    ] = False,
    engine: EngineOption = "auto",
    machine_code: CodeOption = True,
    choices: ChoicesOption = None,
    ruleset: RulesetOption = None,
    definitions: DefinitionsOption = None,
) -> None:
    """Count the sequences of joint moves of each length up to --depth.

    Two implementations of the same rules must agree on these numbers.
    """
    loaded = load(
        game,
        LoadSettings(engine=engine, machine_code=machine_code),
        options=read_choices(choices),
        ruleset=ruleset,
        definitions=definitions,
    )
    start = time.perf_counter()
    counts = count_sequences(loaded, depth)
    taken = time.perf_counter() - start
    results = perft_ends(loaded, depth) if ends else []
    columns = ["depth", "sequences", *(["that end", "by rewards"] if ends else [])]
    table = make_table(f"{loaded.name}: perft", columns)
    for number, count in enumerate(counts, start=1):
        row = [str(number), f"{count:,}"]
        if ends:
            found = results[number - 1]
            split = (
                f"{' '.join(f'{r:g}' for r in key)}: {n:,}" for key, n in sorted(found.items())
            )
            row += [f"{found.total():,}", ", ".join(split)]
        table.add_row(*row)
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
    choices: ChoicesOption = None,
    ruleset: RulesetOption = None,
    definitions: DefinitionsOption = None,
) -> None:
    """Play at random: rewards by role with 95 % intervals, length, branching factor, speed."""
    console = Console()
    loaded = load(
        game,
        LoadSettings(engine=engine, machine_code=machine_code),
        options=read_choices(choices),
        ruleset=ruleset,
        definitions=definitions,
    )
    result = collect(console, loaded, playouts, seed, threads, max_length)
    print_statistics(console, loaded, result)
    print_speed(console, loaded, threads, seed, max_length)


def collect(
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


def print_statistics(console: Console, game: Game, result: Statistics) -> None:
    title = f"{game.name}: {result.playouts:,} random playouts, seed {result.seed}"
    rewards = make_table(title, ["role", "mean reward"], ["share of each goal, %, 95 % interval"])
    moves = make_table("", ["role", "mean moves", "branching factor", "has a choice"])
    for role in result.roles:
        often = sorted(role.goals, key=lambda value: -role.goals[value].value)[:MOST_GOALS]
        goals = [
            f"{value:>3}: {format_percent(role.goals[value], 2)}".replace("[", "\\[")  # no markup
            for value in sorted(often, reverse=True)
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


def print_speed(console: Console, game: Game, threads: int, seed: int, max_length: int) -> None:
    with console.status("measuring the speed"):
        speed = measure_speed(game, threads=threads, seed=seed, max_length=max_length)
    console.print(
        f"speed: {benchmarks.format_rate(speed.playouts)} playouts and "
        f"{benchmarks.format_rate(speed.steps)} moves a second, {threads} "
        f"thread{'s' if threads > 1 else ''}\n",
        highlight=False,
    )


def _say(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _say_choosers(count: int) -> str:
    return ("nobody has a choice in", "one role in")[count] if count < 2 else f"{count} roles in"
