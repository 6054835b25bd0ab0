"""The text of a ludemic description: comments blanked, options chosen, every place still known.

Options are replaced as text, before anything is parsed, since a value may be any fragment of a
description, or nothing. What stands in the result remembers where it came from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from omnilude.errors import Position, RulesError

MAX_BYTES = 8 << 20
_SKIPPED = re.compile(r'//[^\n]*|"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[()]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A text made of pieces of a file; `starts` and `origins` say which offset is from where."""

    file: str
    original: str
    text: str
    starts: tuple[int, ...] = (0,)  # offsets in `text` at which pieces begin
    origins: tuple[int, ...] = (0,)  # where they begin in `original`
    frozen: tuple[bool, ...] = (False,)  # pieces put in: all of it comes from one place
    _lines: list[int] = field(default_factory=list, repr=False)

    def position(self, offset: int) -> Position:
        """Line and column in the file of what stands at an offset of the text."""
        piece = bisect_right(self.starts, offset) - 1
        origin = self.origins[piece]
        if not self.frozen[piece]:
            origin += offset - self.starts[piece]
        if not self._lines:
            self._lines.append(0)
            self._lines.extend(match.end() for match in re.finditer("\n", self.original))
        line = bisect_right(self._lines, origin)
        return Position(line, origin - self._lines[line - 1] + 1)

    def error(self, message: str, offset: int, hint: str | None = None) -> RulesError:
        return RulesError(message, file=self.file, position=self.position(offset), hint=hint)

    def blanked(self, start: int, end: int) -> Source:
        """The same without a part of it; all else stays where it is."""
        hole = re.sub(r"[^\n]", " ", self.text[start:end])
        text = self.text[:start] + hole + self.text[end:]
        return Source(
            self.file, self.original, text, self.starts, self.origins, self.frozen, self._lines
        )

    def replaced(self, spans: list[tuple[int, int, str]]) -> Source:
        """The same with other text in some places, given in order."""
        pieces: list[tuple[int, int, bool, str]] = []  # start, origin, frozen, text
        length = at = 0

        def add(text: str, origin: int, put_in: bool) -> None:
            nonlocal length
            if text:
                pieces.append((length, origin, put_in, text))
                length += len(text)

        def keep(start: int, end: int) -> None:
            first = bisect_right(self.starts, start) - 1
            for piece in range(first, len(self.starts)):
                begin = max(start, self.starts[piece])
                last = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
                if begin >= end:
                    break
                moved = 0 if self.frozen[piece] else begin - self.starts[piece]
                text = self.text[begin : min(last, end)]
                add(text, self.origins[piece] + moved, self.frozen[piece])

        for start, end, text in spans:
            keep(at, start)
            piece = bisect_right(self.starts, start) - 1
            moved = 0 if self.frozen[piece] else start - self.starts[piece]
            add(text, self.origins[piece] + moved, True)
            at = end
        keep(at, len(self.text))
        if not pieces:
            pieces.append((0, 0, False, ""))
        starts, origins, frozen, texts = zip(*pieces, strict=True)
        joined = "".join(texts)
        return Source(self.file, self.original, joined, starts, origins, frozen, self._lines)


def read_source(text: str, file: str) -> Source:
    """The text of a file without its comments."""
    if len(text) > MAX_BYTES:
        raise RulesError(f"description is larger than {MAX_BYTES >> 20} MiB", file=file)
    plain = _SKIPPED.sub(
        lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), text
    )
    return Source(file, text, plain)


def find_end(source: Source, start: int) -> int:
    """The offset after the parenthesis that closes the one at `start`."""
    depth = 0
    for match in _BRACKETS.finditer(source.text, start):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                return match.end()
    raise source.error("parenthesis is never closed", start, "the text ends inside this clause")


def find_clauses(source: Source, keyword: str) -> list[tuple[int, int]]:
    """Start and end of the clauses with this keyword, wherever they are, but not in one another."""
    found = []
    at = 0
    pattern = re.compile(rf"\(\s*{re.escape(keyword)}(?![\w])")
    while match := _BRACKETS.search(source.text, at):
        at = match.end()
        if match[0] == "(" and pattern.match(source.text, match.start()):
            at = find_end(source, match.start())
            found.append((match.start(), at))
    return found


def cut_metadata(source: Source) -> Source:
    """The text without what is said about the game rather than by it."""
    match = re.search(r"\(\s*metadata(?![\w])", source.text)
    if match is None:
        return source
    try:
        end = find_end(source, match.start())
    except RulesError:  # strings that nobody but people reads are not always well formed
        end = len(source.text)
    return source.blanked(match.start(), end)
