"""Permutations that might be symmetries, read off the terms of fluents and moves.

Where the graph of the rules is too large, or the rules are written in one direction only, this
proposes what boards usually have: an index read backwards, two indices exchanged, roles and
contents renamed. It only proposes: each must be tried out in play. Names are not looked at, except
that numbers and letters have an order where no successor relation in the rules gives one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product

import numpy as np

from omnilude import _core
from omnilude.games.game import Game
from omnilude.games.permutations import Permutations
from omnilude.rules.gdl import GdlProgram
from omnilude.rules.gdl.terms import Kind, Predicate, Rule, Term, Variable

_INDICES = 4  # indices that are reversed and exchanged, those of most fluents first
_CONTENTS = 3  # values that are permuted in every way where they have no order
_INNER = ("true", "next", "init", "legal", "does")

Tree = str | tuple["Tree", ...]  # a constant, or a function with its arguments
Place = tuple[str, int, int]  # function, number of arguments, which of them


@dataclass(frozen=True, slots=True)
class _Axis:
    """Places that hold the same kind of thing, and the values that fluents and moves have there."""

    places: frozenset[Place]
    values: tuple[str, ...]  # in order, if there is one
    ordered: bool


def propose_symmetries(game: Game, limit: int = 4096) -> Iterator[Permutations]:
    """Candidates, [points] each, for every way to treat the axes; at most `limit`."""
    assert isinstance(game.core, _core.CircuitGame)
    assert game.program is not None
    fluents = [_parse(text) for text in game.core.fluents]
    moves = [
        [_parse(game.core.move_name(role, slot)) for slot in range(game.slots(role))]
        for role in range(len(game.roles))
    ]
    terms = [*fluents, *(move for of_role in moves for move in of_role)]
    renamings = _renamings(_find_axes(game.program, terms), Counter(map(_function, fluents)), game)
    for places, values, roles in islice(renamings, limit):
        candidate = _apply(places, values, roles, fluents, moves)
        if candidate is not None:
            yield candidate


def _parse(text: str) -> Tree:
    stack: list[list[Tree]] = [[]]
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append([])
        elif word == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


def _function(tree: Tree) -> tuple[str, int]:
    if isinstance(tree, str):
        return tree, 0
    assert isinstance(tree[0], str)
    return tree[0], len(tree) - 1


# --- axes ---


def _find_axes(program: GdlProgram, terms: Sequence[Tree]) -> list[_Axis]:
    values: dict[Place, set[str]] = defaultdict(set)
    stack = list(terms)
    while stack:
        tree = stack.pop()
        if isinstance(tree, tuple):
            for at, argument in enumerate(tree[1:]):
                if isinstance(argument, str):
                    values[*_function(tree), at].add(argument)
                else:
                    stack.append(argument)
    groups: dict[Place, set[Place]] = defaultdict(set)
    leaders = _join_places(program)
    for place in values:
        groups[leaders.get(place, place)].add(place)
    successors = _successor_relations(program.rules)
    axes = []
    for group in groups.values():
        everything = set().union(*(values[place] for place in group))
        order = _find_order(everything, successors)
        axes.append(_Axis(frozenset(group), order or tuple(sorted(everything)), bool(order)))
    return axes


def _join_places(program: GdlProgram) -> dict[Place, Place]:
    """Places between which a rule hands a value on, with one of them as their name.

    Relations that do not change during play are left aside: they relate different things.
    """
    leader: dict[Place, Place] = {}

    def find(place: Place) -> Place:
        while (above := leader.setdefault(place, place)) != place:
            leader[place] = leader[above]
            place = above
        return place

    changing = _changing_relations(program.rules)
    for rule in program.rules:
        held: dict[str, Place] = {}
        atoms = [rule.head, *(item.atom for item in rule.body if item.kind is not Kind.DISTINCT)]
        for atom in atoms:
            if atom.name == "init" or atom.predicate in changing:
                for place, name in _variable_places(atom, inner=atom.name in _INNER):
                    leader[find(place)] = find(held.setdefault(name, place))
    return {place: find(place) for place in list(leader)}


def _changing_relations(rules: Sequence[Rule]) -> set[Predicate]:
    """Relations that rest on the position or on moves, or do so by their meaning."""
    changing: set[Predicate] = {("true", 1), ("does", 2), ("next", 1), ("legal", 2), ("goal", 2)}
    size = 0
    while size < len(changing):
        size = len(changing)
        changing.update(
            rule.head.predicate
            for rule in rules
            if any(literal.atom.predicate in changing for literal in rule.body)
        )
    return changing


def _variable_places(atom: Term, inner: bool) -> Iterator[tuple[Place, str]]:
    """Where variables stand below an atom; the words of the language themselves hold nothing."""
    stack: list[tuple[Term, bool]] = [(atom, not inner)]
    while stack:
        term, counts = stack.pop()
        if isinstance(term, Variable):
            continue
        for at, argument in enumerate(term.arguments):
            if isinstance(argument, Variable):
                if counts:
                    yield (*term.predicate, at), argument.name
            else:
                stack.append((argument, True))


def _successor_relations(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """Relations given by facts in which nothing has two successors."""
    facts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for rule in rules:
        if not rule.body and len(rule.head.arguments) == 2:
            facts[rule.head.name].append((str(rule.head.arguments[0]), str(rule.head.arguments[1])))
    return [dict(pairs) for pairs in facts.values() if len(dict(pairs)) == len(pairs)]


def _find_order(values: set[str], successors: Sequence[dict[str, str]]) -> tuple[str, ...] | None:
    """Values along a chain of successors, or as numbers or letters; None without an order."""
    if len(values) < 2:
        return None
    for after in successors:
        starts = values - {after[value] for value in values if value in after}
        chain = [next(iter(starts))] if len(starts) == 1 else []
        while chain and len(chain) < len(values) and after.get(chain[-1]) in values:
            chain.append(after[chain[-1]])
        if len(chain) == len(values):
            return tuple(chain)
    if all(value.isdecimal() for value in values):
        return tuple(sorted(values, key=int))
    if len(values) > 2 and all(len(value) == 1 and value.isalpha() for value in values):
        return tuple(sorted(values))
    return None


# --- what may be done with them ---

Values = dict[_Axis, dict[str, str]]


def _renamings(
    axes: Sequence[_Axis], weight: Counter[tuple[str, int]], game: Game
) -> Iterator[tuple[dict[_Axis, _Axis], Values, tuple[int, ...]]]:
    """Every combination: which axis goes where, how its values change, and which role is which."""

    def fluents(axis: _Axis) -> int:
        return sum(weight[name, arity] for name, arity, _ in axis.places)

    roles = set(game.roles)
    indices = [axis for axis in axes if axis.ordered and not roles & set(axis.values)]
    indices = sorted(indices, key=fluents, reverse=True)[:_INDICES]
    others = [axis for axis in axes if axis not in indices]
    players = [number for number, chance in enumerate(game.chance) if not chance]
    for turned in product((False, True), repeat=len(indices)):
        for target in permutations(indices):
            if not all(_alike(a, b) for a, b in zip(indices, target, strict=True)):
                continue
            moved = dict(zip(indices, target, strict=True))
            straight: Values = {
                axis: dict(zip(axis.values, to.values[::-1] if back else to.values, strict=True))
                for (axis, to), back in zip(moved.items(), turned, strict=True)
            }
            for exchange in islice(permutations(players), 24):
                role_map = list(range(len(game.roles)))
                for player, to_player in zip(players, exchange, strict=True):
                    role_map[player] = to_player
                names = {game.roles[r]: game.roles[to] for r, to in enumerate(role_map)}
                choices = [_contents(axis, names) for axis in others]
                for chosen in product(*choices):
                    values = straight | dict(zip(others, chosen, strict=True))
                    yield moved, values, tuple(role_map)


def _alike(a: _Axis, b: _Axis) -> bool:
    """Whether two axes may be exchanged: as long, and as often in the same functions."""
    functions = [Counter((name, arity) for name, arity, _ in axis.places) for axis in (a, b)]
    return len(a.values) == len(b.values) and functions[0] == functions[1]


def _contents(axis: _Axis, roles: dict[str, str]) -> list[dict[str, str]]:
    """Values of an axis renamed: roles as the roles are, a few others in every way."""
    fixed = {value: roles[value] for value in axis.values if value in roles}
    free = [value for value in axis.values if value not in roles]
    if axis.ordered or not 2 <= len(free) <= _CONTENTS:
        return [fixed | {value: value for value in free}]
    return [fixed | dict(zip(free, order, strict=True)) for order in permutations(free)]


def _apply(
    moved: dict[_Axis, _Axis],
    values: Values,
    roles: tuple[int, ...],
    fluents: Sequence[Tree],
    moves: Sequence[Sequence[Tree]],
) -> Permutations | None:
    """The permutation of roles, slots and fluents; None where something has no image."""
    targets: dict[Place, tuple[int, dict[str, str]]] = {}
    for axis, renamed in values.items():
        to = sorted(moved.get(axis, axis).places)
        for place, image in zip(sorted(axis.places), to, strict=True):
            targets[place] = image[2], renamed

    def change(tree: Tree) -> Tree:
        if isinstance(tree, str):
            return tree
        out = list(tree)
        for at, argument in enumerate(tree[1:]):
            to, renamed = targets.get((*_function(tree), at), (at, {}))
            inner = change(argument)
            out[to + 1] = renamed.get(inner, inner) if isinstance(inner, str) else inner
        return tuple(out)

    images = list(roles)
    first = [len(roles)]
    for of_role in moves:
        first.append(first[-1] + len(of_role))
    for role, of_role in enumerate(moves):
        slots = {move: first[roles[role]] + slot for slot, move in enumerate(moves[roles[role]])}
        images += [slots.get(change(move), -1) for move in of_role]
        if len(of_role) != len(slots) or images[-1] < 0:
            return None
    numbers = {fluent: first[-1] + number for number, fluent in enumerate(fluents)}
    images += [numbers.get(change(fluent), -1) for fluent in fluents]
    if min(images) < 0 or len(set(images)) < len(images):
        return None
    return np.array(images, dtype=np.int32)
