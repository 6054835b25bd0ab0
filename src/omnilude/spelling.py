"""Names that are not there: which of those that are was meant, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MOST_LISTED = 8
"""A list of more names is cut where it is plain which of them was meant."""


def name_known(wrong: str, known: Sequence[str]) -> str:
    """The names there are, for whoever gave a wrong one: all of them, or where it is plain which
    was meant, that one and the beginning of a long list."""
    question = did_you_mean(wrong, known)
    if question and len(known) > MOST_LISTED:
        known = [*known[:MOST_LISTED], "..."]
    return ", ".join(known) + (f" ({question})" if question else "")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """The question after the name that was meant; "" where none is close."""
    close = find_close(wrong, known)
    return f"did you mean {close!r}?" if close else ""


def find_close(wrong: str, known: Iterable[str]) -> str:
    """The known name that was meant; "" where none is close. Capitals make no difference."""
    spelled = {name.lower(): name for name in known}
    close = get_close_matches(wrong.lower(), list(spelled), n=1)
    return spelled[close[0]] if close else ""
