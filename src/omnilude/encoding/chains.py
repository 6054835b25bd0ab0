"""Orders among the symbols of a rulesheet, found without reading their names.

P3 takes numbers as indices of a board. Rulesheets also name columns a to h, and a server may
scramble every word, numbers among them. What stays is the shape of the static facts: a relation
whose facts join symbols into simple paths, such as (up 1 2) (up 2 3) or (file a b) (file b c), says
which comes after which. Relations that agree are put together: in connect four, rows 1 to 6 are
ordered by one relation and column 7 is reached only by another.

Where there is no such relation there may be an order in which somebody wrote the symbols down: a
list of facts (index 1) (index 2) (index 3), or, as in tic-tac-toe, the cells of the initial
position. It says less, and so does a circle, which does not tell where to begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from omnilude.encoding.paths import MIN_LENGTH, Edge, find_long_paths, find_paths
from omnilude.rules.gdl.terms import Compound, Rule, Term

MAX_ARITY = 8
_LANGUAGE = frozenset(
    ("role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees", "base", "input")
)


@dataclass(frozen=True)
class Chain:
    """Symbols in their order."""

    symbols: tuple[str, ...]
    listed: bool = False
    """Only the order in which symbols were written down, not that of a relation."""
    circle: bool = False
    """Comes back to its first symbol, which is only the one that was written first."""

    @cached_property
    def places(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.symbols)}

    @cached_property
    def edges(self) -> frozenset[frozenset[str]]:
        around = self.symbols[:1] if self.circle else ()
        return frozenset(map(frozenset, pairwise(self.symbols + around)))

    def lies_within(self, other: Chain) -> bool:
        """Whether all its symbols stand in another, in whatever order. A path along a circle does
        not lie within it: it says where to begin."""
        if other.circle and not self.circle and self.edges <= other.edges:
            return False
        return self.places.keys() <= other.places.keys()

    def passes_through(self, other: Chain) -> bool:
        """Whether all symbols of another stand here too, in the same order or backwards."""
        if not other.places.keys() <= self.places.keys():
            return False
        at = [self.places[symbol] for symbol in other.symbols]
        return at in (sorted(at), sorted(at, reverse=True))


def find_chains(rules: Sequence[Rule], roles: Iterable[str] = ()) -> tuple[Chain, ...]:
    """The chains that the static facts form, longest first; then circles; then lists.

    Nothing depends on names, only on the order of the facts. An order of roles is an order of
    turns, not of places: chains with a role among their symbols are left out.
    """
    unwanted = frozenset(roles)
    chains: list[Chain] = []
    circles: list[Chain] = []
    for (arity, _), relations in sorted(_relations(rules).items()):
        paths, closed = find_long_paths(relations)
        found = [Chain(path) for path in paths if unwanted.isdisjoint(path)]
        found += [Chain(path, True, True) for path in closed if unwanted.isdisjoint(path)]
        if arity > 2:
            found = _outermost(found, [*chains, *circles])
        chains = _merge(_longest_first([*chains, *(c for c in found if not c.circle)]))
        circles += [chain for chain in found if chain.circle]
    lists = [
        Chain(symbols, listed=True)
        for symbols in sorted(_lists(rules), key=len)
        if len(symbols) >= MIN_LENGTH and unwanted.isdisjoint(symbols)
    ]
    return (*_without_parts(_longest_first(chains)), *circles, *lists)


def _lists(rules: Iterable[Rule]) -> Iterator[tuple[str, ...]]:
    """Symbols in the order in which they were written down.

    First those of each relation with one argument. Then those of the initial position, where two
    arguments of a term name the same ones in the same order: rows and columns of a board that was
    written down line by line, hardly anything else.
    """
    found: dict[str, dict[str, None]] = {}
    written: dict[tuple[str, int], list[dict[str, None]]] = {}
    for rule in rules:
        head = rule.head
        if rule.body:
            continue
        if head.name == "init":
            for term in _terms(head):
                places = written.setdefault(term.predicate, [{} for _ in term.arguments])
                for place, symbol in zip(places, _symbols(term), strict=True):
                    place.setdefault(symbol or "")
        elif head.name not in _LANGUAGE and len(head.arguments) == 1:
            (symbol,) = _symbols(head)
            if symbol is not None:
                found.setdefault(head.name, {}).setdefault(symbol)
    yield from map(tuple, found.values())
    for places in written.values():
        orders = list(map(tuple, places))
        yield from dict.fromkeys(o for o in orders if orders.count(o) > 1 and "" not in o)


def _terms(term: Term) -> Iterator[Compound]:
    """A term's parts that have arguments of their own."""
    if isinstance(term, Compound) and term.arguments:
        yield term
        for argument in term.arguments:
            yield from _terms(argument)


def _symbols(term: Compound) -> list[str | None]:
    """Its arguments, as far as they are constants."""
    return [a.name if isinstance(a, Compound) and not a.arguments else None for a in term.arguments]


def _relations(rules: Iterable[Rule]) -> dict[tuple[int, bool], list[Iterable[Edge]]]:
    """Every way of seeing the static facts as pairs of symbols.

    Of facts with more than two arguments any two may be the pair, or any two that stand side by
    side, as in (line 1 2 3). The others may also name a relation of its own, as in
    (step north 3 4) or (plus 1 count 3 4). The relations are returned by the number of arguments
    that the facts have, and by whether it takes the others to name them.
    """
    pairs: dict[tuple[int, bool], dict[tuple[object, ...], dict[Edge, None]]] = {}
    for rule in rules:
        head = rule.head
        arity = len(head.arguments)
        if rule.body or head.name in _LANGUAGE or not 2 <= arity <= MAX_ARITY:
            continue
        symbols = _symbols(head)
        plain, named = pairs.setdefault((arity, False), {}), pairs.setdefault((arity, True), {})
        for i, j in combinations(range(arity), 2):
            a, b = symbols[i], symbols[j]
            if a is None or b is None:
                continue
            plain.setdefault((head.predicate, i, j), {}).setdefault((a, b))
            if arity > 2:
                others = tuple(x for n, x in enumerate(head.arguments) if n != i and n != j)
                named.setdefault((head.predicate, i, j, others), {}).setdefault((a, b))
                if j == i + 1:
                    plain.setdefault((head.predicate, "side by side"), {}).setdefault((a, b))
    return {rank: list(relations.values()) for rank, relations in pairs.items()}


def _longest_first(chains: Iterable[Chain]) -> list[Chain]:
    return sorted(chains, key=lambda chain: -len(chain.symbols))


def _outermost(found: Iterable[Chain], known: Sequence[Chain]) -> list[Chain]:
    """Those, longest first, that do not lie within a known or a longer one.

    For facts with more than two arguments. A table made from an order, such as
    (distance x1 y1 x2 y2 d), joins the same symbols in many ways: besides the order itself there
    is every third symbol, and by accident there are some to and fro. So what facts with fewer
    arguments say is believed first, then what is longest; the rest is no order of its own.
    """
    kept: list[Chain] = []
    for chain in _longest_first(found):
        longer = (other for other in kept if len(other.symbols) > len(chain.symbols))
        if not any(map(chain.lies_within, (*known, *longer))):
            kept.append(chain)
    return kept


def _without_parts(chains: Sequence[Chain]) -> list[Chain]:
    """Without those that a longer one passes through: every second number says nothing more."""
    kept: list[Chain] = []
    for chain in chains:
        if not any(longer.passes_through(chain) for longer in kept):
            kept.append(chain)
    return kept


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
    paths, _ = find_paths([*ordered, *pairwise(symbols)])
    return Chain(paths[0]) if len(paths) == 1 else None
