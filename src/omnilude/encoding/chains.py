"""Orders among the symbols of a rulesheet, found without reading their names.

P3 takes numbers as indices of a board. Rulesheets also name columns a to h, and a server may
scramble every word, numbers among them. What stays is the shape of the static facts: a relation
whose facts join symbols into simple paths, such as (up 1 2) (up 2 3) or (file a b) (file b c), says
which comes after which. Relations that agree are put together: in connect four, rows 1 to 6 are
ordered by one relation and column 7 is reached only by another.

Where there is no such relation, as in tic-tac-toe, a list of facts (index 1) (index 2) (index 3) is
at least an order in which somebody wrote the symbols down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from omnilude.rules.gdl.terms import Compound, Rule

MIN_LENGTH = 3
"""Two symbols are ordered by any fact about both: that says nothing."""
MAX_ARITY = 8
_LANGUAGE = frozenset(
    ("role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees", "base", "input")
)

Edge = tuple[str, str]


@dataclass(frozen=True)
class Chain:
    """Symbols in their order."""

    symbols: tuple[str, ...]
    listed: bool = False
    """Only the order of a list, not of a relation."""

    @cached_property
    def places(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.symbols)}

    @cached_property
    def edges(self) -> frozenset[frozenset[str]]:
        return frozenset(map(frozenset, pairwise(self.symbols)))


def find_chains(rules: Sequence[Rule], roles: Iterable[str] = ()) -> tuple[Chain, ...]:
    """The chains that the static facts form, longest first, and then the lists, shortest first.

    Nothing depends on names, only on the order of the facts. An order of roles is an order of
    turns, not of places: chains with a role among their symbols are left out.
    """
    unwanted = frozenset(roles)
    found: dict[tuple[str, ...], None] = {}
    for edges in _relations(rules):
        for symbols in _paths(edges):
            if len(symbols) >= MIN_LENGTH and unwanted.isdisjoint(symbols):
                found.setdefault(symbols)
    chains = sorted((Chain(symbols) for symbols in found), key=lambda c: -len(c.symbols))
    lists = [
        Chain(symbols, listed=True)
        for symbols in _lists(rules)
        if len(symbols) >= MIN_LENGTH and unwanted.isdisjoint(symbols)
    ]
    return (
        *sorted(_merge(chains), key=lambda chain: -len(chain.symbols)),
        *sorted(lists, key=lambda chain: len(chain.symbols)),
    )


def _lists(rules: Iterable[Rule]) -> Iterator[tuple[str, ...]]:
    """The symbols of each relation with one argument, in the order of its facts."""
    found: dict[str, dict[str, None]] = {}
    for rule in rules:
        head = rule.head
        if rule.body or head.name in _LANGUAGE or len(head.arguments) != 1:
            continue
        symbol = head.arguments[0]
        if isinstance(symbol, Compound) and not symbol.arguments:
            found.setdefault(head.name, {}).setdefault(symbol.name)
    return map(tuple, found.values())


def _relations(rules: Iterable[Rule]) -> Iterator[list[Edge]]:
    """Every way of seeing the static facts as pairs of symbols.

    Of facts with more than two arguments any two may be the pair, or any two that stand side by
    side, as in (line 1 2 3); of three arguments the third may also name a relation of its own, as
    in (step north 3 4).
    """
    pairs: dict[tuple[object, ...], dict[Edge, None]] = {}
    for rule in rules:
        head = rule.head
        if rule.body or head.name in _LANGUAGE or not 2 <= len(head.arguments) <= MAX_ARITY:
            continue
        symbols: list[str | None] = [
            a.name if isinstance(a, Compound) and not a.arguments else None for a in head.arguments
        ]
        for i, j in combinations(range(len(symbols)), 2):
            a, b = symbols[i], symbols[j]
            if a is None or b is None:
                continue
            pairs.setdefault((head.predicate, i, j), {}).setdefault((a, b))
            if j == i + 1 and len(symbols) > 2:
                pairs.setdefault((head.predicate, "side by side"), {}).setdefault((a, b))
            if len(symbols) == 3:
                other = str(head.arguments[3 - i - j])
                pairs.setdefault((head.predicate, i, j, other), {}).setdefault((a, b))
    for edges in pairs.values():
        yield list(edges)


def _paths(edges: Sequence[Edge]) -> list[tuple[str, ...]]:
    """The simple paths that a relation consists of; none if it is anything but simple paths.

    (24 24) at the end of a track is no step, and is left out. Each path must go one way
    throughout, or both ways throughout (neighbours): then the first fact says which is forward.
    Besides, a relation that orders all its symbols (less than) is the path that it implies.
    """
    steps = dict.fromkeys((a, b) for a, b in edges if a != b)
    neighbours: dict[str, dict[str, None]] = {}
    for a, b in steps:
        neighbours.setdefault(a, {}).setdefault(b)
        neighbours.setdefault(b, {}).setdefault(a)
    if any(len(around) > 2 for around in neighbours.values()):
        return _total_order(list(steps), list(neighbours))
    paths: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for start, around in neighbours.items():
        if start in seen or len(around) == 2:
            continue
        path = [start]
        while len(path) == 1 or len(neighbours[path[-1]]) == 2:
            before = path[-2] if len(path) > 1 else None
            path.append(next(n for n in neighbours[path[-1]] if n != before))
        seen.update(path)
        forward = [step in steps for step in pairwise(path)]
        backward = [step in steps for step in pairwise(path[::-1])]
        if all(forward) and all(backward):
            first = next(step for step in steps if step[0] in set(path))
            paths.append(tuple(path if path.index(first[0]) < path.index(first[1]) else path[::-1]))
        elif all(forward) and not any(backward):
            paths.append(tuple(path))
        elif all(backward) and not any(forward):
            paths.append(tuple(path[::-1]))
        else:
            return []
    # Symbols that no path has reached stand on circles.
    return paths if len(seen) == len(neighbours) else []


def _total_order(steps: Sequence[Edge], symbols: Sequence[str]) -> list[tuple[str, ...]]:
    count = len(symbols)
    if len(steps) != count * (count - 1) // 2:
        return []
    after = dict.fromkeys(symbols, 0)
    for a, _ in steps:
        after[a] += 1
    order = sorted(symbols, key=lambda symbol: -after[symbol])
    # With count (count - 1) / 2 steps, these numbers of followers leave only the total order.
    return [tuple(order)] if [after[s] for s in order] == list(range(count))[::-1] else []


def _merge(chains: Sequence[Chain]) -> list[Chain]:
    """Puts chains together that share a step, wherever the result is a chain again."""
    left, changed = list(chains), True
    while changed:
        changed = False
        merged: dict[int, Chain] = {}
        by_step: dict[frozenset[str], dict[int, None]] = {}
        for number, chain in enumerate(left):
            for other in sorted({n for step in chain.edges for n in by_step.get(step, ())}):
                union = _union(merged[other], chain)
                if union is not None:
                    number, chain, changed = other, union, True
                    break
            merged[number] = chain
            for step in chain.edges:
                by_step.setdefault(step, {}).setdefault(number)
        left = list(merged.values())
    return left


def _union(one: Chain, other: Chain) -> Chain | None:
    if other.edges <= one.edges:
        return one
    if len(other.symbols) > len(one.symbols):
        one, other = other, one
    ordered = list(pairwise(one.symbols))
    # The longer one says which way is forward.
    here = [place for place in map(one.places.get, other.symbols) if place is not None]
    symbols = other.symbols if here == sorted(here) else other.symbols[::-1]
    paths = _paths([*ordered, *pairwise(symbols)])
    return Chain(paths[0]) if len(paths) == 1 else None
