"""Pictures of encodings: every channel a small board, the flat part a strip with names.

Boards are drawn as in `games/board.py`: the first coordinate to the right, the second up. Planes
of more than two dimensions are cut into slices, one for each place on the leading axes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omnilude.encoding.indices import HOLE
from omnilude.encoding.layout import Axis, PlaneGroup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omnilude.encoding.encoding import Encoding

# Inches.
WIDTH, MARGIN, GAP = 12.0, 0.35, 0.3
CELL, MIN_SIDE, MAX_SIDE = 0.2, 0.9, 2.4
TITLE, TICKS, STRIP, BLOCK_LABEL = 0.3, 0.3, 0.28, 1.3
# Beyond these a picture would be too large to look at; it says what it leaves out.
MAX_PANELS = 96
MAX_NAMED = 120
STRIP_COLUMNS = 30
BLOCK_COLUMNS = 80
MAX_TICKS = 12

OFF, ON, NEVER = (0.95, 0.96, 0.98), (0.10, 0.29, 0.58), (0.80, 0.80, 0.80)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One picture: a plane, or a slice of one."""

    title: str
    values: NDArray[np.float32]  # [d1, d2]
    possible: NDArray[np.bool_]  # [d1, d2]
    axes: tuple[Axis, Axis]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture itself, in inches; cells are square."""
        longest = max(self.values.shape)
        cell = min(max(CELL * longest, MIN_SIDE), MAX_SIDE) / longest
        return cell * self.values.shape[0], cell * self.values.shape[1]


def draw_encoding(encoding: Encoding, states: NDArray[np.uint8], path: str | Path) -> None:
    """Writes a PNG of what a network sees of each of a few states."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = encoding.encode(states)
    # Twice: the first time only to find out how high the picture is.
    height = _Page(None, 0.0).draw(encoding, rows)
    figure = Figure(figsize=(WIDTH, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    _Page(figure, height).draw(encoding, rows)
    picture = io.BytesIO()
    # Most games leave a part of the width empty, which is cut off.
    figure.savefig(picture, format="png", bbox_inches="tight", pad_inches=MARGIN / 2)
    Path(path).write_bytes(picture.getvalue())  # nothing is begun that cannot be drawn


class _Page:
    """Places things from top to bottom; without a figure it only measures."""

    def __init__(self, figure: Figure | None, height: float) -> None:
        self.figure, self.height, self.y = figure, height, MARGIN

    def draw(self, encoding: Encoding, rows: NDArray[np.float32]) -> float:
        """All rows of an encoding; returns the height that they take."""
        possible = encoding.sources >= 0
        self.text(f"{encoding.game.name}: {repr(encoding)[len('<Encoding ') : -1]}", 12)
        self.legend()
        for number, row in enumerate(rows):
            if len(rows) > 1:
                self.text(f"state {number}", 11)
            for g, group in enumerate(encoding.groups):
                shape = " x ".join(map(str, group.shape))
                self.text(f"group {g}: {shape}, axes {', '.join(a.name for a in group.axes)}", 9)
                panels = list(_panels(group, row, possible))
                # The slices of a channel stand together.
                line = len(panels) // len(group.channels) if len(group.axes) > 2 else MAX_PANELS
                for first in range(0, min(len(panels), MAX_PANELS), line):
                    self.panels(panels[first : min(first + line, MAX_PANELS)])
                if len(panels) > MAX_PANELS:
                    self.text(f"... and {len(panels) - MAX_PANELS} more pictures", 9)
            if encoding.flat:
                self.text(f"flat: {len(encoding.flat)}", 9)
                at = slice(encoding.flat_offset, encoding.size)
                self.strips(row[at], possible[at], encoding.flat)
        return self.y + MARGIN / 2

    def text(self, text: str, size: float) -> None:
        if self.figure is not None:
            y = 1 - (self.y + TITLE / 2) / self.height
            self.figure.text(MARGIN / WIDTH, y, text, fontsize=size, va="center", weight="bold")
        self.y += TITLE + 0.05

    def legend(self) -> None:
        colours = (("holds", ON), ("does not hold", OFF), ("can never hold", NEVER))
        for number, (text, colour) in enumerate(colours):
            x = MARGIN + 1.4 * number
            axes = self.box(x, self.y, 0.16, 0.16)
            if axes is not None:
                axes.set_facecolor(colour)
                _bare(axes)
                axes.text(1.4, 0.45, text, transform=axes.transAxes, fontsize=8, va="center")
        self.y += TITLE

    def box(self, x: float, y: float, width: float, height: float) -> Axes | None:
        if self.figure is None:
            return None
        bottom = self.height - y - height
        area = (x / WIDTH, bottom / self.height, width / WIDTH, height / self.height)
        axes: Axes = self.figure.add_axes(area)
        return axes

    def panels(self, panels: Sequence[_Panel]) -> None:
        """Pictures side by side, in as many lines as they need."""
        x, line = MARGIN + TICKS, 0.0
        for panel in panels:
            width, height = panel.size
            # Long titles may be wider than small boards.
            room = max(width, 0.062 * len(panel.title)) + TICKS + GAP
            if line and x + room > WIDTH:
                self.y += line
                x, line = MARGIN + TICKS, 0.0
            axes = self.box(x, self.y + TITLE, width, height)
            if axes is not None:
                _draw_board(axes, panel)
            x += room
            line = max(line, TITLE + height + TICKS + 0.1)
        self.y += line

    def strips(
        self, values: NDArray[np.float32], possible: NDArray[np.bool_], names: Sequence[str]
    ) -> None:
        """The flat part with a name below each element, while that can be read."""
        if len(names) > MAX_NAMED:
            self.blocks(values, possible, names)
            return
        for first in range(0, len(names), STRIP_COLUMNS):
            part = slice(first, first + STRIP_COLUMNS)
            shown = names[part]
            width = (WIDTH - 2 * MARGIN) / STRIP_COLUMNS * len(shown)
            axes = self.box(MARGIN, self.y, width, STRIP)
            if axes is not None:
                axes.imshow(_colours(values[part], possible[part])[None], aspect="auto")
                _bare(axes)
                axes.set_xticks(range(len(shown)), shown, rotation=90, fontsize=7)
                _lines(axes, len(shown), 1)
            self.y += STRIP + 0.075 * max(map(len, shown)) + 0.2

    def blocks(
        self, values: NDArray[np.float32], possible: NDArray[np.bool_], names: Sequence[str]
    ) -> None:
        """A large flat part: a block for each relation, named at its left."""
        relations: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            relations.setdefault(_relation(name), []).append(number)
        side = (WIDTH - 2 * MARGIN - BLOCK_LABEL) / BLOCK_COLUMNS
        for relation, members in relations.items():
            lines = -(-len(members) // BLOCK_COLUMNS)
            columns = min(len(members), BLOCK_COLUMNS)
            colours = np.ones((lines * columns, 3))
            colours[: len(members)] = _colours(values[members], possible[members])
            axes = self.box(MARGIN + BLOCK_LABEL, self.y, side * columns, side * lines)
            if axes is not None:
                axes.imshow(colours.reshape(lines, columns, 3), aspect="auto")
                _bare(axes)
                _lines(axes, columns, lines)
                axes.set_yticks([0], [relation], fontsize=7)
            self.y += side * lines + 0.07


def _relation(proposition: str) -> str:
    """The relation of a proposition; of the language's own also what it is about."""
    words = proposition.replace("(", " ").replace(")", " ").split()
    return " ".join(words[: 2 if words[0] in ("true", "does", "legal", "goal") else 1])


def _panels(
    group: PlaneGroup, row: NDArray[np.float32], possible: NDArray[np.bool_]
) -> Iterator[_Panel]:
    part = slice(group.offset, group.offset + group.size)
    shape = (len(group.channels), *group.shape)
    values, can_be = row[part].reshape(shape), possible[part].reshape(shape)
    leading, (first, second) = group.axes[:-2], group.axes[-2:]
    for channel, name in enumerate(group.channels):
        for place in product(*(range(len(axis)) for axis in leading)):
            at = (channel, *place)
            title = name
            for axis, i in zip(leading, place, strict=True):
                title = title.replace(f" {HOLE}", f" {axis.labels[i]}", 1)
            yield _Panel(title, values[at], can_be[at], (first, second))


def _draw_board(axes: Axes, panel: _Panel) -> None:
    axes.imshow(
        _colours(panel.values, panel.possible).swapaxes(0, 1),
        origin="lower",
        interpolation="nearest",
        aspect="equal",
    )
    axes.set_title(panel.title, fontsize=8, loc="left", pad=4)
    _bare(axes)
    _lines(axes, *panel.values.shape)
    for setter, axis in zip((axes.set_xticks, axes.set_yticks), panel.axes, strict=True):
        places = range(0, len(axis), -(-len(axis) // MAX_TICKS))
        setter(places, [axis.labels[i] for i in places], fontsize=6)


def _colours(values: NDArray[np.float32], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[..., 3]: on, off, or never on."""
    colours = np.where(values[..., None] > 0, np.array(ON), np.array(OFF))
    return np.where(possible[..., None], colours, np.array(NEVER))


def _bare(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_color((0.6, 0.6, 0.65))
        spine.set_linewidth(0.6)


def _lines(axes: Axes, columns: int, rows: int) -> None:
    """Thin white lines between the cells."""
    for i in range(1, columns):
        axes.axvline(i - 0.5, color="white", linewidth=0.7)
    for i in range(1, rows):
        axes.axhline(i - 0.5, color="white", linewidth=0.7)
