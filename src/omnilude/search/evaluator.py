"""Evaluators: a network made ready to answer batches of rows as quickly as the machine can.

All engines give the same answers within stated tolerances. An evaluator has its own copy of the
weights, which `refresh` replaces, also while another thread is evaluating. Give each thread an
evaluator of its own; the interpreter lock is released while they work.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from omnilude.errors import SettingsError
from omnilude.networks.settings import PRESETS, USUAL_PRESET

if TYPE_CHECKING:
    from omnilude.networks.network import Network

Rows = NDArray[np.float32]  # [n, E]
Answers = tuple[NDArray[np.float32], NDArray[np.float32]]  # logits [n, S], values [n, players]

FP32_TOLERANCE = 1e-4
"""Greatest difference of a logit or value between engines that compute in 32-bit floats."""
INT8_POLICY_TOLERANCE = 0.01
"""Greatest mean divergence (KL, nats) of a player's policy from that in 32-bit floats."""
INT8_VALUE_TOLERANCE = 0.02
"""Greatest mean difference of a value from that in 32-bit floats."""

Engine = Literal["auto", "torch", "onnx", "onnx-int8"]
ENGINES = get_args(Engine)
CALIBRATION_ROWS = 512
MEASURED_SECONDS = 0.06
SLOW_RATE, FAST_RATE = 2_000, 150_000
"""Evaluations a second and thread below which the usual preset is too large for a machine, and
from which on a larger one is small enough for it."""


class Evaluator(Protocol):
    """From rows to logits and values; both float32 and C-contiguous."""

    @property
    def engine(self) -> str: ...
    def __call__(self, rows: Rows) -> Answers: ...
    def refresh(self, network: Network) -> None: ...


def make_evaluator(
    network: Network,
    *,
    engine: str = "auto",
    threads: int = 1,
    calibration: Rows | None = None,
    batch: int = 128,
) -> Evaluator:
    """An evaluator for one thread of search that calls with about `batch` rows at a time.

    'auto' measures the engines for a moment and keeps the quickest. 8-bit integers are among them
    where `calibration`, rows of real positions, is given and the answers are within tolerance.
    """
    if engine not in ENGINES:
        raise SettingsError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if threads < 1 or batch < 1:
        raise SettingsError("threads and batch must be at least 1")
    if engine == "torch":
        return TorchEvaluator(network, threads=threads)
    if engine == "onnx":
        return OnnxEvaluator(network, threads=threads)
    if engine == "onnx-int8":
        if calibration is None:
            raise SettingsError("engine onnx-int8 needs calibration: rows of real positions")
        return OnnxInt8Evaluator(network, calibration, threads=threads)
    candidates: list[Evaluator] = [
        TorchEvaluator(network, threads=threads),  # on a graphics card where there is one
        OnnxEvaluator(network, threads=threads),
    ]
    if calibration is not None and len(calibration):
        in_integers = OnnxInt8Evaluator(network, calibration, threads=threads)
        if in_integers.agreement.within_tolerance:
            candidates.append(in_integers)
    return max(candidates, key=lambda candidate: measure_rate(candidate, network, batch))


class TorchEvaluator:
    """PyTorch itself, on a graphics card where there is one."""

    engine = "torch"

    def __init__(self, network: Network, *, threads: int = 1, device: str | None = None) -> None:
        import torch

        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.threads = threads
        self.refresh(network)

    def __call__(self, rows: Rows) -> Answers:
        import torch

        # The number of threads belongs to the calling thread; what it was is put back, so that a
        # learner in the same thread keeps its own.
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            with torch.inference_mode():
                logits, values = self._network(torch.from_numpy(rows).to(self.device))
                return _as_array(logits.cpu().numpy()), _as_array(values.cpu().numpy())
        finally:
            torch.set_num_threads(before)

    def refresh(self, network: Network) -> None:
        self._network = copy.deepcopy(network).to(self.device).requires_grad_(False)


class OnnxEvaluator:
    """ONNX Runtime in 32-bit floats, on the CPU."""

    engine = "onnx"

    def __init__(self, network: Network, *, threads: int = 1) -> None:
        from omnilude.networks.export import to_onnx

        self.threads = threads
        self.model = to_onnx(network)
        self.session = _open_session(self.model.SerializeToString(), threads)

    def __call__(self, rows: Rows) -> Answers:
        logits, values = self.session.run(None, {"rows": rows})
        return logits, values

    def refresh(self, network: Network) -> None:
        from omnilude.networks.export import replace_weights

        replace_weights(self.model, network)
        self.session = _open_session(self.model.SerializeToString(), self.threads)


class OnnxInt8Evaluator:
    """ONNX Runtime with convolutions in 8-bit integers.

    Scales come from `calibration`, rows of positions as they occur in play; set it anew as play
    changes. Each time the weights change the answers are compared with those in 32-bit floats on
    the same rows, and where they are too far away the 32-bit session answers instead.
    """

    def __init__(self, network: Network, calibration: Rows, *, threads: int = 1) -> None:
        if not len(calibration):
            raise SettingsError("8-bit evaluation needs rows of real positions to calibrate on")
        self.calibration = calibration
        self.threads = threads
        self._exact = OnnxEvaluator(network, threads=threads)
        self._quantize(network.slots)

    @property
    def agreement(self) -> Agreement:
        """Of the answers in integers with those in 32-bit floats, for the weights it has."""
        return self._current[1]

    @property
    def engine(self) -> str:
        """'onnx' while the 32-bit session answers."""
        return "onnx-int8" if self.agreement.within_tolerance else "onnx"

    def __call__(self, rows: Rows) -> Answers:
        logits, values = self._current[0].run(None, {"rows": rows})
        return logits, values

    def refresh(self, network: Network) -> None:
        self._exact.refresh(network)
        self._quantize(network.slots)

    def _quantize(self, slots: Sequence[int]) -> None:
        from omnilude.networks.quantize import quantize

        rows = _as_array(self.calibration[:CALIBRATION_ROWS])
        session = _open_session(quantize(self._exact.model, rows), self.threads)
        logits, values = session.run(None, {"rows": rows})
        agreement = compare(self._exact(rows), (logits, values), slots)
        if not agreement.within_tolerance:
            session = self._exact.session
        # In one step: what answers, and what it says of itself, are of the same weights.
        self._current: tuple[Any, Agreement] = (session, agreement)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the answers of one engine are from those of another, on average."""

    policy: float
    """Divergence (KL, nats) of a player's policy over all its slots."""
    value: float
    """Difference of a value."""

    @property
    def within_tolerance(self) -> bool:
        return self.policy <= INT8_POLICY_TOLERANCE and self.value <= INT8_VALUE_TOLERANCE


def compare(exact: Answers, other: Answers, slots: Sequence[int]) -> Agreement:
    """The agreement of other answers with exact ones to the same rows."""
    divergences = []
    at = 0
    for count in slots:
        p, q = (_log_softmax(answers[0][:, at : at + count]) for answers in (exact, other))
        divergences.append((np.exp(p) * (p - q)).sum(1).mean())
        at += count
    return Agreement(
        policy=float(np.mean(divergences)), value=float(np.abs(exact[1] - other[1]).mean())
    )


def measure_rate(
    evaluator: Evaluator, network: Network, batch: int, seconds: float = MEASURED_SECONDS
) -> float:
    """Evaluations a second, by the quickest call: others may be using the machine as well."""
    rows = (np.random.default_rng(0).random((batch, network.encoding.size)) < 0.3).astype("f4")
    evaluator(rows)  # the first call allocates
    best = float("inf")
    end = time.perf_counter() + seconds
    calls = 0
    while calls < 2 or time.perf_counter() < end:
        started = time.perf_counter()
        evaluator(rows)
        best = min(best, time.perf_counter() - started)
        calls += 1
    return batch / best


def choose_preset(rate: Callable[[str], float]) -> str:
    """The preset that suits a machine, by the evaluations a second and thread of presets.

    The usual one, unless the machine is clearly slower or faster than it needs: the two rates are
    far apart, so that what is chosen does not hang on what else the machine is doing. A larger
    network must be worth the positions that are not played in its time.
    """
    presets = list(PRESETS)
    usual = presets.index(USUAL_PRESET)
    usual_rate = rate(USUAL_PRESET)
    if usual_rate < SLOW_RATE:
        return presets[usual - 1]
    chosen = USUAL_PRESET
    # Where even the usual one is not that fast, larger ones need not be measured.
    for preset in presets[usual + 1 :] if usual_rate >= FAST_RATE else ():
        if rate(preset) < FAST_RATE:
            break
        chosen = preset
    return chosen


def _open_session(model: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that wait by spinning take the cores from the search and from other evaluators.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _as_array(array: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(array, dtype=np.float32)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(1, keepdims=True)
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return result
