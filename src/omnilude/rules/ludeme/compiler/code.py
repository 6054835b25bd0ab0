"""Encoded rules: symbols, and numbers that name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Code:
    """A ludeme by the name that the core knows, and what it is made of."""

    name: str
    parts: tuple[Part, ...] = ()

    @property
    def number(self) -> int | None:
        """Its value, if it is a plain number."""
        value = self.parts[0] if self.name == "number" else None
        return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class Name:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """A list of numbers, with its length."""

    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """A list of other parts, with its length."""

    items: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Raw:
    """Parts one after another, without their number."""

    items: tuple[Part, ...]


Part = int | bool | None | Code | Name | Numbers | Many | Raw
"""None stands for a ludeme that is not there."""


def code(name: str, *parts: Part) -> Code:
    return Code(name, parts)


def find_all(part: Part, *names: str) -> Iterator[Code]:
    """All that has one of these names in a part."""
    if isinstance(part, Code):
        if part.name in names:
            yield part
        for one in part.parts:
            yield from find_all(one, *names)
    elif isinstance(part, Many | Raw):
        for one in part.items:
            yield from find_all(one, *names)


def mentions(part: Part, name: str) -> bool:
    """Whether something of this name is in a part."""
    return any(True for _ in find_all(part, name))


def numbers(items: Iterable[int]) -> Numbers:
    return Numbers(tuple(int(item) for item in items))


def many(items: Iterable[Part]) -> Many:
    return Many(tuple(items))


class Writer:
    """Collects parts as symbols and one array of integers."""

    def __init__(self) -> None:
        self.symbols: list[str] = []
        self._index: dict[str, int] = {}
        self._code: list[int] = []

    def write(self, part: Part) -> None:
        if part is None:
            self._code.append(0)
        elif isinstance(part, int):
            self._code.append(int(part))
        elif isinstance(part, Name):
            self._code.append(self._symbol(part.text))
        elif isinstance(part, Numbers):
            self._code.append(len(part.items))
            self._code.extend(part.items)
        elif isinstance(part, Raw):
            for item in part.items:
                self.write(item)
        elif isinstance(part, Many):
            self._code.append(len(part.items))
            for item in part.items:
                self.write(item)
        else:
            self._code.append(self._symbol(part.name) + 1)
            for inner in part.parts:
                self.write(inner)

    def write_array(self, values: NDArray[np.int32]) -> None:
        """Numbers with how many there are of them."""
        self._code.append(len(values))
        self._code.extend(values.tolist())

    def write_all(self, parts: Sequence[Part]) -> None:
        for part in parts:
            self.write(part)

    def _symbol(self, text: str) -> int:
        if text not in self._index:
            self._index[text] = len(self.symbols)
            self.symbols.append(text)
        return self._index[text]

    @property
    def array(self) -> NDArray[np.int32]:
        return np.array(self._code, dtype=np.int32)
