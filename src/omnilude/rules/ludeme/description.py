"""From the text of a ludemic description to its tree: options, definitions and ranges resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from omnilude.errors import RulesError
from omnilude.rules.ludeme.defines import Define, Expander, extract_defines
from omnilude.rules.ludeme.options import (
    Item,
    Option,
    Ruleset,
    choose_items,
    extract_options,
    extract_rulesets,
    replace_options,
)
from omnilude.rules.ludeme.source import cut_metadata, read_source
from omnilude.rules.ludeme.tokens import tokenize
from omnilude.rules.ludeme.tree import Clause, Text, parse


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user chooses among the options of a description."""

    options: Mapping[str, str] = field(default_factory=dict)  # heading to item
    ruleset: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A game as its text describes it, with everything that stands for something else replaced."""

    name: str
    file: str
    game: Clause
    options: tuple[Option, ...]
    rulesets: tuple[Ruleset, ...]
    items: Mapping[str, Item]  # what was chosen, by heading


def read_description(
    text: str,
    file: str,
    *,
    library: Mapping[str, Define] | None = None,
    choices: Choices | None = None,
) -> Description:
    """Reads a description; `library` has definitions beside those of the text itself."""
    choices = choices or Choices()
    source = cut_metadata(read_source(text, file))
    source, options = extract_options(source)
    source, rulesets = extract_rulesets(source)
    items = choose_items(options, rulesets, choices.options, choices.ruleset)
    source, defines = extract_defines(replace_options(source, options, items))
    nodes = parse(Expander({**(library or {}), **defines}).expand(tokenize(source)))
    games = [node for node in nodes if isinstance(node, Clause) and node.keyword == "game"]
    if len(games) != 1:
        hint = 'write (game "Name" (players …) (equipment …) (rules …))'
        raise RulesError(f"{len(games)} games are described instead of one", file=file, hint=hint)
    game = games[0]
    if not game.items or not isinstance(game.items[0], Text):
        raise game.place.error("a game without a name", 'write (game "Name" …)')
    return Description(
        name=game.items[0].value,
        file=file,
        game=game,
        options=tuple(options),
        rulesets=tuple(rulesets),
        items=items,
    )


def read_library(folder: Path) -> dict[str, Define]:
    """All definitions in the files of a folder and the folders in it."""
    defines: dict[str, Define] = {}
    for path in sorted(folder.rglob("*.def")):
        text = path.read_bytes().decode("utf-8", errors="replace")
        _, found = extract_defines(cut_metadata(read_source(text, str(path))))
        for name, define in found.items():
            defines.setdefault(name, define)
    return defines
