"""Which parts of propositions and moves are indices: numbers, and symbols that stand in a chain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from omnilude.encoding.chains import Chain
from omnilude.rules.gdl.terms import Compound

_WORD = re.compile(r"[()]|[^\s()]+")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
HOLE = "_"
"""Stands for an index in the name of a channel or of a kind of move. A word of the rules that looks
like it, or like several, is written with one more."""

NUMBERS = -1
"""The domain of indices that are numbers; other domains are numbers of chains."""

Path = tuple[tuple[str, int, int], ...]
"""Where a constant stands in a term: functor, arity and argument, from the outside inwards."""


@dataclass(frozen=True, slots=True)
class Index:
    """A constant read as a place in an order."""

    path: Path
    domain: int
    value: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """A term with its indices taken out; `pattern` keeps holes in their places."""

    pattern: str
    indices: tuple[Index, ...]


def parse_term(text: str) -> Compound:
    """A ground term as the core prints it."""
    stack: list[list[Compound]] = [[]]
    for word in _WORD.findall(text):
        if word == "(":
            stack.append([])
        elif word == ")":
            functor, *arguments = stack.pop()
            stack[-1].append(Compound(functor.name, tuple(arguments)))
        else:
            stack[-1].append(Compound(word))
    return stack[0][0]


class IndexFinder:
    """Decides for each place in a set of terms whether the constants there are indices.

    - All of them numbers: indices, as in P3.
    - All of them in one chain: indices, by their place in it; if in several, in the one that skips
      the fewest symbols between them, and among these in the longest.
    - All of them in one list or circle, and the same ones at another argument of the same term:
      indices, as rows and columns are. A list alone is not enough: pieces and directions are
      listed too. A circle must be complete.
    - Otherwise those that are numbers are indices, as in P3, and the others are not.
    - Where there are no numbers, those that are in a chain are indices if it is that of another
      place and only one symbol is not in it: tiles 1 to 8 and a gap.
    """

    def __init__(self, terms: Iterable[Compound], chains: Sequence[Chain]) -> None:
        values: dict[Path, dict[str, None]] = {}
        for term in terms:
            for path, constant in _constants(term):
                values.setdefault(path, {}).setdefault(constant)
        self._chains = chains
        # By term and set of constants: at how many of its arguments they stand.
        alike = Counter(
            (_term_around(path), frozenset(symbols)) for path, symbols in values.items()
        )
        words = {path: frozenset(symbols) for path, symbols in values.items()}
        several = {path: alike[_term_around(path), words[path]] > 1 for path in words}
        whole = {
            path: self._whole(symbols, several[path])
            for path, symbols in words.items()
            if not all(map(_NUMBER.fullmatch, symbols))
        }
        elsewhere = sorted({chain for chain in whole.values() if chain is not None})
        self._chain_of: dict[Path, int] = {}
        for path, chain in whole.items():
            if chain is None and not any(map(_NUMBER.fullmatch, words[path])):
                chain = self._all_but_one(words[path], several[path], elsewhere)
            if chain is not None:
                self._chain_of[path] = chain

    def _whole(self, symbols: frozenset[str], several: bool) -> int | None:
        """The chain in which all symbols stand."""
        fitting = [
            (number, chain)
            for number, chain in enumerate(self._chains)
            if symbols <= chain.places.keys() and _may_order(chain, symbols, several)
        ]

        def skipped(chain: Chain) -> int:
            at = [chain.places[symbol] for symbol in symbols]
            return max(at) - min(at)

        return min(fitting, key=lambda f: (f[1].listed, skipped(f[1])), default=(None,))[0]

    def _all_but_one(
        self, symbols: frozenset[str], several: bool, elsewhere: Iterable[int]
    ) -> int | None:
        for number in elsewhere:
            chain = self._chains[number]
            inside = len(symbols & chain.places.keys())
            if 1 < inside == len(symbols) - 1 and _may_order(chain, symbols, several):
                return number
        return None

    def index(self, term: Compound) -> Indexed:
        indices: list[Index] = []

        def walk(part: Compound, path: Path) -> str:
            if not part.arguments:
                found = self._index(path, part.name) if path else None
                if found is None:
                    return _write_word(part.name)
                indices.append(found)
                return HOLE
            arity = len(part.arguments)
            inside = [
                walk(argument, (*path, (part.name, arity, n)))
                for n, argument in enumerate(part.arguments)
                if isinstance(argument, Compound)
            ]
            return f"({_write_word(part.name)} {' '.join(inside)})"

        pattern = walk(term, ())
        return Indexed(pattern, tuple(indices))

    def _index(self, path: Path, symbol: str) -> Index | None:
        chain = self._chain_of.get(path)
        place = None if chain is None else self._chains[chain].places.get(symbol)
        if chain is not None and place is not None:
            return Index(path, chain, place, symbol)
        if _NUMBER.fullmatch(symbol):
            return Index(path, NUMBERS, int(symbol), symbol)
        return None


def _may_order(chain: Chain, symbols: frozenset[str], several: bool) -> bool:
    """Lists only rows and columns: symbols of several arguments. Circles only if all is there."""
    return (several or not chain.listed) and (not chain.circle or chain.places.keys() <= symbols)


def fill_holes(pattern: str, symbols: Iterable[str]) -> str:
    """The term with these symbols for its indices."""
    left = iter(symbols)
    words = [next(left) if word == HOLE else _read_word(word) for word in _WORD.findall(pattern)]
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def _write_word(word: str) -> str:
    return word if word.strip(HOLE) else word + HOLE


def _read_word(word: str) -> str:
    return word if word.strip(HOLE) else word[:-1]


def _term_around(path: Path) -> tuple[Path, str, int]:
    """The term that a constant is an argument of."""
    name, arity, _ = path[-1]
    return path[:-1], name, arity


def _constants(term: Compound) -> Iterator[tuple[Path, str]]:
    stack: list[tuple[Path, Compound]] = [((), term)]
    while stack:
        path, part = stack.pop()
        if not part.arguments and path:
            yield path, part.name
        for n, argument in enumerate(part.arguments):
            if isinstance(argument, Compound):
                stack.append(((*path, (part.name, len(part.arguments), n)), argument))
