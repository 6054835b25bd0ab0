"""The plainest codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from omnilude.rules.ludeme.arguments import Arguments
from omnilude.rules.ludeme.compiler.code import Code, code

if TYPE_CHECKING:
    from omnilude.rules.ludeme.compiler.compiler import Compiler

Make = Callable[["Compiler", Arguments], Code]


def number(value: int) -> Code:
    return code("number", value)


def plain(name: str) -> Make:
    return lambda c, a: code(name)
