"""Networks: convolution in any number of dimensions, P3's and GAZ's sizes, ours; ONNX files."""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from omnilude.errors import SettingsError
from omnilude.networks import NetworkSettings, build_network, export_onnx
from omnilude.networks.convolution import Convolution, Pointwise
from omnilude.networks.gaz import GazNetwork, doubling_sizes, halving_sizes
from omnilude.networks.layout import StoredLayout
from omnilude.networks.network import Network
from omnilude.networks.p3 import P3Network, first_filters, halved_sizes
from omnilude.networks.residual import ResidualNetwork


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """These networks are so small that threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_layout(*groups: tuple[int, ...], flat: int = 0) -> StoredLayout:
    """A layout with planes of these shapes, each given as (d1, ..., dn, channels)."""
    described: list[dict[str, Any]] = []
    at = 0
    for *shape, channels in groups:
        names = [f"content{i}" for i in range(channels)]
        described.append({"offset": at, "shape": shape, "channels": names})
        at += math.prod(shape) * channels
    description = {
        "kind": "planes",
        "groups": described,
        "flat": [f"fact{i}" for i in range(flat)],
        "flat_offset": at,
        "size": at + flat,
    }
    return StoredLayout.from_json(description, fingerprint=str(hash(groups)))


def randomise(network: Network, seed: int = 0) -> Network:
    """A new network gives almost nothing: stir every weight, so that mistakes show."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn(parameter.shape, generator=generator)
    return network


def random_rows(layout: StoredLayout, count: int, seed: int = 0) -> NDArray[np.float32]:
    bits = np.random.default_rng(seed).random((count, layout.size)) < 0.3
    return bits.astype(np.float32)


CONNECT_FOUR = make_layout((7, 6, 3), flat=2)
LAYOUTS = {
    "board": CONNECT_FOUR,
    "line": make_layout((8, 2)),
    "cube": make_layout((3, 4, 2, 2), flat=3),
    "deep cube": make_layout((5, 2, 2, 1), flat=1),
    "four dimensions": make_layout((2, 3, 2, 2, 2), flat=1),
    "two boards": make_layout((3, 3, 2), (2, 5, 1), flat=4),
    "board and cube": make_layout((2, 2, 2, 1), (4, 4, 2)),
    "no planes": make_layout(flat=12),
}
SMALL = {
    "residual": NetworkSettings(channels=8, blocks=2),
    "p3": NetworkSettings(family="p3"),
    "gaz": NetworkSettings(family="gaz"),
}
both = pytest.mark.parametrize("family", SMALL)
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())


# --- convolution ---


def convolve_slowly(
    x: NDArray[np.float64], weight: NDArray[np.float64], bias: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By definition: each place sees its neighbours, itself among them, as far as there are any."""
    shape = x.shape[2:]
    result = np.zeros((len(x), len(weight), *shape))
    for place in np.ndindex(*shape):
        result[(..., *place)] = bias
        for offset in itertools.product(range(3), repeat=len(shape)):
            other = tuple(p + o - 1 for p, o in zip(place, offset, strict=True))
            if all(0 <= p < side for p, side in zip(other, shape, strict=True)):
                result[(..., *place)] += x[(..., *other)] @ weight[(..., *offset)].T
    return result


@settings(max_examples=40, deadline=None)
@given(
    shape=st.integers(1, 5).flatmap(
        lambda n: st.lists(st.integers(1, 4 if n < 5 else 3), min_size=n, max_size=n)
    ),
    inputs=st.integers(1, 3),
    outputs=st.integers(1, 3),
    batch=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_convolution_is_what_its_definition_says(
    shape: list[int], inputs: int, outputs: int, batch: int, seed: int
) -> None:
    torch.manual_seed(seed)
    layer = Convolution(inputs, outputs, shape)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(batch, inputs, *shape)
    expected = convolve_slowly(
        x.double().numpy(), layer.weight.detach().double().numpy(), layer.bias.detach().numpy()
    )
    with torch.no_grad():
        result = layer(x)
    assert result.shape == (batch, outputs, *shape)
    np.testing.assert_allclose(result.numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 2), (2, 2, 2, 3)])
def test_pointwise_is_the_same_linear_map_everywhere(shape: tuple[int, ...]) -> None:
    layer = Pointwise(3, 2, shape)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(5, 3, *shape)
    expected = torch.einsum("oi,ni...->no...", layer.weight[:, :, 0, 0], x)
    expected = expected + layer.bias.reshape(-1, *(1,) * len(shape))
    torch.testing.assert_close(layer(x), expected)


# --- sizes ---


@pytest.mark.parametrize(
    ("shape", "channels", "filters"),
    [
        ((7, 9), 4, (32, 64, 128)),
        ((6, 6), 2, (16, 32, 64)),
        ((8, 8), 4, (32, 64, 128)),
        ((8, 17), 1, (16, 32, 64)),
        ((6, 8), 4, (32, 64, 128)),
        ((3, 3, 3), 3, (8, 16, 32)),
    ],
    ids=["Connect-4", "Breakthrough", "Pacman 3p", "Babel", "ConnectFour 3p", "TicTacToe 3d"],
)
def test_filters_of_table_3(
    shape: tuple[int, ...], channels: int, filters: tuple[int, ...]
) -> None:
    assert first_filters(shape, channels) == filters[0]
    network = P3Network(make_layout((*shape, channels), flat=2), (4, 4), SMALL["p3"])
    layers = [layer for layer in network.towers[0].children() if isinstance(layer, Convolution)]
    assert [len(layer.weight) for layer in layers] == [*filters, channels]


def test_filters_are_the_nearest_power_of_two() -> None:
    powers = [2**k for k in range(9, 0, -1)]  # of two that are equally near, the greater
    for size in range(1, 300):
        assert first_filters((1, size), 1) == min(powers, key=lambda power: abs(power - size))


def test_fully_connected_part_of_p3() -> None:
    # Tic-tac-toe: 27 elements of planes and 2 others; 7 is the first half below the board of 9.
    assert halved_sizes(29, 9) == [29, 14, 7]
    assert halved_sizes(5, 9) == [5]
    network = P3Network(make_layout((3, 3, 3), flat=2), (10, 4), SMALL["p3"])
    sizes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    assert [sizes[f"common.{i}.weight"] for i in (0, 2, 4)] == [(29, 29), (14, 29), (7, 14)]
    assert [sizes[f"policies.{i}.weight"] for i in (0, 1)] == [(10, 7), (4, 7)]
    assert [sizes[f"values.1.{i}.weight"] for i in (0, 2)] == [(9, 7), (1, 9)]


def test_sizes_of_gaz() -> None:
    assert halving_sizes(1000) == [500, 250, 125, 62, 50]
    assert halving_sizes(101) == [50]
    assert halving_sizes(7) == [50]
    assert doubling_sizes(30) == [30]
    assert doubling_sizes(100) == [100]
    assert doubling_sizes(500) == [100, 200, 400, 500]
    network = GazNetwork(make_layout(flat=250), (155, 8), SMALL["gaz"])
    sizes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    assert [sizes[f"common.{i}.weight"] for i in (0, 2, 4)] == [(125, 250), (62, 125), (50, 62)]
    assert [sizes[f"policies.0.{i}.weight"] for i in (0, 2)] == [(100, 50), (155, 100)]


# --- every network ---


@both
@every_layout
@pytest.mark.parametrize("slots", [(5,), (1, 7, 3)], ids=str)
def test_outputs(family: str, layout: StoredLayout, slots: tuple[int, ...]) -> None:
    network = build_network(layout, slots, SMALL[family])
    rows = torch.from_numpy(random_rows(layout, 6))
    logits, values = network(rows)
    assert logits.shape == (6, sum(slots))
    assert values.shape == (6, len(slots))
    assert bool(((values > 0) & (values < 1)).all())
    outputs = network.learn(rows)
    torch.testing.assert_close(outputs.logits, logits)
    torch.testing.assert_close(torch.sigmoid(outputs.value_logits), values)
    if family == "residual":
        assert outputs.reply_logits is not None
        assert outputs.final_logits is not None
        assert outputs.reply_logits.shape == logits.shape
        assert outputs.final_logits.shape == rows.shape
    else:
        assert outputs.reply_logits is None
        assert outputs.final_logits is None


@both
@every_layout
def test_every_weight_learns(family: str, layout: StoredLayout) -> None:
    network = randomise(build_network(layout, (3, 4), SMALL[family]))
    outputs = network.learn(torch.from_numpy(random_rows(layout, 64)))
    answers = (outputs.logits, outputs.value_logits, outputs.reply_logits, outputs.final_logits)
    sum(x.square().sum() for x in answers if x is not None).backward()  # type: ignore[union-attr]
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert not silent


@every_layout
def test_every_element_of_a_row_matters(layout: StoredLayout) -> None:
    network = randomise(build_network(layout, (3, 4), SMALL["residual"]))
    rows = torch.from_numpy(random_rows(layout, 32)).requires_grad_()
    logits, values = network(rows)
    (logits.sum() + values.sum()).backward()  # type: ignore[no-untyped-call]
    assert rows.grad is not None
    assert bool(rows.grad.abs().amax(0).all())


def test_a_new_network_is_nearly_indifferent() -> None:
    torch.manual_seed(0)
    for preset in ("tiny", "large"):
        network = build_network(CONNECT_FOUR, (8, 8), NetworkSettings(preset=preset))
        with torch.no_grad():
            logits, values = network(torch.from_numpy(random_rows(CONNECT_FOUR, 64)))
        assert float(logits.std()) < 0.3
        assert float((values - 0.5).abs().max()) < 0.2


def test_only_the_largest_group_has_a_deep_tower() -> None:
    network = build_network(LAYOUTS["two boards"], (3,), NetworkSettings(channels=8, blocks=3))
    assert isinstance(network, ResidualNetwork)
    assert [len(tower.blocks) for tower in network.towers] == [1, 3]  # type: ignore[arg-type]


def test_pooling_carries_what_no_convolution_reaches() -> None:
    layout = make_layout((30, 1))
    network = randomise(build_network(layout, (30,), NetworkSettings(channels=8, blocks=1)))
    assert isinstance(network, ResidualNetwork)
    rows = torch.zeros(2, 30)
    rows[1, 29] = 1
    with torch.no_grad():
        (boards,), _ = network.trunk(rows)
    assert float((boards[0, :, 0] - boards[1, :, 0]).abs().max()) > 1e-4


def test_learns_a_small_task() -> None:
    """The policy is to point at the only piece, the value says on which half it stands."""
    torch.manual_seed(0)
    layout = make_layout((4, 4, 1), flat=1)
    network = build_network(layout, (16,), NetworkSettings(channels=8, blocks=1))
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.01)
    rows = torch.cat([torch.eye(16), torch.ones(16, 1)], 1)
    places = torch.arange(16)
    halves = (places < 8).float()[:, None]
    for _ in range(150):
        outputs = network.learn(rows)
        loss = torch.nn.functional.cross_entropy(outputs.logits, places)
        value_loss = torch.nn.functional.binary_cross_entropy_with_logits
        loss = loss + value_loss(outputs.value_logits, halves)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    logits, values = network(rows)
    assert bool((logits.argmax(1) == places).all())
    assert bool(((values > 0.5) == (halves > 0.5)).all())


# --- settings ---


@pytest.mark.parametrize(
    "wrong",
    [{"family": "cnn"}, {"preset": "huge"}, {"channels": 0}, {"blocks": -1}],
    ids=str,
)
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        NetworkSettings(**wrong)


def test_sizes_of_presets() -> None:
    sizes = [NetworkSettings(preset=p).size for p in ("tiny", "small", "medium", "large")]
    assert sizes == [(16, 1), (32, 2), (32, 4), (64, 6)]
    assert NetworkSettings(preset="large", channels=24).size == (24, 6)
    with pytest.raises(SettingsError, match="one of the presets"):
        build_network(CONNECT_FOUR, (8, 8), NetworkSettings(preset="auto"))


def test_slots_and_layouts_that_make_no_sense() -> None:
    for slots in ((), (3, 0)):
        with pytest.raises(SettingsError):
            build_network(CONNECT_FOUR, slots)
    gap = CONNECT_FOUR.to_json() | {"flat_offset": 127, "size": 129}
    for description in (gap, make_layout().to_json()):
        with pytest.raises(SettingsError):
            build_network(StoredLayout.from_json(description, "x"), (3,))


# --- ONNX files ---


@both
@pytest.mark.parametrize("name", ["board", "deep cube"])
def test_exported_file_describes_itself_and_agrees(family: str, name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    network = randomise(build_network(layout, (3, 7), SMALL[family]))
    path = export_onnx(network, tmp_path / "deep" / "network.onnx", metadata={"game": "some game"})
    assert [file.name for file in path.parent.iterdir()] == ["network.onnx"]
    model = onnx.load(path)
    metadata = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert metadata["game"] == "some game"
    assert metadata["encoding"] == layout.to_json()
    assert metadata["slots"] == [3, 7]
    assert not any("reply" in i.name or "final" in i.name for i in model.graph.initializer)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [x.name for x in session.get_inputs()] == ["rows"]
    assert [x.name for x in session.get_outputs()] == ["logits", "values"]
    rows = random_rows(layout, 5)
    with torch.no_grad():
        expected = network(torch.from_numpy(rows))
    for answer, wanted in zip(session.run(None, {"rows": rows}), expected, strict=True):
        np.testing.assert_allclose(answer, wanted.numpy(), atol=1e-4)
