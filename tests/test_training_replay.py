"""The replay buffer: what goes in comes out, and no more than fits."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnilude.training import replay as replay_module
from omnilude.training.replay import Entries, Replay
from omnilude.training.targets import PolicyLayout, make_targets
from test_training_targets import random_records, unpack

SLOTS = (4, 3)


def read(replay: Replay, number: int) -> dict[str, object]:
    samples = replay.gather(np.array([number]))
    return {
        "state": samples.states[0].tolist(),
        "final": samples.finals[0].tolist(),
        "reward": samples.rewards[0].tolist(),
        "q": samples.q[0].tolist(),
        "ended": bool(samples.ended[0]),
        "policy": as_dict(samples.policy),
        "reply": as_dict(samples.reply),
    }


def as_dict(entries: Entries, row: int = 0) -> dict[int, float]:
    of_row = entries.rows == row
    columns, probs = entries.columns[of_row].tolist(), entries.probs[of_row].tolist()
    return dict(zip(columns, probs, strict=True))


def check_newest(replay: Replay, rows: list[dict[str, object]]) -> None:
    """What is in the buffer are the last of the rows, as they were."""
    newest = rows[-len(replay) :] if len(replay) else []
    first = replay.added - len(replay)
    for k, row in enumerate(newest):
        found = read(replay, first + k)
        reply = newest[k + 1]["policy"] if row["replied"] else {}
        assert found.pop("reply") == reply
        assert found == {name: row[name] for name in found}


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 60),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 12)), max_size=6),
)
def test_the_newest_positions_come_out_as_they_went_in(
    capacity: int, chunks: list[tuple[int, int]]
) -> None:
    replay = Replay(capacity, 3, 2)
    rows: list[dict[str, object]] = []
    for seed, games in chunks:
        targets = make_targets(
            random_records(seed, SLOTS, games), PolicyLayout(SLOTS), surprise=True
        )
        replay.add(targets)
        rows += unpack(targets)
        assert len(replay) == min(capacity, len(rows)) <= capacity
    check_newest(replay, rows)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 50))
def test_a_batch_is_its_rows(seed: int, count: int) -> None:
    replay = Replay(40, 3, 2)
    for k in range(3):
        records = random_records(seed + k, SLOTS, 8)
        replay.add(make_targets(records, PolicyLayout(SLOTS), surprise=False))
    numbers = replay.draw(count, np.random.default_rng(seed))
    samples = replay.gather(numbers)
    for row, number in enumerate(numbers):
        alone = read(replay, int(number))
        assert samples.states[row].tolist() == alone["state"]
        assert samples.q[row].tolist() == alone["q"]
        assert as_dict(samples.policy, row) == alone["policy"]
        assert as_dict(samples.reply, row) == alone["reply"]


def test_entries_of_many_positions_make_the_ring_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_module, "FIRST_ENTRIES", 4)
    replay = Replay(30, 3, 2)
    rows: list[dict[str, object]] = []
    for seed in range(12):
        targets = make_targets(random_records(seed, SLOTS, 6), PolicyLayout(SLOTS), surprise=False)
        replay.add(targets)
        rows += unpack(targets)
    first = replay.added - len(replay)
    for k, row in enumerate(rows[-30:]):
        assert read(replay, first + k)["policy"] == row["policy"]
    assert replay.nbytes < 30 * 100 + 1024 * 8


@settings(max_examples=60, deadline=None)
@example(278, [(441406, 5), (154831, 4), (32377, 8)])  # few entries, then many, then too many
@example(303, [(627806, 7), (359756, 11)])
@given(
    st.integers(200, 4000),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 12)), min_size=1, max_size=8),
)
def test_memory_is_bounded_and_what_is_left_is_whole(
    most_bytes: int, chunks: list[tuple[int, int]]
) -> None:
    replay = Replay(10**6, 3, 2, most_bytes)
    assert replay.capacity < 10**6
    rows: list[dict[str, object]] = []
    for seed, games in chunks:
        targets = make_targets(
            random_records(seed, SLOTS, games), PolicyLayout(SLOTS), surprise=False
        )
        replay.add(targets)
        rows += unpack(targets)
        assert replay.nbytes <= most_bytes
        assert len(replay) or not rows
        assert replay.full or len(replay) == len(rows)
    check_newest(replay, rows)


def test_many_moves_push_out_old_positions_before_the_capacity_is_reached() -> None:
    slots = (60, 50)
    records = [random_records(seed, slots, 12) for seed in range(6)]
    targets = [make_targets(one, PolicyLayout(slots), surprise=False) for one in records]
    entries = sum(int(one.policy_counts.sum()) for one in targets)
    replay = Replay(10**6, 3, 2, most_bytes=entries * replay_module.ENTRY_BYTES)  # half of it
    for one in targets:
        replay.add(one)
    assert replay.full
    assert len(replay) < sum(one.positions for one in targets) < replay.capacity
    first = replay.added - len(replay)
    assert set(replay.draw(1000, np.random.default_rng(0)).tolist()) <= set(
        range(first, replay.added)
    )


def test_draws_follow_weights_and_stay_in_the_window() -> None:
    replay = Replay(1000, 3, 2)
    targets = make_targets(random_records(5, SLOTS, 60), PolicyLayout(SLOTS), surprise=True)
    replay.add(targets)
    random = np.random.default_rng(1)
    count = 200_000
    drawn = Counter(replay.draw(count, random).tolist())
    expected = targets.weights / targets.weights.sum() * count
    found = np.array([drawn[k] for k in range(targets.positions)])
    chi = ((found - expected) ** 2 / expected).sum()
    freedom = targets.positions - 1
    assert abs(chi - freedom) < 5 * (2 * freedom) ** 0.5
    replay.set_window(10)
    assert set(replay.draw(1000, random).tolist()) == set(range(replay.added - 10, replay.added))


def test_the_same_seed_draws_the_same() -> None:
    replay = Replay(100, 3, 2)
    replay.add(make_targets(random_records(1, SLOTS, 20), PolicyLayout(SLOTS), surprise=True))
    first, second = (replay.draw(50, np.random.default_rng(3)) for _ in range(2))
    assert first.tolist() == second.tolist()
