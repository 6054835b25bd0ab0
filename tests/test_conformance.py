"""Every bundled game conforms; games that are broken on purpose do not."""

from typing import Any

import numpy as np
import pytest

import omnilude
from omnilude import _core
from omnilude.games import Game
from omnilude.games.conformance import check
from omnilude.games.loading import load_text
from omnilude.rules.library import bundled_games

STUCK = """
(role a)
(init (at 0))
(<= (legal a go) (true (at 0)))
(<= (next (at 1)) (does a go))
(<= terminal (true (at 2)))
(goal a 100)
"""
ENDLESS = (
    "(role a) (init p) (legal a go) (<= (next p) (does a go)) (<= terminal (true q)) (goal a 0)"
)


@pytest.mark.parametrize("name", bundled_games(".kif"))
def test_bundled_games_conform(name: str) -> None:
    report = check(omnilude.load(name), playouts=3)
    assert report.passed, str(report)
    assert report.positions > 0
    assert "conforms" in str(report)


@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker", "tower"])
@pytest.mark.parametrize("settings", [{"machine_code": False}, {"engine": "interpreter"}])
def test_other_engines_conform(name: str, settings: dict[str, Any]) -> None:
    game = omnilude.load(name, omnilude.LoadSettings(**settings))
    report = check(game, playouts=2, samples=100)
    assert report.passed, str(report)


def test_rules_that_leave_a_role_without_a_move_are_reported() -> None:
    report = check(load_text(STUCK))
    assert not report.passed
    assert report.problems == ["a has no legal move in a state that is not terminal"]


def test_games_without_end_are_given_up_but_not_blamed() -> None:
    report = check(load_text(ENDLESS), max_length=50)
    assert report.passed, str(report)


class BrokenCore:
    """A core that does everything as another, but for one fault."""

    def __init__(self, core: _core.Game, fault: str) -> None:
        self._core = core
        self._fault = fault
        self._calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def _tick(self) -> int:
        self._calls += 1
        return self._calls

    def find_move(self, role: int, name: str) -> int:
        return 0 if self._fault == "finds the wrong move" else self._core.find_move(role, name)

    def move_name(self, role: int, slot: int) -> str:
        name = self._core.move_name(role, slot)
        return "(mark)" if self._fault == "same text" and name != "noop" else name

    def advance(self, states: np.ndarray, moves: np.ndarray) -> None:
        if self._fault == "raises":
            raise RuntimeError("out of order")
        before = states.copy()
        self._core.advance(states, moves)
        if self._fault == "forgets the last of a batch" and len(states) > 1:
            states[-1] = before[-1]
        if self._fault == "not deterministic" and self._tick() % 7 == 0:
            states[:] = before

    def describe(self, states: np.ndarray) -> tuple[Any, ...]:
        terminal, rewards, offsets, moves, odd = self._core.describe(states)
        if self._fault == "rewards too great":
            rewards = rewards * 2
        if self._fault == "rewards before the end":
            rewards = np.where(terminal[:, None] > 0, rewards, 0.5).astype(np.float32)
        if self._fault == "repeats a move" and len(moves) > 1:
            moves = moves.copy()
            moves[1] = moves[0]
        if self._fault == "changes its mind" and self._tick() % 2:
            terminal = 1 - terminal
        if self._fault == "depends on the place in the batch" and len(states) > 1:
            rewards = rewards[::-1].copy()
        return terminal, rewards, offsets, moves, odd

    def playouts(
        self, count: int, seed: int, threads: int, max_length: int, detailed: bool
    ) -> dict[str, Any]:
        if self._fault == "threads matter":
            seed += threads
        if self._fault == "not reproducible":
            seed += self._tick()
        result = self._core.playouts(count, seed, threads, max_length, detailed)
        if self._fault == "loses playouts":
            result["finished"] -= 1
        if self._fault == "biased":
            best = max(value for role, value, _ in result["outcomes"] if role == 0)
            result["outcomes"] = [
                (role, best if role == 0 else value, n) for role, value, n in result["outcomes"]
            ]
        if self._fault == "prefers short games":
            result["lengths"] = [*result["lengths"][:7], sum(result["lengths"][7:])]
        return result


FAULTS = {
    "finds the wrong move": "not found by its text",
    "same text": "share their text",
    "raises": "out of order",
    "forgets the last of a batch": "a batch advances otherwise",
    "not deterministic": "lead to different states",
    "rewards too great": "not within 0 and 1",
    "rewards before the end": "rewards before the end",
    "repeats a move": "not distinct",
    "changes its mind": "two answers",
    "depends on the place in the batch": "otherwise than alone",
    "threads matter": "number of threads",
    "not reproducible": "from run to run",
    "loses playouts": "lost or invented",
    "biased": "another mean reward",
    "prefers short games": "another mean length",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_games_are_caught(fault: str) -> None:
    sound = omnilude.load("tic-tac-toe")
    core: Any = BrokenCore(sound.core, fault)
    report = check(Game("broken", core, file="<test>", engine="circuit"))
    assert any(FAULTS[fault] in problem for problem in report.problems), str(report)


def test_the_wrapper_alone_breaks_nothing() -> None:
    core: Any = BrokenCore(omnilude.load("tic-tac-toe").core, "none")
    report = check(Game("whole", core, file="<test>", engine="circuit"))
    assert report.passed, str(report)


def test_a_state_that_can_be_written_to_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omnilude.State, "block", property(lambda state: state._block.copy()))
    report = check(omnilude.load("tic-tac-toe"))
    assert "a state's bytes can be written to" in report.problems
