"""All of a game in the order that the core reads."""

from __future__ import annotations

import numpy as np

from omnilude.rules.ludeme.boards.directions import DIRECTIONS, INDEX
from omnilude.rules.ludeme.boards.topology import KINDS
from omnilude.rules.ludeme.compiler.code import Code, Many, Name, Part, Raw, Writer, code, numbers
from omnilude.rules.ludeme.compiler.compiler import Compiler
from omnilude.rules.ludeme.compiler.context import GameContext
from omnilude.rules.ludeme.compiler.parts import Parts
from omnilude.rules.ludeme.compiler.walks import (
    RELATIONS,
    distances,
    supported_directions,
    walked_as,
)

TABLES = ("at_start", "at_items", "distinct_start", "distinct_items")
HISTORY = 3000
LONG_HISTORY = 10_001
"""Where every ply is recorded, not only every turn."""
STACK_HEIGHT = 32


def write_game(c: Compiler, parts: Parts) -> Writer:
    game = c.game
    if c.forgets_all:
        lists = numbers(range(len(game.remembered)))
        parts.phases = [_replace(one, lists) for one in parts.phases]  # type: ignore[misc]
        parts.ends = [[_replace(rule, lists) for rule in block] for block in parts.ends]  # type: ignore[misc]
    writer = Writer()
    writer.write(game.players)
    writer.write({"Vertex": 0, "Edge": 1, "Cell": 2}[game.kind])
    for kind in KINDS:
        _write_tables(writer, game, kind)
    writer.write(len(game.containers))
    for box in game.containers:
        writer.write_all([Name(box.name), box.first_site, box.sites, box.owner, box.hand, box.dice])
    writer.write(len(game.components))
    for one in game.components:
        writer.write_all([Name(one.name), Name(one.plain), one.owner, one.facing, *one.flips])
        writer.write(numbers(one.faces))
    writer.write(len(game.tracks))
    for track in game.tracks:
        writer.write_all([Name(track.name), track.owner, track.looped, len(track.elements)])
        for element in track.elements:
            writer.write_all(list(element))
    writer.write(numbers(game.container_of))
    labels = _site_labels(game)
    writer.write(len(labels))
    writer.write_all([Name(label) for label in labels])
    _write_wants(writer, c)
    writer.write(len(game.maps))
    for name, entries in game.maps:
        writer.write(Name(name))
        writer.write(len(entries))
        writer.write_all([value for pair in entries for value in pair])
    meta = parts.meta
    for flag in ("swap", "Positional", "Situational", "PositionalInTurn", "SituationalInTurn"):
        writer.write(meta.get(flag, False))
    writer.write_all([meta.get("no_suicide", False), game.wants.cycle])
    writer.write_all([game.all_pass_ends, game.stochastic])
    start = _dice_start(c) + parts.start
    writer.write(len(start))
    writer.write_all(start)
    writer.write(len(parts.phases))
    for phase in parts.phases:
        writer.write_all(list(phase))
    writer.write(len(parts.ends))
    for block in parts.ends:
        writer.write(len(block))
        writer.write_all(block)
    writer.write(parts.end)
    return writer


def _site_labels(game: GameContext) -> list[str]:
    """How moves call sites: labels of the board where they are all different, names of hands."""
    labels = list(game.measures[game.kind].labels)
    if len(set(labels)) < len(labels) or any("-" in label or "#" in label for label in labels):
        labels = [str(site) for site in range(len(labels))]
    first = len(game.container_of) - sum(box.sites for box in game.containers[1:])
    labels += [str(site) for site in range(len(labels), first)]
    for box in game.containers[1:]:
        labels += [box.name + (f".{n + 1}" if box.sites > 1 else "") for n in range(box.sites)]
    return labels


def _replace(part: object, lists: Part) -> object:
    """`forget All` without a name means every list there is."""
    if isinstance(part, Code) and part.name == "forget Value":
        first, *rest = part.parts
        if getattr(first, "items", None) == (-1,):
            return Code(part.name, (lists, *rest))
    if isinstance(part, Code):
        return Code(part.name, tuple(_replace(one, lists) for one in part.parts))  # type: ignore[misc]
    if isinstance(part, tuple):
        return tuple(_replace(one, lists) for one in part)
    if isinstance(part, Many | Raw):
        return type(part)(tuple(_replace(one, lists) for one in part.items))  # type: ignore[misc]
    return part


def _dice_start(c: Compiler) -> list[Code]:
    dice = [n for n, one in enumerate(c.game.components) if one.faces]
    sites = [box.first_site + d for box in c.game.containers if box.dice for d in range(box.sites)]
    return [
        code(
            "place",
            c.kind("Cell"),
            numbers([site]),
            None,
            numbers([die]),
            None,
            None,
            None,
            None,
            False,
            numbers([]),
        )
        for die, site in zip(dice, sites, strict=True)
    ]


def _history(c: Compiler) -> int:
    """Room for all positions that may be recorded: every turn's, or every ply's."""
    return LONG_HISTORY if c.game.wants.cycle else max(HISTORY, 1251 * c.game.players)


def _write_wants(writer: Writer, c: Compiler) -> None:
    w = c.game.wants
    for kind in KINDS:
        writer.write(kind in w.kinds)
    count = w.count and not w.stacking
    writer.write_all([count, w.state, w.rotation, w.value, w.stacking, w.scores, w.teams])
    writer.write_all([w.visited, w.to_clear, w.amounts, w.hidden, w.laps])
    sites = len(c.game.container_of) + sum(c.game.count_sites(kind) for kind in KINDS)
    dice = sum(box.sites for box in c.game.containers if box.dice)
    writer.write_all(
        [
            STACK_HEIGHT,
            sites if w.pending else 0,
            len(c.game.variables),
            len(c.game.remembered),
            4 * sites if c.game.remembered else 0,
            dice,
            _history(c) if w.history else 0,
            HISTORY if w.turn_history else 0,
        ]
    )


def _write_lists(writer: Writer, lists: list[list[int]]) -> None:
    starts, items = [0], list[int]()
    for one in lists:
        items += one
        starts.append(len(items))
    writer.write(numbers(starts))
    writer.write(numbers(items))


def _write_tables(writer: Writer, game: GameContext, kind: str) -> None:
    topology, measures = game.topology, game.measures[kind]
    used = kind in game.wants.kinds or kind == game.kind
    count = game.count_sites(kind) if used else 0
    writer.write(count)
    tables = topology.rays(kind).tables if used else {}
    for name in ("start", "items", "opposite", *TABLES):
        nothing = [0] if name.endswith("start") else []
        writer.write_array(tables[name] if used else np.array(nothing, dtype=np.int32))
    if used and kind != "Edge":
        writer.write_array(topology.rays(kind).step_starts)
        writer.write_array(topology.rays(kind).step_ends)
    else:  # edges touch in one way only
        around = [topology.neighbours(kind, site, "All") for site in range(count)]
        _write_lists(writer, around * len(DIRECTIONS))
    _write_lists(
        writer,
        [
            [INDEX[walked_as(n)] for n in supported_directions(topology, kind, relation, site)]
            for relation in RELATIONS
            for site in range(count)
        ],
    )
    _write_lists(
        writer,
        [
            [INDEX[walked_as(n)] for n in supported_directions(topology, kind, relation)]
            if used
            else []
            for relation in RELATIONS
        ],
    )
    for values in (measures.rows, measures.columns, measures.layers, measures.phases):
        writer.write(numbers(values if used else []))
    relation = game.distance_relation
    wanted = used and relation is not None and kind == game.kind
    writer.write(numbers(distances(topology, kind, relation) if wanted and relation else []))
