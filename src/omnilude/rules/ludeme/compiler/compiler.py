"""The compiler: one object that all parts of it share."""

from __future__ import annotations

from collections.abc import Iterable

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.arrays import compile_array, compile_range
from omnilude.rules.ludeme.compiler.code import Code, code, many, numbers
from omnilude.rules.ludeme.compiler.conditions import compile_boolean
from omnilude.rules.ludeme.compiler.context import GameContext
from omnilude.rules.ludeme.compiler.directions import compile_directions
from omnilude.rules.ludeme.compiler.kinds import ALIASES, is_direction, is_region
from omnilude.rules.ludeme.compiler.literals import number
from omnilude.rules.ludeme.compiler.moves import compile_moves
from omnilude.rules.ludeme.compiler.numbers import compile_number
from omnilude.rules.ludeme.compiler.regions import compile_region
from omnilude.rules.ludeme.compiler.roles import ROLES, is_role, owner_of
from omnilude.rules.ludeme.tokens import Place
from omnilude.rules.ludeme.tree import Clause, Node, Symbol, Text
from omnilude.spelling import did_you_mean

KINDS = ("Cell", "Vertex", "Edge")


class Compiler:
    def __init__(self, game: GameContext) -> None:
        self.game = game
        self.threats: list[Place] = []
        self.uses_start_sites = False
        self.forgets_all = False
        self.placed_in_hand: list[int] = []
        self.fills_hands = False  # otherwise
        self.in_track_loop = False
        self.any_order = False
        self.in_stop = False
        self.in_play = False  # not in what follows a move
        self.asks_for_no_pieces: list[Place] = []  # of nobody in particular
        self.moves_several = False  # pieces of a pile at once
        self.counts_rows = self.names_rows = self.asks_for_layers = False
        self._compiling: set[int] = set()
        self.has_inner_loops = any(
            len({e[0] for e in track.elements}) < len(track.elements)
            and not any(e[5] for e in track.elements)
            for track in game.tracks
        )

    # --- by kind ---

    def number(self, node: Node) -> Code:
        return compile_number(self, node)

    def boolean(self, node: Node) -> Code:
        return compile_boolean(self, node)

    def region(self, node: Node) -> Code:
        return compile_region(self, node)

    def array(self, node: Node) -> Code:
        return compile_array(self, node)

    def array_in_any_order(self, node: Node) -> Code:
        """Numbers of which only a sum, product or extreme is wanted."""
        self.any_order, before = True, self.any_order
        try:
            return self.array(node)
        finally:
            self.any_order = before

    def range(self, node: Node) -> Code:
        return compile_range(self, node)

    def directions(self, node: Node) -> Code:
        return compile_directions(self, node)

    def moves(self, node: Node) -> Code:
        return compile_moves(self, node)

    def player(self, node: Node) -> Code:
        """A player by role, by (player …), or by number."""
        if is_role(node):
            return code("role", ROLES[describe(node)])
        return self.number(node)

    def fixed(self, sites: Iterable[int]) -> Code:
        return code("fixed", numbers(sorted(set(sites))))

    # --- kinds of sites ---

    def take_kind(self, a: Arguments, *, default: bool = True) -> str | None:
        """A kind of site, if one is written; None: that of the board."""
        del default
        return a.take_symbol(*KINDS)

    def kind(self, kind: str | None) -> int:
        return self.game.kind_number(kind)

    def site_or_region(
        self, a: Arguments, site_label: str, region_label: str
    ) -> tuple[Code | None, Code | None]:
        at, inside = a.take_label(site_label), a.take_label(region_label)
        if inside is not None:
            return None, self.region(inside)
        if at is None:
            return code("last To"), None
        return (None, self.region(at)) if is_region(at) else (self.number(at), None)

    def want_distances(self, kind: str | None, relation: str | None, place: Place) -> None:
        """A table of distances is needed; there is one in a game, whoever asks."""
        if kind not in (None, self.game.kind):
            raise unsupported("distances on another kind of site", place)
        wanted = "OffDiagonal" if relation == "Off" else relation or "Adjacent"
        self.game.distance_relations.add(wanted)

    # --- directions ---

    def take_directions(self, a: Arguments) -> Code:
        """Directions, by default all that are adjacent."""
        node = a.take_any(is_direction)
        if node is None:
            return code("absolute", numbers([INDEX["Adjacent"]]))
        return self.directions(node)

    def take_absolute_direction(self, a: Arguments) -> int:
        node = a.take_any(is_direction)
        return INDEX["Adjacent"] if node is None else self.single_direction(node)

    def single_direction(self, node: Node) -> int:
        names = [ALIASES.get(describe(item), describe(item)) for item in items_of(node)]
        if isinstance(node, Symbol) and names[0] in INDEX:
            return INDEX[names[0]]
        raise unsupported(f"the direction {describe(node)} here", node.place)

    def direction_number(self, name: str) -> int:
        return INDEX[ALIASES.get(name, name)]

    # --- pieces ---

    def component(self, name: str, place: Place) -> int:
        for n, one in enumerate(self.game.components):
            if n and one.name == name:
                return n
        names = [one.name for one in self.game.components[1:]]
        raise place.error(f"no piece is called {name!r}", did_you_mean(name, names))

    def piece_of(self, name: str, owner: Node) -> Code:
        """The first piece with this in its name that belongs to an owner."""
        by_owner = []
        for p in range(self.game.players + 2):
            fitting = [
                n
                for n, one in enumerate(self.game.components)
                if n and name in one.name and one.owner == p
            ]
            by_owner.append(fitting[0] if fitting else -1)
        if is_role(owner):
            role = ROLES[describe(owner)]
            if role <= 16:
                return number(by_owner[role] if role < len(by_owner) else -1)
            return code("id", numbers(by_owner), role)
        raise unsupported(f"a piece of {describe(owner)}", owner.place)

    def piece_numbers(self, clause: Clause, owner: Node | None = None) -> list[Code]:
        """(piece "Name"), (piece {"A" "B"}), (piece number)."""
        a = Arguments(clause)
        a.take_label("state")
        made: list[Code] = []
        for node in a.take_rest():
            for item in items_of(node):
                if isinstance(item, Text):
                    if owner is None:
                        made.append(number(self.component(item.value, item.place)))
                    else:
                        made.append(self.piece_of(item.value, owner))
                else:
                    made.append(self.number(item))
        a.finish()
        if owner is not None and any(one.number is None and one.name != "id" for one in made):
            raise unsupported("a piece known only in play, of another owner", clause.place)
        if not made:
            raise a.error("a piece is needed")
        return made

    def piece_state(self, clause: Clause) -> Code | None:
        state = Arguments(clause).take_label("state")
        if state is None:
            return None
        self.game.wants.state = True
        return self.number(state)

    def own_moves(self, piece: int) -> Code | None:
        """The moves that a piece has of its own."""
        node = self.game.components[piece].moves
        if node is None:
            return None
        if piece in self._compiling:
            raise node.place.error("the moves of a piece refer to themselves")
        self._compiling.add(piece)
        try:
            return self.moves(node)
        finally:
            self._compiling.discard(piece)

    def occupied_by(self, role: int) -> Code:
        return code(
            "sites Occupied",
            self.kind(None),
            role,
            None,
            -1,
            None,
            many([]),
            False,
            numbers([]),
            many([]),
            True,
        )

    # --- tracks ---

    def find_track(self, name: str | None, player: int) -> int:
        """For (trackSite FirstSite …): else the first track there is."""
        for n, track in enumerate(self.game.tracks):
            if name is not None and name in track.name and player in (0, track.owner):
                return n
            if name is None and track.owner in (player, 0):
                return n
        return 0 if self.game.tracks else -1

    def find_named_track(self, name: str | None, player: int) -> int:
        for n, track in enumerate(self.game.tracks):
            if name is None:
                return n
            if player == 0 and track.name == name:
                return n
            if player and name in track.name and track.owner == player:
                return n
        return -1

    def track_for_sites(self, name: str | None, player: int) -> int:
        for n, track in enumerate(self.game.tracks):
            fits = name is None or track.name == name or name in track.name
            if fits and (track.owner in (player, 0) or track.name == name):
                return n
        return -1

    def sow_track(self, name: str | None, player: int | None) -> int:
        for n, track in enumerate(self.game.tracks):
            if name is None:
                return n
            if name is not None and player is None and track.name == name:
                return n
            if player is not None and track.owner == player and (name or "") in track.name:
                return n
        return -1

    # --- dice ---

    @property
    def dice_boxes(self) -> list[list[int]]:
        """First die, first site, number of dice, faces: for each container of dice."""
        boxes, first = [], 0
        for box in self.game.containers:
            if box.dice:
                faces = {len(one.faces) for one in self.game.components if one.faces}
                boxes.append([first, box.first_site, box.sites, max(faces)])
                first += box.sites
        return boxes

    def owner(self, role: int) -> int:
        return owner_of(role, self.game.players)
