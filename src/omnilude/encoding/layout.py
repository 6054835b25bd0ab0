"""Where each base proposition stands: in the planes of a group, or in the flat part (P3, 3.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from omnilude.encoding.indices import Index, Indexed, fill_holes

SPARSE_SIZE = 4096
SPARSE_FACTOR = 64
"""Planes of more than SPARSE_SIZE elements of which fewer than one in SPARSE_FACTOR can ever be
set would cost more than they tell: their propositions go to the flat part."""

_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of a group of planes: consecutive indices from `first` on."""

    name: str
    """Relation and argument that it was found in, such as 'cell 1'."""
    domain: int
    """The chain that its indices are places in, or NUMBERS."""
    first: int
    labels: tuple[str, ...]
    """The symbol of each index; empty where no proposition has it."""

    def __len__(self) -> int:
        return len(self.labels)

    def covers(self, domain: int, low: int, high: int) -> bool:
        """Whether all indices from low to high lie on it."""
        return self.domain == domain and self.first <= low <= high < self.first + len(self)


@dataclass(frozen=True, slots=True)
class PlaneGroup:
    """Planes of one shape. In a row: elements [channel, d1, ..., dn] from `offset` on."""

    offset: int
    axes: tuple[Axis, ...]
    channels: tuple[str, ...]
    """A proposition each, with holes for its indices."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(d1, ..., dn)"""
        return tuple(map(len, self.axes))

    @property
    def volume(self) -> int:
        """Elements of one channel."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        return len(self.channels) * self.volume

    def proposition(self, channel: int, place: Sequence[int]) -> str:
        """The proposition of a channel at a place."""
        labels = [axis.labels[i] for axis, i in zip(self.axes, place, strict=True)]
        return fill_holes(self.channels[channel], labels)


@dataclass(slots=True)
class _Family:
    """Propositions with their indices at the same places of the same relation."""

    members: list[tuple[int, Indexed]] = field(default_factory=list)  # fluent, and what it is

    @property
    def domains(self) -> tuple[int, ...]:
        return tuple(index.domain for index in self.members[0][1].indices)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Of each index the lowest and the highest value."""
        columns = zip(*([i.value for i in m.indices] for _, m in self.members), strict=True)
        return [(min(column), max(column)) for column in columns]

    @property
    def volume(self) -> int:
        return math.prod(high - low + 1 for low, high in self.ranges)

    @property
    def patterns(self) -> set[str]:
        return {member.pattern for _, member in self.members}

    @property
    def sparse(self) -> bool:
        size = self.volume * len(self.patterns)
        return size > max(SPARSE_SIZE, SPARSE_FACTOR * len(self.members))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands in a row."""

    groups: tuple[PlaneGroup, ...]
    flat: tuple[str, ...]
    sources: tuple[int, ...]
    """By element the number of the proposition that it shows, or -1."""

    def proposition(self, element: int) -> str:
        """The proposition that an element shows, whether or not it can ever hold."""
        flat_offset = len(self.sources) - len(self.flat)
        if element >= flat_offset:
            return self.flat[element - flat_offset]
        group = next(g for g in self.groups if element < g.offset + g.size)
        at = element - group.offset
        place: list[int] = []
        for length in reversed(group.shape):
            at, index = divmod(at, length)
            place.append(index)
        return group.proposition(at, place[::-1])


def lay_out(propositions: Sequence[str], indexed: Sequence[Indexed]) -> Layout:
    """Groups, channels and flat part of all propositions.

    Propositions that differ in their indices alone are a channel. Channels with their indices at
    the same places of the same relation share their planes' range; relations share a group where
    one's ranges lie within the other's and are at least half as wide, or too small for planes of
    their own. The order depends on names alone, not on that of the propositions.
    """
    families: dict[tuple[object, ...], _Family] = {}
    flat: list[int] = []
    for number, member in enumerate(indexed):
        if len(member.indices) < 2:
            flat.append(number)
            continue
        key = tuple((index.path, index.domain) for index in member.indices)
        families.setdefault(key, _Family()).members.append((number, member))
    together: list[list[_Family]] = []
    for family in sorted(
        families.values(), key=lambda f: (-f.volume, natural_order(min(f.patterns)))
    ):
        group = next((g for g in together if _fits(family, g[0])), None)
        if family.sparse or (group is None and family.volume == 1):
            flat += [number for number, _ in family.members]
        elif group is None:
            together.append([family])
        else:
            group.append(family)

    groups: list[PlaneGroup] = []
    sources: list[int] = []
    for group in together:
        made, elements = _make_group(len(sources), group)
        groups.append(made)
        sources += elements
    flat.sort(key=lambda number: natural_order(propositions[number]))
    return Layout(tuple(groups), tuple(propositions[number] for number in flat), (*sources, *flat))


def _fits(family: _Family, larger: _Family) -> bool:
    if family.domains != larger.domains:
        return False
    pairs = list(zip(family.ranges, larger.ranges, strict=True))
    inside = all(first <= low and high <= last for (low, high), (first, last) in pairs)
    alike = all(2 * (high - low + 1) >= last - first + 1 for (low, high), (first, last) in pairs)
    tiny = all(high - low < 2 for low, high in family.ranges)
    return inside and (alike or tiny)


def _make_group(offset: int, families: Sequence[_Family]) -> tuple[PlaneGroup, list[int]]:
    ranges = families[0].ranges
    members = [member for family in families for member in family.members]
    axes = tuple(
        _make_axis(low, high, [member.indices[a] for _, member in members])
        for a, (low, high) in enumerate(ranges)
    )
    patterns = {pattern for family in families for pattern in family.patterns}
    ordered = sorted(patterns, key=natural_order)
    channels = {pattern: number for number, pattern in enumerate(ordered)}
    made = PlaneGroup(offset, axes, tuple(ordered))
    elements = [-1] * made.size
    for fluent, member in members:
        at = channels[member.pattern]
        for axis, index in zip(axes, member.indices, strict=True):
            at = at * len(axis) + index.value - axis.first
        elements[at] = fluent
    return made, elements


def _make_axis(low: int, high: int, indices: Sequence[Index]) -> Axis:
    labels = [""] * (high - low + 1)
    for index in indices:
        labels[index.value - low] = index.symbol
    name = " ".join(f"{functor} {place + 1}" for functor, _, place in indices[0].path)
    return Axis(name, indices[0].domain, low, tuple(labels))


def natural_order(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sorts texts with the numbers in them by value: 2 before 10, and 7 apart from 007."""
    parts = [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in _NUMBER.split(text)
        if part
    ]
    return parts, text
