"""The rules of selection and the targets, from the formulas of the papers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from omnilude.games.loading import load_text
from omnilude.search.settings import SearchSettings
from searching import make_pool

Numbers = NDArray[np.float64]
Rule = Callable[[Numbers, Numbers, Numbers, float], Numbers]
"""From priors, visits and mean values of moves, and the value of the position, to scores."""

WIDTHS = (5, 3, 2)
RULES = """
(role first) (role second) (init (at p))
(<= (legal ?r (go ?q)) (true (at ?p)) (turn ?p ?r) (step ?p ?q))
(<= (legal ?r noop) (role ?r) (true (at ?p)) (turn ?p ?s) (distinct ?r ?s))
(<= (next (at ?q)) (does ?r (go ?q)))
(<= terminal (true (at ?p)) (end ?p ?x ?y))
(<= (goal first ?x) (true (at ?p)) (end ?p ?x ?y))
(<= (goal second ?y) (true (at ?p)) (end ?p ?x ?y))
"""
"""Two choose in turns where to go on, and want different things. Places are paths: p, p0, p01."""


def list_below(place: str) -> list[str]:
    """The places one step from here; none from an end."""
    depth = len(place) - 1
    return [f"{place}{k}" for k in range(WIDTHS[depth])] if depth < len(WIDTHS) else []


def list_places(place: str = "p") -> list[str]:
    return [place, *(one for way in list_below(place) for one in list_places(way))]


class Guess:
    """Random logits of the ways to places, and values of places: the goals of ends, and else what
    a network says."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        places, rules = list_places(), RULES
        self.logits = dict(zip(places, random.normal(size=len(places)), strict=True))
        self.values = dict(zip(places, random.integers(101, size=(len(places), 2)), strict=True))
        for place in places:
            below, (mine, yours) = list_below(place), self.values[place]
            player = ("first", "second")[(len(place) - 1) % 2]
            rules += f"(turn {place} {player}) " if below else f"(end {place} {mine} {yours}) "
            rules += "".join(f"(step {place} {way}) " for way in below)
        self.game = load_text(rules, name="guess")

    def __call__(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        game = self.game
        found = [game.core.fluents[row.argmax()] for row in rows]  # type: ignore[attr-defined]
        places = [fluent.removeprefix("(at ").removesuffix(")") for fluent in found]
        moves = [str(game.move(role, slot)) for role in (0, 1) for slot in range(game.slots(role))]
        logits = [self.logits.get(move[4:-1], 0.0) for move in moves]
        values = [self.values[place] / 100 for place in places]
        return np.array([logits] * len(rows), np.float32), np.array(values, np.float32)

    def search(self, search: SearchSettings) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The target policy and the values of the first position of a game of self-play."""
        pool = make_pool(self.game, search, trees=1)
        pool.play()
        while not pool.counters["games"]:
            pool.step(self)
        records = pool.drain()
        return records.policy_probs[: records.policy_offsets[1]], records.q[0]


class Walks:
    """Walks down the tree by a rule. The evaluation of a position counts as a visit to it."""

    def __init__(self, guess: Guess, rule: Rule) -> None:
        self.guess, self.rule = guess, rule
        self.visits = dict.fromkeys(guess.values, 0)
        self.sums = {place: np.zeros(2) for place in guess.values}

    def look(self, place: str) -> tuple[Numbers, Numbers, Numbers, float]:
        player, below = (len(place) - 1) % 2, list_below(place)
        priors = np.exp([self.guess.logits[way] for way in below])
        visits = np.array([self.visits[way] for way in below])
        sums = np.array([self.sums[way][player] for way in below])
        value = self.guess.values[place][player] / 100
        return priors / priors.sum(), visits, sums / np.maximum(visits, 1), value

    def walk(self, place: str = "p", move: int = -1) -> Numbers:
        found: Numbers = self.guess.values[place] / 100
        if list_below(place) and self.visits[place]:
            best = int(self.rule(*self.look(place)).argmax())
            found = self.walk(list_below(place)[best if move < 0 else move])
        self.visits[place] += 1
        self.sums[place] += found
        return found


C_PUCT, C_VISIT, C_SCALE = 1.7, 7.0, 0.8


def puct(p: Numbers, n: Numbers, q: Numbers, _: float) -> Numbers:
    """P3's formula (1). N(s) counts the evaluation of s too; a move not yet tried is worth 0."""
    return q + C_PUCT * p * np.sqrt(1 + n.sum()) / (1 + n)


def improve(p: Numbers, n: Numbers, q: Numbers, v: float) -> Numbers:
    """The improved policy of Danihelka et al. 2022: softmax(logits + sigma(completed Q)), where a
    move not yet tried has the mixed value of appendix D."""
    tried = n > 0
    mean = (p * q)[tried].sum() / p[tried].sum() if tried.any() else 0.0
    mixed = (v + n.sum() * mean) / (1 + n.sum())
    sigma = (C_VISIT + n.max()) * C_SCALE * np.where(tried, q, mixed)
    weights: Numbers = np.exp(np.log(p) + sigma)
    return weights / weights.sum()


def gumbel(p: Numbers, n: Numbers, q: Numbers, v: float) -> Numbers:
    """Their choice below the root: visits are to become like the improved policy."""
    return improve(p, n, q, v) - n / (1 + n.sum())


@pytest.mark.parametrize("seed", range(8))
def test_puct_is_the_formula_of_p3(seed: int) -> None:
    """Walk by walk; the visits are the target."""
    search = SearchSettings(
        root="puct",
        first_play="zero",
        solver=False,
        noise_fraction=0.0,
        policy_temperature=1.0,
        c_puct=C_PUCT,
    )
    guess = Guess(seed)
    walks = Walks(guess, puct)
    walks.walk()
    for simulations in range(1, 41):
        walks.walk()
        policy, values = guess.search(replace(search, simulations=simulations))
        visits = [walks.visits[place] for place in list_below("p")]
        assert (policy * simulations).tolist() == pytest.approx(visits, abs=1e-4)
        assert values.tolist() == pytest.approx(walks.sums["p"] / (1 + simulations), abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_gumbel_is_the_formula_of_its_paper(seed: int) -> None:
    """Without noise, four of five moves and 16 walks: two for each, and four more for the better
    two. The target is the improved policy over all five."""
    search = SearchSettings(
        simulations=16,
        considered=4,
        solver=False,
        policy_temperature=1.0,
        temperature=0.0,
        c_visit=C_VISIT,
        c_scale=C_SCALE,
    )
    guess = Guess(seed)
    walks = Walks(guess, gumbel)
    walks.walk()
    considered = improve(*walks.look("p")).argsort()[::-1][:4]
    for move in [*considered] * 2:
        walks.walk(move=move)
    scores = improve(*walks.look("p"))
    for move in sorted(considered, key=lambda move: -scores[move])[:2] * 4:
        walks.walk(move=move)
    assert sorted(walks.visits[place] for place in list_below("p")) == [0, 2, 2, 6, 6]
    policy, _ = guess.search(search)
    assert policy.tolist() == pytest.approx(improve(*walks.look("p")), abs=1e-5)
