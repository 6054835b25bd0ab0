"""`Encoding`: the layout of a row, and the core's encoder that fills it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.encoding.chains import Chain, find_chains
from omnilude.encoding.indices import IndexFinder, parse_term
from omnilude.encoding.layout import Layout, PlaneGroup, lay_out, natural_order
from omnilude.encoding.moves import MoveIndices, find_moves
from omnilude.errors import SettingsError, Unsupported
from omnilude.games import Game
from omnilude.games.loading import load_views

KINDS = ("planes", "propositions")


class Encoding:
    """What a network sees of a state: one row of `size` numbers, each 0 or 1. Immutable.

    All groups of planes come first, each laid out [channel, d1, ..., dn], then the flat part.
    """

    def __init__(
        self,
        kind: str,
        game: Game,
        layout: Layout,
        chains: Sequence[Chain],
        core: _core.Encoder,
    ) -> None:
        self.kind = kind
        """'planes' (base propositions; P3) or 'propositions' (all of them, flat; GAZ)."""
        self.game = game
        self._layout = layout
        self.groups: tuple[PlaneGroup, ...] = layout.groups
        self.flat: tuple[str, ...] = layout.flat
        """The propositions of the flat part."""
        self.size = len(layout.sources)
        """E: the length of a row."""
        self.flat_offset = self.size - len(self.flat)
        self.sources: NDArray[np.int32] = np.array(layout.sources, dtype=np.int32)
        """[E]: the fluent that each element shows (of kind 'propositions': the view), or -1 where
        it is always 0."""
        self.sources.flags.writeable = False
        self.chains = tuple(chains)
        """The orders that were found in the rules."""
        self.core = core

    def __deepcopy__(self, memo: object) -> Encoding:
        return self  # immutable: copies of a network share it

    @cached_property
    def moves(self) -> tuple[MoveIndices, ...]:
        """By player: where its moves live on the planes."""
        return find_moves(self.game, self.chains, self.groups)

    def encode(
        self, states: NDArray[np.uint8], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Rows [n, E] for states [n, bytes]; written into `out` where that is given."""
        if out is None:
            out = np.empty((len(states), self.size), dtype=np.float32)
        self.core.encode(states, out)
        return out

    def planes(self, rows: NDArray[np.float32], group: int) -> NDArray[np.float32]:
        """A view of one group in rows [n, E]: [n, channels, d1, ..., dn]."""
        of = self.groups[group]
        part = rows[:, of.offset : of.offset + of.size]
        return part.reshape(len(rows), len(of.channels), *of.shape)

    def proposition(self, element: int) -> str:
        """The proposition that an element of a row shows, whether or not it can ever hold."""
        return self._layout.proposition(element)

    def read(self, row: NDArray[np.float32]) -> list[str]:
        """The propositions that hold in a row [E], sorted: what a network is told, in words."""
        return sorted(self.proposition(int(element)) for element in np.flatnonzero(row))

    def to_json(self) -> dict[str, Any]:
        """The whole layout; two encodings with the same are interchangeable."""
        return {
            "kind": self.kind,
            "size": self.size,
            "groups": [
                {
                    "offset": group.offset,
                    "shape": list(group.shape),
                    "axes": [{"name": a.name, "labels": list(a.labels)} for a in group.axes],
                    "channels": list(group.channels),
                }
                for group in self.groups
            ],
            "flat_offset": self.flat_offset,
            "flat": list(self.flat),
        }

    @cached_property
    def fingerprint(self) -> str:
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        shapes = [f"{len(g.channels)} of {_times(g.shape)}" for g in self.groups]
        return f"<Encoding {self.kind}: {', '.join([*shapes, f'{len(self.flat)} flat'])}>"

    def __str__(self) -> str:
        return self.describe()

    def describe(self, longest: int = 12) -> str:
        """Shapes, axes, channels and flat part, for people; lists are cut after `longest`."""
        lines = [f"{self.game.name}: {self.kind}, {self.size} numbers a state"]
        for number, group in enumerate(self.groups):
            count = len(group.channels)
            of = f"{_times(group.shape)} x {count} channel{'s' * (count != 1)}"
            lines.append(f"group {number}: {of}, from {group.offset}")
            lines += [
                f"  axis {a}: {axis.name}: {_cut(axis.labels, longest)}"
                for a, axis in enumerate(group.axes)
            ]
            names = group.channels[:longest]
            lines += [f"  channel {c}: {name}" for c, name in enumerate(names)]
            if count > longest:
                lines.append(f"  ... {count - longest} more channels")
        lines.append(f"flat: {len(self.flat)}, from {self.flat_offset}")
        if self.flat:
            lines.append(f"  {_cut(self.flat, longest)}")
        return "\n".join(lines)

    def draw(self, states: NDArray[np.uint8], path: str | Path) -> None:
        """Writes a PNG of what a network sees of each state."""
        from omnilude.encoding.drawing import draw_encoding

        draw_encoding(self, states, path)


def check_encodable(game: Game) -> None:
    """Refuses games whose states have no encoding, and says why."""
    if game.ludemes is not None:
        raise Unsupported(
            f"{game.name} is described by ludemes, for which there is no encoding yet: it can be "
            "played and matched, but not trained",
            file=game.file,
        )
    if not isinstance(game.core, _core.CircuitGame) or game.program is None:
        raise Unsupported(
            f"{game.name} is played by the interpreter, which does not know all of its "
            "propositions, so its states have no encoding",
            file=game.file,
            hint="raise the budgets in LoadSettings so that it becomes a circuit",
        )


def make_encoding(game: Game, kind: str = "planes") -> Encoding:
    """The encoding of a game: 'planes' as in P3, or 'propositions' as in GAZ."""
    if kind not in KINDS:
        raise SettingsError(f"an encoding is one of {', '.join(KINDS)}, not {kind!r}")
    check_encodable(game)
    assert isinstance(game.core, _core.CircuitGame)
    assert game.program is not None
    chains = find_chains(game.program.rules, game.program.roles)
    views = load_views(game) if kind == "propositions" else None
    layout = _lay_out_views(game, views) if views else _lay_out_planes(game.core.fluents, chains)
    sources = np.array(layout.sources, dtype=np.int32)
    core = _core.Encoder(views or game.core, sources, views is not None)
    return Encoding(kind, game, layout, chains, core)


def _lay_out_planes(fluents: Sequence[str], chains: Sequence[Chain]) -> Layout:
    terms = [parse_term(fluent) for fluent in fluents]
    finder = IndexFinder(terms, chains)
    return lay_out(fluents, [finder.index(term) for term in terms])


def _lay_out_views(game: Game, views: _core.CircuitGame) -> Layout:
    """GAZ: all propositions. Moves are among them, though none is being made in a state."""
    names = {name: bit for bit, name in enumerate(views.view_names)}
    for number, role in enumerate(game.roles):
        for slot in range(game.slots(number)):
            names[f"(does {role} {game.core.move_name(number, slot)})"] = -1
    flat = tuple(sorted(names, key=natural_order))
    return Layout((), flat, tuple(names[name] for name in flat))


def _times(shape: Iterable[int]) -> str:
    return " x ".join(map(str, shape))


def _cut(names: Sequence[str], longest: int) -> str:
    shown = [name or "-" for name in names]
    if len(shown) > longest:
        shown[longest - 1 : -1] = ["..."]
    return ", ".join(shown)
