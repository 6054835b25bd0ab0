"""GDL: from a rulesheet in KIF to the encoded program that the core grounds and runs."""

from __future__ import annotations

from dataclasses import dataclass

from omnilude.rules.gdl.checks import (
    check_rules,
    check_stages,
    complete_roles,
    drop_unused,
    find_roles,
)
from omnilude.rules.gdl.encode import EncodedRules, encode
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
    as_written: EncodedRules  # for the interpreter
    split: EncodedRules  # for grounding
    warnings: tuple[str, ...]
    percepts: bool  # whether `sees` is used


def compile_gdl(text: str, file: str) -> GdlProgram:
    """Reads and checks a rulesheet; raises RulesError where it is wrong."""
    rules = read_rules(text, file)
    roles = find_roles(rules, file)
    rules, completed = complete_roles(rules)
    warnings = check_rules(rules, file) + completed
    stratified = specialise(rules)
    check_stages(stratified, stratify(stratified, file), file)
    used = drop_unused(stratified)
    split = split_rules(used)
    return GdlProgram(
        file=file,
        roles=tuple(roles),
        rules=tuple(rules),
        as_written=encode(used, stratify(used, file), roles),
        split=encode(split, stratify(split, file), roles),
        warnings=tuple(warnings),
        percepts=any(rule.head.name == "sees" for rule in rules),
    )


__all__ = ["EncodedRules", "GdlProgram", "Stage", "compile_gdl"]
