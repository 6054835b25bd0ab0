"""Rulesheets made wrong: bits flipped, tokens moved, parentheses lost, two sheets in one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from omnilude.rules.library import bundled_games

TRUTH = Path(__file__).resolve().parents[3] / "shared" / "truth" / "gdl" / "rulesheets"
LARGEST = 4500  # bytes of a sheet that is taken as a seed: small ones find as much, sooner

_TOKEN = re.compile(r"[()]|[^\s()]+")
_WORDS = [
    "?x", "?y", "a", "0", "1", "100", "-1", "99999999999999999999", "role", "true", "does", "next",
    "init", "legal", "goal", "terminal", "sees", "distinct", "not", "or", "and", "<=", "random",
    "base", "input", "(", ")", "()", "(f ?x)", "(true ?x)", "(does ?r ?m)", "((", "\x00", "é", ";",
]  # fmt: skip


def seed_sheets() -> list[str]:
    """The bundled rulesheets, and public ones where they are present."""
    paths = [*bundled_games(".kif").values(), *sorted(TRUTH.glob("*.kif"))]
    sheets = [path.read_bytes().decode("utf-8", errors="replace") for path in paths]
    sheets = [re.sub(r";[^\n]*", "", sheet) for sheet in sheets]
    return [sheet for sheet in sheets if len(sheet) <= LARGEST]


def mutate(sheets: Sequence[str], seed: int) -> bytes:
    """The input number `seed`: one of the sheets with one or a few changes."""
    choose = random.Random(seed)
    text = choose.choice(sheets)
    if choose.random() < 0.1:
        text = _splice(text, choose.choice(sheets), choose)
    for _ in range(choose.choice([1, 1, 1, 1, 2, 5])):
        kind = choose.choice(_CHANGES)
        text = kind(text, choose)
    data = text.encode("utf-8", errors="replace")
    if choose.random() < 0.1:
        data = _flip_bits(data, choose)
    return data


def _flip_bits(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice([1, 1, 2, 10])):
        if changed:
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    return bytes(changed)


def _tokens(text: str) -> list[re.Match[str]]:
    return list(_TOKEN.finditer(text))


def _replace(text: str, token: re.Match[str], by: str) -> str:
    return text[: token.start()] + by + text[token.end() :]


def _change_token(text: str, choose: random.Random, change: Callable[[str], str]) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    token = choose.choice(tokens)
    return _replace(text, token, change(token.group()))


def _delete_token(text: str, choose: random.Random) -> str:
    return _change_token(text, choose, lambda _: "")


def _duplicate_token(text: str, choose: random.Random) -> str:
    return _change_token(text, choose, lambda word: f"{word} {word}")


def _other_word(text: str, choose: random.Random) -> str:
    return _change_token(text, choose, lambda _: choose.choice(_WORDS))


def _insert_word(text: str, choose: random.Random) -> str:
    return _change_token(text, choose, lambda word: f"{word} {choose.choice(_WORDS)} ")


def _swap_tokens(text: str, choose: random.Random) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    first, second = sorted(choose.sample(tokens, 2), key=lambda token: token.start())
    text = _replace(text, second, first.group())
    return _replace(text, first, second.group())


def _same_word(text: str, choose: random.Random) -> str:
    """Another word of the sheet: what it makes is more often a rulesheet still."""
    words = [token.group() for token in _tokens(text) if token.group() not in "()"]
    if not words:
        return text
    source, target = choose.choice(words), choose.choice(words)
    places = [token for token in _tokens(text) if token.group() == source]
    return _replace(text, choose.choice(places), target)


def _change_number(text: str, choose: random.Random) -> str:
    numbers = [token for token in _tokens(text) if token.group().isdigit()]
    if not numbers:
        return text
    number = choose.choice(["0", "1", "7", "101", "1000000", "-5", "007", str(2**64), "1.5"])
    return _replace(text, choose.choice(numbers), number)


def _change_parenthesis(text: str, choose: random.Random) -> str:
    places = [token for token in _tokens(text) if token.group() in "()"]
    if not places:
        return text
    return _replace(text, choose.choice(places), choose.choice(["", "((", "))", "(", ")", ") ("]))


def _rules(text: str) -> list[str]:
    """The text cut at its lists of the top level."""
    out, depth, start = [], 0, 0
    for token in _tokens(text):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth <= 0:
            out.append(text[start : token.end()])
            depth, start = 0, token.end()
    return [*out, text[start:]]


def _delete_rule(text: str, choose: random.Random) -> str:
    rules = _rules(text)
    del rules[choose.randrange(len(rules))]
    return "".join(rules)


def _duplicate_rule(text: str, choose: random.Random) -> str:
    rules = _rules(text)
    rules.insert(choose.randrange(len(rules)), choose.choice(rules))
    return "".join(rules)


def _delete_condition(text: str, choose: random.Random) -> str:
    """A whole inner list."""
    places = [token.start() for token in _tokens(text) if token.group() == "("]
    if not places:
        return text
    start = choose.choice(places)
    rest = _rules(text[start:])
    return text[:start] + "".join(rest[1:])


def _cut(text: str, choose: random.Random) -> str:
    start, end = sorted(choose.randrange(len(text) + 1) for _ in range(2))
    return text[:start] if choose.random() < 0.3 else text[:start] + text[end:]


def _splice(text: str, other: str, choose: random.Random) -> str:
    if choose.random() < 0.3:
        return text[: choose.randrange(len(text) + 1)] + other[choose.randrange(len(other) + 1) :]
    rules, more = _rules(text), _rules(other)
    return "".join(rules[: choose.randrange(len(rules) + 1)] + more[choose.randrange(len(more)) :])


_CHANGES = [
    _delete_token, _duplicate_token, _other_word, _insert_word, _swap_tokens, _same_word,
    _same_word, _change_number, _change_parenthesis, _delete_rule, _delete_rule, _duplicate_rule,
    _delete_condition, _delete_condition, _cut,
]  # fmt: skip
