"""Convolution over any number of dimensions: kernel 3, stride 1, zero padding ('same').

Up to three dimensions it is PyTorch's own. Above, the leading axes are folded into the batch, one
3-D convolution computes the part of every leading kernel offset at once, and the parts are shifted
and added. P3 (section 3.1, algorithm 1) gathers patches and multiplies matrices, which is 3 to 8
times slower on a CPU.

ONNX Runtime has quick kernels for two dimensions only, so that is what networks are exported in:
one dimension as a single row, three with the first axis folded into the channels where it is
short, and everything else in parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BANDED_SIDE = 4  # beyond, more than half of the folded weights would be zeros


class Convolution(nn.Module):
    """[n, inputs, d1, ..., dk] to [n, outputs, d1, ..., dk]; the shape is known beforehand."""

    def __init__(self, inputs: int, outputs: int, shape: Sequence[int], *, gain: float = 1.0):
        """`gain` scales He's initialisation; 0 starts with zeros."""
        super().__init__()
        self.shape = tuple(shape)
        kernel = (3,) * len(self.shape)
        deviation = gain * math.sqrt(2 / (inputs * math.prod(kernel)))
        self.weight = nn.Parameter(torch.randn(outputs, inputs, *kernel) * deviation)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return convolve(x, self.weight, self.bias, self.shape)


class Pointwise(nn.Module):
    """A convolution with kernel 1: the same linear map at every place, whatever the dimensions."""

    def __init__(self, inputs: int, outputs: int, shape: Sequence[int], *, gain: float = 1.0):
        super().__init__()
        self.inputs, self.outputs, self.shape = inputs, outputs, tuple(shape)
        deviation = gain * math.sqrt(2 / inputs)
        self.weight = nn.Parameter(torch.randn(outputs, inputs, 1, 1) * deviation)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        if len(self.shape) == 2:
            return F.conv2d(x, self.weight, self.bias)
        flat = x.reshape(-1, self.inputs, math.prod(self.shape), 1)
        return F.conv2d(flat, self.weight, self.bias).reshape(-1, self.outputs, *self.shape)


def convolve(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    """`weight` is [outputs, inputs, 3, ..., 3]; `shape` is that of `x` without batch and inputs."""
    if len(shape) == 1:
        y = F.conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias, padding=(0, 1))
        return y.squeeze(2)
    if len(shape) == 2:
        return F.conv2d(x, weight, bias, padding=1)
    if torch.onnx.is_in_onnx_export():
        if len(shape) == 3 and shape[0] <= BANDED_SIDE:
            return _convolve_banded(x, weight, bias, tuple(shape))
        return _convolve_by_parts(x, weight, bias, tuple(shape), inner_dimensions=2)
    if len(shape) == 3:
        return F.conv3d(x, weight, bias, padding=1)
    return _convolve_by_parts(x, weight, bias, tuple(shape), inner_dimensions=3)


def _convolve_banded(
    x: Tensor, weight: Tensor, bias: Tensor | None, shape: tuple[int, ...]
) -> Tensor:
    """The first axis folded into the channels: a 2-D convolution, all of whose weights between
    channels of places more than one apart are zero. Wasteful, but little so for few places."""
    outputs, inputs, depth = int(weight.shape[0]), int(weight.shape[1]), shape[0]
    padded = F.pad(weight, (0, 0, 0, 0, depth - 1, depth - 1))
    # [outputs, depth of output, inputs, depth of input, 3, 3]
    band = torch.stack([padded.narrow(2, depth - z, depth) for z in range(depth)], 1)
    y = F.conv2d(
        x.reshape(-1, inputs * depth, *shape[1:]),
        band.reshape(outputs * depth, inputs * depth, 3, 3),
        None if bias is None else bias.unsqueeze(1).expand(outputs, depth).reshape(-1),
        padding=1,
    )
    return y.reshape(-1, outputs, *shape)


def _convolve_by_parts(
    x: Tensor, weight: Tensor, bias: Tensor | None, shape: tuple[int, ...], inner_dimensions: int
) -> Tensor:
    """All but the last 2 or 3 axes folded into the batch."""
    outputs, inputs = int(weight.shape[0]), int(weight.shape[1])
    leading, inner = shape[:-inner_dimensions], shape[-inner_dimensions:]
    count, kernel = len(leading), (3,) * inner_dimensions
    # [n, inputs, leading..., inner...] to [n * leading, inputs, inner...]
    x = x.permute(0, *range(2, 2 + count), 1, *range(2 + count, 2 + len(shape)))
    x = x.reshape(-1, inputs, *inner)
    # [outputs, inputs, 3^count, kernel...] to [3^count * outputs, inputs, kernel...]
    parts = weight.reshape(outputs, inputs, 3**count, *kernel).movedim(2, 0)
    native = F.conv2d if inner_dimensions == 2 else F.conv3d
    y = native(x, parts.reshape(-1, inputs, *kernel), None, padding=1)
    y = y.reshape(-1, *leading, 3**count, outputs, *inner)

    total: Tensor | None = None
    for number, offsets in enumerate(itertools.product((-1, 0, 1), repeat=count)):
        part = _shift(y.select(1 + count, number), offsets, leading)
        total = part if total is None else total + part
    assert total is not None
    # [n, leading..., outputs, inner...] back to [n, outputs, leading..., inner...]
    order = (0, 1 + count, *range(1, 1 + count), *range(2 + count, 2 + len(shape)))
    total = total.permute(*order)
    return total if bias is None else total + bias.reshape(-1, *(1,) * len(shape))


def _shift(x: Tensor, offsets: Sequence[int], sides: Sequence[int]) -> Tensor:
    """What lies `offsets` further along axes 1, 2, ... comes here; zeros come from outside."""
    pads: list[int] = []  # from the last axis to the first, as F.pad wants them
    for axis, (offset, side) in enumerate(zip(offsets, sides, strict=True), start=1):
        if offset:
            x = x.narrow(axis, int(offset > 0), side - 1)
        pads = [int(offset < 0), int(offset > 0), *pads]
    return F.pad(x, [0, 0] * (x.dim() - 1 - len(sides)) + pads) if any(offsets) else x
