"""The public test that any game, also a user's, can be put through.

It plays at random through the one-state and the batch interface and compares: nothing here knows
any rules, so what it finds is an engine that contradicts itself, or rules that leave a role
without a move. Whether the rules are the right ones is what perft and recorded games are for.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from omnilude.errors import BudgetExceeded, IllegalMove
from omnilude.games.game import Batch, Game, Move, State
from omnilude.games.perft import perft
from omnilude.games.statistics import random_play

MAX_Z = 5.0
"""Standard errors by which two means of random play may differ: one false alarm in millions."""
_NO_SUCH_MOVE = "(no such move)"


@dataclass(slots=True)
class Report:
    """What a check came to."""

    game: str
    positions: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problems

    def expect(self, holds: object, problem: str) -> None:
        """Notes a problem, once, where something does not hold."""
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def __str__(self) -> str:
        if self.passed:
            return f"{self.game}: conforms ({self.positions} positions)"
        return "\n".join([f"{self.game}: {len(self.problems)} problems", *self.problems])


@dataclass(slots=True)
class _Walk:
    """One random game, a state at a time."""

    states: list[State]
    moves: list[list[Move]]


def check(
    game: Game, *, playouts: int = 5, samples: int = 1000, seed: int = 1, max_length: int = 1000
) -> Report:
    """Puts a game through all tests.

    `playouts` games are played and examined state by state, `samples` are played by each of the
    two batch ways and their means compared; games are given up after `max_length` moves. Only
    BudgetExceeded is raised; any other error of the game is one of the report's problems.
    """
    report = Report(game.name)
    walks: list[_Walk] = []
    stages: list[tuple[str, Callable[[], None]]] = [
        ("random play", lambda: _walk(report, game, walks, playouts, seed, max_length)),
        ("replay", lambda: _check_replay(report, game, walks)),
        ("batches", lambda: _check_batches(report, game, walks, seed)),
        ("perft", lambda: _check_perft(report, game)),
        ("playouts", lambda: _check_playouts(report, game, samples, seed, max_length)),
    ]
    for name, stage in stages:
        try:
            stage()
        except BudgetExceeded:
            raise
        except Exception as error:  # a bad game may fail in any way; that is what is tested
            report.expect(False, f"{name}: {type(error).__name__}: {error}")
    return report


def _walk(
    report: Report, game: Game, walks: list[_Walk], playouts: int, seed: int, max_length: int
) -> None:
    """Plays through the one-state interface, tests each state, and keeps the games in `walks`."""
    chooser = random.Random(seed)
    for _ in range(playouts):
        walk = _Walk([game.initial()], [])
        walks.append(walk)
        while len(walk.moves) <= max_length:
            state = walk.states[-1]
            report.positions += 1
            legal = [state.legal(role) for role in game.roles]
            _check_state(report, state, legal)
            if state.terminal or not all(legal):
                break
            joint = [chooser.choice(moves) for moves in legal]
            before = state.block.tobytes()
            after = state.play(joint)
            report.expect(state.block.tobytes() == before, "playing a move changes the old state")
            _check_illegal(report, state, joint)
            walk.states.append(after)
            walk.moves.append(joint)


def _check_state(report: Report, state: State, legal: list[list[Move]]) -> None:
    game = state.game
    report.expect(not state.block.flags.writeable, "a state's bytes can be written to")
    report.expect(
        _same(game.describe(state.block), game.describe(state.block)),
        "describing a state twice gives two answers",
    )
    for number, (role, moves) in enumerate(zip(game.roles, legal, strict=True)):
        report.expect(
            len({move.slot for move in moves}) == len({move.text for move in moves}) == len(moves),
            f"legal moves of {role} are not distinct, or share their text",
        )
        report.expect(
            all(game.core.find_move(number, str(move)) == move.slot for move in moves),
            f"a move of {role} is not found by its text",
        )
        report.expect(
            moves or state.terminal, f"{role} has no legal move in a state that is not terminal"
        )
        report.expect(
            all(isinstance(percept, str) for percept in state.percepts(role)),
            f"what {role} sees is not text",
        )
    rewards = state.reward
    report.expect(len(rewards) == len(game.roles), "there is not one reward a role")
    report.expect(all(0 <= reward <= 1 for reward in rewards), "a reward is not within 0 and 1")
    if state.terminal:
        joint = [str(moves[0]) if moves else _NO_SUCH_MOVE for moves in legal]
        report.expect(_refuses(state, joint), "moves can be played after the end")
    else:
        report.expect(not any(rewards), "there are rewards before the end")


def _check_illegal(report: Report, state: State, joint: list[Move]) -> None:
    game = state.game
    report.expect(_refuses(state, [*map(str, joint), "noop"]), "too many moves are accepted")
    for number, role in enumerate(game.roles):
        legal = {move.slot for move in state.legal(role)}
        others = (slot for slot in range(game.slots(role)) if slot not in legal)
        slot = next(others, None)
        wrong = [_NO_SUCH_MOVE] if slot is None else [_NO_SUCH_MOVE, game.move(role, slot).text]
        for text in wrong:
            moves = [text if n == number else str(move) for n, move in enumerate(joint)]
            report.expect(_refuses(state, moves), f"an illegal move of {role} is accepted")


def _refuses(state: State, moves: list[str]) -> bool:
    try:
        state.play(moves)
    except IllegalMove:
        return True
    return False


def _check_replay(report: Report, game: Game, walks: list[_Walk]) -> None:
    """The same moves, by their text, lead to the same states."""
    for walk in walks:
        state = game.initial()
        for number, expected in enumerate(walk.states):
            report.expect(state == expected, "the same moves lead to different states")
            report.expect(hash(state) == hash(expected), "equal states have different hashes")
            report.expect(str(state) == str(expected), "equal states have different pictures")
            if number < len(walk.moves):
                state = state.play([str(move) for move in walk.moves[number]])


def _check_batches(report: Report, game: Game, walks: list[_Walk], seed: int) -> None:
    """All states together, in order and shuffled, give what each gives alone."""
    states = [state for walk in walks for state in walk.states]
    blocks = np.concatenate([state.block for state in states])
    order = np.random.default_rng(seed).permutation(len(states))
    for places in (np.arange(len(states)), order):
        batch = game.describe(np.ascontiguousarray(blocks[places]))
        _check_shape(report, game, batch)
        for row, place in enumerate(places):
            alone = game.describe(states[place].block)
            same = (
                batch.terminal[row] == alone.terminal[0]
                and np.array_equal(batch.rewards[row], alone.rewards[0])
                and all(
                    np.array_equal(batch.legal(row, role), alone.legal(0, role))
                    for role in range(len(game.roles))
                )
            )
            report.expect(same, "a state in a batch is described otherwise than alone")
    steps = [
        (state.block, after.block, [move.slot for move in joint])
        for walk in walks
        for state, after, joint in zip(walk.states, walk.states[1:], walk.moves, strict=False)
    ]
    if not steps:
        return
    for shuffled in (steps, random.Random(seed).sample(steps, len(steps))):
        advanced = np.concatenate([before for before, _, _ in shuffled])
        game.advance(advanced, np.array([slots for _, _, slots in shuffled], dtype=np.int32))
        expected = np.concatenate([after for _, after, _ in shuffled])
        report.expect(
            np.array_equal(advanced, expected), "a batch advances otherwise than its states alone"
        )


def _check_shape(report: Report, game: Game, batch: Batch) -> None:
    roles = len(game.roles)
    report.expect(batch.offsets[0] == 0, "offsets do not begin at 0")
    report.expect(batch.offsets[-1] == len(batch.moves), "offsets do not end at the last move")
    report.expect((np.diff(batch.offsets.astype(np.int64)) >= 0).all(), "offsets go down")
    for row in range(len(batch.terminal)):
        for role in range(roles):
            slots = batch.legal(row, role)
            inside = ((slots >= 0) & (slots < game.slots(role))).all()
            report.expect(inside, "a legal move has no slot of its role")
            report.expect((np.diff(slots) > 0).all(), "legal moves are not in ascending order")


def _check_perft(report: Report, game: Game) -> None:
    state = game.initial()
    moves = 0 if state.terminal else math.prod(len(state.legal(role)) for role in game.roles)
    report.expect(perft(game, 1) == [moves], "perft(1) is not the number of joint moves")


def _check_playouts(report: Report, game: Game, samples: int, seed: int, max_length: int) -> None:
    """The core's playouts are reproducible, and like those made through describe and advance."""
    runs = [
        game.playouts(samples, seed=seed, threads=threads, max_length=max_length, detailed=True)
        for threads in (1, 1, 2)
    ]
    report.expect(runs[0] == runs[1], "playouts differ from run to run")
    report.expect(runs[0] == runs[2], "playouts depend on the number of threads")
    core = runs[0]
    report.expect(
        core["finished"] + core["stuck"] + core["cut"] == samples, "playouts are lost or invented"
    )
    rewards, lengths, live = [], [], 0
    for length, step in enumerate(random_play(game, samples, seed=seed, max_length=max_length)):
        lengths += [length] * int((~step.live).sum())
        rewards.append(step.batch.rewards[step.batch.terminal])
        live = int(step.live.sum())
    if live or core["cut"]:
        return  # the core may play on a little after max_length, so these are other games
    ours = np.concatenate(rewards).astype(np.float64)
    for number, role in enumerate(game.roles):
        outcomes = [(value / 100, n) for of, value, n in core["outcomes"] if of == number]
        theirs = np.repeat([v for v, _ in outcomes], [n for _, n in outcomes])
        report.expect(_agree(ours[:, number], theirs), f"playouts give {role} another mean reward")
    theirs = np.repeat(np.arange(len(core["lengths"])), core["lengths"])
    report.expect(_agree(np.array(lengths), theirs), "playouts have another mean length")
    finished = np.arange(samples)
    report.expect(
        _agree(finished < len(ours), finished < core["finished"]),
        "playouts finish more or less often",
    )


def _agree(first: np.ndarray, second: np.ndarray) -> bool:
    if not len(first) or not len(second):
        return len(first) == len(second)
    difference = abs(float(first.mean()) - float(second.mean()))
    error = math.sqrt(first.var() / len(first) + second.var() / len(second))
    return difference <= MAX_Z * error + 1e-6


def _same(first: Batch, second: Batch) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("terminal", "rewards", "offsets", "moves", "odd_goals")
    )
