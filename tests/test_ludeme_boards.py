"""Boards of ludemic games: numbers of sites, neighbours, rays, regions and labels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude.errors import RulesError, Unsupported
from omnilude.rules.ludeme.boards.build import GraphBuilder
from omnilude.rules.ludeme.boards.directions import DIRECTIONS, FIRST_SPECIFIC, INDEX, name_angle
from omnilude.rules.ludeme.boards.graph import Graph, signed_area
from omnilude.rules.ludeme.boards.measures import Measures, measure
from omnilude.rules.ludeme.boards.topology import Topology, bend
from omnilude.rules.ludeme.source import read_source
from omnilude.rules.ludeme.tokens import tokenize
from omnilude.rules.ludeme.tree import parse
from reference.rays import make_rays


def build(text: str, kind: str = "Cell") -> Graph:
    (node,) = parse(tokenize(read_source(text, "board.lud")))
    return GraphBuilder(kind).build(node)


def counts(text: str, kind: str = "Cell") -> tuple[int, int, int]:
    graph = build(text, kind)
    return len(graph.vertices), len(graph.edges), len(graph.faces)


def regions(text: str, kind: str = "Cell") -> Measures:
    return measure(build(text, kind))[kind]


def topology(text: str, kind: str = "Cell") -> Topology:
    return Topology(build(text, kind))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_how_many_elements(n: int) -> None:
    assert counts(f"(square {n})") == ((n + 1) ** 2, 2 * n * (n + 1), n * n)
    assert counts(f"(square {n})", "Vertex") == (n * n, 2 * n * (n - 1), (n - 1) ** 2)
    assert counts(f"(hex {n})") == (6 * n * n, 9 * n * n - 3 * n, 3 * n * n - 3 * n + 1)
    triangle = ((n + 1) * (n + 2) // 2, 3 * n * (n + 1) // 2, n * n)
    assert counts(f"(tri {n})") == triangle
    assert counts(f"(tri Hexagon {n})", "Vertex")[0] == 3 * n * n - 3 * n + 1
    assert counts(f"(concentric Square rings:{n})", "Vertex") == (8 * n, 12 * n - 4, 0)
    assert counts(f"(square {n} diagonals:Solid)")[0] == (n + 1) ** 2 + n * n
    assert counts(f"(square Diamond {n})")[::2] == (2 * n * (n + 1), 2 * n * n - 2 * n + 1)
    if n > 1:
        assert counts(f"(wedge {n})", "Vertex")[:2] == (3 * n - 2, 5 * (n - 2) + 5)


def test_shapes_of_hexagons() -> None:
    assert counts("(hex Diamond 11)")[2] == 121
    assert counts("(hex Rectangle 3 4)")[2] == 11
    assert counts("(hex Triangle 4)")[2] == 10
    assert counts("(hex Star 2)")[2] == 37
    assert counts("(hex Limping 3)")[2] == 27
    assert counts("(intersect (square 5) (shift 2 2 (square 5)))")[2] == 9


def test_numbers_run_upwards_and_to_the_right() -> None:
    diamond = regions("(hex Diamond 3)")
    assert diamond.labels == ["A1", "A2", "B1", "A3", "B2", "C1", "B3", "C2", "C3"]
    assert regions("(square 3)").labels == "A1 B1 C1 A2 B2 C2 A3 B3 C3".split()
    hexagon = regions("(hex 5)")
    ducks = {"A5": 26, "C7": 43, "D8": 50, "F9": 57, "H9": 59, "I9": 60, "F2": 10, "A2": 5}
    assert {label: hexagon.labels.index(label) for label in ducks} == ducks


def test_turning_keeps_numbers_but_not_labels() -> None:
    turned = regions("(rotate 90 (hex 4))")
    assert turned.regions["Centre"] == [18]
    assert turned.regions["Corners"] == [0, 3, 15, 21, 33, 36]
    assert [turned.labels.index(label) for label in ("D3", "C4", "E5")] == [11, 24, 19]


def test_morris_board() -> None:
    board = topology("(concentric Square rings:3)", "Vertex")
    assert board.neighbours("Vertex", 0, "Orthogonal") == [9, 1]
    assert sorted(board.neighbours("Vertex", 4, "Orthogonal")) == [1, 3, 5, 7]
    lines = board.rays("Vertex").at(0, INDEX["Orthogonal"])
    assert [ray.sites for ray in lines] == [(0, 9, 21), (0, 1, 2)]


@pytest.mark.parametrize(
    ("text", "kind", "site", "expected"),
    [
        ("(square 5)", "Cell", 12, (4, 8, 4, 8)),
        ("(square 5)", "Vertex", 12, (4, 4, 4, 8)),
        ("(hex 3)", "Cell", 9, (6, 6, 6, 12)),
        ("(tri 4)", "Cell", 8, (3, 12, 3, 12)),
        ("(square 5 diagonals:Alternating)", "Vertex", 12, (8, 8, 0, 8)),
        ("(square 5 diagonals:Alternating)", "Vertex", 11, (4, 4, 0, 4)),
    ],
)
def test_neighbours(text: str, kind: str, site: int, expected: tuple[int, ...]) -> None:
    board = topology(text, kind)
    relations = ("Orthogonal", "Adjacent", "Diagonal", "All")
    assert tuple(len(board.neighbours(kind, site, name)) for name in relations) == expected


def test_rays_of_a_square_board() -> None:
    board = topology("(square 4)")
    rays = board.rays("Cell")
    assert [ray.sites for ray in rays.at(5, INDEX["N"])] == [(5, 9, 13)]
    assert [ray.sites for ray in rays.at(5, INDEX["SW"])] == [(5, 0)]
    assert [ray.sites for ray in rays.at(5, INDEX["Orthogonal"])] == [
        (5, 9, 13),
        (5, 6, 7),
        (5, 1),
        (5, 4),
    ]
    lines = rays.at(5, INDEX["Adjacent"], distinct=True)
    assert [ray.sites for ray in lines] == [(5, 9, 13), (5, 10, 15), (5, 6, 7), (5, 2)]
    assert rays.ray(lines[0].opposite).sites == (5, 1)


def test_rays_of_fanorona() -> None:
    """Diagonals that are edges go on straight too."""
    board = topology("(rectangle 5 9 diagonals:Alternating)", "Vertex")
    rays = board.rays("Vertex").at(0, INDEX["Adjacent"])
    assert [ray.sites for ray in rays] == [
        (0, 9, 18, 27, 36),
        (0, 10, 20, 30, 40),
        (0, 1, 2, 3, 4, 5, 6, 7, 8),
    ]


def test_a_wheel_has_directions_around_it() -> None:
    board = topology("(concentric {1 8})", "Vertex")
    rays = board.rays("Vertex")
    assert rays.at(0, INDEX["Out"])
    assert rays.at(0, INDEX["Rotational"])
    assert len(rays.at(1, INDEX["CW"])[0].sites) == 8
    assert rays.at(1, INDEX["In"])[0].sites[:2] == (1, 0)


def test_regions_of_a_square_board() -> None:
    found = regions("(square 4)").regions
    assert found["Top"] == [12, 13, 14, 15]
    assert found["Left"] == [0, 4, 8, 12]
    assert found["Corners"] == [0, 3, 12, 15]
    assert found["Centre"] == [5, 6, 9, 10] == found["Inner"]
    assert regions("(square 5)").regions["Centre"] == [12]
    assert regions("(square 3)").phases == [0, 1, 0, 1, 0, 1, 0, 1, 0]


def test_sides_of_a_rhombus() -> None:
    found = regions("(hex Diamond 3)").regions
    sides = {name: found[f"Side {name}"] for name in ("NE", "NW", "SE", "SW")}
    labels = regions("(hex Diamond 3)").labels
    assert [labels[site] for site in sides["SW"]] == ["A1", "A2", "A3"]
    assert [labels[site] for site in sides["SE"]] == ["A1", "B1", "C1"]
    assert [labels[site] for site in sides["NE"]] == ["C1", "C2", "C3"]
    assert [labels[site] for site in sides["NW"]] == ["A3", "B3", "C3"]


def test_three_colours_of_hexagons() -> None:
    graph = build("(hex 4)")
    phases = measure(graph)["Cell"].phases
    assert set(phases) == {0, 1, 2}
    for face in graph.faces:
        beside = [other for edge in face.edges if (other := edge.across(face))]
        assert all(phases[other.number] != phases[face.number] for other in beside)


def test_operators_keep_numbers() -> None:
    merged = build("(merge (rectangle 1 3) (shift 0 1 (rectangle 1 3)))")
    assert (len(merged.vertices), len(merged.faces)) == (12, 6)
    assert [vertex.point[:2] for vertex in merged.vertices[8:]] == [(x, 2) for x in range(4)]
    removed = build("(remove (square 3) cells:{4})")
    assert (len(removed.faces), len(removed.edges), len(removed.vertices)) == (8, 24, 16)
    assert counts("(hole (square 5) (poly {{1 1} {1 4} {4 4} {4 1}}))")[2] == 16
    assert counts("(keep (square 5) (poly {{0 0} {0 2} {2 2} {2 0}}))")[2] == 4
    assert counts("(union (square 2) (shift 5 0 (square 2)))") == (18, 24, 8)
    assert counts("(dual (square 3))")[:2] == (9, 12)
    crossed = "(splitCrossings (graph vertices:{{0 0} {2 2} {0 2} {2 0}} edges:{{0 1} {2 3}}))"
    assert counts(crossed)[:2] == (5, 4)
    assert counts("(layers 3 (square 2))")[::2] == (27, 12)
    assert counts("(add (square 2) vertices:{{3.5 1}} edges:{{{2 1} {3.5 1}}})") == (10, 13, 4)


def test_numbers_may_be_calculated() -> None:
    assert counts("(rectangle (+ 1 (* 2 1)) (- 5 (/ 7 3)))")[2] == 9
    assert counts("(scale (sqrt 4) .5 (square 1))")[2] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(circle 3)", r"the board \(circle …\) is not supported"),
        ("(square x)", "a whole number is needed, not x"),
        ("(square 3 4)", "4 in .square …. is not supported"),
        ("(square 3 wide:4)", "wide: in .square …. is not supported"),
        ("(square 3 diagonals:Some)", "must be one of Implied"),
        ("(square 1000)", "from 0 to 200"),
        ("(concentric Square)", "rings: is missing"),
        ("(shift 1 0 5)", "cannot be made of 5"),
        ("(scale (/ 1 0) (square 2))", "cannot be calculated"),
        ("(hole (square 3))", "a polygon is missing"),
    ],
)
def test_bad_boards_are_refused(text: str, message: str) -> None:
    with pytest.raises(RulesError, match=message) as caught:
        build(text)
    assert caught.value.line == 1
    if "supported" in message:
        assert isinstance(caught.value, Unsupported)


@given(st.floats(0, 0.999999), st.booleans(), st.sampled_from([-1, 0, 1]))
def test_every_angle_has_a_name(turn: float, fine: bool, level: int) -> None:
    assert INDEX[name_angle(turn, fine=fine, level=level)] >= FIRST_SPECIFIC


BOARDS = st.sampled_from(
    [
        ("(square 4)", "Cell"),
        ("(hex 3)", "Cell"),
        ("(tri 3)", "Cell"),
        ("(rectangle 3 5 diagonals:Alternating)", "Vertex"),
        ("(concentric {1 8 8})", "Vertex"),
        ("(concentric Hexagon rings:2 joinCorners:True)", "Vertex"),
        ("(rotate 45 (square 3))", "Cell"),
        ("(tiling T3636 2)", "Cell"),
        ("(tiling T33434 2)", "Vertex"),
        ("(brick 4 trim:True)", "Cell"),
        ("(merge (wedge 3) (shift 0 -2 (square 5 diagonals:Alternating)))", "Vertex"),
        ("(square 3 pyramidal:True)", "Vertex"),
    ]
)


@settings(deadline=None)
@given(BOARDS)
def test_what_holds_on_every_board(board: tuple[str, str]) -> None:
    graph = build(*board)
    kind = board[1]
    found = Topology(graph)
    for elements in (graph.vertices, graph.edges, graph.faces):
        assert [element.number for element in elements] == list(range(len(elements)))
    assert all(signed_area(face.vertices) < 0 for face in graph.faces)
    for number in range(len(graph.elements(kind))):
        for other in found.neighbours(kind, number, "Adjacent"):
            assert number in found.neighbours(kind, other, "Adjacent")
        for direction in range(len(DIRECTIONS)):
            for ray in found.rays(kind).at(number, direction):
                assert ray.sites[0] == number
                assert len(set(ray.sites)) == len(ray.sites) > 1
                points = [graph.elements(kind)[site].point for site in ray.sites]
                if DIRECTIONS[direction] not in ("CW", "CCW", "In", "Out", "Rotational"):
                    bends = [bend(*points[n : n + 3]) for n in range(len(points) - 2)]
                    assert all(one < 0.26 for one in bends)
    measured = measure(graph)[kind]
    assert len(measured.labels) == len(graph.elements(kind))
    outer, inner = (set(measured.regions.get(name, ())) for name in ("Outer", "Inner"))
    assert not outer & inner
    assert outer | inner == set(range(len(graph.elements(kind))))


@settings(deadline=None)
@given(BOARDS)
def test_rays_are_those_of_the_reference(board: tuple[str, str]) -> None:
    graph, kind = build(*board), board[1]
    found = Topology(graph)
    rays = found.rays(kind)
    for distinct, table in enumerate(make_rays(found, kind)):
        for site, by_direction in enumerate(table):
            for direction in range(len(DIRECTIONS)):
                expected = by_direction.get(direction, [])
                made = rays.at(site, direction, distinct=bool(distinct))
                assert [ray.sites for ray in made] == [ray.sites for ray in expected]
                for mine, its in zip(made, expected, strict=True):
                    back = rays.ray(mine.opposite).sites if mine.opposite >= 0 else None
                    assert back == (its.opposite.sites if its.opposite else None)
