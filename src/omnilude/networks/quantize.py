"""Networks in 8-bit integers: the convolutions of an ONNX model, calibrated on real rows.

Fully connected layers stay in 32-bit floats: they are a small part of the work, and policies and
values come straight out of them.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from omnilude.networks.export import INPUT

CALIBRATION_BATCH = 128


class _Rows(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.batches: Iterator[dict[str, Any]] = iter(
            [
                {INPUT: rows[i : i + CALIBRATION_BATCH]}
                for i in range(0, len(rows), CALIBRATION_BATCH)
            ]
        )

    def get_next(self) -> dict[str, Any] | None:
        return next(self.batches, None)


def quantize(model: onnx.ModelProto, rows: NDArray[np.float32]) -> bytes:
    """The model with its convolutions in 8-bit integers, scaled for what `rows` [n, E] give.

    Weights are scaled for each channel, and use 7 bits: without special instructions (VNNI) sums
    of two products of 8 bits each would saturate.
    """
    # The tools advise and warn, through Python's root logger and their own, about what is done
    # here on purpose.
    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    onnxruntime.set_default_logger_severity(3)
    try:
        with tempfile.TemporaryDirectory() as folder:
            prepared, quantized = Path(folder) / "prepared.onnx", Path(folder) / "quantized.onnx"
            quant_pre_process(model, prepared, skip_symbolic_shape=True)
            quantize_static(
                prepared,
                quantized,
                _Rows(rows),
                quant_format=QuantFormat.QOperator,
                op_types_to_quantize=["Conv"],
                per_channel=True,
                reduce_range=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )
            return quantized.read_bytes()
    finally:
        logger.setLevel(level)
        onnxruntime.set_default_logger_severity(2)
