"""The road is one-way: a package imports only from packages to its left.

    rules > games > encoding > networks > search > training > arena > play

Imports count wherever they stand: at the top of a file, inside a function, under
``TYPE_CHECKING``, or as a literal given to ``import_module``.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROAD = ("rules", "games", "encoding", "networks", "search", "training", "arena", "play")
# Beside the road: everyone may import these, and they import nothing of it.
SHARED = ("errors", "fields", "spelling", "_core")
# Above the road: these may import everything, and nothing on the road imports them.
ABOVE = ("__init__", "__main__", "_core_loader", "benchmarks", "ludeme_benchmarks", "cli")

SOURCE = Path(__file__).parent.parent / "src" / "omnilude"
FILES = sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")])


def find_violations(source: str, file: str) -> list[str]:
    """Return the forbidden imports of a file, named by its path below ``src/omnilude``."""
    place = place_of(file)
    if place in ABOVE:
        return []
    if place not in ROAD + SHARED:
        return [f"{file}: '{place}' has no place on the road: add it to {Path(__file__).name}"]
    allowed = (*SHARED, *ROAD[: ROAD.index(place) + 1]) if place in ROAD else SHARED
    return [
        f"{file}:{line}: {place} must not import {'.'.join(('omnilude', *path))}"
        for line, path in imported_paths(ast.parse(source, file), Path(file))
        if not path or path[0] not in allowed
    ]


def place_of(file: str) -> str:
    """Return the package on the road, or the single module, that a file belongs to."""
    return Path(file).parts[0].partition(".")[0]


def imported_paths(tree: ast.AST, file: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (line, path below omnilude) of each import from omnilude; () is omnilude itself."""
    folder = ("omnilude", *file.parent.parts)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.expr):
            continue
        names: list[tuple[str, ...]] = []
        match node:
            case ast.Import():
                names = [tuple(alias.name.split(".")) for alias in node.names]
            case ast.ImportFrom():
                base = folder[: len(folder) - node.level + 1] if node.level else ()
                module = (*base, *(node.module.split(".") if node.module else ()))
                # "from omnilude import search" imports the package search; deeper down it makes
                # no difference whether the name is a module or something inside one.
                names = [(*module, alias.name) for alias in node.names]
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(literal)), *_],
            ):
                names = [tuple(literal.split("."))]
        for name in names:
            if name[0] == "omnilude":
                yield node.lineno, name[1:]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_file_imports_only_from_its_left(file: Path) -> None:
    violations = find_violations(
        file.read_text(encoding="utf-8"), file.relative_to(SOURCE).as_posix()
    )
    assert not violations, "\n".join(violations)


def test_there_are_files_to_check() -> None:
    assert FILES


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("rules/library.py", "import omnilude.games"),
        ("rules/gdl/reader.py", "from omnilude.games.state import State"),
        ("rules/gdl/reader.py", "from ...games import State"),
        ("rules/gdl/reader.py", "from ... import games"),
        ("games/state.py", "from omnilude import search"),
        ("games/state.py", "def late():\n    from omnilude.play import web"),
        ("search/__init__.py", "from ..training import Buffer"),
        ("search/settings.py", "if TYPE_CHECKING:\n    from omnilude.training import Buffer"),
        ("search/settings.py", "import importlib\nimportlib.import_module('omnilude.arena')"),
        ("arena/match.py", "import numpy, omnilude.play.web as web"),
        ("play/web.py", "from omnilude.cli import app"),
        ("play/web.py", "import omnilude"),
        ("play/web.py", "from omnilude import Game"),
        ("errors.py", "from omnilude.rules import library"),
        ("_core.pyi", "from omnilude.games import Game"),
        ("helpers.py", ""),
    ],
)
def test_checker_catches(file: str, source: str) -> None:
    assert len(find_violations(source, file)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("games/state.py", "from omnilude.rules import library\nfrom ..rules.gdl import reader"),
        ("games/state.py", "from omnilude import _core, errors\nfrom omnilude._core import Game"),
        ("games/state.py", "from . import records\nfrom .symmetry import fold\nimport numpy"),
        ("games/__init__.py", "from .state import State\nfrom ..errors import IllegalMove"),
        ("play/web.py", "from omnilude.arena import match\nimport omnilude.rules.library"),
        ("cli.py", "from omnilude.play import web\nimport omnilude"),
        ("__init__.py", "from .search import Settings"),
    ],
)
def test_checker_allows(file: str, source: str) -> None:
    assert find_violations(source, file) == []
