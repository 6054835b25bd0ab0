"""Definitions: names that stand for pieces of a description, with arguments #1, #2, and so on.

`("Name" first second)` or `"Name"` alone is replaced by the body; an argument that is missing or
`~` leaves nothing behind. A body may be any number of items. The definitions of the file itself
come before those of the library; of two with one name in a file the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from omnilude.rules.ludeme.source import Source, find_clauses
from omnilude.rules.ludeme.tokens import (
    MAX_TOKENS,
    Place,
    Token,
    skip_group,
    skip_item,
    split_words,
    tokenize,
)

MAX_DEPTH = 60
PROTECTED = ("game", "match", "instance", "define")
"""The string behind these words is a name of its own."""
_ARGUMENT = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Define:
    name: str
    body: tuple[Token, ...]
    place: Place


def extract_defines(source: Source) -> tuple[Source, dict[str, Define]]:
    """The definitions of a text, and the text without them."""
    defines: dict[str, Define] = {}
    for start, end in find_clauses(source, "define"):
        inner = Source(
            source.file,
            source.original,
            source.text[:end],
            source.starts,
            source.origins,
            source.frozen,
        )
        define = _read_define(tokenize(inner.blanked(0, start)))
        defines.setdefault(define.name, define)
        source = source.blanked(start, end)
    return source, defines


def _read_define(tokens: list[Token]) -> Define:
    place = tokens[0].place
    if len(tokens) < 4 or not tokens[2].is_string:
        raise place.error("define without a name", 'write (define "Name" …)')
    end = skip_group(tokens, 0)
    return Define(tokens[2].text[1:-1], tuple(tokens[3 : end - 1]), place)


class Expander:
    """Replaces all names that are defined."""

    def __init__(self, defines: Mapping[str, Define]) -> None:
        self.defines = defines
        self._made = 0

    def expand(self, tokens: Iterable[Token], depth: int = 0) -> list[Token]:
        tokens = list(tokens)
        result: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            called = token.text == "(" and at + 1 < len(tokens) and self._find(tokens[at + 1])
            if called:
                end = skip_group(tokens, at)
                arguments = _split(tokens[at + 2 : end - 1])
                result += self._call(called, arguments, token.place, depth)
                at = end
                continue
            define = self._find(token)
            if define and not _protected(tokens, at):
                result += self._call(define, [], token.place, depth)
            else:
                result.append(token)
            at += 1
        return result

    def _find(self, token: Token) -> Define | None:
        return self.defines.get(token.text[1:-1]) if token.is_string else None

    def _call(
        self, define: Define, arguments: list[list[Token]], place: Place, depth: int
    ) -> list[Token]:
        if depth == MAX_DEPTH:
            raise place.error(
                f"definitions nested deeper than {MAX_DEPTH}",
                f"does {define.name!r} refer to itself?",
            )
        body = _substitute(define.body, arguments)
        self._made += len(body)
        if self._made > MAX_TOKENS:
            raise place.error(f"definitions become more than {MAX_TOKENS} words")
        return self.expand(body, depth + 1)


def _protected(tokens: list[Token], at: int) -> bool:
    return at >= 2 and tokens[at - 1].text in PROTECTED and tokens[at - 2].text == "("


def _split(tokens: list[Token]) -> list[list[Token]]:
    arguments, at = [], 0
    while at < len(tokens):
        end = skip_item(tokens, at)
        arguments.append(tokens[at:end])
        at = end
    return arguments


def _substitute(body: tuple[Token, ...], arguments: list[list[Token]]) -> list[Token]:
    result: list[Token] = []

    def given(number: int) -> list[Token]:
        found = arguments[number - 1] if 0 < number <= len(arguments) else []
        return [] if [token.text for token in found] == ["~"] else found

    for token in body:
        whole = _ARGUMENT.fullmatch(token.text)
        if whole:
            tokens = given(int(whole[1]))
            if not tokens and result and result[-1].is_label:
                result.pop()
            result += tokens
        elif "#" in token.text:
            text = _ARGUMENT.sub(
                lambda match: " ".join(token.text for token in given(int(match[1]))), token.text
            )
            if token.is_string:
                text = '"' + text[1:-1].replace('"', "") + '"'
                result.append(Token(text, token.place))
            else:
                result += split_words(text, token.place)
        else:
            result.append(token)
    return result
