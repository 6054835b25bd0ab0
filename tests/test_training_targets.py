"""Targets against a slow and obvious reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude.search.pool import GameRecords
from omnilude.training.targets import (
    PolicyLayout,
    Targets,
    join_targets,
    make_targets,
    mix_values,
)


def random_records(
    seed: int, slots: tuple[int, ...], games: int, *, longest: int = 6, state_bytes: int = 3
) -> GameRecords:
    """Records as self-play would make them: any number of players with a choice at a time."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest + 1, size=games)
    n, players = int(lengths.sum()), len(slots)
    counts, policy_slots, probs = [], [], []
    for _ in range(n):
        for size in slots:
            count = int(random.integers(0, size + 1))
            count = 0 if count < 2 else count
            counts.append(count)
            policy_slots += sorted(random.choice(size, count, replace=False).tolist())
            probs += random.dirichlet(np.ones(count)).tolist() if count else []
    return GameRecords(
        states=random.integers(0, 256, (n, state_bytes), dtype=np.uint8),
        moves=random.integers(0, 2, (n, players), dtype=np.int32),
        q=random.random((n, players), dtype=np.float32),
        full=random.random(n) < 0.7,
        surprise=random.random(n, dtype=np.float32) * (random.random(n) < 0.8),
        policy_offsets=np.cumsum([0, *counts]).astype(np.uint32),
        policy_slots=np.array(policy_slots, dtype=np.int32),
        policy_probs=np.array(probs, dtype=np.float32),
        game_offsets=np.cumsum([0, *lengths]).astype(np.uint32),
        game_numbers=np.arange(games, dtype=np.uint64),
        final_states=random.integers(0, 256, (games, state_bytes), dtype=np.uint8),
        rewards=random.random((games, players), dtype=np.float32),
        cut=random.random(games) < 0.3,
        solved=random.random(n) < 0.2,
    )


def slow_targets(
    records: GameRecords, slots: tuple[int, ...], surprise: bool
) -> list[dict[str, object]]:
    """One position after another, as one would explain it."""
    players = len(slots)
    offsets = [sum(slots[:p]) for p in range(players)]
    rows = []
    for g in range(records.games):
        first, last = int(records.game_offsets[g]), int(records.game_offsets[g + 1])
        kept = [i for i in range(first, last) if records.full[i]]
        total = sum(float(records.surprise[i]) for i in kept)
        for i in kept:
            policy = {}
            for p in range(players):
                begin, end = records.policy_offsets[i * players + p : i * players + p + 2]
                for e in range(int(begin), int(end)):
                    column = offsets[p] + int(records.policy_slots[e])
                    policy[column] = float(records.policy_probs[e])
            weight = 1.0
            if surprise and total > 1e-6:
                weight = 0.5 + 0.5 * len(kept) * float(records.surprise[i]) / total
            rows.append(
                {
                    "number": i,
                    "state": records.states[i].tolist(),
                    "final": records.final_states[g].tolist(),
                    "reward": (records.q[i] if records.solved[i] else records.rewards[g]).tolist(),
                    "q": records.q[i].tolist(),
                    "ended": not records.cut[g],
                    "policy": policy,
                    "weight": weight,
                    "next": i + 1 if i + 1 in kept else None,
                }
            )
    return rows


def unpack(targets: Targets) -> list[dict[str, object]]:
    ends = np.cumsum(targets.policy_counts)
    rows = []
    for i in range(targets.positions):
        begin, end = int(ends[i] - targets.policy_counts[i]), int(ends[i])
        columns, probs = targets.policy_columns[begin:end], targets.policy_probs[begin:end]
        rows.append(
            {
                "state": targets.states[i].tolist(),
                "final": targets.finals[i].tolist(),
                "reward": targets.rewards[i].tolist(),
                "q": targets.q[i].tolist(),
                "ended": bool(targets.ended[i]),
                "policy": dict(zip(columns.tolist(), probs.tolist(), strict=True)),
                "weight": float(targets.weights[i]),
                "replied": bool(targets.replied[i]),
            }
        )
    return rows


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**9),
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple),
    st.integers(0, 8),
    st.booleans(),
)
def test_targets_are_those_of_the_reference(
    seed: int, slots: tuple[int, ...], games: int, surprise: bool
) -> None:
    records = random_records(seed, slots, games)
    found = unpack(make_targets(records, PolicyLayout(slots), surprise=surprise))
    expected = slow_targets(records, slots, surprise)
    assert len(found) == len(expected)
    for k, (row, wanted) in enumerate(zip(found, expected, strict=True)):
        for name in ("state", "final", "reward", "q", "ended", "policy"):
            assert row[name] == wanted[name], name
        assert row["weight"] == pytest.approx(wanted["weight"], rel=1e-5)
        follows = k + 1 < len(expected) and expected[k + 1]["number"] == wanted["next"]
        assert row["replied"] == (follows and bool(expected[k + 1]["policy"]))


@given(st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_surprise_moves_weight_within_a_game_but_not_between_games(seed: int) -> None:
    records = random_records(seed, (3, 2), 5)
    targets = make_targets(records, PolicyLayout((3, 2)), surprise=True)
    game_of = np.repeat(np.arange(5), np.diff(records.game_offsets.astype(int)))[records.full]
    for game in range(5):
        weights = targets.weights[game_of == game]
        assert weights.sum() == pytest.approx(len(weights), abs=1e-4)
        assert (weights >= 0.4999).all()


def test_layout_names_columns() -> None:
    layout = PolicyLayout((2, 3))
    assert layout.size == 5
    assert layout.offsets.tolist() == [0, 2]
    assert layout.players.tolist() == [0, 0, 1, 1, 1]


def test_joined_targets_are_one_after_another() -> None:
    parts = [
        make_targets(random_records(s, (3,), 3), PolicyLayout((3,)), surprise=False)
        for s in range(3)
    ]
    rows = [row for part in parts for row in unpack(part)]
    assert unpack(join_targets(parts)) == rows


def test_values_are_mixed() -> None:
    z, q = np.array([[1.0, 0.0]], dtype=np.float32), np.array([[0.5, 0.25]], dtype=np.float32)
    assert mix_values(z, q, 0.5).tolist() == [[0.75, 0.125]]
    assert mix_values(z, q, 1.0).tolist() == z.tolist()
    assert mix_values(z, q, 0.0).tolist() == q.tolist()
