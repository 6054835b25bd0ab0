"""The errors that omnilude raises on purpose. Each says what is wrong and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


class OmniludeError(Exception):
    """Base of every error below."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text, both counted from 1."""

    line: int
    column: int


class RulesError(OmniludeError):
    """The rules of a game are wrong: names file, line, column, cause and, if it can, a remedy."""

    def __init__(
        self,
        message: str,
        *,
        file: str = "<rules>",
        position: Position | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.position = position
        self.hint = hint
        place = f"{file}:{position.line}:{position.column}" if position else file
        super().__init__(f"{place}: {message}" + (f" (hint: {hint})" if hint else ""))

    @property
    def line(self) -> int | None:
        return self.position.line if self.position else None

    @property
    def column(self) -> int | None:
        return self.position.column if self.position else None


class Unsupported(RulesError):
    """The rules may be right, but use something that omnilude does not play."""


class BudgetExceeded(Unsupported):
    """Playing by these rules would take more time or memory than the settings allow."""


class IllegalMove(OmniludeError):
    """A move that the rules do not allow in this state."""


class SettingsError(OmniludeError):
    """A setting has a value that makes no sense."""


class LearningError(OmniludeError):
    """Learning has come to nothing: weights that give no numbers any more."""


class WorkerDied(OmniludeError):
    """A worker dies again and again: no accident, but a fault."""

    def __init__(self, message: str, trace: str = "") -> None:
        """`trace`: what the worker itself said last; "" where it was killed."""
        super().__init__(message)
        self.trace = trace


class CheckpointError(OmniludeError):
    """A checkpoint does not fit the game, encoding or network it is used with."""
