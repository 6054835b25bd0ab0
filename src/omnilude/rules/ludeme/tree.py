"""The tree of a description: clauses, arrays, labels, strings, numbers and symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from omnilude.rules.ludeme.tokens import Place, Token

MAX_DEPTH = 200
MAX_RANGE = 10_000
MAX_NUMBER = 2**31 - 1
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_SITE = re.compile(r"([A-Z]+)(\d+)")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Text:
    """A string, without its quotes."""

    value: str
    place: Place


@dataclass(frozen=True, slots=True)
class Number:
    value: float
    whole: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Symbol:
    """A word that is neither: a role, a direction, True, Off, ..."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Labelled:
    """label:value"""

    label: str
    value: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Clause:
    """(keyword …)"""

    keyword: str
    items: tuple[Node, ...]
    place: Place


Node = Text | Number | Symbol | Array | Labelled | Clause


def parse(tokens: list[Token]) -> list[Node]:
    """The nodes that stand in no other."""
    return list(_Parser(tokens).nodes(None))


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def nodes(self, closing: str | None) -> Iterator[Node]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == closing:
                return
            if token.text in (")", "}", "]"):
                raise token.place.error(f"'{token.text}' without an opening bracket")
            if self._next_is_range(token):
                yield from self._range()
            else:
                yield self.node()

    def _next_is_range(self, token: Token) -> bool:
        following = self.at + 1
        ranged = following < len(self.tokens) and self.tokens[following].text == ".."
        return ranged and token.text not in _CLOSING

    def node(self) -> Node:
        token = self.tokens[self.at]
        place = token.place
        if token.text in _CLOSING:
            return self._bracketed(token)
        self.at += 1
        if token.is_label:
            return self._labelled(token)
        if token.is_string:
            return Text(token.text[1:-1], place)
        if token.text == "..":
            raise place.error("a range without its first end", "write 3..7")
        if _NUMBER.fullmatch(token.text):
            if abs(float(token.text)) > MAX_NUMBER:
                raise place.error(f"{token.text} is too large a number")
            return Number(float(token.text), "." not in token.text, place)
        return Symbol(token.text, place)

    def _labelled(self, token: Token) -> Labelled:
        if self.at == len(self.tokens) or self.tokens[self.at].text in (")", "}", "]"):
            raise token.place.error(f"'{token.text}' is followed by nothing")
        if self._next_is_range(self.tokens[self.at]):
            place = self.tokens[self.at].place
            return Labelled(token.text[:-1], Array(tuple(self._range()), place), token.place)
        return Labelled(token.text[:-1], self.node(), token.place)

    def _bracketed(self, token: Token) -> Node:
        if self.depth == MAX_DEPTH:
            raise token.place.error(f"clauses nested deeper than {MAX_DEPTH}")
        self.at += 1
        self.depth += 1
        closing = _CLOSING[token.text]
        items = tuple(self.nodes(closing))
        if self.at == len(self.tokens):
            raise token.place.error("bracket is never closed", "the text ends inside this clause")
        self.at += 1
        self.depth -= 1
        if token.text != "(":
            return Array(items, token.place)
        if not items:
            raise token.place.error("empty clause")
        first = items[0]
        if len(items) == 1 and isinstance(first, Clause):
            return first  # a definition that brings its own parentheses
        if isinstance(first, Symbol):
            return Clause(first.name, items[1:], token.place)
        if isinstance(first, Clause):
            return Array(items, token.place)  # as some descriptions have it
        if isinstance(first, Text):
            raise first.place.error(
                f"{first.value!r} is not defined", "is the folder of definitions given?"
            )
        raise first.place.error("a clause must begin with a word")

    def _range(self) -> Iterator[Node]:
        first, last = self.tokens[self.at], None
        if self.at + 2 < len(self.tokens):
            last = self.tokens[self.at + 2]
        self.at += 3
        place = first.place
        if last is not None and _whole(first) and _whole(last):
            low, high = int(first.text), int(last.text)
            if abs(high - low) > MAX_RANGE:
                raise place.error(f"range of more than {MAX_RANGE} numbers")
            step = 1 if high >= low else -1
            for value in range(low, high + step, step):
                yield Number(float(value), True, place)
            return
        corners = [_SITE.fullmatch(token.text[1:-1]) for token in (first, last) if token]
        if len(corners) == 2 and corners[0] and corners[1]:
            columns = sorted((_column(corners[0][1]), _column(corners[1][1])))
            rows = sorted((int(corners[0][2]), int(corners[1][2])))
            if (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1) > MAX_RANGE:
                raise place.error(f"range of more than {MAX_RANGE} sites")
            for column in range(columns[0], columns[1] + 1):
                for row in range(rows[0], rows[1] + 1):
                    yield Text(f"{_letters(column)}{row}", place)
            return
        raise place.error(
            "a range needs two whole numbers or two sites", 'write 3..7 or "A1".."C2"'
        )


def _whole(token: Token) -> bool:
    return re.fullmatch(r"[+-]?\d+", token.text) is not None


def _column(letters: str) -> int:
    """A is 0, Z 25, AA 26."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _letters(column: int) -> str:
    text = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        text = chr(ord("A") + letter) + text
    return text
