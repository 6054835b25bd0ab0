"""From text to tokens, each with the place it stands at."""

from __future__ import annotations

import re
from dataclasses import dataclass

from omnilude.errors import Position, RulesError
from omnilude.rules.ludeme.source import Source

MAX_TOKENS = 2_000_000
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<bracket>[(){}\[\]])
  | (?P<range>\.\.)
  | (?P<label>[A-Za-z][A-Za-z0-9_]*\s*:)
  | (?P<atom>(?:[^\s(){}\[\]".:]|\.(?!\.)|:)+)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written; errors are made from it."""

    file: str
    position: Position

    def error(self, message: str, hint: str | None = None) -> RulesError:
        return RulesError(message, file=self.file, position=self.position, hint=hint)


@dataclass(frozen=True, slots=True)
class Token:
    """A bracket, string (with its quotes), label (with its colon), '..', or any other word."""

    text: str
    place: Place

    @property
    def is_string(self) -> bool:
        return self.text[0] == '"'

    @property
    def is_label(self) -> bool:
        return self.text[-1] == ":" and len(self.text) > 1


def tokenize(source: Source) -> list[Token]:
    """The tokens of a whole text."""
    tokens = []
    at, text = 0, source.text
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise source.error(
                "a string is never closed" if text[at] == '"' else f"unexpected {text[at]!r}", at
            )
        if match.lastgroup != "space":
            word = match[0]
            if match.lastgroup == "label":
                word = word[:-1].rstrip() + ":"
            tokens.append(Token(word, Place(source.file, source.position(at))))
            if len(tokens) > MAX_TOKENS:
                raise source.error(f"more than {MAX_TOKENS} words", at)
        at = match.end()
    return tokens


def split_words(text: str, place: Place) -> list[Token]:
    """The tokens of a text that was made up at one place."""
    words = tokenize(Source(place.file, text, text))
    return [Token(word.text, place) for word in words]


def skip_item(tokens: list[Token], at: int) -> int:
    """The index after the item that begins at `at`: a word, a bracketed group, a range, each with
    the labels before it."""
    while at < len(tokens) and tokens[at].is_label:
        at += 1
    if at == len(tokens):
        return at
    at = skip_group(tokens, at)
    while at + 1 < len(tokens) and tokens[at].text == "..":
        at = skip_group(tokens, at + 1)
    return at


def skip_group(tokens: list[Token], at: int) -> int:
    """The index after a word or a bracketed group."""
    opening = tokens[at]
    if opening.text not in ("(", "{", "["):
        return at + 1
    depth = 0
    for index in range(at, len(tokens)):
        if tokens[index].text in ("(", "{", "["):
            depth += 1
        elif tokens[index].text in (")", "}", "]"):
            depth -= 1
            if depth == 0:
                return index + 1
    raise opening.place.error("bracket is never closed", "the text ends inside this clause")
