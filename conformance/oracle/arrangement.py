"""Oracles of views and of ops that carry elements elsewhere: NumPy's indexing on the elements themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.oracle.forms import Array, formula, moves
from conformance.oracle.registry import Call

Shape = tuple[int, ...]


def slices(start: Sequence[int], stop: Sequence[int], step: Sequence[int]) -> tuple[slice, ...]:
    """The positions that range(start, stop, step) counts on each axis."""
    found = []
    for low, high, by in zip(start, stop, step, strict=True):
        empty = not len(range(low, high, by))
        found.append(slice(0, 0) if empty else slice(low, None if high < 0 else high, by))
    return tuple(found)


def _of(call: Call) -> tuple[slice, ...]:
    return slices(*(call.attributes[name] for name in ("start", "stop", "step")))


@moves("reshape")
def reshape(call: Call) -> Array:
    return np.asanyarray(call.inputs[0].reshape(call.attributes["shape"]))


@moves("permute_dims")
def permute_dims(call: Call) -> Array:
    return np.transpose(call.inputs[0], call.attributes["axes"])


@moves("matrix_transpose")
def matrix_transpose(call: Call) -> Array:
    return np.swapaxes(call.inputs[0], -1, -2)


@moves("expand_dims")
def expand_dims(call: Call) -> Array:
    return np.expand_dims(call.inputs[0], tuple(call.attributes["axis"]))


@moves("squeeze")
def squeeze(call: Call) -> Array:
    return np.squeeze(call.inputs[0], tuple(call.attributes["axis"]))


@moves("broadcast_to")
def broadcast_to(call: Call) -> Array:
    return np.broadcast_to(call.inputs[0], call.attributes["shape"])


@moves("flip")
def flip(call: Call) -> Array:
    return np.flip(call.inputs[0], call.attributes["axis"])


@moves("slice")
def sliced(call: Call) -> Array:
    return np.asanyarray(call.inputs[0][_of(call)])


@moves("slice_scatter")
def slice_scatter(call: Call) -> Array:
    (x,) = call.inputs
    out = np.zeros(tuple(call.attributes["shape"]), x.dtype)
    out[_of(call)] = x
    return out


@moves("diagonal")
def diagonal(call: Call) -> Array:
    return np.diagonal(call.inputs[0], call.attributes["offset"], -2, -1)


@moves("diagonal_scatter")
def diagonal_scatter(call: Call) -> Array:
    (x,) = call.inputs
    out = np.zeros(tuple(call.attributes["shape"]), x.dtype)
    offset = call.attributes["offset"]
    for i in range(x.shape[-1]):
        out[..., i - min(offset, 0), i + max(offset, 0)] = x[..., i]
    return out


def _places(call: Call, shape: Shape) -> tuple[Array, ...]:
    """For each element of the windows of an image of `shape`, where it comes from."""
    axes = [axis % len(shape) for axis in call.attributes["axes"]]
    window, step, dilation = (call.attributes[name] for name in ("window", "step", "dilation"))
    index = np.arange(int(np.prod(shape))).reshape(shape)
    strides = list(index.strides)
    inner = [strides[axis] * spread for axis, spread in zip(axes, dilation, strict=True)]
    sizes = list(shape)
    for axis, width, by, spread in zip(axes, window, step, dilation, strict=True):
        sizes[axis] = (shape[axis] - spread * (width - 1) - 1) // by + 1
        strides[axis] *= by
    view = np.lib.stride_tricks.as_strided(index, (*sizes, *window), (*strides, *inner), writeable=False)
    return np.unravel_index(view, shape)


@moves("window_view")
def window_view(call: Call) -> Array:
    (x,) = call.inputs
    return np.asanyarray(x[_places(call, x.shape)])


@formula("window_scatter", reduces=True)
def window_scatter(call: Call) -> Array:
    (x,) = call.inputs
    shape = tuple(call.attributes["shape"])
    out = np.zeros(shape, x.dtype)
    np.add.at(out, _places(call, shape), x)
    return out


@moves("concat")
def concat(call: Call) -> Array:
    return np.concatenate(call.inputs, axis=call.attributes["axis"])


@moves("stack")
def stack(call: Call) -> Array:
    return np.stack(call.inputs, axis=call.attributes["axis"])


@moves("roll")
def roll(call: Call) -> Array:
    shift, axis = call.attributes["shift"], call.attributes["axis"]
    if axis is None:
        return np.roll(call.inputs[0], shift[0])
    return np.roll(call.inputs[0], shift if len(shift) > 1 else shift[0], axis)


@moves("pad")
def pad(call: Call) -> Array:
    x, value = call.inputs
    before, after = call.attributes["before"], call.attributes["after"]
    out = np.full([b + n + a for b, n, a in zip(before, x.shape, after, strict=True)], value, x.dtype)
    out[tuple(slice(b, b + n) for b, n in zip(before, x.shape, strict=True))] = x
    return out


@moves("pad_mode")
def pad_mode(call: Call) -> Array:
    x, mode = call.inputs[0], call.attributes["mode"]
    widths = list(zip(call.attributes["before"], call.attributes["after"], strict=True))
    # Positions are padded, not elements: NumPy does not know every dtype.
    index = np.arange(x.size).reshape(x.shape)
    kinds: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return np.asanyarray(x.reshape(-1)[np.pad(index, widths, mode=kinds[mode])])


@moves("tile")
def tile(call: Call) -> Array:
    return np.tile(call.inputs[0], call.attributes["repetitions"])


@moves("repeat")
def repeat(call: Call) -> Array:
    return np.repeat(call.inputs[0], call.attributes["repeats"], call.attributes["axis"])


@moves("pixel_shuffle")
def pixel_shuffle(call: Call) -> Array:
    (x,), r = call.inputs, call.attributes["factor"]
    *rest, c, h, w = x.shape
    out = np.empty((*rest, c // r**2, h * r, w * r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return out


@moves("pixel_unshuffle")
def pixel_unshuffle(call: Call) -> Array:
    (x,), r = call.inputs, call.attributes["factor"]
    *rest, c, h, w = x.shape
    out = np.empty((*rest, c * r**2, h // r, w // r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return out


def _nearest(size: int, count: int) -> Array:
    return np.arange(count) * size // count


@moves("resize_nearest")
def resize_nearest(call: Call) -> Array:
    (x,) = call.inputs
    for axis, count in enumerate(call.attributes["size"], 2):
        x = np.take(x, _nearest(x.shape[axis], count), axis=axis)
    return np.asanyarray(x)


@formula("resize_nearest_gradient", reduces=True)
def resize_nearest_gradient(call: Call) -> Array:
    return _pulled_back(call, lambda size, count: np.eye(size)[_nearest(size, count)])


def _pulled_back(call: Call, matrix: Any) -> Array:
    """Upstream through the transpose of each axis' matrix (count, size)."""
    (values,) = call.inputs
    for axis, size in enumerate(call.attributes["shape"][2:], 2):
        part = matrix(size, values.shape[axis]).astype(values.dtype)
        values = np.moveaxis(np.tensordot(values, part, (axis, 0)), -1, axis)
    return np.asanyarray(values)


def _between(size: int, count: int, corners: bool) -> tuple[Array, Array, Array]:
    """The two elements that each place lies between, and how far from the first, in extended precision."""
    index = np.arange(count, dtype=np.longdouble)
    if corners:
        place = index * (size - 1) / (count - 1) if count > 1 else np.zeros(1, np.longdouble)
    else:
        place = np.maximum((index + 0.5) * size / count - 0.5, 0)
    low = np.minimum(np.floor(place).astype(np.int64), size - 1)
    return low, np.minimum(low + 1, size - 1), np.minimum(place - low, 1)


def _linear_matrix(corners: bool) -> Any:
    def matrix(size: int, count: int) -> Array:
        low, high, part = _between(size, count, corners)
        out = np.zeros((count, size), np.longdouble)
        np.add.at(out, (np.arange(count), low), 1 - part)
        np.add.at(out, (np.arange(count), high), part)
        return out

    return matrix


@formula("resize_linear", reduces=True, measure=lambda call: np.abs(call.inputs[0]).max())
def resize_linear(call: Call) -> Array:
    (values,) = call.inputs
    for axis, count in enumerate(call.attributes["size"], 2):
        part = _linear_matrix(call.attributes["align_corners"])(values.shape[axis], count).astype(
            values.dtype
        )
        values = np.moveaxis(np.tensordot(values, part, (axis, 1)), -1, axis)
    return np.asanyarray(values)


@formula("resize_linear_gradient", reduces=True, measure=lambda call: np.abs(call.inputs[0]).max())
def resize_linear_gradient(call: Call) -> Array:
    return _pulled_back(call, _linear_matrix(call.attributes["align_corners"]))


@formula(
    "resize_places", dtypes=(np.int64, np.int64), measure=lambda call: np.asanyarray(call.attributes["size"])
)
def resize_places(call: Call) -> tuple[Array, ...]:
    attributes = call.attributes
    return _between(attributes["size"], attributes["count"], attributes["align_corners"])
