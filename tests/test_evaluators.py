"""Evaluators: every engine answers as PyTorch does, within the stated tolerances."""

import threading
import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch

from omnilude import load
from omnilude.encoding import Encoding
from omnilude.errors import SettingsError
from omnilude.games import Game
from omnilude.games.statistics import random_play
from omnilude.networks import NetworkSettings, build_network, load_checkpoint
from omnilude.networks.layout import StoredLayout
from omnilude.networks.network import Network
from omnilude.search.evaluator import (
    FAST_RATE,
    FP32_TOLERANCE,
    INT8_POLICY_TOLERANCE,
    INT8_VALUE_TOLERANCE,
    SLOW_RATE,
    Agreement,
    Answers,
    Evaluator,
    OnnxEvaluator,
    OnnxInt8Evaluator,
    TorchEvaluator,
    choose_preset,
    compare,
    make_evaluator,
    measure_rate,
)
from test_networks import (
    CONNECT_FOUR,
    LAYOUTS,
    SMALL,
    every_layout,
    make_layout,
    one_thread,
    random_rows,
    randomise,
)

__all__ = ["one_thread"]

SLOTS = (8, 8)
ROW_TOLERANCE = 1e-5  # of an answer on the other rows of its batch


def small_network(seed: int = 0) -> Network:
    return randomise(build_network(CONNECT_FOUR, SLOTS, NetworkSettings(preset="tiny")), seed)


def make(engine: str, network: Network) -> Evaluator:
    calibration = random_rows(CONNECT_FOUR, 64, seed=9)
    return make_evaluator(network, engine=engine, calibration=calibration)


def answer_plainly(network: Network, rows: np.ndarray) -> Answers:
    with torch.no_grad():
        logits, values = network(torch.from_numpy(rows))
    return logits.numpy(), values.numpy()


every_engine = pytest.mark.parametrize("engine", ["torch", "onnx", "onnx-int8"])


@pytest.mark.parametrize("evaluator", [TorchEvaluator, OnnxEvaluator])
@pytest.mark.parametrize("family", ["residual", "p3", "gaz"])
@every_layout
def test_exact_engines_agree_with_the_network(
    evaluator: type[TorchEvaluator | OnnxEvaluator], family: str, layout: StoredLayout
) -> None:
    network = randomise(build_network(layout, (3, 4, 2), SMALL[family]))
    rows = random_rows(layout, 7)
    for given, wanted in zip(evaluator(network)(rows), answer_plainly(network, rows), strict=True):
        np.testing.assert_allclose(given, wanted, atol=FP32_TOLERANCE)


@pytest.mark.parametrize("name", ["board", "cube", "two boards"])
def test_8_bit_integers_agree_within_tolerance(name: str) -> None:
    layout = LAYOUTS[name]
    network = randomise(build_network(layout, (5, 4), NetworkSettings(preset="small")))
    evaluator = OnnxInt8Evaluator(network, random_rows(layout, 64))
    assert evaluator.engine == "onnx-int8"
    rows = random_rows(layout, 256, seed=5)
    exact = answer_plainly(network, rows)
    agreement = compare(exact, evaluator(rows), (5, 4))
    assert 0 < agreement.policy < INT8_POLICY_TOLERANCE
    assert 0 < agreement.value < INT8_VALUE_TOLERANCE
    assert float(exact[0].std()) > 0.3  # there was something to agree on


@every_engine
def test_answers_are_arrays_for_the_core(engine: str) -> None:
    evaluator = make(engine, small_network())
    assert evaluator.engine == engine
    for count in (1, 7, 128):
        logits, values = evaluator(random_rows(CONNECT_FOUR, count))
        assert (logits.shape, values.shape) == ((count, 16), (count, 2))
        for array in (logits, values):
            assert array.dtype == np.float32
            assert array.flags.c_contiguous


@every_engine
def test_rows_do_not_depend_on_their_batch(engine: str) -> None:
    evaluator = make(engine, small_network())
    rows = random_rows(CONNECT_FOUR, 128)
    logits, values = evaluator(rows)
    for first, last in ((0, 1), (5, 12), (64, 128)):
        part_logits, part_values = evaluator(rows[first:last])
        np.testing.assert_allclose(part_logits, logits[first:last], atol=ROW_TOLERANCE)
        np.testing.assert_allclose(part_values, values[first:last], atol=ROW_TOLERANCE)


@every_engine
def test_refresh_takes_new_weights_and_only_then(engine: str) -> None:
    network = small_network()
    evaluator = make(engine, network)
    rows = random_rows(CONNECT_FOUR, 16)
    before = evaluator(rows)
    randomise(network, seed=1)
    np.testing.assert_array_equal(evaluator(rows)[0], before[0])
    evaluator.refresh(network)
    after = evaluator(rows)
    assert float(np.abs(after[0] - before[0]).max()) > 0.05
    fresh = make(engine, network)(rows)
    np.testing.assert_allclose(after[0], fresh[0], atol=ROW_TOLERANCE)
    np.testing.assert_allclose(after[1], fresh[1], atol=ROW_TOLERANCE)


@every_engine
@pytest.mark.parametrize("family", ["residual", "p3", "gaz"])
def test_an_evaluator_of_a_new_network_follows_it(engine: str, family: str) -> None:
    """As in training: at first many weights are equal, and later none are."""
    network = build_network(CONNECT_FOUR, SLOTS, SMALL[family])
    evaluator = make(engine, network)
    for seed in (1, 2):
        randomise(network, seed)
        evaluator.refresh(network)
        rows = random_rows(CONNECT_FOUR, 64, seed=seed)
        wanted, given = answer_plainly(network, rows), evaluator(rows)
        if engine == "onnx-int8":
            agreement = compare(wanted, given, SLOTS)
            assert agreement.policy < INT8_POLICY_TOLERANCE
            assert agreement.value < INT8_VALUE_TOLERANCE
        else:
            for one, other in zip(given, wanted, strict=True):
                np.testing.assert_allclose(one, other, atol=FP32_TOLERANCE)
        assert float(given[0].std()) > 0.01  # there was something to agree on


@pytest.mark.parametrize("game_name", ["connect-four", "pacman-3p"])
def test_8_bit_integers_agree_where_they_were_not_calibrated(game_name: str) -> None:
    """Networks that have learned, of experiments, in positions beside those they are scaled by."""
    networks = Path(__file__).parent.parent / "results" / "networks"
    game = load(game_name)
    network = load_checkpoint(networks / f"p3-{game_name}-ours-0.json", game).network
    calibrated, others = (
        play_some_rows(game, cast(Encoding, network.encoding), seed) for seed in (0, 1)
    )
    evaluator = make_evaluator(network, engine="onnx-int8", calibration=calibrated)
    assert evaluator.engine == "onnx-int8"
    agreement = compare(answer_plainly(network, others), evaluator(others), network.slots)
    assert 0 < agreement.policy < INT8_POLICY_TOLERANCE
    assert 0 < agreement.value < INT8_VALUE_TOLERANCE


def play_some_rows(game: Game, encoding: Encoding, seed: int) -> np.ndarray:
    """Of positions of random games that are not over."""
    steps = random_play(game, 32, seed=seed, max_length=1000)
    return encoding.encode(np.concatenate([step.states[step.live] for step in steps])[:512])


def test_8_bit_integers_give_way_where_they_are_too_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnilude.search.evaluator.INT8_VALUE_TOLERANCE", 0.0)
    network = small_network()
    evaluator = OnnxInt8Evaluator(network, random_rows(CONNECT_FOUR, 32))
    assert evaluator.engine == "onnx"
    rows = random_rows(CONNECT_FOUR, 8)
    np.testing.assert_array_equal(evaluator(rows)[1], OnnxEvaluator(network)(rows)[1])
    monkeypatch.undo()
    evaluator.refresh(network)
    assert evaluator.engine == "onnx-int8"


def test_comparison_of_answers() -> None:
    even = (np.zeros((3, 4), np.float32), np.full((3, 2), 0.5, np.float32))
    assert compare(even, even, (2, 2)).policy == 0
    one_sided = (np.tile(np.float32([0, np.log(3), 0, 0]), (3, 1)), even[1] + np.float32(0.25))
    agreement = compare(even, one_sided, (2, 2))
    divergence = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)  # for one player of two
    assert agreement.policy == pytest.approx(divergence / 2)
    assert agreement.value == pytest.approx(0.25)
    assert not agreement.within_tolerance


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_two_threads_with_an_evaluator_each(engine: str) -> None:
    networks = [small_network(seed) for seed in (1, 2)]
    rows = random_rows(CONNECT_FOUR, 32)
    expected = [answer_plainly(network, rows) for network in networks]
    evaluators = [make(engine, networks[0]) for _ in networks]
    wrong: list[float] = []

    def work(number: int) -> None:
        for turn in range(8):
            which = (number + turn) % 2
            evaluators[number].refresh(networks[which])
            for _ in range(3):
                logits, _ = evaluators[number](rows)
                difference = float(np.abs(logits - expected[which][0]).max())
                if difference > FP32_TOLERANCE:
                    wrong.append(difference)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@every_engine
def test_answers_amid_a_refresh_are_wholly_of_one_network(engine: str) -> None:
    networks = [small_network(seed) for seed in (1, 2)]
    rows = random_rows(CONNECT_FOUR, 64)
    wanted = [make(engine, network)(rows) for network in networks]
    evaluator = make(engine, networks[0])
    given: list[Answers] = []
    ended = threading.Event()

    def evaluate() -> None:
        while not ended.is_set():
            given.append(evaluator(rows))

    thread = threading.Thread(target=evaluate)
    thread.start()
    try:
        for turn in range(12 if engine == "onnx-int8" else 100):
            before = len(given)
            evaluator.refresh(networks[(turn + 1) % 2])
            while thread.is_alive() and len(given) < before + 2:  # one that began after it
                time.sleep(0)
    finally:
        ended.set()
        thread.join()
    found = [
        [
            all(
                np.allclose(one, other, rtol=0, atol=ROW_TOLERANCE)
                for one, other in zip(answers, of, strict=True)
            )
            for of in wanted
        ]
        for answers in given
    ]
    assert {tuple(which) for which in found} == {(True, False), (False, True)}


def test_8_bit_integers_are_replaced_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks in the midst of a refresh sees an engine and the answers of that engine."""
    rows = random_rows(CONNECT_FOUR, 8)
    seen: list[tuple[str, bytes]] = []

    class Watched(OnnxInt8Evaluator):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if ready:
                seen.append((self.engine, self(rows)[1].tobytes()))

    ready, found = False, Agreement(1.0, 1.0)
    monkeypatch.setattr("omnilude.search.evaluator.compare", lambda *_: found)
    evaluator = Watched(small_network(0), random_rows(CONNECT_FOUR, 32))
    ready = True
    for seed, engine in ((1, "onnx-int8"), (2, "onnx")):  # integers take over, and give way
        before = (evaluator.engine, evaluator(rows)[1].tobytes())
        found = Agreement(0.0, 0.0) if engine == "onnx-int8" else Agreement(1.0, 1.0)
        seen.clear()
        evaluator.refresh(small_network(seed))
        after = (evaluator.engine, evaluator(rows)[1].tobytes())
        assert after[0] == engine
        assert after[1] != before[1]
        assert set(seen) <= {before, after}
        assert after in seen


def test_threads_of_torch_are_left_as_they_were() -> None:
    evaluator = TorchEvaluator(small_network(), threads=2)
    assert torch.get_num_threads() == 1
    evaluator(random_rows(CONNECT_FOUR, 4))
    assert torch.get_num_threads() == 1


def test_auto_takes_an_engine_that_agrees() -> None:
    network = small_network()
    rows = random_rows(CONNECT_FOUR, 16)
    calibration = random_rows(CONNECT_FOUR, 32)
    for given in (None, calibration[:0], calibration):
        evaluator = make_evaluator(network, calibration=given, batch=16)
        allowed = ("torch", "onnx", "onnx-int8") if given is calibration else ("torch", "onnx")
        assert evaluator.engine in allowed
        assert compare(answer_plainly(network, rows), evaluator(rows), SLOTS).within_tolerance


@pytest.mark.parametrize("quickest", ["torch", "onnx", "onnx-int8"])
@pytest.mark.parametrize("coarse", [False, True])
def test_auto_takes_the_quickest(
    monkeypatch: pytest.MonkeyPatch, quickest: str, coarse: bool
) -> None:
    """But 8-bit integers only where they are within tolerance."""
    if coarse:
        monkeypatch.setattr("omnilude.search.evaluator.INT8_VALUE_TOLERANCE", -1.0)
    rates = {"onnx": 2.0, "torch": 3.0, "onnx-int8": 4.0, quickest: 5.0}
    measured: list[tuple[str, int]] = []

    def measure(evaluator: Evaluator, _: Network, batch: int) -> float:
        measured.append((evaluator.engine, batch))
        return rates[evaluator.engine]

    monkeypatch.setattr("omnilude.search.evaluator.measure_rate", measure)
    network, calibration = small_network(), random_rows(CONNECT_FOUR, 32)
    found = make_evaluator(network, calibration=calibration, batch=16)
    engines = ["torch", "onnx"] if coarse else ["torch", "onnx", "onnx-int8"]
    assert measured == [(engine, 16) for engine in engines]
    assert found.engine == max(engines, key=lambda engine: rates[engine])


def test_settings_that_make_no_sense() -> None:
    network = small_network()
    with pytest.raises(SettingsError, match="engine must be one of"):
        make_evaluator(network, engine="tensorflow")
    with pytest.raises(SettingsError, match="needs calibration"):
        make_evaluator(network, engine="onnx-int8")
    with pytest.raises(SettingsError, match="calibrate"):
        make_evaluator(network, engine="onnx-int8", calibration=random_rows(CONNECT_FOUR, 0))
    for wrong in ({"threads": 0}, {"batch": 0}):
        with pytest.raises(SettingsError, match="at least 1"):
            make_evaluator(network, **wrong)


@pytest.mark.parametrize(
    ("rates", "wanted"),
    [
        ({"small": 0.99 * SLOW_RATE}, "tiny"),
        ({"small": SLOW_RATE}, "small"),
        ({"small": 0.99 * FAST_RATE}, "small"),
        ({"small": 2 * FAST_RATE, "medium": 0.99 * FAST_RATE}, "small"),
        ({"small": 4 * FAST_RATE, "medium": 2 * FAST_RATE, "large": 1.0}, "medium"),
        ({"small": 9 * FAST_RATE, "medium": 5 * FAST_RATE, "large": FAST_RATE}, "large"),
    ],
)
def test_presets_by_rate(rates: dict[str, float], wanted: str) -> None:
    """The usual one on most machines; nothing is measured that need not be."""
    asked: list[str] = []

    def rate(preset: str) -> float:
        asked.append(preset)
        return rates[preset]

    assert choose_preset(rate) == wanted
    assert asked == list(rates)


def test_rates_are_measured() -> None:
    network = build_network(make_layout((2, 2, 1)), (2,))
    assert measure_rate(TorchEvaluator(network), network, 2, seconds=0) > 0
