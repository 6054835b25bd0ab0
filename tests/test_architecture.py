"""ARCHITECTURE.md has a line for every file, and none for a file that is not there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("core", "src/omnilude", "tests", "benchmarks")
KINDS = {".h", ".cpp", ".py", ".pyi", ".typed"}


def read_lines() -> set[Path]:
    """The files that its tables name; in a cell a name without a folder is in that before it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text[text.index("\n## Every file\n") : text.index("\n## Glossary\n")]
    named: set[Path] = set()
    folder = ROOT
    for line in section.splitlines():
        if line.startswith("### "):
            folder = ROOT / re.split("[:,]", line.removeprefix("### "))[0]
        elif line.startswith("| `"):
            path = Path()
            for name in re.findall("`([^`]+)`", line.split("|")[1]):
                if name.startswith("."):
                    path = path.with_suffix(name)
                else:
                    path = Path(name) if "/" in name else path.parent / name
                places = [place / path for place in (folder, folder.parent)]
                found = [place for place in places if place.is_file()]
                assert found, f"{path} has a line, but is not there"
                assert found[0] not in named, f"{path} has two lines"
                named.add(found[0])
    return named


def test_every_file_has_its_line() -> None:
    files = {file for folder in FOLDERS for file in (ROOT / folder).rglob("*")}
    files = {file for file in files if file.suffix in KINDS and "__pycache__" not in file.parts}
    assert sorted(str(file.relative_to(ROOT)) for file in files - read_lines()) == []
