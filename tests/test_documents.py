"""Examples in the documents print what the documents say."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = re.compile(
    r"^```python\n((?:(?!```).*\n)*)```\n\n?```\n((?:(?!```).*\n)*)```$", re.MULTILINE
)
"""A block of Python with what it prints right below."""


def find_examples() -> Iterator[tuple[str, str, str]]:
    """(where, code, output)"""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        for match in EXAMPLE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path.relative_to(ROOT)}:{line}", match[1], match[2]


EXAMPLES = {where: (code, output) for where, code, output in find_examples()}


def test_examples_are_found() -> None:
    files = {where.split(":")[0] for where in EXAMPLES}
    assert {"README.md", "docs/encoding.md", "docs/gdl.md", "docs/symmetry.md"} <= files


@pytest.mark.parametrize("where", EXAMPLES)
def test_examples_print_what_is_said(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = EXAMPLES[where]
    if "runs/" in code:
        pytest.skip("plays with a run, which would have to be trained")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, where, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.rstrip() == output.rstrip()
