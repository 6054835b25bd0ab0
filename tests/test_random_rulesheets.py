"""All engines against the reference interpreter on random rulesheets."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import reference
from chances import chi_square_deviation, exact_outcomes, sampled_outcomes
from comparing import compare_playout, load_engines
from omnilude.errors import RulesError
from random_rules import LENGTH, minimise, rulesheet

SEEDS = st.integers(0, 2**32 - 1)


def difference(text: str, seed: int, playouts: int = 3) -> str | None:
    """What the engines and the reference disagree on; None where they agree."""
    try:
        games = load_engines(text)
    except RulesError as error:
        event(f"refused: {error.message.split(':')[0]}")
        return None
    event("loop" if games["width 1"].circuit_size["recursive_atoms"] else "no loop")
    oracle = reference.load(text)
    choices = random.Random(seed)
    for _ in range(playouts):
        try:
            steps = compare_playout(oracle, games, choices.randrange, LENGTH + 1)
        except AssertionError as error:
            return str(error)
        event(f"steps: {steps}")
    return None


@pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")
@settings(deadline=None, derandomize=True, max_examples=200)
@given(SEEDS)
def test_engines_agree_with_the_reference(seed: int) -> None:
    text = rulesheet(seed)
    if (found := difference(text, seed)) is not None:
        fail(text, found, lambda t: difference(t, seed))


def playout_difference(text: str, seed: int, count: int = 5000) -> str | None:
    """Random play by circuits against the exact chances, which the interpreter's moves give."""
    try:
        games = load_engines(text)
    except RulesError:
        return None
    chances = exact_outcomes(games["interpreter"])
    if chances is None:
        return None
    for name in ("machine code", "width 2", "interpreter"):
        playouts = 200 if name == "interpreter" else count
        result = games[name].core.playouts(playouts, seed, 1, 100, False)
        counts = sampled_outcomes(result)
        if result["finished"] + result["stuck"] != playouts or result["cut"]:
            return f"{name}: {result} for {playouts} playouts"
        for role in range(len(games[name].roles)):
            of_role = {key: chance for key, chance in chances.items() if key[0] in (role, -1)}
            found = {key: count for key, count in counts.items() if key[0] in (role, -1)}
            if chi_square_deviation(found, of_role) > 6.5:
                return f"{name}: {found} where the chances are {of_role}"
    return None


@pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")
@settings(deadline=None, derandomize=True, max_examples=60)
@given(SEEDS)
def test_random_play_has_the_exact_chances(seed: int) -> None:
    text = rulesheet(seed)
    if (found := playout_difference(text, seed)) is not None:
        fail(text, found, lambda t: playout_difference(t, seed))


def fail(text: str, found: str, compare: Callable[[str], str | None]) -> None:
    """Fails with the lines of the sheet that matter."""

    def fails(shorter: str) -> bool:
        try:
            return compare(shorter) is not None
        except Exception:  # a sheet that lost too much
            return False

    pytest.fail(f"{found}\n\n{minimise(text, fails)}")
