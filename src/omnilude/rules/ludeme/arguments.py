"""The arguments of a clause, taken one after another; what is left over is an error.

Ludemes tell their arguments apart by kind, order and label. A compiler takes what it knows with
the methods below and calls `finish` at the end, so that nothing is ever passed over in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from omnilude.errors import RulesError, Unsupported
from omnilude.rules.ludeme.tokens import Place
from omnilude.rules.ludeme.tree import Array, Clause, Labelled, Node, Number, Symbol, Text

T = TypeVar("T")


def unsupported(what: str, place: Place) -> Unsupported:
    return Unsupported(f"{what} is not supported", file=place.file, position=place.position)


class Arguments:
    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        self.place = clause.place
        self.keyword = clause.keyword
        self._items = list(clause.items)

    # --- what is there ---

    def __len__(self) -> int:
        return len(self._items)

    def peek(self) -> Node | None:
        """The next argument without a label."""
        return next((item for item in self._items if not isinstance(item, Labelled)), None)

    def count_plain(self) -> int:
        """How many arguments without a label are left."""
        return sum(not isinstance(item, Labelled) for item in self._items)

    def has_label(self, label: str) -> bool:
        return any(isinstance(item, Labelled) and item.label == label for item in self._items)

    # --- taking ---

    def take(self) -> Node:
        """The next argument without a label, which must be there."""
        found = self.peek()
        if found is None:
            raise self.error("an argument is missing")
        self._remove(found)
        return found

    def take_if(self, fits: Callable[[Node], bool]) -> Node | None:
        """The next argument without a label, if it fits."""
        found = self.peek()
        if found is None or not fits(found):
            return None
        self._remove(found)
        return found

    def take_any(self, fits: Callable[[Node], bool]) -> Node | None:
        """The first argument without a label that fits, wherever it stands."""
        for item in self._items:
            if not isinstance(item, Labelled) and fits(item):
                self._remove(item)
                return item
        return None

    def take_clause(self, *keywords: str) -> Clause | None:
        """The first clause with one of these keywords, wherever it stands."""
        found = self.take_any(lambda node: isinstance(node, Clause) and node.keyword in keywords)
        assert found is None or isinstance(found, Clause)
        return found

    def take_label(self, *labels: str) -> Node | None:
        for item in self._items:
            if isinstance(item, Labelled) and item.label in labels:
                self._remove(item)
                return item.value
        return None

    def take_symbol(self, *names: str) -> str | None:
        """The next argument, if it is one of these words (any word where none is given)."""
        found = self.peek()
        if not isinstance(found, Symbol) or (names and found.name not in names):
            return None
        self._remove(found)
        return found.name

    def take_text(self) -> str | None:
        found = self.peek()
        if not isinstance(found, Text):
            return None
        self._remove(found)
        return found.value

    def take_number(self) -> Number | None:
        found = self.peek()
        if not isinstance(found, Number):
            return None
        self._remove(found)
        return found

    def take_flag(self, label: str, default: bool = False) -> bool:
        """label:True or label:False."""
        value = self.take_label(label)
        if value is None:
            return default
        if not isinstance(value, Symbol) or value.name not in ("True", "False"):
            raise value.place.error(f"{label}: must be True or False")
        return value.name == "True"

    def left(self) -> list[Node]:
        """The arguments without a label that were not taken yet."""
        return [item for item in self._items if not isinstance(item, Labelled)]

    def take_rest(self) -> list[Node]:
        """All arguments without a label that are left."""
        rest: list[Node] = [item for item in self._items if not isinstance(item, Labelled)]
        self._items = [item for item in self._items if isinstance(item, Labelled)]
        return rest

    def finish(self) -> None:
        """Nothing may be left."""
        if not self._items:
            return
        item = self._items[0]
        what = f"{item.label}:" if isinstance(item, Labelled) else describe(item)
        raise unsupported(f"{what} in ({self.keyword} …)", item.place)

    def error(self, message: str, hint: str | None = None) -> RulesError:
        return self.place.error(f"{message} in ({self.keyword} …)", hint)

    def _remove(self, node: Node) -> None:
        for number, item in enumerate(self._items):
            if item is node or (isinstance(item, Labelled) and item.value is node):
                del self._items[number]
                return


def describe(node: Node) -> str:
    """A node in a few words, for errors."""
    if isinstance(node, Clause):
        first = node.items[0] if node.items else None
        kind = f" {first.name}" if isinstance(first, Symbol) else ""
        return f"({node.keyword}{kind} …)"
    if isinstance(node, Array):
        return "{…}"
    if isinstance(node, Labelled):
        return f"{node.label}:"
    if isinstance(node, Text):
        return f'"{node.value}"'
    if isinstance(node, Number):
        return f"{node.value:g}"
    return node.name


def items_of(node: Node) -> list[Node]:
    """The items of an array; of anything else, itself."""
    return list(node.items) if isinstance(node, Array) else [node]
