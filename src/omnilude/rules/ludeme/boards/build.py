"""From the clauses of a description to the graph of its board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos as cosine
from math import exp, log, log10, sqrt
from math import sin as sine
from math import tan as tangent

import numpy as np

from omnilude.rules.ludeme.arguments import Arguments, describe, items_of, unsupported
from omnilude.rules.ludeme.boards import lattices, operators, rings, tilings
from omnilude.rules.ludeme.boards.graph import Graph, Vertex
from omnilude.rules.ludeme.boards.polygon import (
    Pair,
    Polygon,
    repeat_by_turning,
)
from omnilude.rules.ludeme.tree import Array, Clause, Node, Number

SHAPES = ("Hexagon", "Triangle", "Diamond", "Prism", "Star", "Limping", "Square", "Rectangle")
MAX_SIZE = 200
"""Of a board, along a side."""


class GraphBuilder:
    """Builds graphs for boards that are played on cells, vertices or edges."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.cells = kind == "Cell"
        self._makers: dict[str, Callable[[Arguments], Graph]] = {
            "square": self._square,
            "rectangle": self._rectangle,
            "hex": self._hex,
            "tri": self._tri,
            "concentric": self._concentric,
            "wedge": self._wedge,
            "regular": self._regular,
            "spiral": self._spiral,
            "repeat": self._repeat,
            "tiling": self._tiling,
            "brick": self._brick,
            "graph": self._graph,
            "shift": self._shift,
            "scale": self._scale,
            "rotate": self._rotate,
            "skew": self._skew,
            "merge": self._merge,
            "union": self._union,
            "intersect": self._intersect,
            "keep": self._keep,
            "clip": self._clip,
            "hole": self._hole,
            "remove": self._remove,
            "add": self._add,
            "splitCrossings": self._split_crossings,
            "makeFaces": self._make_faces,
            "dual": self._dual,
            "subdivide": self._subdivide,
            "complete": self._complete,
            "trim": self._trim,
            "renumber": self._renumber,
            "recoordinate": self._same,
            "layers": self._layers,
        }

    def build(self, node: Node) -> Graph:
        if not isinstance(node, Clause):
            raise node.place.error(f"a board cannot be made of {describe(node)}")
        maker = self._makers.get(node.keyword)
        if maker is None:
            raise unsupported(f"the board ({node.keyword} …)", node.place)
        arguments = Arguments(node)
        try:
            graph = maker(arguments)
        except OverflowError as error:
            raise node.place.error(str(error)) from error
        arguments.finish()
        return graph

    # --- numbers ---

    def size(self, node: Node) -> int:
        value = whole(node)
        if not 0 <= value <= MAX_SIZE:
            raise node.place.error(f"a board's size must be from 0 to {MAX_SIZE}, not {value}")
        return value

    def _sizes(self, arguments: Arguments) -> list[int]:
        return [self.size(node) for node in arguments.take_rest()]

    def _shape(self, arguments: Arguments) -> Polygon | list[int] | None:
        """A polygon, or the lengths of sides."""
        clause = arguments.take_clause("poly")
        if clause:
            return read_polygon(clause)
        array = arguments.take_if(lambda node: isinstance(node, Array))
        return [whole(item) for item in items_of(array)] if array else None

    # --- lattices ---

    def _square(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol("Square", "Limping", "Diamond") or "Square"
        diagonals = self._diagonals(arguments)
        pyramidal = arguments.take_flag("pyramidal")
        shape = self._shape(arguments)
        if isinstance(shape, Polygon):
            return lattices.make_square_shape(shape, diagonals=diagonals)
        if shape is not None:
            return lattices.make_square_sides(shape, diagonals=diagonals)
        size = self.size(arguments.take())
        if name == "Diamond":
            return lattices.make_square_diamond(size, diagonals=diagonals)
        columns = size + 1 if name == "Limping" else size
        return lattices.make_rectangle(
            size, columns, cells=self.cells, diagonals=diagonals, pyramidal=pyramidal
        )

    def _rectangle(self, arguments: Arguments) -> Graph:
        diagonals = self._diagonals(arguments)
        sizes = self._sizes(arguments)
        if len(sizes) not in (1, 2):
            raise arguments.error("one or two sizes are needed")
        return lattices.make_rectangle(sizes[0], sizes[-1], cells=self.cells, diagonals=diagonals)

    def _diagonals(self, arguments: Arguments) -> str:
        node = arguments.take_label("diagonals")
        if node is None:
            return "Implied"
        name = describe(node)
        if name not in lattices.DIAGONALS:
            raise node.place.error(f"diagonals: must be one of {', '.join(lattices.DIAGONALS)}")
        return name

    def _hex(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol(*SHAPES) or "Hexagon"
        shape = self._shape(arguments)
        if isinstance(shape, Polygon):
            return lattices.make_hex_polygon(shape)
        if shape is not None:
            return lattices.make_hex_sides(shape)
        sizes = self._sizes(arguments)
        a, b = self._two(arguments, sizes)
        if name == "Hexagon":
            return lattices.make_hex_sides(sizes) if len(sizes) > 1 else lattices.make_hexagon(a)
        if name == "Limping":
            return lattices.make_hex_sides([a, a + 1])
        if name == "Square":
            return lattices.make_hex_shape("Rectangle", a, a)
        return lattices.make_hex_shape(name, a, b)

    def _tri(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol(*SHAPES) or "Triangle"
        shape = self._shape(arguments)
        if isinstance(shape, Polygon):
            return lattices.make_tri_polygon(shape)
        if shape is not None:
            return lattices.make_tri_sides(shape)
        a, b = self._two(arguments, self._sizes(arguments))
        if name == "Hexagon":
            return lattices.make_tri_hexagon(a, cells=self.cells)
        if name == "Limping":
            return lattices.make_tri_sides([a, a + 1])
        if name == "Square":
            name, b = "Rectangle", a
        return lattices.make_tri_shape(name, a, b, cells=self.cells)

    def _two(self, arguments: Arguments, sizes: list[int]) -> tuple[int, int]:
        if len(sizes) not in (1, 2):
            raise arguments.error("one or two sizes are needed")
        return sizes[0], sizes[-1]

    # --- rings ---

    def _concentric(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol("Square", "Triangle", "Hexagon", "Target")
        sides_given = arguments.take_label("sides")
        rings_given = arguments.take_label("rings")
        steps_given = arguments.take_label("steps")
        midpoints = arguments.take_flag("midpoints", True)
        join_midpoints = arguments.take_flag("joinMidpoints", True)
        join_corners = arguments.take_flag("joinCorners", False)
        stagger = arguments.take_flag("stagger", False)
        counts = arguments.take_if(lambda node: isinstance(node, Array))
        if counts is not None:
            numbers = [whole(item) for item in items_of(counts)]
            return rings.make_circle(numbers, cells=self.cells, stagger=stagger)
        if rings_given is None:
            raise arguments.error("rings: is missing")
        count = self.size(rings_given)
        if name == "Target":
            if steps_given is not None:
                steps = [self.size(steps_given)] * count
                return rings.make_circle(steps, cells=self.cells)
            if not self.cells:
                raise arguments.error("a target has cells only")
            return rings.make_target(count)
        named = {"Triangle": 3, "Square": 4, "Hexagon": 6}
        sides = named[name] if name else self.size(sides_given) if sides_given else 0
        if sides < 3:
            raise arguments.error("a shape or at least three sides are needed")
        return rings.make_regular_rings(
            sides,
            count,
            cells=self.cells,
            midpoints=midpoints,
            join_midpoints=join_midpoints,
            join_corners=join_corners,
        )

    def _wedge(self, arguments: Arguments) -> Graph:
        sizes = self._sizes(arguments)
        if len(sizes) not in (1, 2) or sizes[1:] == [1]:
            raise arguments.error("rows, and two columns or more, are needed")
        return rings.make_wedge(*sizes)

    def _regular(self, arguments: Arguments) -> Graph:
        star = arguments.take_symbol("Star") is not None
        return rings.make_regular(self.size(arguments.take()), cells=self.cells, star=star)

    def _spiral(self, arguments: Arguments) -> Graph:
        turns, sites = arguments.take_label("turns"), arguments.take_label("sites")
        if turns is None or sites is None:
            raise arguments.error("turns: and sites: are needed")
        clockwise = arguments.take_flag("clockwise", True)
        return rings.make_spiral(self.size(turns), whole(sites), clockwise=clockwise)

    def _repeat(self, arguments: Arguments) -> Graph:
        rows, columns = self.size(arguments.take()), self.size(arguments.take())
        step = arguments.take_label("step")
        steps: list[Pair] = [(1.0, 0.0), (0.0, 1.0)]
        if step is not None:
            steps = [read_pair(item) for item in items_of(step)]
        shapes = [read_polygon(item).points for item in items_of(arguments.take())]
        return rings.make_repeated(rows, columns, steps[0], steps[1], shapes)

    def _tiling(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol()
        if name is None or name not in tilings.TILINGS:
            raise unsupported(f"the tiling {name}", arguments.place)
        return tilings.make_tiling(name, self._sizes(arguments))

    def _brick(self, arguments: Arguments) -> Graph:
        name = arguments.take_symbol() or "Square"
        trim = arguments.take_flag("trim")
        sizes = self._sizes(arguments)
        a, b = self._two(arguments, sizes)
        if name not in tilings.BRICKS:
            raise unsupported(f"the brick board {name}", arguments.place)
        return tilings.make_bricks(name, a, b, trim=trim)

    def _graph(self, arguments: Arguments) -> Graph:
        vertices, edges = arguments.take_label("vertices"), arguments.take_label("edges")
        if vertices is None:
            raise arguments.error("vertices: is missing")
        graph = Graph()
        for item in items_of(vertices):
            graph.add_vertex(*read_point(item))
        for item in items_of(edges) if edges is not None else ():
            a, b = (whole(end) for end in items_of(item))
            if max(a, b) < len(graph.vertices):
                graph.find_or_add_edge(graph.vertices[a], graph.vertices[b])
        graph.assemble()
        return graph

    # --- operators ---

    def _shift(self, arguments: Arguments) -> Graph:
        *amounts, graph = arguments.take_rest()
        numbers = [real(node) for node in amounts]
        if len(numbers) not in (2, 3):
            raise arguments.error("two or three numbers and a board are needed")
        return operators.shift(self.build(graph), *numbers)

    def _scale(self, arguments: Arguments) -> Graph:
        *amounts, graph = arguments.take_rest()
        numbers = [real(node) for node in amounts]
        if len(numbers) not in (1, 2, 3):
            raise arguments.error("one to three numbers and a board are needed")
        if len(numbers) == 1:
            numbers *= 2
        return operators.scale(self.build(graph), *numbers)

    def _rotate(self, arguments: Arguments) -> Graph:
        degrees = real(arguments.take())
        return operators.rotate(self.build(arguments.take()), degrees)

    def _skew(self, arguments: Arguments) -> Graph:
        amount = real(arguments.take())
        return operators.skew(self.build(arguments.take()), amount)

    def _graphs(self, arguments: Arguments) -> list[Graph]:
        graphs = [self.build(item) for node in arguments.take_rest() for item in items_of(node)]
        if not graphs:
            raise arguments.error("a board is missing")
        return graphs

    def _merge(self, arguments: Arguments) -> Graph:
        connect = arguments.take_flag("connect")
        return operators.merge(self._graphs(arguments), connect=connect)

    def _union(self, arguments: Arguments) -> Graph:
        connect = arguments.take_flag("connect")
        return operators.union(self._graphs(arguments), connect=connect)

    def _intersect(self, arguments: Arguments) -> Graph:
        return operators.intersect(self._graphs(arguments))

    def _with_polygon(self, arguments: Arguments) -> tuple[Graph, Polygon]:
        graph = self.build(arguments.take())
        clause = arguments.take_clause("poly")
        if clause is None:
            raise arguments.error("a polygon is missing", "write (poly {{0 0} {0 3} {3 0}})")
        return graph, read_polygon(clause)

    def _keep(self, arguments: Arguments) -> Graph:
        return operators.keep(*self._with_polygon(arguments))

    def _clip(self, arguments: Arguments) -> Graph:
        return operators.keep(*self._with_polygon(arguments), inside=False)

    def _hole(self, arguments: Arguments) -> Graph:
        return operators.hole(*self._with_polygon(arguments))

    def _remove(self, arguments: Arguments) -> Graph:
        graph = self.build(arguments.take())
        trim = arguments.take_flag("trimEdges", True)
        clause = arguments.take_clause("poly")
        if clause:
            operators.remove_inside(graph, read_polygon(clause))
        # Cells go first, then edges, then vertices.
        cells = arguments.take_label("cells")
        if cells is not None:
            if depth(cells) == 1:
                numbers = [whole(item) for item in items_of(cells)]
                operators.remove_numbers(graph, cells=numbers, trim=trim)
            else:
                places = [[read_pair(p) for p in items_of(item)] for item in items_of(cells)]
                operators.remove_places(graph, cells=places, trim=trim)
        edges = arguments.take_label("edges")
        if edges is not None:
            if depth(edges) == 2:
                pairs = [tuple(whole(end) for end in items_of(item)) for item in items_of(edges)]
                operators.remove_numbers(graph, edges=[(a, b) for a, b in pairs])
            else:
                ends = [[read_pair(p) for p in items_of(item)] for item in items_of(edges)]
                operators.remove_places(graph, edges=[(a, b) for a, b in ends])
        vertices = arguments.take_label("vertices")
        if vertices is not None:
            if depth(vertices) == 1:
                numbers = [whole(item) for item in items_of(vertices)]
                operators.remove_numbers(graph, vertices=numbers)
            else:
                operators.remove_places(graph, vertices=[read_pair(p) for p in items_of(vertices)])
        return graph

    def _add(self, arguments: Arguments) -> Graph:
        node = arguments.take_if(lambda node: isinstance(node, Clause))
        graph = self.build(node) if node else Graph()
        graph.regular = False
        curved = arguments.take_label("edgesCurved")
        for item in items_of(curved) if curved is not None else ():
            points = items_of(item)
            if len(points) == 4:
                a, b = (graph.find_or_add_vertex(*read_point(p)) for p in points[:2])
                graph.add_edge(a, b, curved=True)
        added: list[Vertex] = []
        vertices = arguments.take_label("vertices")
        for item in items_of(vertices) if vertices is not None else ():
            point = read_point(item)
            if graph.find_vertex(*point) is None:
                added.append(graph.add_vertex(*point))
        edges, cells = arguments.take_label("edges"), arguments.take_label("cells")
        self._add_places(graph, edges, cells)
        self._add_numbers(graph, edges, cells)
        if arguments.take_flag("connect"):
            graph.connect((a, b) for a in added for b in graph.vertices)
        return graph

    def _add_places(self, graph: Graph, edges: Node | None, cells: Node | None) -> None:
        if edges is not None and depth(edges) == 3:
            for item in items_of(edges):
                a, b = (graph.find_or_add_vertex(*read_point(p)) for p in items_of(item))
                graph.find_or_add_edge(a, b)
        if cells is not None and depth(cells) == 3:
            for item in items_of(cells):
                corners = [graph.find_or_add_vertex(*read_point(p)) for p in items_of(item)]
                for n, corner in enumerate(corners):
                    graph.find_or_add_edge(corner, corners[(n + 1) % len(corners)])
                graph.find_or_add_face(corners)

    def _add_numbers(self, graph: Graph, edges: Node | None, cells: Node | None) -> None:
        if edges is not None and depth(edges) == 2:
            for item in items_of(edges):
                a, b = (whole(end) for end in items_of(item))
                if max(a, b) < len(graph.vertices):
                    graph.find_or_add_edge(graph.vertices[a], graph.vertices[b])
        if cells is not None and depth(cells) == 2:
            for item in items_of(cells):
                numbers = [whole(corner) for corner in items_of(item)]
                if len(numbers) >= 3 and max(numbers) < len(graph.vertices):
                    graph.find_or_add_face([graph.vertices[n] for n in numbers])

    def _split_crossings(self, arguments: Arguments) -> Graph:
        return operators.split_crossings(self.build(arguments.take()))

    def _make_faces(self, arguments: Arguments) -> Graph:
        graph = self.build(arguments.take())
        graph.make_faces(check=True)
        return graph

    def _dual(self, arguments: Arguments) -> Graph:
        return operators.dual(self.build(arguments.take()))

    def _subdivide(self, arguments: Arguments) -> Graph:
        least = arguments.take_label("min")
        graph = self.build(arguments.take())
        return operators.subdivide(graph, self.kind, whole(least) if least else 1)

    def _complete(self, arguments: Arguments) -> Graph:
        each = arguments.take_flag("eachCell")
        return operators.complete(self.build(arguments.take()), each_cell=each)

    def _trim(self, arguments: Arguments) -> Graph:
        graph = self.build(arguments.take())
        graph.trim()
        return graph

    def _renumber(self, arguments: Arguments) -> Graph:
        kinds = []
        while name := arguments.take_symbol("Vertex", "Edge", "Cell"):
            kinds.append(name)
        graph = self.build(arguments.take())
        graph.reorder(kinds or ("Vertex", "Edge", "Cell"))
        return graph

    def _same(self, arguments: Arguments) -> Graph:
        while arguments.take_symbol("Vertex", "Edge", "Cell"):
            pass
        return self.build(arguments.take())

    def _layers(self, arguments: Arguments) -> Graph:
        count = self.size(arguments.take())
        node = arguments.take()
        if count < 1:
            raise arguments.error("at least one layer is needed")
        return operators.stack_layers([self.build(node) for _ in range(count)])


# --- numbers in the clauses of boards ---


def whole(node: Node) -> int:
    """A whole number, or arithmetic of such."""
    if isinstance(node, Number) and node.whole:
        return int(node.value)
    if isinstance(node, Clause):
        values = [whole(item) for one in node.items for item in items_of(one)]
        found = _calculate(node.keyword, values)
        if found is not None:
            return found
    raise node.place.error(f"a whole number is needed, not {describe(node)}")


def _calculate(name: str, values: Sequence[int]) -> int | None:
    if name == "+":
        return sum(values)
    if name == "*":
        product = 1
        for value in values:
            product *= value
        return product
    if name == "abs" and len(values) == 1:
        return abs(values[0])
    if len(values) != 2:
        return None
    a, b = values
    if name == "/" and b:
        return int(a / b)
    if name == "^" and 0 <= b < 64:
        return int(a**b)
    return {"-": a - b, "max": max(a, b), "min": min(a, b)}.get(name)


def real(node: Node) -> float:
    """A number of 32 bits, or arithmetic of such."""
    if isinstance(node, Number):
        return float(np.float32(node.value))
    if isinstance(node, Clause):
        values = [real(item) for one in node.items for item in items_of(one)]
        try:
            found = _calculate_real(node.keyword, values)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise node.place.error(f"this cannot be calculated: {error}") from error
        if found is not None:
            return float(np.float32(found))
    raise node.place.error(f"a number is needed, not {describe(node)}")


def _calculate_real(name: str, values: Sequence[float]) -> float | None:
    single: dict[str, Callable[[float], float]] = {
        "sqrt": sqrt,
        "sin": sine,
        "cos": cosine,
        "tan": tangent,
        "exp": exp,
        "log": log,
        "log10": log10,
        "abs": abs,
        "toFloat": float,
    }
    if len(values) == 1 and name in single:
        return single[name](values[0])
    if name in ("+", "*", "max", "min") and values:
        result = np.float32(values[0])
        for value in values[1:]:
            other = np.float32(value)
            result = {
                "+": result + other,
                "*": result * other,
                "max": max(result, other),
                "min": min(result, other),
            }[name]
        return float(result)
    if len(values) != 2:
        return None
    a, b = values
    if name == "-":
        return float(np.float32(a) - np.float32(b))
    if name == "/":
        return a / b
    return float(a**b) if name == "^" else None


def depth(node: Node) -> int:
    """How deeply arrays are nested."""
    if not isinstance(node, Array):
        return 0
    return 1 + max((depth(item) for item in node.items), default=0)


def read_pair(node: Node) -> Pair:
    x, y, _ = read_point(node)
    return x, y


def read_point(node: Node) -> tuple[float, float, float]:
    numbers = [real(item) for item in items_of(node)]
    if len(numbers) not in (2, 3):
        raise node.place.error("a place needs two or three numbers", "write {1.5 2}")
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0


def read_polygon(node: Node) -> Polygon:
    if not isinstance(node, Clause) or node.keyword != "poly":
        raise node.place.error(f"a polygon is needed, not {describe(node)}")
    arguments = Arguments(node)
    turns = arguments.take_label("rotns")
    corners = items_of(arguments.take())
    if any(isinstance(part, Clause) for corner in corners for part in items_of(corner)):
        # With a calculation among them they are whole numbers, also where something is divided.
        if any(len(items_of(corner)) != 2 for corner in corners):
            raise node.place.error("the corners of a polygon need two numbers each")
        points = [(float(whole(x)), float(whole(y))) for x, y in map(items_of, corners)]
    else:
        points = [read_pair(corner) for corner in corners]
    arguments.finish()
    return repeat_by_turning(points, whole(turns)) if turns else Polygon(tuple(points))
