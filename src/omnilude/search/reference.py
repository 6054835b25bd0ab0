"""The search in a page of plain Python: slow, recursive, one tree. The tests' oracle for the core.

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


@dataclass(slots=True, eq=False)
class Edge:
    slot: int
    logit: Any = ZERO
    prior: Any = ZERO
    visits: int = 0
    sum: Any = ZERO


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
    ended: bool = False
    proven: bool = False

    def mean(self, player: int) -> Any:
        return self.values[player] / F(self.visits)


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
        self.shares_one = True  # rewards sum to 1 at every end that was met
        self.root = self._node(state, ply)
        self._walk(self.root)  # evaluates it
        s = self.settings
        noise = s.temperature if ply < s.temperature_moves else s.final_temperature
        self.gumbel = {
            role: [F(noise) * F(self.random.gumbel()) for _ in edges]
            if s.root == "gumbel" and noise
            else [F(0)] * len(edges)
            for role, edges in self.root.choices.items()
            if role in self.player_of
        }
        while self.root.visits <= s.simulations and not self.root.proven:
            self._walk(self.root)
        return self.root

    def values(self) -> list[Any]:
        """What the root is worth to each player: with Gumbel, moves count as the improved policy
        plays them, not as they were visited."""
        root = self.root
        values = [root.mean(player) for player in range(len(root.values))]
        if self.settings.root != "gumbel" or root.proven:
            return values
        for role, edges in root.choices.items():
            if role not in self.player_of:
                continue
            improved = self._improved_logits(root, role)
            weights = [
                np.exp(x - max(improved)) if edge.visits else F(0)
                for x, edge in zip(improved, edges, strict=True)
            ]
            for player in range(len(values)):
                if player == self.player_of[role]:
                    found = [self._q(root, role, i) if w else F(0) for i, w in enumerate(weights)]
                elif len(root.choices) == 1:
                    found = [
                        root.children[i,].mean(player) if w else F(0) for i, w in enumerate(weights)
                    ]
                else:
                    continue
                values[player] = sum(w * q for w, q in zip(weights, found, strict=True)) / sum(
                    weights
                )
        return values

    def _node(self, state: State, ply: int) -> Node:
        legal = [state.legal(role) for role in self.game.roles]
        node = Node(state, ply, {})
        node.values = np.zeros(len(self.player_of), dtype=F)
        if state.terminal or not all(legal):
            node.ended = node.proven = True
            node.visits = 1
            if state.terminal:
                node.values[:] = [state.reward[role] for role in self.player_of]
            self.shares_one &= bool(abs(node.values.sum() - 1) < 1e-5)
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
        passing = not limit and not any(role in self.player_of for role in node.choices)
        if node.ended or node.proven:
            values = np.array([node.mean(p) for p in range(len(node.values))], dtype=F)
        elif not passing and not node.evaluated:
            values = self._evaluate(node)
            node.ended = limit
        else:
            numbers = tuple(self._select(node, role) for role in node.choices)
            if numbers not in node.children:
                moves = [state_legal[0] for state_legal in map(node.state.legal, self.game.roles)]
                for (role, edges), number in zip(node.choices.items(), numbers, strict=True):
                    moves[role] = self.game.move(role, edges[number].slot)
                node.children[numbers] = self._node(node.state.play(moves), node.ply + 1)
            child = node.children[numbers]
            values = self._walk(child)
            for (role, edges), number in zip(node.choices.items(), numbers, strict=True):
                edges[number].visits += 1
                if role in self.player_of:
                    edges[number].sum += values[self.player_of[role]]
            node.visits += 1
            node.values += values
            if self.settings.solver and child.proven:
                self._prove(node)
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

    def _select(self, node: Node, role: int) -> int:
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
        weights = np.array([np.exp(x - max(improved)) for x in improved], dtype=F)
        total = F(0)
        for weight in weights:
            total += weight
        if sum(role in self.player_of for role in node.choices) > 1:
            left = F(self.random.uniform())
            for i, weight in enumerate(weights):
                left -= weight / total
                if left < 0:
                    return i
            return _best(weights)
        if node is self.root:
            considered = min(s.considered, len(edges))
            turns = considered_visits(considered, s.simulations)
            turn = turns[sum(edge.visits for edge in edges)]
            possible = [edge.visits == turn for edge in edges]
            return _best(
                improved[i] + self.gumbel[role][i] if possible[i] or not any(possible) else -np.inf
                for i in range(len(edges))
            )
        visits = F(1 + sum(edge.visits for edge in edges))
        return _best(weights[i] / total - F(e.visits) / visits for i, e in enumerate(edges))

    def _q(self, node: Node, role: int, number: int) -> Any:
        child = node.children.get((number,)) if len(node.choices) == 1 else None
        if child is not None and child.proven:
            return child.mean(self.player_of[role])
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

    def _prove(self, node: Node) -> None:
        """The values of a node are exact once those of the children that matter are."""
        if len(node.choices) > 1 or node.proven:
            return
        if not node.choices:
            children: Sequence[Node | None] = [node.children[()]]
            player = None
        else:
            ((role, edges),) = node.choices.items()
            children = [node.children.get((i,)) for i in range(len(edges))]
            player = self.player_of.get(role)
        known = [child for child in children if child is not None and child.proven]
        if player is None:
            if len(known) < len(children):
                return
            exact = [
                sum((c.mean(p) / F(len(known)) for c in known), F(0))
                for p in range(len(node.values))
            ]
        else:
            best = known[_best(child.mean(player) for child in known)]
            exact = [best.mean(p) for p in range(len(node.values))]
            shares_one = self.shares_one or len(exact) == 1
            won_alone = shares_one and exact[player] >= F(1 - 1e-6)
            if not won_alone:
                if len(known) < len(children):
                    return
                # Equally good moves must mean the same to the others too.
                tied = [c for c in known if abs(c.mean(player) - exact[player]) <= F(1e-6)]
                if any(abs(c.mean(p) - x) > F(1e-6) for c in tied for p, x in enumerate(exact)):
                    return
        node.proven = True
        node.values = np.array([value * F(node.visits) for value in exact], dtype=F)


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
