"""Every setting as tables in Markdown, for docs/training.md, which must not say anything else.

python -m omnilude.training.documentation docs/training.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from omnilude.training.options import list_options
from omnilude.training.settings import TrainingSettings

MARK = "<!-- The rest is written by omnilude.training.documentation. -->\n"
TITLES = {
    "": "Training",
    "search": "Search: `[search]`, `SearchSettings`",
    "network": "Network: `[network]`, `NetworkSettings`",
}


def write_tables() -> str:
    lines: list[str] = []
    section = None
    for option in list_options(TrainingSettings):
        if option.section != section:
            section = option.section
            lines += ["", f"### {TITLES[section]}", "", "| setting | default | |"]
            lines.append("| --- | --- | --- |")
        default = "unset" if option.default is None else option.default
        if isinstance(default, bool):
            default = str(default).lower()
        choices = " \\| ".join(option.choices) + ". " if option.choices else ""
        lines.append(f"| `{option.name}` | {default} | {choices}{option.help} |")
    return "\n".join(lines) + "\n"


def renew(text: str) -> str:
    """The text with the tables as they are now."""
    return text[: text.index(MARK)] + MARK + write_tables()


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renew(file.read_text(encoding="utf-8")), encoding="utf-8")
