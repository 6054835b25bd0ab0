"""Pictures of states of boards of any shape, as text and as SVG, from the coordinates of sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

from omnilude.rules.ludeme.boards.graph import Edge, Face, Vertex
from omnilude.rules.ludeme.compiler.context import GameContext

KINDS = ("Vertex", "Edge", "Cell")
COLOURS = ("#f4f1e8", "#2b2b2b", "#c8452f", "#2f6fc8", "#3b9b54", "#c89b2f", "#7d4bb3", "#3fa7a7")
"""Of pieces by owner, from player 1 on."""
NEUTRAL = "#9a9a9a"
BOARD, LINE, GROUND = "#d9b77c", "#5b4526", "#efe3cc"
UNIT = 60.0
"""Width of a step in pixels."""


At = Callable[[float, float], tuple[float, float]]
"""Turns coordinates of the board into those of the picture."""


class Piece(NamedTuple):
    """One level of one site, as the core lists it."""

    kind: int
    site: int
    level: int
    who: int
    what: int
    number: int  # how many of them
    state: int
    rotation: int
    value: int


class Picture:
    """Draws states of one game."""

    def __init__(self, game: GameContext) -> None:
        self.game = game
        graph = game.topology.graph
        used = [kind for kind in KINDS if kind in game.wants.kinds or kind == game.kind]
        self._places: dict[tuple[int, int], tuple[float, float]] = {}
        for kind in used:
            for element in graph.elements(kind):
                x, y, z = element.point
                # What lies higher is drawn a little to the upper right.
                place = (x + 0.3 * z, y + 0.3 * z)
                self._places[KINDS.index(kind), element.number] = place
        self._step = _least_distance(list(self._places.values()))
        self._signs = _signs(game)
        self._add_hands()

    def _add_hands(self) -> None:
        """Hands and dice in rows below the board."""
        board = list(self._places.values()) or [(0.0, 0.0)]
        left, bottom = min(x for x, _ in board), min(y for _, y in board)
        self._boxes: list[tuple[str, float, float]] = []
        for number, box in enumerate(self.game.containers[1:], start=1):
            y = bottom - (1 + number) * self._step
            self._boxes.append((box.name, left, y))
            for n in range(box.sites):
                self._places[2, box.first_site + n] = (left + (n + 2) * self._step, y)

    # --- text ---

    def text(self, pieces: Iterable[Sequence[int]]) -> str:
        """Signs where the sites are; stacks and piles are listed below."""
        by_place: dict[tuple[int, int], list[Piece]] = {}
        for piece in (Piece(*one) for one in pieces):
            by_place.setdefault((piece.kind, piece.site), []).append(piece)
        board = KINDS.index(self.game.kind)
        canvas: dict[tuple[int, int], str] = {}
        xs = _ranks(x for (_, _), (x, _) in self._places.items())
        ys = _ranks(y for (_, _), (_, y) in self._places.items())
        wide = 2 if len(xs) * 2 <= 120 else 1
        hands = self.game.container_of
        for key, (x, y) in self._places.items():
            found = by_place.get(key)
            beside = key[0] == 2 and key[1] < len(hands) and hands[key[1]] > 0
            if not found and (key[0] != board or beside):
                continue
            sign = self._signs[found[-1].what] if found else "."
            canvas[ys[_rank(y)], xs[_rank(x)] * wide] = sign
        rows = []
        for row in range(max((r for r, _ in canvas), default=-1), -1, -1):
            columns = {c: sign for (r, c), sign in canvas.items() if r == row}
            if columns:
                rows.append("".join(columns.get(c, " ") for c in range(max(columns) + 1)))
        return "\n".join([*rows, *self._notes(by_place)])

    def _notes(self, by_place: dict[tuple[int, int], list[Piece]]) -> list[str]:
        notes = []
        for (kind, site), found in sorted(by_place.items()):
            top = found[-1]
            if len(found) == 1 and top.number == 1 and not top.state and not top.value:
                continue
            stack = "".join(self._signs[piece.what] for piece in found)
            extra = f" x{top.number}" if top.number > 1 else ""
            extra += f" state {top.state}" if top.state else ""
            extra += f" value {top.value}" if top.value else ""
            notes.append(f"{self._name(kind, site)}: {stack}{extra}")
        return notes

    def _name(self, kind: int, site: int) -> str:
        labels = self.game.measures[KINDS[kind]].labels
        if site < len(labels) and labels[site]:
            return labels[site]
        box = self.game.container_of[site] if site < len(self.game.container_of) else 0
        return self.game.containers[box].name if box else str(site)

    # --- SVG ---

    def svg(self, pieces: Iterable[Sequence[int]]) -> str:
        """The board with its pieces; piles show their number, stacks their levels."""
        scale = UNIT / self._step
        points = list(self._places.values()) + [
            (v.point[0], v.point[1]) for v in self.game.topology.graph.elements("Vertex")
        ]
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        bottom, top = min(y for _, y in points), max(y for _, y in points)
        margin = UNIT

        def at(x: float, y: float) -> tuple[float, float]:
            return (x - left) * scale + margin, (top - y) * scale + margin

        width, height = (right - left) * scale + 2 * margin, (top - bottom) * scale + 2 * margin
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif">',
            f'<rect width="100%" height="100%" fill="{GROUND}"/>',
        ]
        parts += self._draw_board(at)
        for name, x, y in self._boxes:
            px, py = at(x, y)
            parts.append(
                f'<text x="{px:.1f}" y="{py + 5:.1f}" font-size="14">{escape(name)}</text>'
            )
        for piece in (Piece(*one) for one in pieces):
            place = self._places.get((piece.kind, piece.site))
            if place is not None:
                parts += self._draw_piece(piece, *at(*place))
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _draw_board(self, at: At) -> list[str]:
        graph, parts = self.game.topology.graph, []
        for face in graph.elements("Cell"):
            if isinstance(face, Face):
                corners = [at(v.point[0], v.point[1]) for v in face.vertices]
                listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
                parts.append(
                    f'<polygon points="{listed}" fill="{BOARD}" stroke="{LINE}" stroke-width="1"/>'
                )
        for edge in graph.elements("Edge"):
            if isinstance(edge, Edge):
                (ax, ay), (bx, by) = (at(v.point[0], v.point[1]) for v in (edge.a, edge.b))
                parts.append(
                    f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" '
                    f'stroke="{LINE}" stroke-width="2"/>'
                )
        if self.game.kind == "Vertex":
            for vertex in graph.elements("Vertex"):
                if isinstance(vertex, Vertex):
                    x, y = at(vertex.point[0], vertex.point[1])
                    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{LINE}"/>')
        return parts

    def _draw_piece(self, piece: Piece, x: float, y: float) -> list[str]:
        radius = UNIT * 0.32
        y -= piece.level * radius * 0.35
        players = self.game.players
        owned = 1 <= piece.who <= players
        fill = COLOURS[(piece.who - 1) % len(COLOURS)] if owned else NEUTRAL
        ink = "#ffffff" if owned and piece.who == 2 else "#1b1b1b"
        text = self._signs[piece.what].upper() if self._several_pieces else ""
        if piece.number > 1:
            text += str(piece.number)
        drawn = [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" '
            f'stroke="#1b1b1b" stroke-width="1.5"/>'
        ]
        if text:
            drawn.append(
                f'<text x="{x:.1f}" y="{y + 6:.1f}" font-size="17" text-anchor="middle" '
                f'fill="{ink}">{escape(text)}</text>'
            )
        return drawn

    @property
    def _several_pieces(self) -> bool:
        return len({one.plain for one in self.game.components[1:]}) > 1


def _rank(value: float) -> int:
    return round(value * 100)


def _ranks(values: Iterable[float]) -> dict[int, int]:
    """The order of coordinates that differ by more than a hundredth."""
    return {key: rank for rank, key in enumerate(sorted({_rank(value) for value in values}))}


def _least_distance(points: list[tuple[float, float]]) -> float:
    least = float("inf")
    for n, (ax, ay) in enumerate(points[:200]):
        for bx, by in points[n + 1 : 400]:
            distance = ((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5
            if distance > 1e-3:
                least = min(least, distance)
    return least if least < float("inf") else 1.0


def _signs(game: GameContext) -> list[str]:
    """One sign for each component: capitals for player 1, small letters for player 2, figures or
    other letters where there are more players or names that begin alike."""
    names = list(dict.fromkeys(one.plain for one in game.components[1:]))
    letters: dict[str, str] = {}
    for name in names:
        choices = [letter for letter in name.upper() if letter.isalnum()] + list("ABCDEFGHIJKLMNOP")
        letters[name] = next((c for c in choices if c not in letters.values()), "?")
    signs = ["?"]  # what is hidden
    single = len(names) <= 2
    for one in game.components[1:]:
        if game.players > 2 and single and 1 <= one.owner <= game.players:
            signs.append(str(one.owner % 10))
        elif one.owner == 2:
            signs.append("O" if len(names) == 1 else letters[one.plain].lower())
        elif one.owner == 1:
            signs.append("X" if len(names) == 1 else letters[one.plain])
        else:
            signs.append("o" if len(names) == 1 else letters[one.plain])
    return signs
