"""GDL: from a rulesheet in KIF to the encoded program that the core grounds and runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omnilude.rules.gdl.checks import check_rules, check_stages, drop_unused, find_roles
from omnilude.rules.gdl.encode import encode
from omnilude.rules.gdl.reader import read_rules
from omnilude.rules.gdl.specialise import specialise
from omnilude.rules.gdl.split import split_rules
from omnilude.rules.gdl.strata import Stage, stratify
from omnilude.rules.gdl.terms import Rule


@dataclass(frozen=True, slots=True)
class GdlProgram:
    """A checked rulesheet in the form that the core takes."""

    file: str
    roles: tuple[str, ...]
    rules: tuple[Rule, ...]  # as written, after `or` and `not` were resolved
    symbols: list[str]
    code: NDArray[np.int32]
    warnings: tuple[str, ...]
    hidden: bool  # whether `sees` is used


def compile_gdl(text: str, file: str) -> GdlProgram:
    """Reads and checks a rulesheet; raises RulesError where it is wrong."""
    rules = read_rules(text, file)
    roles = find_roles(rules, file)
    warnings = check_rules(rules, file)
    stratified = specialise(rules)
    check_stages(stratified, stratify(stratified, file), file)
    used = split_rules(drop_unused(stratified))
    symbols, code = encode(used, stratify(used, file), roles)
    return GdlProgram(
        file=file,
        roles=tuple(roles),
        rules=tuple(rules),
        symbols=symbols,
        code=code,
        warnings=tuple(warnings),
        hidden=any(rule.head.name == "sees" for rule in rules),
    )


__all__ = ["GdlProgram", "Stage", "compile_gdl"]
