"""Options and rulesets: what a description leaves open, and what is chosen.

`(option "Heading" <Tag> args:{<a> <b>} {(item "Name" <value of a> <value of b> "text")* …})` names
values for `<Tag:a>` and `<Tag:b>`, wherever they stand in the text. Asterisks behind an item are
its priority: without a choice the first item of the highest priority counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from omnilude.errors import SettingsError
from omnilude.rules.ludeme.source import Source, find_clauses, find_end
from omnilude.spelling import did_you_mean

MAX_ROUNDS = 20
_ITEM = re.compile(r"\(\s*item\b")
_HEAD = re.compile(r'\(\s*option\s+"((?:[^"\\]|\\.)*)"\s*<([^<>]*)>\s*')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLACEHOLDER = re.compile(r"<([^\s<>():]+)(?::([^\s<>()]*))?>")


@dataclass(frozen=True, slots=True)
class Item:
    """One of the things that an option may be."""

    name: str
    values: tuple[str, ...]
    description: str
    priority: int


@dataclass(frozen=True, slots=True)
class Option:
    """A heading with the items to choose from."""

    heading: str
    tag: str
    arguments: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def default(self) -> Item:
        return max(self.items, key=lambda item: item.priority)  # the first of the highest


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A named combination of items, each as 'Heading/Item'."""

    name: str
    choices: tuple[str, ...]


def extract_options(source: Source) -> tuple[Source, list[Option]]:
    """The options of a description, and the text without them."""
    options = []
    for start, end in find_clauses(source, "option"):
        options.append(_read_option(source, start, end))
        source = source.blanked(start, end)
    return source, options


def extract_rulesets(source: Source) -> tuple[Source, list[Ruleset]]:
    """The rulesets of a description, and the text without them."""
    rulesets = []
    for start, end in find_clauses(source, "rulesets"):
        for match in re.finditer(r"\(\s*ruleset\b", source.text[start:end]):
            stop = find_end(source, start + match.start())
            names = [m[1] for m in _STRING.finditer(source.text, start + match.end(), stop)]
            if names:
                rulesets.append(Ruleset(names[0].removeprefix("Ruleset/"), tuple(names[1:])))
        source = source.blanked(start, end)
    return source, rulesets


def _read_option(source: Source, start: int, end: int) -> Option:
    head = _HEAD.match(source.text, start)
    if head is None:
        raise source.error(
            "option without a heading and a tag", start, 'write (option "Heading" <Tag> …)'
        )
    at = head.end()
    arguments: tuple[str, ...] = ()
    given = re.compile(r"args\s*:\s*\{([^{}]*)\}").match(source.text, at)
    if given:
        arguments = tuple(name.strip() for name in re.findall(r"<([^<>]*)>", given[1]))
        at = given.end()
    items = []
    while match := _ITEM.search(source.text, at, end):
        stop = find_end(source, match.start())
        at = stop
        while at < end and source.text[at] in "* \t\r\n":
            at += 1
        priority = source.text[stop:at].count("*")
        items.append(_read_item(source, match.end(), stop - 1, priority))
    if not items:
        raise source.error(f"option {head[1]!r} has no items", start)
    return Option(head[1], head[2].strip(), arguments, tuple(items))


def _read_item(source: Source, start: int, end: int, priority: int) -> Item:
    name = _STRING.search(source.text, start, end)
    if name is None:
        raise source.error("item without a name", start)
    at = name.end()
    values = []
    while at < end and source.text[at] not in '"<':
        at += 1
    while at < end and source.text[at] == "<":
        stop = _end_of_value(source, at, end)
        values.append(" ".join(source.text[at + 1 : stop - 1].split("\n")))
        at = stop
        while at < end and source.text[at] not in '"<':
            at += 1
    description = _STRING.match(source.text, at, end)
    return Item(name[1], tuple(values), description[1] if description else "", priority)


def _end_of_value(source: Source, start: int, end: int) -> int:
    """After the '>' that closes the '<' at `start`; comparisons are not brackets."""
    depth, at = 0, start
    while at < end:
        char = source.text[at]
        if char == '"':
            match = _STRING.match(source.text, at)
            at = match.end() if match else end
            continue
        compared = re.search(r"\(\s*$", source.text[max(0, at - 8) : at])
        if char in "<>" and not (compared and re.match(r"[<>]=?\s", source.text[at : at + 3])):
            depth += 1 if char == "<" else -1
            if depth == 0:
                return at + 1
        at += 1
    raise source.error("the value of an option is never closed", start, "write <value>")


def choose_items(
    options: list[Option],
    rulesets: list[Ruleset],
    chosen: Mapping[str, str],
    ruleset: str | None = None,
) -> dict[str, Item]:
    """By heading, the item that counts: chosen by the user, else by the ruleset, else the default.

    Headings and items may be written in any case.
    """
    result = {option.heading: option.default for option in options}
    pairs: list[tuple[str, str]] = []
    if ruleset is not None:
        names = [one.name for one in rulesets]
        for choice in rulesets[_find(names, ruleset, "ruleset")].choices:
            heading, slash, name = choice.rpartition("/")
            if slash:
                pairs.append((heading, name))
    for heading, name in [*pairs, *chosen.items()]:
        option = options[_find([one.heading for one in options], heading, "option")]
        names = [item.name for item in option.items]
        result[option.heading] = option.items[_find(names, name, f"item of {heading!r}")]
    return result


def _find(names: list[str], wanted: str, what: str) -> int:
    lowered = [name.lower() for name in names]
    if wanted.strip().lower() in lowered:
        return lowered.index(wanted.strip().lower())
    hint = did_you_mean(wanted, names) or f"there are: {', '.join(names) or 'none'}"
    raise SettingsError(f"no {what} is called {wanted!r}; {hint}")


def replace_options(source: Source, options: list[Option], items: Mapping[str, Item]) -> Source:
    """The text with the values of the items in the place of tags."""
    if not options:
        return source
    values: dict[tuple[str, str | None], str] = {}
    for option in options:
        item = items[option.heading]
        if item.values:
            values[option.tag, None] = item.values[0]
        for argument, value in zip(option.arguments, item.values, strict=False):
            values[option.tag, argument] = value
    for _ in range(MAX_ROUNDS):
        spans = []
        for match in _PLACEHOLDER.finditer(source.text):
            found = values.get((match[1], match[2]))
            if found is not None:
                spans.append((match.start(), match.end(), found))
        if not spans:
            return source
        source = source.replaced(spans)
    raise source.error("options refer to each other in a circle", spans[0][0])
