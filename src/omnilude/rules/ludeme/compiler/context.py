"""What is known of a game while its rules are compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from omnilude.rules.ludeme.boards.measures import Measures
from omnilude.rules.ludeme.boards.topology import Topology
from omnilude.rules.ludeme.compiler.code import Code
from omnilude.rules.ludeme.tree import Node

KIND_NUMBERS = {"Vertex": 0, "Edge": 1, "Cell": 2}


@dataclass(slots=True)
class Container:
    name: str
    first_site: int
    sites: int
    owner: int
    hand: bool = False
    dice: bool = False


@dataclass(slots=True)
class Component:
    name: str  # with the number of its owner
    plain: str  # without
    owner: int
    moves: Node | None = None
    facing: int = -1
    flips: tuple[int, int] = (-1, -1)
    faces: tuple[int, ...] = ()


@dataclass(slots=True)
class Track:
    name: str
    owner: int
    looped: bool
    elements: list[tuple[int, int, int, int, int, int]]
    """Site, next site, its index, previous site, its index, bump."""


@dataclass(slots=True)
class NamedRegion:
    name: str
    owner: int
    regions: list[Code]


@dataclass(slots=True)
class Wants:
    """What a state must have room for."""

    kinds: set[str] = field(default_factory=set)
    count: bool = False
    state: bool = False
    rotation: bool = False
    value: bool = False
    stacking: bool = False
    scores: bool = False
    teams: bool = False
    visited: bool = False
    to_clear: bool = False
    amounts: bool = False
    hidden: bool = False
    laps: bool = False
    promotes: bool = False
    stored_state: bool = False
    pending: bool = False
    history: bool = False
    turn_history: bool = False
    cycle: bool = False


@dataclass(slots=True)
class GameContext:
    """Everything that clauses refer to by name."""

    players: int
    kind: str
    topology: Topology
    measures: dict[str, Measures]
    containers: list[Container] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    regions: list[NamedRegion] = field(default_factory=list)
    maps: list[tuple[str, list[tuple[Code, Code]]]] = field(default_factory=list)
    container_of: list[int] = field(default_factory=list)
    facings: dict[int, int] = field(default_factory=dict)
    wants: Wants = field(default_factory=Wants)
    variables: list[str] = field(default_factory=list)
    remembered: list[str] = field(default_factory=list)
    votes: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    boardless: bool = False
    stochastic: bool = False
    all_pass_ends: bool = True
    distance_relations: set[str] = field(default_factory=set)
    own_moves: list[Code | None] = field(default_factory=list)

    @property
    def distance_relation(self) -> str | None:
        """Steps of which distances are counted: of all relations that rules name, one."""
        order = ("Adjacent", "All", "OffDiagonal", "Diagonal", "Orthogonal")
        return next((name for name in order if name in self.distance_relations), None)

    def count_sites(self, kind: str) -> int:
        return len(self.topology.graph.elements(kind))

    def kind_number(self, kind: str | None) -> int:
        kind = kind or self.kind
        self.wants.kinds.add(kind)
        return KIND_NUMBERS[kind]

    def variable(self, name: str) -> int:
        if name not in self.variables:
            self.variables.append(name)
        return self.variables.index(name)

    def remembered_list(self, name: str) -> int:
        if name not in self.remembered:
            self.remembered.append(name)
        return self.remembered.index(name)

    def vote(self, name: str) -> int:
        if name not in self.votes:
            self.votes.append(name)
        return self.votes.index(name)

    def find_label(self, label: str, kind: str | None = None) -> int:
        """The site with a label, or -1."""
        labels = self.measures[kind or self.kind].labels
        return labels.index(label) if label in labels else -1
