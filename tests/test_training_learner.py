"""Batches, losses and the learner."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from omnilude import load
from omnilude.encoding import make_encoding
from omnilude.errors import LearningError
from omnilude.games.game import Batch as Description
from omnilude.games.loading import load_text
from omnilude.games.statistics import random_play
from omnilude.games.symmetry import find_symmetries
from omnilude.networks import NetworkSettings, build_network
from omnilude.networks.settings import FAMILIES
from omnilude.training.batches import BatchMaker, PolicyTarget, usable_symmetries
from omnilude.training.learner import (
    METRICS,
    Learner,
    final_loss,
    full_policy_loss,
    legal_policy_loss,
    value_loss,
)
from omnilude.training.loop import train
from omnilude.training.optimiser import ADAM_DECAYS, ADAM_EPSILON, FlatWeights, Optimiser
from omnilude.training.options import change_settings
from omnilude.training.replay import Replay
from omnilude.training.run import Run
from omnilude.training.settings import TrainingSettings
from omnilude.training.targets import PolicyLayout, Targets

GAME = load("tic-tac-toe")
LAYOUT = PolicyLayout.of(GAME)
ENCODING = make_encoding(GAME)
TINY = TrainingSettings(network=NetworkSettings(preset="tiny"), batch_size=32)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small gain nothing from more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_targets(count: int, seed: int = 0) -> Targets:
    """Different positions of random games with random policies over their legal moves."""
    random = np.random.default_rng(seed)
    steps = random_play(GAME, 64, seed=seed, max_length=100)
    states = np.unique(np.concatenate([step.states[step.live] for step in steps]), axis=0)
    states = random.permutation(states)[:count]
    described = GAME.describe(states)
    columns, probs, counts = [], [], []
    for row in range(len(states)):
        policy = legal_columns(described, row)
        columns += [column for of_player in policy for column in of_player]
        probs += [p for of_player in policy for p in random.dirichlet(np.ones(len(of_player)))]
        counts.append(sum(len(of_player) for of_player in policy))
    return Targets(
        states=states,
        finals=states[::-1].copy(),
        rewards=random.random((count, 2), dtype=np.float32),
        q=random.random((count, 2), dtype=np.float32),
        weights=np.ones(count, dtype=np.float32),
        ended=random.random(count) < 0.8,
        replied=np.array([k + 1 < count and counts[k + 1] > 0 for k in range(count)]),
        policy_counts=np.array(counts, dtype=np.int32),
        policy_columns=np.array(columns, dtype=np.int32),
        policy_probs=np.array(probs, dtype=np.float32),
    )


def legal_columns(described: Description, row: int) -> list[list[int]]:
    """Of each player with a choice: the columns of its legal slots."""
    of_players = [
        (LAYOUT.offsets[player] + described.legal(row, role)).tolist()
        for player, role in enumerate(GAME.players)
    ]
    return [columns for columns in of_players if len(columns) > 1]


def make_batches(targets: Targets, *, size: int = 32, symmetries: bool = False) -> BatchMaker:
    replay = Replay(1000, GAME.state_bytes, 2)
    replay.add(targets)
    found = find_symmetries(GAME).elements if symmetries else ()
    return BatchMaker(GAME, ENCODING, replay, size=size, symmetries=found, seed=1)


def make_learner(training: TrainingSettings = TINY, seed: int = 0) -> Learner:
    torch.manual_seed(seed)
    return Learner(build_network(ENCODING, LAYOUT.slots, training.network), training)


def dense(target: PolicyTarget, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    probs = torch.zeros(rows * LAYOUT.size)
    legal = torch.zeros(rows * LAYOUT.size, dtype=torch.bool)
    probs[target.index] = target.probs
    legal[target.index] = True
    return probs.view(rows, -1), legal.view(rows, -1)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_losses_are_those_of_dense_policies(seed: int) -> None:
    batch = make_batches(random_targets(40, seed)).make(0.5)
    torch.manual_seed(seed)
    logits = (torch.randn(32, LAYOUT.size) * 5).requires_grad_()
    probs, legal = dense(batch.policy, 32)
    rows = int(legal.any(1).sum())
    assert batch.policy.rows == rows
    wanted_legal = wanted_all = torch.zeros(())
    for player, size in enumerate(LAYOUT.slots):
        of = slice(LAYOUT.offsets[player], LAYOUT.offsets[player] + size)
        masked = logits[:, of].masked_fill(~legal[:, of], -1e30).log_softmax(1)
        wanted_legal = wanted_legal - (probs[:, of] * masked.masked_fill(~legal[:, of], 0)).sum()
        wanted_all = wanted_all - (probs[:, of] * logits[:, of].log_softmax(1)).sum()
    found = legal_policy_loss(logits, batch.policy, 2)
    assert found.item() == pytest.approx(wanted_legal.item() / rows, rel=1e-4)
    found_all = full_policy_loss(logits, batch.policy, LAYOUT.slots)
    assert found_all.item() == pytest.approx(wanted_all.item() / rows, rel=1e-4)
    found.backward()
    assert logits.grad is not None
    assert (logits.grad[~legal] == 0).all()


def test_without_policies_there_is_no_policy_loss() -> None:
    nothing = torch.zeros(0, dtype=torch.int64)
    target = PolicyTarget(nothing, nothing, torch.zeros(0), 0, 0.0)
    assert legal_policy_loss(torch.zeros(3, 4), target, 2).item() == 0
    assert full_policy_loss(torch.zeros(3, 4), target, (2, 2)).item() == 0


def test_value_and_final_losses() -> None:
    logits, values = torch.tensor([[0.0, 2.0]]), torch.tensor([[0.5, 1.0]])
    wanted = ((values - logits.sigmoid()) ** 2).mean()
    assert value_loss(logits, values, "mse").item() == pytest.approx(wanted.item())
    wanted = -(values * logits.sigmoid().log() + (1 - values) * (1 - logits.sigmoid()).log()).mean()
    assert value_loss(logits, values, "bce").item() == pytest.approx(wanted.item(), rel=1e-5)
    finals, ended = torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([1.0, 0.0])
    alone = final_loss(torch.tensor([[3.0, -1.0]]), finals[:1], ended[:1])
    both = final_loss(torch.tensor([[3.0, -1.0], [9.0, 9.0]]), finals, ended)
    assert alone.item() == pytest.approx(both.item())


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_a_few_positions_are_learned_by_heart(optimiser: str) -> None:
    rate = 1e-2 if optimiser == "adamw" else 1e-1
    training = TrainingSettings(
        network=NetworkSettings(preset="tiny"),
        optimiser=optimiser,  # type: ignore[arg-type]
        weight_decay=0.0,
        reply_weight=0.0,
        final_weight=0.0,
    )
    learner, batches = make_learner(training), make_batches(random_targets(12))
    numbers = np.arange(12).repeat(3)[:32]
    samples = batches.replay.gather(numbers)
    _, first = learner.learn(
        1, lambda mix: batches.convert(samples, mix), rate=lambda _: rate, value_mix=0.5
    )
    done, means = learner.learn(
        120, lambda mix: batches.convert(samples, mix), rate=lambda _: rate, value_mix=0.5
    )
    _, last = learner.learn(
        1, lambda mix: batches.convert(samples, mix), rate=lambda _: 0.0, value_mix=0.5
    )
    assert done == 120
    assert set(means) == set(METRICS)
    assert last["policy_divergence"] < 0.1 * first["policy_divergence"]
    assert last["value_error"] < 0.25 * first["value_error"]


def test_a_loss_is_the_weighted_sum_of_its_parts() -> None:
    training = replace(TINY, value_weight=0.3, reply_weight=0.7, final_weight=1.9)
    learner, batches = make_learner(training), make_batches(random_targets(40))
    _, found = learner.learn(3, batches.make, rate=lambda _: 1e-3, value_mix=0.5)
    weights = {"policy_loss": 1.0, "value_loss": 0.3, "reply_loss": 0.7, "final_loss": 1.9}
    assert all(found[name] > 0.1 for name in weights)
    wanted = sum(weight * found[name] for name, weight in weights.items())
    assert found["loss"] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("softmax", ["auto", "legal", "all"])
@pytest.mark.parametrize("family", FAMILIES)
def test_policies_are_learned_over_legal_or_all_slots(family: str, softmax: str) -> None:
    """P3 and GAZ have them over all."""
    network = NetworkSettings(family=family, preset="tiny")
    learner = make_learner(replace(TINY, network=network, policy_softmax=softmax))  # type: ignore[arg-type]
    batch = make_batches(random_targets(40)).make(0.5)
    with torch.no_grad():
        logits = learner.network.learn(batch.rows).logits
    legal = legal_policy_loss(logits, batch.policy, len(LAYOUT.slots)).item()
    everything = full_policy_loss(logits, batch.policy, LAYOUT.slots).item()
    assert legal < 0.9 * everything
    _, found = learner.learn(1, lambda _: batch, rate=lambda _: 0.0, value_mix=0.5)
    if softmax == "auto":
        softmax = "legal" if family == "residual" else "all"
    wanted = legal if softmax == "legal" else everything
    assert found["policy_loss"] == pytest.approx(wanted, rel=1e-4)


def test_a_step_is_clipped_and_decays_as_settings_say() -> None:
    """From where a plain step leads it is known where another must."""
    plain = replace(TINY, optimiser="sgd", momentum=0.0, weight_decay=0.0, gradient_clip=0.0)
    batch = make_batches(random_targets(40)).make(0.5)
    ends, norm = [], 0.0
    for training in (plain, replace(plain, weight_decay=0.5, gradient_clip=0.1)):
        learner = make_learner(training)
        begin = {name: weights.clone() for name, weights in learner.network.named_parameters()}
        _, found = learner.learn(1, lambda _: batch, rate=lambda _: 0.25, value_mix=0.5)
        norm = found["gradient_norm"]
        ends.append({name: weights.clone() for name, weights in learner.network.named_parameters()})
    assert norm > 0.2
    for name, before in begin.items():
        gradient = (before - ends[0][name]) / 0.25
        decay = 0.5 * before if before.ndim > 1 else torch.zeros(())
        wanted = before - 0.25 * (0.1 / norm * gradient + decay)
        torch.testing.assert_close(ends[1][name], wanted, rtol=1e-4, atol=1e-6)


def test_auxiliary_heads_learn() -> None:
    learner, batches = make_learner(), make_batches(random_targets(20))
    _, first = learner.learn(3, batches.make, rate=lambda _: 3e-3, value_mix=0.5)
    learner.learn(60, batches.make, rate=lambda _: 3e-3, value_mix=0.5)
    _, last = learner.learn(3, batches.make, rate=lambda _: 0.0, value_mix=0.5)
    assert last["reply_loss"] < first["reply_loss"]
    assert last["final_loss"] < 0.9 * first["final_loss"]


def test_the_player_is_the_average_of_the_weights() -> None:
    learner, batches = make_learner(), make_batches(random_targets(20))
    expected = {name: t.clone() for name, t in learner.player.state_dict().items()}
    for step in range(5):
        learner.learn(1, batches.make, rate=lambda _: 1e-2, value_mix=0.5)
        keep = min(TINY.ema_decay, (1 + step) / (10 + step))
        for name, tensor in learner.network.state_dict().items():
            expected[name] = keep * expected[name] + (1 - keep) * tensor
    for name, tensor in learner.player.state_dict().items():
        torch.testing.assert_close(tensor, expected[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_a_learner_goes_on_as_if_nothing_had_happened(optimiser: str) -> None:
    training = TrainingSettings(
        network=NetworkSettings(preset="tiny"),
        optimiser=optimiser,  # type: ignore[arg-type]
    )
    targets = random_targets(40)
    first = make_learner(training)
    first.learn(5, make_batches(targets).make, rate=lambda _: 1e-2, value_mix=0.5)
    second = make_learner(training, seed=9)
    second.load_tensors({k: t.clone() for k, t in first.tensors().items()}, first.step)
    for learner in (first, second):
        learner.learn(5, make_batches(targets).make, rate=lambda _: 1e-2, value_mix=0.5)
    assert second.step == first.step == 10
    mine, theirs = first.tensors(), second.tensors()
    assert mine.keys() == theirs.keys()
    for name, tensor in mine.items():
        torch.testing.assert_close(tensor, theirs[name], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["adamw", "sgd"])
def test_optimisers_are_those_of_torch(kind: str) -> None:
    torch.manual_seed(0)
    mine, theirs = (torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Linear(3, 2)) for _ in "ab")
    theirs.load_state_dict(mine.state_dict())
    groups = [
        {"params": [p for p in theirs.parameters() if p.ndim > 1], "weight_decay": 0.1},
        {"params": [p for p in theirs.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    reference: torch.optim.Optimizer
    if kind == "adamw":
        reference = torch.optim.AdamW(groups, lr=0.02, betas=ADAM_DECAYS, eps=ADAM_EPSILON)
    else:
        reference = torch.optim.SGD(groups, lr=0.02, momentum=0.9, nesterov=True)
    optimiser = Optimiser(FlatWeights(mine), kind=kind, weight_decay=0.1, momentum=0.9)
    for number in range(1, 8):
        rows = torch.randn(6, 5)
        for network in (mine, theirs):
            (network(rows) ** 2).sum().backward()
        norms = [
            optimiser.clip(1.0),
            torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0),
        ]
        torch.testing.assert_close(*norms)
        optimiser.step(0.02, number)
        reference.step()
        reference.zero_grad()
        for one, other in zip(mine.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_symmetries_take_states_policies_and_values_along() -> None:
    """Under any symmetry the entries of a policy are the legal slots of the state it belongs to."""
    assert len(find_symmetries(GAME)) == 16
    assert len(usable_symmetries(GAME)) == 8
    # Who does what when three like builders choose at once is for a network to settle.
    tower = load("tower")
    assert len(find_symmetries(tower)) == 6
    assert len(usable_symmetries(tower)) == 1
    # Two hunters who begin at different places learn from each other.
    hunted = load("pacman-3p")
    assert [s.roles for s in usable_symmetries(hunted)] == [(0, 1, 2), (0, 2, 1)]
    batches = make_batches(random_targets(64), size=64, symmetries=True)
    numbers = np.arange(64)
    before, after = batches.replay.gather(numbers), batches.replay.gather(numbers)
    values = np.stack([np.arange(64.0), -np.arange(64.0)], 1).astype(np.float32)
    moved = values.copy()
    batches._transform(after, moved)
    assert (before.states != after.states).any()
    described = GAME.describe(after.states)
    for row in range(64):
        wanted = sorted(c for columns in legal_columns(described, row) for c in columns)
        of_row = after.policy.rows == row
        assert sorted(after.policy.columns[of_row].tolist()) == wanted
        assert sorted(moved[row].tolist()) == sorted(values[row].tolist())
    # Probabilities go with their moves.
    assert (before.policy.probs == after.policy.probs).all()


ROUND = """
(role a) (role b) (role c)
(follows a b) (follows b c) (follows c a)
(init (control a))
(<= (legal ?r pass) (true (control ?r)))
(<= (legal ?r stop) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (control ?s)) (does ?r pass) (follows ?r ?s))
(<= (next (stopped ?r)) (does ?r stop))
(<= terminal (true (stopped ?r)))
(<= (goal ?r 100) (true (stopped ?r)))
(<= (goal ?s 50) (true (stopped ?r)) (follows ?r ?s))
(<= (goal ?s 0) (true (stopped ?r)) (follows ?s ?r))
"""


def test_values_go_with_their_roles_round_a_cycle() -> None:
    """Rewards of final positions, under symmetries that lead each of three roles to the next:
    applied the wrong way round they would lead it to the one before."""
    game = load_text(ROUND, name="round")
    cycles = [s for s in find_symmetries(game) if all(r != n for n, r in enumerate(s.roles))]
    assert {s.roles for s in cycles} == {(1, 2, 0), (2, 0, 1)}
    steps = random_play(game, 64, seed=0, max_length=100)
    ends = np.concatenate([step.states[step.batch.terminal] for step in steps])[:64]
    rewards = game.describe(ends).rewards.astype(np.float32)
    assert len(np.unique(rewards, axis=0)) >= 3
    replay, nothing = Replay(100, game.state_bytes, 3), np.zeros(64, dtype=np.int32)
    replay.add(
        Targets(
            states=ends,
            finals=ends,
            rewards=rewards,
            q=rewards,
            weights=np.ones(64, dtype=np.float32),
            ended=np.ones(64, dtype=bool),
            replied=np.zeros(64, dtype=bool),
            policy_counts=nothing,
            policy_columns=nothing[:0],
            policy_probs=np.zeros(0, dtype=np.float32),
        )
    )
    # A symmetry is drawn for each part of a batch; the first must be the identity.
    symmetries = (find_symmetries(game)[0], *cycles)
    batches = BatchMaker(game, make_encoding(game), replay, size=64, symmetries=symmetries)
    samples, values = replay.gather(np.arange(64)), rewards.copy()
    batches._transform(samples, values)
    assert (values != rewards).any()
    np.testing.assert_allclose(values, game.describe(samples.states).rewards)


def diverging(rate: float) -> Learner:
    """A learner that takes some steps at such a rate."""
    replay = Replay(64, GAME.state_bytes, 2)
    replay.add(random_targets(64))
    batches = BatchMaker(GAME, ENCODING, replay, size=32)
    learner = Learner(build_network(ENCODING, LAYOUT.slots, TINY.network), TINY)
    learner.learn(40, batches.make, rate=lambda _: rate, value_mix=0.5)
    return learner


def test_learning_that_diverges_says_so() -> None:
    assert diverging(1e-3).step == 40
    with pytest.raises(LearningError, match=r"diverged at step \d+: .* smaller learning_rate"):
        diverging(1e12)


def test_weights_that_are_no_use_are_not_kept(tmp_path: Path) -> None:
    quick = {"positions": 600, "minutes": 0.0, "preset": "tiny", "simulations": 4, "workers": 1}
    quick |= {"games_per_worker": 16, "iteration_positions": 200, "batch_size": 32}
    quick |= {"engine": "torch", "commit_seconds": 0.0, "warmup_steps": 0, "learning_rate": 1e12}
    for _ in range(2):  # the second goes on from what was committed, and comes to the same end
        with pytest.raises(LearningError, match="diverged"):
            train(GAME, tmp_path, change_settings(TrainingSettings(), quick))
    with Run(tmp_path, GAME, None) as run:
        assert all(tensor.isfinite().all() for tensor in run.load_tensors().values())
