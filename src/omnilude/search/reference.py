"""The search in plain Python: slow, recursive, one tree. The tests' oracle for the core.

It follows the same rules in the same order with the same random numbers, so visits must be equal,
not just alike. Read this first to understand `core/search`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnilude.games import Game, State
from omnilude.search.settings import SearchSettings

Evaluate = Callable[[State], tuple[NDArray[np.float32], NDArray[np.float32]]]
F = np.float32
ZERO = F(0)
WORD = (1 << 64) - 1


class RandomStream:
    """core/base/random.h, in Python."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = seed & WORD
        first = self._next()
        self.state = first ^ (stream * 0xD1342543DE82EF95 & WORD)
        self._next()

    def _next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        while True:
            product = self._next() * bound
            if product & WORD >= (1 << 64) % bound:
                return product >> 64

    def uniform(self) -> float:
        return (self._next() >> 11) * 2.0**-53

    def gumbel(self) -> float:
        return -math.log(-math.log(self.uniform() + 2.0**-54))

    def normal(self) -> float:
        radius = math.sqrt(-2 * math.log(self.uniform() + 2.0**-54))
        return radius * math.cos(6.283185307179586 * self.uniform())

    def gamma(self, shape: float) -> float:
        if shape < 1:
            larger = self.gamma(shape + 1)
            return float(larger * (self.uniform() + 2.0**-54) ** (1 / shape))
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            v = (1 + c * x) ** 3
            if v > 0:
                bound = 0.5 * x * x + d - d * v + d * math.log(v)
                if math.log(self.uniform() + 2.0**-54) < bound:
                    return d * v


@dataclass(slots=True, eq=False)
class Edge:
    slot: int
    logit: Any = ZERO
    prior: Any = ZERO
    visits: int = 0
    sum: Any = ZERO
    sums: Any = ZERO  # for all players


@dataclass(slots=True, eq=False)
class Node:
    state: State
    ply: int
    choices: dict[int, list[Edge]]  # by role, chance included
    children: dict[tuple[int, ...], Node] = field(default_factory=dict)  # by edge numbers
    visits: int = 0
    values: Any = None  # sums, by player
    raw: Any = None
    evaluated: bool = False
    ended: bool = False  # terminal, or somebody has no move
    solved: bool = False  # its values are those of best play
    proven: frozenset[int] = frozenset()  # players whose value is exact, by any best play

    def mean(self, player: int) -> Any:
        return self.values[player] / F(self.visits)


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a game of self-play, as it is recorded."""

    state: State
    policies: dict[int, list[Any]]  # by role
    values: list[Any]
    moves: list[int]
    full: bool
    solved: bool


class ReferenceSearch:
    """Searches one position; `evaluate` gives a policy vector of logits and the players' values."""

    def __init__(
        self, game: Game, evaluate: Evaluate, settings: SearchSettings, seed: int = 0
    ) -> None:
        self.game, self.evaluate, self.settings, self.seed = game, evaluate, settings, seed
        self.player_of = {role: player for player, role in enumerate(game.players)}
        slots = [game.slots(role) for role in game.players]
        self.offsets = [sum(slots[:player]) for player in range(len(slots))]

    def search(self, state: State, stream: int = 0, ply: int = 0) -> Node:
        """The root of the finished tree."""
        self.random = RandomStream(self.seed, stream)
        self.root = self._node(state, ply)
        self._search(full_fraction=1)
        return self.root

    def play(self, stream: int = 0) -> tuple[list[Position], list[Any]]:
        """A game of self-play: the positions that were searched, and what the players got."""
        self.random = RandomStream(self.seed, stream)
        positions: list[Position] = []
        values = [F(0.5) for _ in self.player_of]
        state, ply = self.game.initial(), 0
        self.root = self._node(state, ply)
        while not self.root.ended and ply < self.settings.max_length:
            if self._choosing(self.root):
                full = self._search(self.settings.full_fraction)
                policies = {role: self.policy(role) for role in self._choosing(self.root)}
                values, moves = self.values(), self.choose()
                position = Position(state, policies, values, moves, full, self.root.solved)
                positions.append(position)
            else:
                moves = self.choose()
            state = state.play([self.game.move(role, slot) for role, slot in enumerate(moves)])
            ply += 1
            self.root = self._keep(state, ply) or self._node(state, ply)
        if self.root.ended:
            values = [self.root.mean(player) for player in range(len(values))]
        return positions, values

    def values(self) -> list[Any]:
        """What the root is worth to each player: with Gumbel, moves count as the improved policy
        plays them, not as they were visited."""
        root = self.root
        values = [root.mean(player) for player in range(len(root.values))]
        if self.settings.root != "gumbel" or root.solved:
            return values
        choosing = self._choosing(root)
        told = 0
        for role in choosing:
            edges = root.choices[role]
            weights = [
                weight if edge.visits else F(0)
                for weight, edge in zip(self.policy(role), edges, strict=True)
            ]
            seen = sum(weights)
            if seen < 1e-6:
                continue
            told += 1
            for player in range(len(values)):
                if player == self.player_of[role]:
                    found = [self._q(root, role, i) if w else F(0) for i, w in enumerate(weights)]
                elif self.game.players[player] in choosing:
                    continue
                elif len(root.choices) == 1:
                    found = [
                        root.children[i,].mean(player) if w else F(0) for i, w in enumerate(weights)
                    ]
                else:
                    found = [
                        edges[i].sums[player] / F(edges[i].visits) if w else F(0)
                        for i, w in enumerate(weights)
                    ]
                value = sum(w * q for w, q in zip(weights, found, strict=True)) / seen
                if player != self.player_of[role]:  # the mean over those who choose
                    value = values[player] + (value - values[player]) / F(told)
                values[player] = value
        return values

    def policy(self, role: int) -> list[Any]:
        """What the policy is to learn of the root, by edge: completed Q values or visits, and of a
        solved position only the moves that reach the result."""
        edges = self.root.choices[role]
        possible = [True] * len(edges)
        if self.root.solved and len(self.root.choices) == 1:
            possible = self._reach_the_result(role)
        if self.settings.root == "gumbel":
            improved = self._improved_logits(self.root, role)
            return _softmax(
                [v if p else -math.inf for v, p in zip(improved, possible, strict=True)]
            )
        visits = [F(edge.visits) if p else F(0) for edge, p in zip(edges, possible, strict=True)]
        total = sum(visits)
        return [n / total for n in visits] if total > 0 else [edge.prior for edge in edges]

    def choose(self) -> list[int]:
        """The slots that are played in the end, by role."""
        slots = [self.root.state.legal(role)[0].slot for role in self.game.roles]
        for role, edges in self.root.choices.items():
            slots[role] = edges[self._choose(role)].slot
        return slots

    def _choose(self, role: int) -> int:
        root, edges, s = self.root, self.root.choices[role], self.settings
        if role not in self.player_of:
            return self.random.below(len(edges))
        alone = len(root.choices) == 1
        if alone and root.solved:
            reached = self._reach_the_result(role)
            return _best(1 + e.visits if reached[i] else -1 for i, e in enumerate(edges))
        lost = [
            alone and self._is_solved(root, i) and self._q(root, role, i) <= F(1e-6)
            for i in range(len(edges))
        ]
        if s.root == "gumbel":
            most = max((e.visits for i, e in enumerate(edges) if not lost[i]), default=0)
            improved = self._improved_logits(root, role)
            left = [not lost[i] and e.visits == most for i, e in enumerate(edges)]
            scores = [
                improved[i] + self.gumbel[role][i] if left[i] else -1e30 if lost[i] else -1e20
                for i in range(len(edges))
            ]
            return _best(scores)
        temperature = self._temperature()
        if temperature < 1e-3 or not self.full:
            q = [self._q(root, role, i) if e.visits else F(0) for i, e in enumerate(edges)]
            return _best(
                F(-1) if lost[i] else F(e.visits) + F(0.5) * q[i] + F(1e-3) * e.prior
                for i, e in enumerate(edges)
            )
        most = max(1, *(edge.visits for edge in edges))
        weights = [
            F(0) if lost[i] else (F(e.visits) / F(most)) ** (F(1) / F(temperature))
            for i, e in enumerate(edges)
        ]
        total = sum(weights, F(0))
        return self._draw(weights, total) if total > 0 else _best(e.prior for e in edges)

    def _reach_the_result(self, role: int) -> list[bool]:
        """The edges of a solved root that are worth what it is."""
        best = self.root.mean(self.player_of[role]) - F(1e-6)
        return [
            self._is_solved(self.root, i) and self._q(self.root, role, i) >= best
            for i in range(len(self.root.choices[role]))
        ]

    def _temperature(self) -> float:
        s = self.settings
        return s.temperature if self.root.ply < s.temperature_moves else s.final_temperature

    def _search(self, full_fraction: float) -> bool:
        """Searches the root; returns whether in full."""
        s, root = self.settings, self.root
        if not root.evaluated:
            self._walk(root)
        self.full = full_fraction >= 1 or self.random.uniform() < float(F(full_fraction))
        self.simulations = s.simulations if self.full else s.fast_simulations
        self.gumbel: dict[int, list[Any]] = {}
        for role, edges in root.choices.items():
            if role not in self.player_of:
                continue
            if s.root == "gumbel":
                scale = F(self._temperature() if self.full else 0)
                self.gumbel[role] = [
                    scale * F(self.random.gumbel()) if scale > 0 else F(0) for _ in edges
                ]
            elif self.full and s.noise_fraction > 0:
                noise = [F(self.random.gamma(s.noise_total / len(edges))) for _ in edges]
                total, share = F(sum(map(float, noise))), F(s.noise_fraction)
                for edge, extra in zip(edges, noise, strict=True):
                    edge.prior = (F(1) - share) * np.exp(edge.logit) + share * extra / total
        while root.visits <= self.simulations and not root.solved:
            self._walk(root)
        return self.full

    def _explorer(self) -> int | None:
        """Whose moves at the root a walk explores, and counts for, where several choose at once."""
        choosing = self._choosing(self.root)
        if self.settings.root != "gumbel" or len(choosing) < 2:
            return None
        return choosing[(self.root.visits - 1) % len(choosing)]

    def _choosing(self, node: Node) -> list[int]:
        return [role for role in node.choices if role in self.player_of]

    def _keep(self, state: State, ply: int) -> Node | None:
        """A node of the tree that holds this state, made a root: at this ply, or nearest to it."""
        if not self.settings.reuse or self.settings.root == "gumbel":
            return None
        found = [node for node in _all_below(self.root) if node.state == state]
        if not found:
            return None
        root = min(found, key=lambda node: abs(node.ply - ply))
        later = ply - root.ply
        for node in _all_below(root):
            node.ply += later
        return root

    def _node(self, state: State, ply: int) -> Node:
        legal = [state.legal(role) for role in self.game.roles]
        node = Node(state, ply, {})
        node.values = np.zeros(len(self.player_of), dtype=F)
        if state.terminal or not all(legal):
            node.ended = node.solved = True
            node.proven = frozenset(self.player_of.values())
            node.visits = 1
            if state.terminal:
                node.values[:] = [state.reward[role] for role in self.player_of]
        else:
            node.choices = {
                role: [Edge(move.slot) for move in moves]
                for role, moves in enumerate(legal)
                if len(moves) > 1
            }
        return node

    def _walk(self, node: Node) -> Any:
        """One simulation from here; returns the values that it found."""
        limit = node.ply >= self.settings.max_length and node is not self.root
        passing = not limit and not self._choosing(node)
        if node.solved or (limit and node.evaluated):
            values = np.array([node.mean(p) for p in range(len(node.values))], dtype=F)
        elif not passing and not node.evaluated:
            values = self._evaluate(node)
        else:
            explorer = self._explorer() if node is self.root else None
            numbers = tuple(self._select(node, role, explorer) for role in node.choices)
            if numbers not in node.children:
                moves = [state_legal[0] for state_legal in map(node.state.legal, self.game.roles)]
                for (role, edges), number in zip(node.choices.items(), numbers, strict=True):
                    moves[role] = self.game.move(role, edges[number].slot)
                node.children[numbers] = self._node(node.state.play(moves), node.ply + 1)
            child = node.children[numbers]
            values = self._walk(child)
            for (role, edges), number in zip(node.choices.items(), numbers, strict=True):
                if explorer is not None and role != explorer and role in self.player_of:
                    continue
                edges[number].visits += 1
                edges[number].sums = edges[number].sums + values
                if role in self.player_of:
                    edges[number].sum += values[self.player_of[role]]
            node.visits += 1
            node.values += values
            if self.settings.solver and child.solved:
                self._solve(node)
            return values
        node.visits += 1
        node.values += values
        return values

    def _evaluate(self, node: Node) -> Any:
        logits, values = self.evaluate(node.state)
        for role, edges in node.choices.items():
            if role not in self.player_of:
                continue
            row = logits[self.offsets[self.player_of[role]] :]
            sharpness = F(1) / F(self.settings.policy_temperature)
            top = max(row[edge.slot] for edge in edges)
            total = F(0)
            for edge in edges:
                edge.logit = (row[edge.slot] - top) * sharpness
                edge.prior = np.exp(edge.logit)
                total += edge.prior
            for edge in edges:
                edge.logit -= np.log(total)
                edge.prior *= F(1) / total
        node.evaluated, node.raw = True, values
        return values

    def _select(self, node: Node, role: int, explorer: int | None) -> int:
        edges, s = node.choices[role], self.settings
        if role not in self.player_of:
            return self.random.below(len(edges))
        if s.root == "puct":
            player = self.player_of[role]
            tried = F(0)
            for edge in edges:
                tried += edge.prior if edge.visits else F(0)
            first = F(0)
            if s.first_play == "parent":
                first = node.mean(player) - F(s.first_play_reduction) * np.sqrt(tried)
            root = np.sqrt(F(node.visits))
            return _best(
                (self._q(node, role, i) if edge.visits else first)
                + F(s.c_puct) * edge.prior * root / F(1 + edge.visits)
                for i, edge in enumerate(edges)
            )
        improved = self._improved_logits(node, role)
        policy = _softmax(improved)
        choosing = self._choosing(node)
        if len(choosing) > 1 and role != explorer:
            return self._draw(policy, F(1))
        if node is self.root:
            considered, place = min(s.considered, len(edges)), choosing.index(role)
            share = (self.simulations + len(choosing) - 1 - place) // len(choosing)
            if len(choosing) > 1:
                considered = min(considered, max(2, share // 2))
            turns = considered_visits(considered, share)
            turn = turns[sum(edge.visits for edge in edges)]
            possible = [edge.visits == turn for edge in edges]
            return _best(
                improved[i] + self.gumbel[role][i] if possible[i] or not any(possible) else -np.inf
                for i in range(len(edges))
            )
        visits = F(1 + sum(edge.visits for edge in edges))
        return _best(policy[i] - F(e.visits) / visits for i, e in enumerate(edges))

    def _draw(self, weights: list[Any], total: Any) -> int:
        left = F(self.random.uniform()) * total
        for i, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return i
        return _best(weights)

    def _is_solved(self, node: Node, number: int) -> bool:
        child = node.children.get((number,)) if len(node.choices) == 1 else None
        return child is not None and child.solved

    def _q(self, node: Node, role: int, number: int) -> Any:
        if self._is_solved(node, number):
            return node.children[number,].mean(self.player_of[role])
        return node.choices[role][number].sum / F(node.choices[role][number].visits)

    def _improved_logits(self, node: Node, role: int) -> list[Any]:
        edges, s = node.choices[role], self.settings
        prior = mean = visits = F(0)
        for i, edge in enumerate(edges):
            if edge.visits:
                visits += F(edge.visits)
                prior += edge.prior
                mean += edge.prior * self._q(node, role, i)
        raw = node.raw[self.player_of[role]]
        mixed = (raw + visits * mean / prior) / (F(1) + visits) if prior > 0 else raw
        weight = (F(s.c_visit) + F(max(edge.visits for edge in edges))) * F(s.c_scale)
        return [
            edge.logit + weight * (self._q(node, role, i) if edge.visits else mixed)
            for i, edge in enumerate(edges)
        ]

    def _solve(self, node: Node) -> None:
        """Best play from a node is known once that of the children that matter is."""
        if len(node.choices) > 1 or node.solved:
            return
        if not node.choices:
            children: Sequence[Node | None] = [node.children[()]]
            player = None
        else:
            ((role, edges),) = node.choices.items()
            children = [node.children.get((i,)) for i in range(len(edges))]
            player = self.player_of.get(role)
        known = [child for child in children if child is not None and child.solved]
        if player is None:
            if len(known) < len(children):
                return
            exact = [
                sum((c.mean(p) / F(len(known)) for c in known), F(0))
                for p in range(len(node.values))
            ]
            proven = frozenset.intersection(*(child.proven for child in known))
        else:
            best = known[_best(child.mean(player) for child in known)]
            exact = [best.mean(p) for p in range(len(node.values))]
            if exact[player] < F(1 - 1e-6):
                if len(known) < len(children):
                    return
                # Equally good moves must mean the same to the others too.
                tied = [c for c in known if abs(c.mean(player) - exact[player]) <= F(1e-6)]
                if any(abs(c.mean(p) - x) > F(1e-6) for c in tied for p, x in enumerate(exact)):
                    return
            proven = _proven_players(player, children, exact)
        node.solved, node.proven = True, proven
        node.values = np.array([value * F(node.visits) for value in exact], dtype=F)


def _proven_players(
    player: int, children: Sequence[Node | None], exact: list[Any]
) -> frozenset[int]:
    """To whom a node in which `player` chooses is worth exactly this, by any best play at all."""
    certain = [c for c in children if c is not None and player in c.proven]
    sure = max((c.mean(player) for c in certain), default=F(-1))
    worse = [c for c in certain if c.mean(player) < sure - F(1e-6)]  # never chosen
    possible = [c for c in children if c is None or c not in worse]
    proven = frozenset(
        p
        for p, value in enumerate(exact)
        if all(
            c is not None and p in c.proven and abs(c.mean(p) - value) <= F(1e-6) for c in possible
        )
    )
    return proven | {player} if sure >= F(1 - 1e-6) else proven


def _all_below(root: Node) -> list[Node]:
    """The node and all below it, breadth first."""
    nodes = [root]
    for node in nodes:
        nodes += node.children.values()
    return nodes


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Sequential halving: how often an edge must have been visited to be in question."""
    if considered <= 1:
        return list(range(simulations))
    halvings = math.ceil(math.log2(considered))
    turns: list[int] = []
    visits, left = [0] * considered, considered
    while len(turns) < simulations:
        for _ in range(max(1, simulations // (halvings * left))):
            turns += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return turns[:simulations]


def _best(scores: Any) -> int:
    best, best_score = 0, -math.inf
    for number, score in enumerate(scores):
        if score > best_score:
            best, best_score = number, score
    return best


def _softmax(values: list[Any]) -> list[Any]:
    weights = [np.exp(x - max(values)) for x in values]
    total = sum(weights, F(0))
    return [weight / total for weight in weights]
