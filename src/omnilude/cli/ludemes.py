"""What a ludemic description makes, told to a person."""

from __future__ import annotations

import time
from collections import Counter

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from omnilude.games import Game
from omnilude.games.statistics import Statistics, collect_statistics
from omnilude.rules.ludeme.compiler.context import GameContext

SECONDS = 3.0
"""About so long is played at random."""
MOST_PLAYOUTS = 2000
LONGEST = 5000
NAMES = {"Vertex": "vertices", "Edge": "edges", "Cell": "cells"}


def explain(console: Console, game: Game, taken: float) -> None:
    """Board, pieces, options, and what random play says about length and advantage."""
    program = game.ludemes
    assert program is not None
    context = program.context
    state = game.initial()
    console.print(Text(f"{program.description.name}: the rules can be played", style="bold"))
    console.print(Text(f"\n{state}\n"))
    facts = Table(box=SIMPLE, show_header=False)
    facts.add_column(style="bold")
    facts.add_column()
    facts.add_row("players", str(context.players))
    facts.add_row("board", _say_board(context))
    facts.add_row("pieces", _say_pieces(context))
    for option in program.description.options:
        chosen = program.description.items[option.heading].name
        shown = [
            f"[b]{item.name}[/b] (chosen)" if item.name == chosen else item.name
            for item in option.items
        ]
        facts.add_row(f"option {option.heading}", ", ".join(shown))
    facts.add_row("uses", ", ".join(_say_wants(context)) or "nothing beside pieces and places")
    movers = [role for role in game.roles if len(state.legal(role)) > 1]
    if movers:
        facts.add_row("first moves", f"{movers[0]} has {len(state.legal(movers[0]))}")
    facts.add_row("engine", f"ludemes, loaded in {taken:.2f} s, {game.state_bytes} bytes a state")
    result = _play(game)
    facts.add_row("random play", _say_play(game, result))
    console.print(facts)
    if result.cut:
        text = f"warning: {result.cut} of {result.playouts} random games were longer than {LONGEST}"
        console.print(Text(text, style="yellow"))


def _play(game: Game) -> Statistics:
    start = time.perf_counter()
    collect_statistics(game, 2, seed=1, max_length=LONGEST)
    each = (time.perf_counter() - start) / 2
    playouts = int(min(MOST_PLAYOUTS, max(4, SECONDS / max(each, 1e-6))))
    return collect_statistics(game, playouts, seed=2, max_length=LONGEST)


def _say_play(game: Game, result: Statistics) -> str:
    lines = [f"{result.playouts:,} games, {result.length.value:.1f} moves in the mean"]
    for role in result.roles:
        if not role.chance:
            wins = role.goals.get(100)
            share = f"{wins.value:.1%} [{wins.low:.1%}, {wins.high:.1%}]" if wins else "0 %"
            lines.append(f"{role.role} wins {share}, {role.branching:.1f} moves to choose from")
    return "\n".join(lines).replace("[", "\\[")


def _say_board(context: GameContext) -> str:
    used = [kind for kind in NAMES if kind in context.wants.kinds or kind == context.kind]
    parts = [f"{context.count_sites(kind)} {NAMES[kind]}" for kind in used]
    hands = sum(box.hand for box in context.containers)
    dice = sum(box.sites for box in context.containers if box.dice)
    extra = [f"{hands} hands"] * (hands > 0) + [f"{dice} dice"] * (dice > 0)
    return ", ".join([*parts, *extra])


def _say_pieces(context: GameContext) -> str:
    owners: Counter[str] = Counter()
    for one in context.components[1:]:
        if not one.faces:
            owners[one.plain] += 1
    return ", ".join(f"{name} (x{count})" if count > 1 else name for name, count in owners.items())


def _say_wants(context: GameContext) -> list[str]:
    wants = context.wants
    said = {
        "counts": wants.count,
        "states of sites": wants.state,
        "rotations": wants.rotation,
        "values": wants.value,
        "stacks": wants.stacking,
        "scores": wants.scores,
        "teams": wants.teams,
        "hidden pieces": wants.hidden,
        "repetition": wants.history or wants.turn_history,
        "variables": bool(context.variables),
        "remembered values": bool(context.remembered),
        "tracks": bool(context.tracks),
    }
    return [name for name, used in said.items() if used]
