"""Rules made wrong: bits flipped, tokens moved, parentheses lost, two sheets in one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from omnilude.rules.library import bundled_games

TRUTH = Path(__file__).resolve().parents[3] / "shared" / "truth" / "gdl" / "rulesheets"
LARGEST = 4500  # bytes of a sheet that is taken as a seed: small ones find as much, sooner

_TOKEN = re.compile(r"[(){}]|\"[^\"\n]*\"|[^\s(){}\"]+")
_WORDS = {
    "gdl": [
        "?x", "?y", "a", "0", "1", "100", "-1", "99999999999999999999", "role", "true", "does",
        "next", "init", "legal", "goal", "terminal", "sees", "distinct", "not", "or", "and", "<=",
        "random", "base", "input", "(", ")", "()", "(f ?x)", "(true ?x)", "(does ?r ?m)", "((",
        "\x00", "é", ";",
    ],
    "ludemes": [
        "0", "1", "-1", "7", "1000", "99999999999999999999", "{", "}", "{}", "(", ")", "((", "()",
        "#1", "#2", "<Board:size>", "1..5", "5..1", "0..100000000", "//", "\"", "\"Man1\"", "\x00",
        "é", "True", "False", "Off", "End", "Infinity", "Each", "P1", "P2", "P17", "Mover", "Next",
        "All", "Shared", "Neutral", "Cell", "Edge", "Vertex", "Orthogonal", "Diagonal", "Forward",
        "N", "SE", "(from)", "(to)", "(between)", "(site)", "(level)", "(value)", "(last To)",
        "(sites Empty)", "(sites Board)", "(sites Around (last To))", "(is Empty (to))",
        "(is Line 3)", "(move Pass)", "(move Add (to (sites Empty)))", "(forEach Piece)",
        "(moveAgain)", "(then (moveAgain))", "if:True", "stack:True", "(no Moves Next)",
        "(while True (moveAgain))", "(result Mover Win)", "(square 3)", "(hex 4)", "(dice num:2)",
        "(count Moves)", "(/ 1 0)", "(set Var 3)", "(not True)", "(player N)", "(hand Each)",
    ],
}  # fmt: skip
SUFFIXES = {"gdl": ".kif", "ludemes": ".lud"}


def seed_sheets(language: str = "gdl") -> list[str]:
    """The bundled rules, and public ones where they are present."""
    paths = list(bundled_games(SUFFIXES[language]).values())
    if language == "gdl":
        paths += sorted(TRUTH.glob("*.kif"))
    sheets = [path.read_bytes().decode("utf-8", errors="replace") for path in paths]
    comment = r";[^\n]*" if language == "gdl" else r"//[^\n]*"
    sheets = [re.sub(comment, "", sheet) for sheet in sheets]
    return [sheet for sheet in sheets if len(sheet) <= LARGEST]


class _Chooser(random.Random):
    """Random choices, and the words of a language."""

    words: Sequence[str] = ()


def mutate(sheets: Sequence[str], seed: int, language: str = "gdl") -> bytes:
    """The input number `seed`: one of the sheets with one or a few changes."""
    choose = _Chooser(seed)
    choose.words = _WORDS[language]
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


def _flip_bits(data: bytes, choose: _Chooser) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice([1, 1, 2, 10])):
        if changed:
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    return bytes(changed)


def _tokens(text: str) -> list[re.Match[str]]:
    return list(_TOKEN.finditer(text))


def _replace(text: str, token: re.Match[str], by: str) -> str:
    return text[: token.start()] + by + text[token.end() :]


def _change_token(text: str, choose: _Chooser, change: Callable[[str], str]) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    token = choose.choice(tokens)
    return _replace(text, token, change(token.group()))


def _delete_token(text: str, choose: _Chooser) -> str:
    return _change_token(text, choose, lambda _: "")


def _duplicate_token(text: str, choose: _Chooser) -> str:
    return _change_token(text, choose, lambda word: f"{word} {word}")


def _other_word(text: str, choose: _Chooser) -> str:
    return _change_token(text, choose, lambda _: choose.choice(choose.words))


def _insert_word(text: str, choose: _Chooser) -> str:
    return _change_token(text, choose, lambda word: f"{word} {choose.choice(choose.words)} ")


def _swap_tokens(text: str, choose: _Chooser) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    first, second = sorted(choose.sample(tokens, 2), key=lambda token: token.start())
    text = _replace(text, second, first.group())
    return _replace(text, first, second.group())


def _same_word(text: str, choose: _Chooser) -> str:
    """Another word of the sheet: what it makes is more often a rulesheet still."""
    words = [token.group() for token in _tokens(text) if token.group() not in "(){}"]
    if not words:
        return text
    source, target = choose.choice(words), choose.choice(words)
    places = [token for token in _tokens(text) if token.group() == source]
    return _replace(text, choose.choice(places), target)


def _change_number(text: str, choose: _Chooser) -> str:
    numbers = [token for token in _tokens(text) if token.group().isdigit()]
    if not numbers:
        return text
    number = choose.choice(["0", "1", "7", "101", "1000000", "-5", "007", str(2**64), "1.5"])
    return _replace(text, choose.choice(numbers), number)


def _change_parenthesis(text: str, choose: _Chooser) -> str:
    places = [token for token in _tokens(text) if token.group() in "(){}"]
    if not places:
        return text
    other = choose.choice(["", "((", "))", "(", ")", ") (", "{", "}"])
    return _replace(text, choose.choice(places), other)


def _rules(text: str) -> list[str]:
    """The text cut at its lists of the top level."""
    out, depth, start = [], 0, 0
    for token in _tokens(text):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth <= 0:
            out.append(text[start : token.end()])
            depth, start = 0, token.end()
    return [*out, text[start:]]


def _delete_rule(text: str, choose: _Chooser) -> str:
    rules = _rules(text)
    del rules[choose.randrange(len(rules))]
    return "".join(rules)


def _duplicate_rule(text: str, choose: _Chooser) -> str:
    rules = _rules(text)
    rules.insert(choose.randrange(len(rules)), choose.choice(rules))
    return "".join(rules)


def _delete_condition(text: str, choose: _Chooser) -> str:
    """A whole inner list."""
    places = [token.start() for token in _tokens(text) if token.group() == "("]
    if not places:
        return text
    start = choose.choice(places)
    rest = _rules(text[start:])
    return text[:start] + "".join(rest[1:])


def _cut(text: str, choose: _Chooser) -> str:
    start, end = sorted(choose.randrange(len(text) + 1) for _ in range(2))
    return text[:start] if choose.random() < 0.3 else text[:start] + text[end:]


def _splice(text: str, other: str, choose: _Chooser) -> str:
    if choose.random() < 0.3:
        return text[: choose.randrange(len(text) + 1)] + other[choose.randrange(len(other) + 1) :]
    rules, more = _rules(text), _rules(other)
    return "".join(rules[: choose.randrange(len(rules) + 1)] + more[choose.randrange(len(more)) :])


_CHANGES = [
    _delete_token, _duplicate_token, _other_word, _insert_word, _swap_tokens, _same_word,
    _same_word, _change_number, _change_parenthesis, _delete_rule, _delete_rule, _duplicate_rule,
    _delete_condition, _delete_condition, _cut,
]  # fmt: skip
