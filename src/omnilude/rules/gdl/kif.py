"""Reader for KIF, the notation of GDL rulesheets: nested lists of words, `;` comments.

Every node knows where it stands in the text. The reader is iterative and bounded, so that no text
can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from omnilude.errors import Position, RulesError

MAX_DEPTH = 100
MAX_ITEMS = 2000
MAX_BYTES = 4 << 20
MAX_FORMS = 100_000

_TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n\r]*")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class Group:
    items: tuple[Node, ...]
    position: Position


Node = Word | Group


def _tokens(text: str) -> Iterator[Word]:
    line, line_start, scanned = 1, 0, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        newlines = text.count("\n", scanned, start)
        if newlines:
            line += newlines
            line_start = text.rfind("\n", scanned, start) + 1
        scanned = start
        if not match.group().startswith(";"):
            yield Word(match.group(), Position(line, start - line_start + 1))


def read(text: str, file: str) -> list[Node]:
    """The top-level nodes of a KIF text."""
    if len(text) > MAX_BYTES:
        raise RulesError(f"rulesheet is larger than {MAX_BYTES >> 20} MiB", file=file)
    done: list[Node] = []
    open_groups: list[tuple[Position, list[Node]]] = []
    for token in _tokens(text):
        if token.text == "(":
            if len(open_groups) == MAX_DEPTH:
                raise RulesError(
                    f"lists nested deeper than {MAX_DEPTH}",
                    file=file,
                    position=token.position,
                    hint="is a closing parenthesis missing above?",
                )
            open_groups.append((token.position, []))
            continue
        node: Node = token
        if token.text == ")":
            if not open_groups:
                raise RulesError(
                    "closing parenthesis without an opening one",
                    file=file,
                    position=token.position,
                    hint="the rule before this one may have one parenthesis too many",
                )
            position, items = open_groups.pop()
            node = Group(tuple(items), position)
        target = open_groups[-1][1] if open_groups else done
        target.append(node)
        if len(done) > MAX_FORMS:
            raise RulesError(f"more than {MAX_FORMS} rules", file=file, position=node.position)
        if open_groups and len(target) > MAX_ITEMS:
            raise RulesError(
                f"list of more than {MAX_ITEMS} items", file=file, position=open_groups[-1][0]
            )
    if open_groups:
        raise RulesError(
            "parenthesis is never closed",
            file=file,
            position=open_groups[-1][0],
            hint="the text ends inside this list",
        )
    return done
