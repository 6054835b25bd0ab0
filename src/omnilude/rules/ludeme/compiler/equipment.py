"""What a game is played with: boards, hands, dice, pieces, regions, maps, tracks.

Numbers of sites and pieces follow from the order: the board, then hands, then dice; pieces come
after dice, in the order in which they are described, one for each player where it says Each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.build import GraphBuilder, whole
from omnilude.rules.ludeme.boards.directions import COMPASS, INDEX
from omnilude.rules.ludeme.boards.graph import Graph
from omnilude.rules.ludeme.boards.lattices import make_hexagon, make_rectangle, make_tri_shape
from omnilude.rules.ludeme.boards.measures import measure
from omnilude.rules.ludeme.boards.operators import shift, union
from omnilude.rules.ludeme.boards.topology import KINDS, Topology
from omnilude.rules.ludeme.compiler.context import (
    Component,
    Container,
    GameContext,
)
from omnilude.rules.ludeme.compiler.roles import ALL, EACH, ROLES, SHARED, owner_of
from omnilude.rules.ludeme.compiler.tracks import add_surakarta_tracks, read_track
from omnilude.rules.ludeme.tokens import Place
from omnilude.rules.ludeme.tree import Array, Clause, Number, Symbol, Text

MAX_PLAYERS = 16
MAX_SITES = 2048
BOARDLESS = {"Square": 41, "Hexagonal": 21, "Triangular": 41}
"""How large a board without end is."""
STORES = {
    2: (-0.85, -0.15, 0.5),
    3: (-1.0, 0.0, 1.0),
    4: (-0.9, -0.1, 1.5),
    5: (-1.0, 0.0, 2.0),
    6: (-0.9, -0.1, 2.5),
}
"""Of mancala boards by rows: x of the left store, x of the right one less the columns, y."""


@dataclass(slots=True)
class Sorted:
    """The items of an equipment by what they are."""

    boards: list[Clause] = field(default_factory=list)
    hands: list[Clause] = field(default_factory=list)
    dice: list[Clause] = field(default_factory=list)
    pieces: list[Clause] = field(default_factory=list)
    regions: list[Clause] = field(default_factory=list)
    maps: list[Clause] = field(default_factory=list)


def sort_items(equipment: Clause) -> Sorted:
    found = Sorted()
    places = {
        "board": found.boards,
        "mancalaBoard": found.boards,
        "surakartaBoard": found.boards,
        "boardless": found.boards,
        "hand": found.hands,
        "dice": found.dice,
        "piece": found.pieces,
        "tile": found.pieces,
        "regions": found.regions,
        "map": found.maps,
    }
    for node in equipment.items:
        for item in items_of(node):
            if not isinstance(item, Clause) or item.keyword not in places:
                raise unsupported(f"{describe(item)} in (equipment …)", item.place)
            places[item.keyword].append(item)
    if len(found.boards) != 1:
        raise equipment.place.error("a game needs exactly one board")
    return found


def read_players(clause: Clause) -> tuple[int, dict[int, int]]:
    """How many, and where each faces."""
    a = Arguments(clause)
    node = a.take()
    a.finish()
    facings: dict[int, int] = {}
    if isinstance(node, Number):
        count = int(node.value)
    else:
        count = 0
        for item in items_of(node):
            count += 1
            if not isinstance(item, Clause) or item.keyword != "player":
                raise item.place.error(f"(player …) is needed, not {describe(item)}")
            for part in item.items:
                if isinstance(part, Symbol) and part.name in INDEX:
                    _check_facing(part.name, part.place)
                    facings[count] = INDEX[part.name]
                elif not isinstance(part, Text):
                    raise unsupported(f"{describe(part)} in (player …)", part.place)
    if not 1 <= count <= MAX_PLAYERS:
        raise unsupported(f"a game of {count} players", clause.place)
    return count, facings


def _check_facing(name: str, place: Place) -> None:
    if name not in COMPASS:
        raise unsupported(f"pieces that face {name}", place)


def make_context(players: int, facings: dict[int, int], items: Sorted) -> GameContext:
    board = items.boards[0]
    kind, graph, tracks = _read_board(board)
    sites = len(graph.elements(kind))
    if sites > MAX_SITES:
        raise board.place.error(f"a board of {sites} sites; at most {MAX_SITES} are possible")
    game = GameContext(players, kind, Topology(graph), measure(graph), facings=facings)
    game.boardless = board.keyword == "boardless"
    game.wants.kinds.add(kind)
    _add_containers(game, items)
    _add_components(game, items)
    for clause in tracks:
        game.tracks.append(read_track(game, clause))
    if board.keyword == "surakartaBoard":
        add_surakarta_tracks(game, board)
    return game


# --- boards ---


def _read_board(clause: Clause) -> tuple[str, Graph, list[Clause]]:
    a = Arguments(clause)
    tracks = _take_tracks(a)
    if clause.keyword == "mancalaBoard":
        rows, columns = whole(a.take()), whole(a.take())
        store, number = a.take_label("store"), a.take_label("numStores")
        if a.take_label("largeStack") is not None:
            raise unsupported("largeStack: in (mancalaBoard …)", a.place)
        a.finish()
        name = describe(store) if store is not None else "Outer"
        try:
            graph = _mancala(rows, columns, name, whole(number) if number else 2, a)
        except OverflowError as error:
            raise a.error(str(error)) from error
        return "Vertex", graph, tracks
    if clause.keyword == "surakartaBoard":
        node = a.take()
        a.take_label("loops")
        a.take_label("from")
        a.finish()
        return "Vertex", GraphBuilder("Vertex").build(node), tracks
    if clause.keyword == "boardless":
        return "Cell", _boardless(a), tracks
    use = a.take_label("use")
    kind = describe(use) if use is not None else "Cell"
    if kind not in KINDS:
        raise a.error(f"use: must be one of {', '.join(KINDS)}")
    if a.take_label("largeStack") is not None:
        raise unsupported("largeStack: in (board …)", a.place)
    graph = GraphBuilder(kind).build(a.take())
    a.finish()
    return kind, graph, tracks


def _boardless(a: Arguments) -> Graph:
    """A board without end is one so large that its end does not matter."""
    shape = a.take_symbol("Square", "Hexagonal", "Triangular")
    if shape is None:
        raise a.error("Square, Hexagonal or Triangular is needed")
    given = a.take_if(lambda node: isinstance(node, Number))
    a.finish()
    size = whole(given) if given is not None else BOARDLESS[shape]
    if not 1 <= size <= BOARDLESS[shape]:
        raise a.error(f"a size from 1 to {BOARDLESS[shape]} is needed, not {size}")
    if shape == "Square":
        return make_rectangle(size, size, cells=True)
    if shape == "Hexagonal":
        return make_hexagon(size)
    return make_tri_shape("Triangle", size, size, cells=True)


def _take_tracks(a: Arguments) -> list[Clause]:
    tracks: list[Clause] = []
    while clause := a.take_clause("track"):
        tracks.append(clause)
    listed = a.take_any(
        lambda node: (
            isinstance(node, Array)
            and bool(node.items)
            and all(isinstance(item, Clause) and item.keyword == "track" for item in node.items)
        )
    )
    if listed is not None:
        tracks += [item for item in items_of(listed) if isinstance(item, Clause)]
    return tracks


def _mancala(rows: int, columns: int, store: str, stores: int, a: Arguments) -> Graph:
    if rows not in STORES:
        raise a.error("2 to 6 rows are needed")
    if store == "Inner" or stores != 2:
        return make_rectangle(rows, rows, cells=False)
    parts: list[Graph] = []
    left, right, height = STORES[rows]

    def point(x: float, y: float) -> Graph:
        graph = Graph()
        graph.add_vertex(float(np.float32(x)), float(np.float32(y)))
        return graph

    if store != "None":
        parts.append(point(left, height))
    for row in range(rows):
        parts.append(shift(make_rectangle(1, columns, cells=False), 0.0, float(row)))
    if store != "None":
        parts.append(point(columns + right, height))
    return union(parts, connect=True)


# --- containers ---


def _add_containers(game: GameContext, items: Sorted) -> None:
    sites = max(game.count_sites("Cell"), game.count_sites(game.kind))
    game.containers.append(Container("Board", 0, game.count_sites(game.kind), 0))
    at = sites
    for clause in items.hands:
        a = Arguments(clause)
        name = a.take_symbol()
        size = a.take_label("size")
        a.finish()
        if name is None or name not in ROLES:
            raise a.error("a role is needed")
        count = whole(size) if size is not None else 1
        for owner in _owners(game, name, a.place):
            shown = 0 if name in ("Shared", "Neutral") else owner
            game.containers.append(Container(f"Hand{shown}", at, count, owner, hand=True))
            at += count
    total = 0
    for clause in items.dice:
        total += _count_dice(clause)
    if total:
        owned_by = set[int]()
        for clause in items.dice:
            named = [node for node in clause.items if isinstance(node, Symbol)]
            roles = [ROLES[node.name] for node in named if node.name in ROLES]
            owned_by.add(owner_of(roles[0], game.players) if roles else game.players + 1)
        if len(owned_by) > 1:
            raise unsupported("dice of several players", items.dice[0].place)
        (owner,) = owned_by
        game.containers.append(Container("Dice", at, total, owner, dice=True))
        at += total
        game.all_pass_ends = False
        game.wants.state = True
    if len(game.containers) > 1:
        game.wants.kinds.add("Cell")
        game.wants.count = True
    game.container_of = [0] * sites
    for number, box in enumerate(game.containers[1:], start=1):
        game.container_of += [number] * box.sites


def _count_dice(clause: Clause) -> int:
    a = Arguments(clause)
    number = a.take_label("num")
    return whole(number) if number is not None else 1


def _dice_faces(clause: Clause) -> list[tuple[int, ...]]:
    a = Arguments(clause)
    count = a.take_label("num")
    sides, start = a.take_label("d"), a.take_label("from")
    faces, by_die = a.take_label("faces"), a.take_label("facesByDie")
    if a.take_label("biased") is not None:
        raise unsupported("biased: in (dice …)", a.place)
    a.take_symbol(*ROLES)
    a.finish()
    number = whole(count) if count is not None else 1
    if by_die is not None:
        return [tuple(whole(face) for face in items_of(die)) for die in items_of(by_die)]
    if faces is not None:
        return [tuple(whole(face) for face in items_of(faces))] * number
    first = whole(start) if start is not None else 1
    size = whole(sides) if sides is not None else 6
    return [tuple(range(first, first + size))] * number


# --- components ---


def _add_components(game: GameContext, items: Sorted) -> None:
    game.components.append(Component("", "", 0))
    number = 0
    for clause in items.dice:
        for faces in _dice_faces(clause):
            number += 1
            name = f"Die{number}"
            game.components.append(Component(name, name, game.players + 1, faces=faces))
    for clause in items.pieces:
        _add_piece(game, clause)
    if len(game.components) == 1:
        for player in range(1, game.players + 1):
            game.components.append(Component(f"Ball{player}", "Ball", player))
    for one in game.components:
        if one.owner in game.facings:
            one.facing = game.facings[one.owner]


def _owners(game: GameContext, role_name: str, place: Place) -> list[int]:
    """Whose equipment of a role is."""
    role = ROLES[role_name]
    if role > 32 and role not in (EACH, SHARED, ALL):
        raise unsupported(f"equipment of {role_name}, which changes in play", place)
    return list(range(1, game.players + 1)) if role == EACH else [owner_of(role, game.players)]


def _add_piece(game: GameContext, clause: Clause) -> None:
    a = Arguments(clause)
    name = a.take_text()
    if name is None:
        raise a.error("a name is needed")
    role_name = a.take_symbol(*ROLES) or "Each"
    facing = a.take_symbol(*INDEX)
    if facing is not None:
        _check_facing(facing, a.place)
    flips = a.take_clause("flips")
    if clause.keyword == "tile":
        a.take_label("numSides")
        large = a.take_if(lambda node: isinstance(node, Array)) or a.take_clause("path")
        if large is not None:
            raise unsupported("a tile of several cells or with paths", large.place)
    moves = a.take_if(lambda node: isinstance(node, Clause | Array))
    for label in ("maxState", "maxCount", "maxValue"):
        a.take_label(label)
    a.finish()
    if isinstance(moves, Array):
        moves = Clause("or", (moves,), moves.place)
    pair = (-1, -1)
    if flips is not None:
        first, second = (whole(node) for node in flips.items)
        pair = (first, second)
    owners = _owners(game, role_name, a.place)
    if any(owner > game.players + 1 for owner in owners):
        raise unsupported(f"a piece of {role_name} in a game of {game.players} players", a.place)
    for owner in owners:
        suffix = ""
        if role_name == "Neutral":
            suffix = "0"
        elif game.players != 1 and 1 <= owner <= game.players:
            suffix = str(owner)
        full = name if "Domino" in name or "Die" in name else name + suffix
        game.components.append(
            Component(
                full,
                re.sub(r"\d+$", "", full) or full,
                owner,
                moves=moves,
                facing=INDEX[facing] if facing else -1,
                flips=pair,
            )
        )
