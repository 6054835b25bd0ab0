"""A whole game: equipment, then rules, which are read until what they need is known."""

from __future__ import annotations

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.compiler.code import Name, Writer, many
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.context import GameContext
from omnilude.rules.ludeme.compiler.equipment import make_context, read_players, sort_items
from omnilude.rules.ludeme.compiler.named import read_map, read_region
from omnilude.rules.ludeme.compiler.parts import Parts
from omnilude.rules.ludeme.compiler.phases import read_end, read_meta, read_phase, read_play
from omnilude.rules.ludeme.compiler.refusals import refuse_combinations
from omnilude.rules.ludeme.compiler.start import start_rule
from omnilude.rules.ludeme.compiler.writing import write_game
from omnilude.rules.ludeme.tree import Clause, Text


def compile_game(game: Clause) -> tuple[GameContext, Writer]:
    """What was found in the rules of a game, and the rules as the core reads them."""
    a = Arguments(game)
    a.take_text()
    players_clause = a.take_clause("players")
    equipment, rules = a.take_clause("equipment"), a.take_clause("rules")
    mode = a.take_clause("mode")
    if mode is not None and describe(mode.items[0]) != "Alternating":
        raise unsupported(f"(mode {describe(mode.items[0])})", mode.place)
    a.finish()
    if players_clause is None or equipment is None or rules is None:
        raise a.error("players, equipment and rules are needed")
    count, facings = read_players(players_clause)
    items = sort_items(equipment)
    context = make_context(count, facings, items)
    compiler = Compiler(context)
    # What the rules use decides how states are laid out, and that how some rules are read: so
    # they are read until nothing new is found.
    for _ in range(4):
        before = repr(context.wants), len(context.remembered)
        parts = _compile_rules(compiler, items.regions, items.maps, rules)
        if (repr(context.wants), len(context.remembered)) == before:
            break
    refuse_combinations(compiler, parts, rules.place)
    return context, write_game(compiler, parts)


def _compile_rules(c: Compiler, regions: list[Clause], maps: list[Clause], rules: Clause) -> Parts:
    c.game.regions = []
    c.placed_in_hand = []
    c.fills_hands = False
    for clause in regions:
        c.game.regions.append(read_region(c, clause))
    c.game.maps = [read_map(c, clause) for clause in maps]
    parts = Parts()
    a = Arguments(rules)
    meta = a.take_clause("meta")
    if meta is not None:
        parts.meta = read_meta(c, meta)
    start, end = a.take_clause("start"), a.take_clause("end")
    play, phases = a.take_clause("play"), a.take_label("phases")
    a.finish()
    if start is not None:
        for node in start.items:
            for item in items_of(node):
                parts.start += start_rule(c, item)
    if phases is not None:
        clauses = items_of(phases)
        names = []
        for one in clauses:
            if not isinstance(one, Clause) or one.keyword != "phase":
                raise one.place.error(f"(phase …) is needed, not {describe(one)}")
            names.append(one.items[0].value if isinstance(one.items[0], Text) else "")
        c.game.phases = names
        for one in clauses:
            assert isinstance(one, Clause)
            parts.phases.append(read_phase(c, one, play, parts))
    elif play is not None:
        c.game.phases = ["Default Phase"]
        parts.phases.append(
            (Name("Default Phase"), c.game.players + 1, read_play(c, play), -1, many([]))
        )
    else:
        raise a.error("play or phases: is needed")
    if end is not None:
        parts.ends.append(read_end(c, end))
        parts.end = len(parts.ends) - 1
    elif phases is None:
        # Passing ends games that have no rule for it.
        parts.ends.append([])
        parts.end = len(parts.ends) - 1
    return parts
