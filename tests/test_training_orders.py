"""What a trainer orders from its workers, and what it gives its learner."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from omnilude import Game, load
from omnilude.encoding import make_encoding
from omnilude.networks import Network, build_network
from omnilude.networks.checkpoint import layout_fingerprint
from omnilude.search.evaluator import FP32_TOLERANCE, Answers
from omnilude.search.pool import GameRecords
from omnilude.search.settings import SearchSettings
from omnilude.training.batches import Batch, BatchMaker
from omnilude.training.optimiser import Optimiser
from omnilude.training.playouts import COUNTS, PlayoutWeight
from omnilude.training.processes import ProcessSelfPlay, Task
from omnilude.training.progress import NoDisplay
from omnilude.training.run import Run, rules_text
from omnilude.training.selfplay import Harvest, Orders, ThreadedSelfPlay, Worker
from omnilude.training.settings import TrainingSettings
from omnilude.training.trainer import Trainer
from test_training import QUICK


@contextmanager
def training(folder: Path, settings: TrainingSettings, name: str = "tic-tac-toe") -> Iterator[Any]:
    """A trainer that is not yet going."""
    game = load(name)
    with Run(folder, game, settings) as run:
        trainer = Trainer(
            game,
            run,
            assess=None,
            display=NoDisplay(),
            interrupted=threading.Event(),
            started=time.perf_counter(),
        )
        with closing(trainer):
            yield trainer


def test_workers_get_what_the_trainer_orders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each iteration: simulations that grow, playouts and their weight, positions to begin
    from, and the weights that play."""
    monkeypatch.setattr("omnilude.training.trainer.find_playouts", lambda *_: COUNTS[0])
    settings = replace(
        QUICK,
        positions=2400,
        iteration_positions=400,
        simulations_at_start=2,
        simulations_grown=0.5,
        archive_share=0.25,
        archive_size=50,
    )
    refresh = ThreadedSelfPlay.refresh
    simulations: list[int] = []
    weights: list[float] = []
    answers: list[NDArray[np.float32]] = []

    with training(tmp_path, settings) as trainer:
        initial = trainer.encoding.encode(trainer.game.initial_states(1))

        def note(selfplay: ThreadedSelfPlay, network: Network, orders: Orders) -> None:
            shares.append(PlayoutWeight(trainer.run.state.playouts).share)
            refresh(selfplay, network, orders)
            wanted = replace(
                settings.search,
                simulations=settings.simulations_at(trainer.progress),
                playouts=COUNTS[0],
                playout_weight=shares[-1],
            )
            for worker in selfplay._workers:
                assert worker.pool.settings == wanted
                logits, values = worker.evaluator(initial)
                with torch.no_grad():
                    plays = trainer.learner.player(torch.from_numpy(initial))
                np.testing.assert_allclose(logits, plays[0], atol=FP32_TOLERANCE)
                np.testing.assert_allclose(values, plays[1], atol=FP32_TOLERANCE)
            simulations.append(orders.search.simulations)
            weights.append(orders.search.playout_weight)
            answers.append(logits)
            if len(simulations) == 1:
                assert orders.starts is None
                return
            assert orders.starts is not None
            assert orders.share == 0.25
            assert len(orders.starts) == min(50, len(trainer.replay))
            held = trainer.replay.states(np.arange(trainer.replay.added))
            assert {row.tobytes() for row in orders.starts} <= {row.tobytes() for row in held}

        shares: list[float] = []
        monkeypatch.setattr(ThreadedSelfPlay, "refresh", note)
        trainer.go()
    assert simulations[0] == 2
    assert simulations[-1] == 8
    assert simulations == sorted(simulations)
    assert len(set(simulations)) > 2
    assert weights[0] == 1.0  # until something is known
    assert len(set(weights)) > 1
    assert not np.allclose(answers[0], answers[-1])


class Constant:
    """An evaluator that has one value for everything; what it is refreshed with."""

    engine = "constant"

    def __init__(self, game: Game) -> None:
        self.slots = sum(game.slots(role) for role in game.players)
        self.players = len(game.players)
        self.value = 0.25

    def __call__(self, rows: NDArray[np.float32]) -> Answers:
        values = np.full((len(rows), self.players), self.value, np.float32)
        return np.zeros((len(rows), self.slots), np.float32), values

    def refresh(self, network: Any) -> None:
        self.value = network


def make_worker(game: Game, search: SearchSettings, evaluator: Any) -> Worker:
    encoding = make_encoding(game)
    return Worker(game, encoding, search, evaluator, games=8, seed=1, number=0, workers=1)


def play_games(worker: Worker, games: int) -> Harvest:
    """What a worker brings until so many games are there, its records too."""
    delivered: list[GameRecords] = []
    harvest = worker.run(
        lambda: sum(records.games for records in delivered) < games, delivered.append
    )
    harvest.records = delivered
    return harvest


def beginnings(harvest: Harvest) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """The first position, and its value, of every game that was begun by then: each tree had one
    that was under way before."""
    under_way = set(range(8))
    for records in harvest.records:
        for number, at in zip(records.game_numbers, records.game_offsets[:-1], strict=True):
            if number % 8 in under_way:
                under_way.discard(number % 8)
            else:
                yield records.states[at].tobytes(), records.q[at]


def test_after_a_refresh_no_answer_of_the_old_weights_is_left() -> None:
    """Positions are evaluated once, until the weights change."""
    game = load("connect-four")
    search = SearchSettings(simulations=2, solver=False)
    worker = make_worker(game, search, Constant(game))
    played = play_games(worker, 16)
    assert played.counters["cached"] > 0
    np.testing.assert_allclose([q for _, q in beginnings(played)], 0.25)
    worker.refresh(0.75, Orders(search))  # type: ignore[arg-type]
    # The first position of a game is always the same, and was remembered before.
    np.testing.assert_allclose([q for _, q in beginnings(play_games(worker, 24))], 0.75)


def test_workers_play_as_they_are_ordered() -> None:
    """What arrives in the core: simulations, playouts, positions that games begin from."""
    game = load("connect-four")
    search = SearchSettings(simulations=2, solver=False)
    worker = make_worker(game, search, Constant(game))
    played = play_games(worker, 16)
    assert played.counters["simulations"] < 4 * played.counters["positions"]
    assert {state for state, _ in beginnings(played)} == {game.initial_states(1).tobytes()}
    states = game.initial_states(2)
    for end in (1, 2):  # one move from the first, two from the second
        described = game.describe(states[end - 1 :])
        moves = [[described.legal(k, role)[0] for role in (0, 1)] for k in range(3 - end)]
        game.advance(states[end - 1 :], np.array(moves, np.int32))
    ordered = replace(search, simulations=16, playouts=COUNTS[0], playout_weight=1.0)
    worker.refresh(0.75, Orders(ordered, starts=states, share=1.0))  # type: ignore[arg-type]
    played = play_games(worker, 40)
    assert played.counters["simulations"] > 8 * played.counters["positions"]
    found = list(beginnings(played))
    assert {state for state, _ in found} == {state.tobytes() for state in states}
    # Nothing of the network's value is left, which is the same everywhere.
    assert np.std([q for _, q in found]) > 0
    assert not np.isclose([q for _, q in found], 0.75).all()


@pytest.mark.slow
def test_worker_processes_play_and_are_replaced_when_they_die() -> None:
    game = load("tic-tac-toe")
    encoding = make_encoding(game)
    slots = [game.slots(role) for role in game.players]
    network = build_network(encoding, slots, QUICK.network)
    task = Task(
        rules=rules_text(game),
        layout=layout_fingerprint(game),
        name=game.name,
        encoding="planes",
        network=QUICK.network,
        search=QUICK.search,
        engine="torch",
        games=16,
        number=0,
        workers=1,
        seed=3,
    )
    said: list[str] = []
    selfplay = ProcessSelfPlay([task], said.append)
    try:
        selfplay.refresh(network, Orders(QUICK.search))
        harvest = selfplay.collect(200, 60.0)
        assert harvest.positions >= 200
        assert harvest.counters["positions"] > 0
        assert harvest.times.evaluate > 0
        assert not harvest.notes
        selfplay.processes[0].kill()
        harvest = selfplay.collect(200, 60.0)
        assert harvest.positions >= 200
        assert len(harvest.notes) == selfplay.restarts == 1
        assert "worker 0 died" in said[0]
        harvest = selfplay.collect(10**9, 60.0, lambda count: count < 50)
        assert 50 <= harvest.positions < 10**6
    finally:
        selfplay.close()
    assert not selfplay.processes[0].is_alive()


# --- what it gives its learner ---


def test_each_phase_of_learning_is_that_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rate, the mix of values and the window go with what was played, and so many samples are
    drawn as are asked for."""
    settings = replace(
        QUICK,
        positions=2400,
        iteration_positions=300,
        overlap=False,
        schedule="cosine",
        value_mix=0.9,
        value_mix_at_end=0.1,
        window_at_start=600,
        replay_ratio=1.5,
    )
    make, step = BatchMaker.make, Optimiser.step
    found: list[tuple[float, int]] = []
    rates: list[float] = []

    with training(tmp_path, settings) as trainer:

        def note_batch(batches: BatchMaker, value_mix: float) -> Batch:
            wanted = settings.value_mix_at(trainer.progress)
            window = settings.window_at(trainer.run.state.positions)
            assert (value_mix, trainer.replay.window) == (wanted, window)
            found.append((value_mix, window))
            batch = make(batches, value_mix)
            assert len(batch.rows) == settings.batch_size
            return batch

        def note_step(optimiser: Optimiser, rate: float, number: int) -> None:
            rates.append(rate)
            assert rate == settings.rate_at(trainer.progress, len(rates) - 1)
            step(optimiser, rate, number)

        monkeypatch.setattr(BatchMaker, "make", note_batch)
        monkeypatch.setattr(Optimiser, "step", note_step)
        trainer.go()
        positions = trainer.run.state.positions
    for numbers in (rates, *zip(*found, strict=True)):
        assert len(set(numbers)) > 2
    assert len(rates) == len(found) == int(1.5 * positions) // settings.batch_size


@pytest.mark.parametrize("on", [True, False])
def test_surprise_and_symmetries_count_where_they_are_asked_for(tmp_path: Path, on: bool) -> None:
    settings = replace(QUICK, positions=300, surprise=on, augment=on)
    with training(tmp_path, settings) as trainer:
        assert len(trainer.batches.symmetries) == (8 if on else 0)
        trainer.go()
        weights = trainer.replay._weights[: trainer.replay.added]
    assert (len(np.unique(weights)) > 1) == on
