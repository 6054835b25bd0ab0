"""The rules of a game, compiled."""

from __future__ import annotations

from omnilude.rules.ludeme.compiler.code import Code, Part


class Parts:
    """The rules, compiled."""

    def __init__(self) -> None:
        self.start: list[Code] = []
        self.phases: list[tuple[Part, ...]] = []
        self.ends: list[list[Code]] = []
        self.end = -1
        self.meta: dict[str, bool] = {}
