"""Random play: uniform, independent, reproducible, and exactly as many playouts as asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import omnilude
from chances import STUCK, chi_square_deviation, exact_outcomes, sampled_outcomes
from comparing import ENGINES
from omnilude.games import Game
from omnilude.games.loading import load_text

CIRCUITS = ["machine code", "width 1", "width 2", "width 4"]
LIMIT = 3.8  # standard deviations: exceeded by chance once in 10,000 tests


def play(game: Game, count: int, seed: int = 1, **options: Any) -> dict[str, Any]:
    settings = {"threads": 1, "max_length": 1000, "detailed": False} | options
    return game.core.playouts(
        count, seed, settings["threads"], settings["max_length"], settings["detailed"]
    )


def one_step(moves: int, extra: str = "") -> str:
    """One move of `moves`; the goal tells which it was."""
    facts = " ".join(f"(number {n})" for n in range(moves))
    return f"""
        (role p) (init start) {facts} {extra}
        (<= (legal p (take ?n)) (number ?n))
        (<= (next (taken ?n)) (does p (take ?n)))
        (<= terminal (true (taken ?n)))
        (<= (goal p ?n) (true (taken ?n)))"""


def load(text: str, engine: str) -> Game:
    return load_text(text, settings=ENGINES[engine])


def deviation(game: Game, count: int, seed: int = 1) -> float:
    """The worst over the roles."""
    chances = exact_outcomes(game)
    assert chances is not None
    result = play(game, count, seed)
    assert result["finished"] + result["stuck"] == count
    counts = sampled_outcomes(result)
    return max(
        chi_square_deviation(
            {key: n for key, n in counts.items() if key in (STUCK, (role, key[1]))},
            {key: p for key, p in chances.items() if key in (STUCK, (role, key[1]))},
        )
        for role in range(len(game.roles))
    )


@pytest.mark.sanitize
@pytest.mark.parametrize("engine", ["machine code", "width 1"])
@pytest.mark.parametrize("moves", [*range(1, 21), 33, 64, 100])
def test_every_move_is_equally_likely(moves: int, engine: str) -> None:
    assert deviation(load(one_step(moves), engine), 40_000) < LIMIT


VARYING = """
    (role p) (init (at a)) (init (step 0))
    (after 0 1) (after 1 2) (after 2 3)
    (way a b) (way a c) (way a d) (way b c) (way b a) (way c a) (way d d) (way d c) (way d a)
    (way c b) (way c d) (way c c) (way c e) (way e a)
    (number a 0) (number b 10) (number c 20) (number d 30) (number e 40)
    (<= (legal p (go ?y)) (true (at ?x)) (way ?x ?y))
    (<= (next (at ?y)) (does p (go ?y)))
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= terminal (true (step 3)))
    (<= (goal p ?n) (true (at ?x)) (number ?x ?n))"""

TOGETHER = """
    (role p) (role q) (init start) (digit 0) (digit 1) (digit 2) (digit 3) (digit 4)
    (<= (legal p (show ?n)) (digit ?n)) (<= (legal q (show ?n)) (digit ?n) (distinct ?n 4))
    (<= (next (shown ?r ?n)) (does ?r (show ?n)))
    (<= terminal (true (shown p ?n)))
    (value 0 0 00)
    (<= (goal p ?v) (true (shown p ?m)) (true (shown q ?n)) (joint ?m ?n ?v))
    (<= (goal q ?v) (true (shown q ?n)) (joint 0 ?n ?v))
""" + " ".join(f"(joint {m} {n} {m * 4 + n})" for m in range(5) for n in range(4))

# Which moves are legal depends on a coin; one role waits where the other chooses.
TURNS = """
    (role p) (role q) (role random) (init (turn random))
    (<= (legal random (flip ?s)) (true (turn random)) (side ?s)) (side 0) (side 1) (side 2)
    (<= (legal random noop) (not (true (turn random))))
    (<= (legal p (pick ?n)) (true (turn p)) (true (side ?s)) (allowed ?s ?n))
    (<= (legal p noop) (not (true (turn p))))
    (<= (legal q noop) (not (true (turn q))))
    (<= (legal q (pick ?n)) (true (turn q)) (true (picked ?m)) (allowed ?k ?m) (allowed ?k ?n))
    (allowed 0 1) (allowed 0 2) (allowed 0 3) (allowed 1 3) (allowed 1 4) (allowed 2 5)
    (<= (next (turn p)) (true (turn random))) (<= (next (turn q)) (true (turn p)))
    (<= (next (turn end)) (true (turn q)))
    (<= (next (side ?s)) (does random (flip ?s)))
    (<= (next (picked ?n)) (does ?r (pick ?n)))
    (<= terminal (true (turn end)))
    (<= (goal p ?n) (true (picked ?n))) (<= (goal q ?n) (true (picked ?n)))
    (goal random 0)"""


@pytest.mark.sanitize
@pytest.mark.parametrize("engine", CIRCUITS)
@pytest.mark.parametrize("text", [VARYING, TOGETHER, TURNS], ids=["varying", "together", "turns"])
def test_chances_are_exact(text: str, engine: str) -> None:
    assert deviation(load(text, engine), 100_000) < LIMIT


@pytest.mark.parametrize("text", [VARYING, TOGETHER, TURNS], ids=["varying", "together", "turns"])
def test_interpreted_chances_are_exact(text: str) -> None:
    assert deviation(load(text, "interpreter"), 4000) < LIMIT


@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker", "prisoners-dilemma"])
def test_chances_of_bundled_games_are_exact(name: str) -> None:
    assert deviation(omnilude.load(name), 200_000) < LIMIT


@pytest.mark.parametrize("engine", CIRCUITS)
@pytest.mark.parametrize("moves", [2, 3, 5])
def test_lanes_are_independent(moves: int, engine: str) -> None:
    """Counts over blocks of 256 lanes scatter as binomial ones do, neither more nor less."""
    game = load(one_step(moves), engine)
    blocks = 2000
    counts = np.zeros((blocks, moves))
    for seed in range(blocks):
        for _, value, count in play(game, 256, seed)["outcomes"]:
            counts[seed, value] = count
    expected = 256 / moves
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = blocks * (moves - 1)
    deviation = (np.cbrt(statistic / freedom) - 1 + 2 / (9 * freedom)) / math.sqrt(
        2 / (9 * freedom)
    )
    assert abs(deviation) < LIMIT


@pytest.mark.parametrize("engine", CIRCUITS)
def test_successive_choices_of_a_lane_are_independent(engine: str) -> None:
    """Of the 16 ways of four choices between two moves, as many playouts take each."""
    digits = " ".join(f"(after {n} {n + 1})" for n in range(4))
    text = f"""
        (role p) (init (step 0)) {digits} (bit 0) (bit 1) {sums()}
        (<= (legal p (say ?b)) (bit ?b))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= (next (said ?m ?b)) (true (step ?m)) (does p (say ?b)))
        (<= (next (said ?m ?b)) (true (said ?m ?b)))
        (<= terminal (true (step 4)))
        (<= (goal p ?v) (true (said 0 ?a)) (true (said 1 ?b)) (true (said 2 ?c))
            (true (said 3 ?d)) (sum ?a ?b ?c ?d ?v))"""
    assert deviation(load(text, engine), 200_000) < LIMIT


def sums() -> str:
    return " ".join(f"(sum {v & 1} {v >> 1 & 1} {v >> 2 & 1} {v >> 3} {v})" for v in range(16))


# --- reproducibility ---


@pytest.mark.parametrize("name", ["connect-four", "race-dice", "hex-7x7", "othello"])
def test_threads_change_nothing(name: str) -> None:
    game = omnilude.load(name)
    for count in (1, 300, 20_000):
        results = [play(game, count, 7, threads=threads, detailed=True) for threads in (1, 2, 3)]
        assert results[0] == results[1] == results[2]
    assert play(game, 20_000, 7, detailed=True) == results[0]
    assert play(game, 20_000, 8, detailed=True) != results[0]


def test_seeds_differ() -> None:
    game = omnilude.load("connect-four")
    results = {str(play(game, 1000, seed)) for seed in range(50)}
    assert len(results) == 50


# --- counting ---


@pytest.mark.sanitize
@pytest.mark.parametrize("engine", ENGINES)
def test_there_are_exactly_as_many_playouts_as_asked_for(engine: str) -> None:
    game = load(VARYING, engine)
    for count in [0, 1, 2, 63, 64, 65, 255, 256, 257, 511, 512, 513, 700, 1023, 1025, 2049]:
        if engine == "interpreter" and count > 300:
            continue
        result = play(game, count, count, detailed=True)
        assert result["finished"] == count
        assert result["stuck"] == result["cut"] == 0
        assert sum(n for _, _, n in result["outcomes"]) == count
        assert sum(result["lengths"]) == count
        assert result["steps"] == 3 * count
        assert sum(n * length for length, n in enumerate(result["lengths"])) == 3 * count


# Ends with chance 1/4 after each move: the length is geometric, mean 4, variance 12.
GEOMETRIC = """
    (role p) (init going) (number 0) (number 1) (number 2) (number 3)
    (<= (legal p (say ?n)) (number ?n))
    (<= (next going) (does p (say ?n)) (distinct ?n 3))
    (<= (next over) (does p (say 3)))
    (<= terminal (true over))
    (goal p 50)"""


@pytest.mark.parametrize("engine", CIRCUITS)
@pytest.mark.parametrize("count", [100, 256, 5000, 100_000])
def test_short_games_are_not_preferred(engine: str, count: int) -> None:
    game = load(GEOMETRIC, engine)
    repeats = max(1, 40_000 // count)
    steps = sum(play(game, count, seed)["steps"] for seed in range(repeats))
    error = math.sqrt(12 / (count * repeats))
    assert abs(steps / (count * repeats) - 4) < LIMIT * error
    result = play(game, count, 99, detailed=True)
    if count >= 5000:
        chances = {n: 0.25 * 0.75 ** (n - 1) for n in range(1, 200)}
        assert chi_square_deviation(dict(enumerate(result["lengths"])), chances) < LIMIT


@pytest.mark.parametrize("engine", ENGINES)
def test_endless_games_are_cut(engine: str) -> None:
    text = """
        (role p) (init (on a)) (<= (legal p (go ?x)) (place ?x)) (place a) (place b)
        (<= (next (on ?x)) (does p (go ?x))) (<= terminal (true never)) (goal p 100)"""
    game = load(text, engine)
    for length in (1, 7, 100):
        result = play(game, 300, 1, max_length=length)
        assert result["cut"] == 300
        assert result["finished"] == result["stuck"] == 0
        assert sum(n for _, _, n in result["outcomes"]) == 0
        assert 300 * length <= result["steps"] <= 300 * (2 * length + 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_games_within_the_longest_length_are_not_cut(engine: str) -> None:
    result = play(load(VARYING, engine), 300, 1, max_length=3)
    assert result["finished"] == 300


@pytest.mark.parametrize("engine", ENGINES)
def test_a_role_without_a_move_is_stuck(engine: str) -> None:
    """After the first move one of three ways leaves the second role without any."""
    text = """
        (role p) (role q) (init start) (number 0) (number 1) (number 2)
        (<= (legal p (go ?n)) (number ?n) (true start)) (<= (legal q noop) (true start))
        (<= (legal p noop) (true (at ?n)))
        (<= (legal q (go ?n)) (true (at ?n)) (distinct ?n 0))
        (<= (next (at ?n)) (does p (go ?n))) (<= (next end) (true (at ?n)))
        (<= terminal (true end)) (goal p 100) (goal q 0)"""
    game = load(text, engine)
    count = 300 if engine == "interpreter" else 9000
    result = play(game, count, 5, detailed=True)
    assert result["finished"] + result["stuck"] == count
    assert abs(result["stuck"] - count / 3) < LIMIT * math.sqrt(count * 2 / 9)
    assert result["steps"] == result["stuck"] + 2 * result["finished"]
    assert result["lengths"][1:] == [result["stuck"], result["finished"]]
    assert [n for role, value, n in result["outcomes"] if (role, value) == (0, 100)] == [
        result["finished"]
    ]


# --- games whose statistics are known ---


def test_tic_tac_toe_statistics() -> None:
    """212256, 104544 and 46080 weighted by how likely each playout is."""
    count = 400_000
    outcomes = sampled_outcomes(play(omnilude.load("tic-tac-toe"), count))
    for key, chance in {(0, 100): 0.584921, (1, 100): 0.288095, (0, 50): 0.126984}.items():
        error = math.sqrt(count * chance * (1 - chance))
        assert abs(outcomes[key] - count * chance) < 5 * error


def test_connect_four_statistics() -> None:
    """Of random games the first player wins 0.5557 and the second 0.4419 (to three digits)."""
    count = 200_000
    outcomes = sampled_outcomes(play(omnilude.load("connect-four"), count))
    for key, chance in {(0, 100): 0.5557, (1, 100): 0.4417}.items():
        error = math.sqrt(count * chance * (1 - chance)) + count * 0.0003
        assert abs(outcomes[key] - count * chance) < 5 * error


def test_machine_code_and_portable_code_agree() -> None:
    """They draw different random numbers where their widths differ, but from one distribution."""
    text = omnilude.rules.library.bundled_games()["connect-four-3p"].read_text(encoding="utf-8")
    count = 100_000
    results = [sampled_outcomes(play(load(text, engine), count, 3)) for engine in CIRCUITS]
    for key in results[0]:
        for other in results[1:]:
            spread = math.sqrt(results[0][key] + other[key])
            assert abs(results[0][key] - other[key]) < 5 * spread
