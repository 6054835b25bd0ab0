"""Networks as ONNX, for other programs and for ONNX Runtime.

Weights keep their PyTorch names in the exported graph, so that new ones can be put into it without
tracing the network again; what is computed from weights alone is folded when a session is made.
"""

from __future__ import annotations

import copy
import io
import json
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import torch

from omnilude.networks.files import write_atomically
from omnilude.networks.network import Network

INPUT, LOGITS, VALUES = "rows", "logits", "values"
OPSET = 17  # of 2022: old enough for any runtime in use, and nothing newer is needed

_exporting = threading.Lock()  # torch's exporter keeps its state in globals


def to_onnx(network: Network) -> onnx.ModelProto:
    """The network as an ONNX model: rows [n, E] to logits [n, S] and values [n, players]."""
    # The exporter merges weights that are equal, as many are at first (zeros); they would stay one
    # when others are put in later. So it sees a copy in which no two are equal.
    traced = copy.deepcopy(network).cpu()
    random = torch.Generator().manual_seed(0)
    rows = torch.zeros(2, network.encoding.size)
    buffer = io.BytesIO()
    with _exporting, torch.no_grad(), warnings.catch_warnings():
        for weight in traced.state_dict().values():
            weight.copy_(torch.rand(weight.shape, generator=random))
        # The exporter that traces is called deprecated; the new one takes seconds instead of 0.1.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            traced,
            (rows,),
            buffer,  # type: ignore[arg-type]  # documented for a file name only; both work
            dynamo=False,
            input_names=[INPUT],
            output_names=[LOGITS, VALUES],
            dynamic_axes={name: {0: "n"} for name in (INPUT, LOGITS, VALUES)},
            do_constant_folding=False,
            opset_version=OPSET,
        )
    model = onnx.load_from_string(buffer.getvalue())
    replace_weights(model, network)
    return model


def replace_weights(model: onnx.ModelProto, network: Network) -> None:
    """Puts a network's weights into a model made by `to_onnx` from one of the same sizes."""
    weights = network.state_dict()
    for initializer in model.graph.initializer:
        if initializer.name in weights:
            array = weights[initializer.name].detach().cpu().numpy()
            initializer.CopyFrom(onnx.numpy_helper.from_array(array, initializer.name))


def export_onnx(
    network: Network, path: str | Path, *, metadata: Mapping[str, Any] | None = None
) -> Path:
    """Writes a checked ONNX file that describes itself; returns its path.

    The metadata hold what a row is made of ("encoding"), the slots of the players and whatever
    the caller adds (the name of the game, say), each as JSON.
    """
    model = to_onnx(network)
    described = {
        "encoding": network.encoding.to_json(),
        "slots": list(network.slots),
        "network": {"family": network.settings.family, "size": list(network.settings.size)},
        **(metadata or {}),
    }
    onnx.helper.set_model_props(
        model, {key: json.dumps(value, ensure_ascii=False) for key, value in described.items()}
    )
    model.producer_name = "omnilude"
    onnx.checker.check_model(model, full_check=True)
    path = Path(path)
    write_atomically(path, model.SerializeToString())
    return path
