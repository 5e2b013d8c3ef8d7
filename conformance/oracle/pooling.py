"""Oracles of pooling: every window is looked at by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.oracle.convolution import both_sides, each_axis
from conformance.oracle.forms import Array, formula, moves
from conformance.oracle.registry import Call

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """One window on one axis: the elements of the image in it, and by how many a mean is divided."""

    elements: list[int]
    counted: int


def _windows(size: int, attributes: Mapping[str, Any], axis: int, rank: int) -> list[Window]:
    window = each_axis(attributes["window"], rank)[axis]
    stride = attributes["stride"]
    step = window if stride is None else each_axis(stride, rank)[axis]
    dilation = each_axis(attributes.get("dilation", 1), rank)[axis]
    before, after = both_sides(attributes["padding"], rank)
    low, high = before[axis], after[axis]
    ceil, reach = attributes["ceil_mode"], dilation * (window - 1)
    found = []
    start = -low
    # With ceil_mode one window more counts where the last that fits leaves elements over.
    while start + reach < size + high or (ceil and start < size and start - step + reach + 1 < size + high):
        places = [start + i * dilation for i in range(window)]
        inside = [place for place in places if 0 <= place < size]
        padded = [place for place in places if -low <= place < size + high]
        found.append(Window(inside, len(padded if attributes.get("count_include_pad", False) else inside)))
        start += step
    return found


def counts(shape: Sequence[int], attributes: Mapping[str, Any]) -> Shape:
    """How many windows each spatial axis has."""
    return tuple(len(_windows(size, attributes, axis, len(shape))) for axis, size in enumerate(shape))


def _each(
    shape: Sequence[int], attributes: Mapping[str, Any]
) -> tuple[Shape, Iterator[tuple[Shape, list[list[int]], int]]]:
    """The number of windows per axis, and for each window its place, its elements per axis, and its count."""
    rank = len(shape)
    per_axis = [_windows(size, attributes, axis, rank) for axis, size in enumerate(shape)]

    def walk() -> Iterator[tuple[Shape, list[list[int]], int]]:
        for place in np.ndindex(*(len(windows) for windows in per_axis)):
            chosen = [windows[i] for windows, i in zip(per_axis, place, strict=True)]
            yield place, [each.elements for each in chosen], int(np.prod([each.counted for each in chosen]))

    return tuple(len(windows) for windows in per_axis), walk()


def _block(x: Array, elements: list[list[int]]) -> Array:
    """The elements of one window, flat, for each image and channel."""
    for axis, chosen in enumerate(elements, 2):
        x = np.take(x, chosen, axis=axis)
    return x.reshape(*x.shape[:2], -1)


@moves("max_pool", "max_pool1d", "max_pool2d", "max_pool3d")
def greatest(call: Call) -> Array:
    (x,) = call.inputs
    sizes, windows = _each(x.shape[2:], call.attributes)
    # A window that lies in the padding alone has what the padding is.
    least = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    out: Array = np.full((*x.shape[:2], *sizes), least, x.dtype)
    for place, elements, _ in windows:
        if all(elements):
            out[(slice(None), slice(None), *place)] = _first_greatest(_block(x, elements))[0]
    return out


def _first_greatest(block: Array) -> tuple[Array, Array]:
    """The greatest along the last axis and its place, NaN before all, the first of equals."""
    wide = block.astype(np.float32) if block.dtype.name == "bfloat16" else block
    places = np.argmax(wide, axis=-1)
    return np.take_along_axis(block, places[..., None], -1)[..., 0], places


@formula("max_pool_gradient", reduces=True)
def greatest_gradient(call: Call) -> Array:
    upstream, x = call.inputs
    _, windows = _each(x.shape[2:], call.attributes)
    out = np.zeros_like(x)
    for place, elements, _ in windows:
        if not all(elements):
            continue
        _, hits = _first_greatest(_block(x, elements))
        sizes = [len(each) for each in elements]
        for image in np.ndindex(x.shape[:2]):
            inner = np.unravel_index(hits[image], sizes)
            where = tuple(each[i] for each, i in zip(elements, inner, strict=True))
            out[(*image, *where)] += upstream[(*image, *place)]
    return out


@formula("avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", reduces=True)
def average(call: Call) -> Array:
    (x,) = call.inputs
    sizes, windows = _each(x.shape[2:], call.attributes)
    out: Array = np.empty((*x.shape[:2], *sizes), x.dtype)
    for place, elements, counted in windows:
        out[(slice(None), slice(None), *place)] = _block(x, elements).sum(axis=-1) / counted
    return out


def _shared(upstream: Array, shape: Shape, windows: Any) -> Array:
    """Each window's part of upstream, the same for each of its elements."""
    out: Array = np.zeros(shape, upstream.dtype)
    for place, elements, counted in windows:
        share = upstream[(slice(None), slice(None), *place)] / counted
        where = np.ix_(range(shape[0]), range(shape[1]), *elements)
        out[where] += share.reshape(*shape[:2], *([1] * len(elements)))
    return out


@formula("avg_pool_gradient", reduces=True, measure=lambda call: _average_gradient(call, absolute=True))
def average_gradient(call: Call) -> Array:
    return _average_gradient(call, absolute=False)


def _average_gradient(call: Call, absolute: bool) -> Array:
    """The sums of shares, or of their sizes."""
    shape = tuple(call.attributes["shape"])
    upstream = np.abs(call.inputs[0]) if absolute else call.inputs[0]
    return _shared(upstream, shape, _each(shape[2:], call.attributes)[1])


def _adaptive(shape: Shape, sizes: Shape) -> Iterator[tuple[Shape, list[list[int]], int]]:
    """Windows that share each axis among so many results: floor(i n / size) to ceil((i + 1) n / size)."""
    for place in np.ndindex(*sizes):
        elements = [
            list(range(i * n // size, -((-(i + 1) * n) // size)))
            for i, n, size in zip(place, shape, sizes, strict=True)
        ]
        yield place, elements, int(np.prod([len(each) for each in elements]))


@formula("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", reduces=True)
def adaptive(call: Call) -> Array:
    (x,) = call.inputs
    sizes = each_axis(call.attributes["size"], x.ndim - 2)
    out: Array = np.empty((*x.shape[:2], *sizes), x.dtype)
    for place, elements, counted in _adaptive(x.shape[2:], sizes):
        out[(slice(None), slice(None), *place)] = _block(x, elements).sum(axis=-1) / counted
    return out


@formula("adaptive_avg_pool_gradient", reduces=True)
def adaptive_gradient(call: Call) -> Array:
    (upstream,) = call.inputs
    shape = tuple(call.attributes["shape"])
    return _shared(upstream, shape, _adaptive(shape[2:], upstream.shape[2:]))


@formula("global_avg_pool", reduces=True)
def global_average(call: Call) -> Array:
    (x,) = call.inputs
    axes = tuple(range(2, x.ndim))
    return np.asanyarray(x.sum(axis=axes, keepdims=True) / np.prod(x.shape[2:]))


@moves("global_max_pool")
def global_greatest(call: Call) -> Array:
    (x,) = call.inputs
    return _first_greatest(x.reshape(*x.shape[:2], -1))[0].reshape(*x.shape[:2], *([1] * (x.ndim - 2)))
