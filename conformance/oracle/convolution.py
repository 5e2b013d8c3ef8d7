"""Oracles of convolutions, in the sense of networks: correlations of padded images with windows.

The forward op gathers windows and multiplies; the gradient by the input adds up window by window where each
element of a window came from. Neither is how the op set composes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.oracle.forms import Array
from conformance.oracle.precision import is_half, widen
from conformance.oracle.reduction import summed
from conformance.oracle.registry import Call, Expected, oracle

Shape = tuple[int, ...]


def each_axis(values: Sequence[int] | int, rank: int) -> Shape:
    """One number per spatial axis; a single one serves all."""
    numbers = (values,) if isinstance(values, int) else tuple(values)
    return numbers * rank if len(numbers) == 1 else numbers


def both_sides(padding: Sequence[int] | int, rank: int) -> tuple[Shape, Shape]:
    """Padding before and after each axis: one number, one per axis, or all before and then all after."""
    numbers = (padding,) if isinstance(padding, int) else tuple(padding)
    if rank > 1 and len(numbers) == 2 * rank:
        return numbers[:rank], numbers[rank:]
    sides = each_axis(numbers, rank)
    return sides[:rank], sides[-rank:]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Strides, dilations, padding and groups of a convolution with `rank` spatial axes."""

    stride: Shape
    dilation: Shape
    before: Shape
    after: Shape
    groups: int

    @classmethod
    def of(cls, attributes: Mapping[str, Any], rank: int) -> Geometry:
        before, after = both_sides(attributes["padding"], rank)
        stride, dilation = (each_axis(attributes[name], rank) for name in ("stride", "dilation"))
        return cls(stride, dilation, before, after, attributes["groups"])

    def counts(self, sizes: Shape, window: Shape) -> Shape:
        """How many windows fit on each axis."""
        return tuple(
            (size + low + high - spread * (width - 1) - 1) // step + 1
            for size, low, high, spread, width, step in zip(
                sizes, self.before, self.after, self.dilation, window, self.stride, strict=True
            )
        )

    def places(self, window: Shape, counts: Shape) -> Iterator[tuple[Shape, tuple[slice, ...]]]:
        """Each element of the window, and the slices of the padded image that it meets."""
        for place in itertools.product(*map(range, window)):
            yield (
                place,
                tuple(
                    slice(at * spread, at * spread + (count - 1) * step + 1, step)
                    for at, spread, count, step in zip(place, self.dilation, counts, self.stride, strict=True)
                ),
            )


def convolve(x: Array, weight: Array, geometry: Geometry) -> Array:
    """(n, c, *s) with (o, c / groups, *k) -> (n, o, *counts)."""
    groups, window = geometry.groups, weight.shape[2:]
    counts = geometry.counts(x.shape[2:], window)
    padded = np.pad(x, ((0, 0), (0, 0), *zip(geometry.before, geometry.after, strict=True)))
    n, o = x.shape[0], weight.shape[0]
    out = np.zeros((n, groups, o // groups, math.prod(counts)), np.result_type(x, weight))
    kernel = weight.reshape(groups, o // groups, weight.shape[1], *window)
    for place, where in geometry.places(window, counts):
        part = padded[(slice(None), slice(None), *where)].reshape(n, groups, weight.shape[1], -1)
        out += np.matmul(kernel[(..., *place)], part)
    return out.reshape(n, o, *counts)


def spread(upstream: Array, weight: Array, shape: Shape, geometry: Geometry) -> Array:
    """The transposed convolution: upstream (n, o, *counts) back to images of `shape`."""
    groups, window = geometry.groups, weight.shape[2:]
    n, o, *counts = upstream.shape
    channels = weight.shape[1]
    sizes = tuple(b + s + a for b, s, a in zip(geometry.before, shape[2:], geometry.after, strict=True))
    whole: Array = np.zeros((n, groups * channels, *sizes), np.result_type(upstream, weight))
    rows = upstream.reshape(n, groups, o // groups, -1)
    kernel = weight.reshape(groups, o // groups, channels, *window)
    for place, where in geometry.places(window, tuple(counts)):
        part = np.matmul(np.swapaxes(kernel[(..., *place)], -1, -2), rows)
        whole[(slice(None), slice(None), *where)] += part.reshape(n, groups * channels, *counts)
    inside = tuple(slice(b, b + s) for b, s in zip(geometry.before, shape[2:], strict=True))
    return whole[(slice(None), slice(None), *inside)]


def weight_slope(x: Array, upstream: Array, shape: Shape, geometry: Geometry) -> Array:
    """The gradient of a convolution by its weight of `shape`."""
    groups, window = geometry.groups, shape[2:]
    n, o, *counts = upstream.shape
    padded = np.pad(x, ((0, 0), (0, 0), *zip(geometry.before, geometry.after, strict=True)))
    rows = upstream.reshape(n, groups, o // groups, -1)
    out: Array = np.zeros((groups, o // groups, shape[1], *window), np.result_type(x, upstream))
    for place, where in geometry.places(window, tuple(counts)):
        part = padded[(slice(None), slice(None), *where)].reshape(n, groups, shape[1], -1)
        out[(..., *place)] = np.matmul(rows, np.swapaxes(part, -1, -2)).sum(axis=0)
    return out.reshape(shape)


def _widened(call: Call) -> list[Array]:
    return [None if each is None else widen(each) for each in call.inputs]


def _judged(values: Array, magnitude: Array, terms: int, dtype: np.dtype[Any]) -> list[Expected]:
    """A sum of `terms` products, whose error is measured against the sum of their absolute values."""
    extra = 0.0 if is_half(dtype) else 2 * math.sqrt(max(terms, 1))
    return [summed(values, magnitude, dtype, extra)]


def _with_bias(values: Array, bias: Any) -> Array:
    return values if bias is None else values + bias.reshape(-1, *([1] * (values.ndim - 2)))


@oracle("convolution", "conv1d", "conv2d", "conv3d")
def convolution(call: Call) -> list[Expected]:
    x, weight, bias = _widened(call)
    geometry = Geometry.of(call.attributes, x.ndim - 2)
    values = _with_bias(convolve(x, weight, geometry), bias)
    size = _with_bias(convolve(np.abs(x), np.abs(weight), geometry), None if bias is None else np.abs(bias))
    return _judged(values, size, math.prod(weight.shape[1:]), call.inputs[0].dtype)


@oracle("convolution_input_gradient")
def input_gradient(call: Call) -> list[Expected]:
    upstream, weight = _widened(call)
    shape = tuple(call.attributes["shape"])
    geometry = Geometry.of(call.attributes, len(shape) - 2)
    values = spread(upstream, weight, shape, geometry)
    size = spread(np.abs(upstream), np.abs(weight), shape, geometry)
    return _judged(values, size, weight.size // weight.shape[1], call.inputs[0].dtype)


@oracle("convolution_weight_gradient")
def weight_gradient(call: Call) -> list[Expected]:
    x, upstream = _widened(call)
    shape = tuple(call.attributes["shape"])
    geometry = Geometry.of(call.attributes, len(shape) - 2)
    values = weight_slope(x, upstream, shape, geometry)
    size = weight_slope(np.abs(x), np.abs(upstream), shape, geometry)
    return _judged(values, size, upstream.size // upstream.shape[1], call.inputs[0].dtype)


@oracle("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed(call: Call) -> list[Expected]:
    x, weight, bias = _widened(call)
    rank = x.ndim - 2
    geometry = Geometry.of(call.attributes, rank)
    added = each_axis(call.attributes["output_padding"], rank)
    sizes = tuple(
        (x.shape[2 + i] - 1) * geometry.stride[i]
        - geometry.before[i]
        - geometry.after[i]
        + geometry.dilation[i] * (weight.shape[2 + i] - 1)
        + 1
        + added[i]
        for i in range(rank)
    )
    shape = (x.shape[0], weight.shape[1] * geometry.groups, *sizes)
    values = _with_bias(spread(x, weight, shape, geometry), bias)
    size = spread(np.abs(x), np.abs(weight), shape, geometry)
    size = _with_bias(size, None if bias is None else np.abs(bias))
    return _judged(values, size, weight.size // weight.shape[1], call.inputs[0].dtype)
