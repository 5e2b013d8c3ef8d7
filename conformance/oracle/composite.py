"""Oracles of composite ops that a vendor may offer as kernels of their own: limits, reductions over any axes,
softmax, products of matrices, ordering.

Where an op adds up many terms, its error is measured against the terms, not the result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conformance.oracle import linear, movement, reduction
from conformance.oracle.precision import is_half, widen
from conformance.oracle.registry import Array, Call, Expected, oracle

BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)


@oracle("clip")
def clip(call: Call) -> list[Expected]:
    x, low, high = call.inputs
    values = x
    if low is not None:
        values = np.maximum(values, low)
    if high is not None:
        values = np.minimum(values, high)
    return [Expected(widen(values), x.dtype)]


def _axes(call: Call) -> tuple[int, ...]:
    axes = call.attributes["axis"]
    ndim = call.inputs[0].ndim
    return tuple(range(ndim)) if axes is None else tuple(np.atleast_1d(axes).tolist())


def _last(x: Array, axes: tuple[int, ...]) -> Array:
    """The reduced axes as one, at the end."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(*kept, *axes).reshape(*(x.shape[axis] for axis in kept), -1)


def _shaped(values: Array, call: Call) -> Array:
    """Puts the reduced axes back, of size one, where keepdims asks for it."""
    return np.expand_dims(values, _axes(call)) if call.attributes.get("keepdims") else values


_REDUCTIONS = {"sum": "reduce_sum", "prod": "reduce_prod", "max": "reduce_max", "min": "reduce_min",
               "any": "reduce_any", "all": "reduce_all"}  # fmt: skip


@oracle(*_REDUCTIONS)
def reduce(call: Call) -> list[Expected]:
    x, dtype = call.inputs[0], call.dtype or call.inputs[0].dtype
    last = Call(_REDUCTIONS[call.op], (_last(x, _axes(call)).astype(dtype),))
    functions = {"sum": reduction.reduce_sum, "prod": reduction.reduce_prod}
    functions |= {"max": reduction.extreme, "min": reduction.extreme}
    (want,) = functions.get(call.op, reduction.truth)(last)
    scale, narrow = (None if each is None else _shaped(each, call) for each in (want.scale, want.narrow))
    return [replace(want, values=_shaped(want.values, call), scale=scale, narrow=narrow)]


@oracle("argmax", "argmin")
def position(call: Call) -> list[Expected]:
    (x,) = call.inputs
    axis = call.attributes["axis"]
    flat = widen(x) if axis is not None else widen(x).reshape(-1)
    function = np.argmax if call.op == "argmax" else np.argmin
    values = np.asarray(function(flat, axis=-1 if axis is None else axis), np.int64)
    if call.attributes["keepdims"]:
        values = values.reshape((1,) * x.ndim) if axis is None else np.expand_dims(values, axis)
    return [Expected(values, INT64)]


@oracle("mean", "var", "std", "logsumexp")
def statistic(call: Call) -> list[Expected]:
    (x,) = call.inputs
    wide = _last(widen(x), _axes(call))
    count = wide.shape[-1]
    magnitude = np.abs(wide).sum(axis=-1) / count
    total = magnitude * count
    extra = 0.0 if is_half(x.dtype) else float(np.log2(max(count, 1)))
    if call.op == "mean":
        values = wide.sum(axis=-1) / count
        scale = reduction.scale_of(values, magnitude, x.dtype)
    elif call.op == "logsumexp":
        top = wide.max(axis=-1, keepdims=True)
        values = np.log(np.exp(wide - top).sum(axis=-1)) + top[..., 0]
        scale, total = np.maximum(np.abs(top[..., 0]), 1), values
    else:
        centred = wide - wide.sum(axis=-1, keepdims=True) / count
        squares = (centred * centred).sum(axis=-1)
        values, total = squares / (count - call.attributes["correction"]), np.maximum(total, squares)
        # An error of one unit in the mean moves the deviations by as much.
        scale = np.maximum(values, magnitude * np.sqrt(values)) + np.finfo(np.float32).tiny
        if call.op == "std":
            values = np.sqrt(values)
            scale = np.maximum(values, magnitude)
    narrow = reduction.reached(values, total, x.dtype)
    narrow = None if narrow is None else _shaped(narrow, call)
    return [Expected(_shaped(values, call), x.dtype, _shaped(scale, call), extra_ulp=extra, narrow=narrow)]


@oracle("softmax", "log_softmax")
def softmax(call: Call) -> list[Expected]:
    (x,) = call.inputs
    axis = call.attributes["axis"]
    shifted = widen(x) - widen(x).max(axis=axis, keepdims=True)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    extra = 0.0 if is_half(x.dtype) else float(np.log2(max(x.shape[axis], 1)))
    if call.op == "log_softmax":
        scale = np.maximum(np.abs(shifted), 1)
        return [Expected(shifted - np.log(total), x.dtype, scale, extra_ulp=extra)]
    return [Expected(np.exp(shifted) / total, x.dtype, extra_ulp=extra)]


@oracle("matmul")
def matmul(call: Call) -> list[Expected]:
    """Vectors are rows on the left and columns on the right; batches broadcast."""
    x1, x2 = call.inputs
    left = x1[None, :] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    want = linear.product(left, right)
    gone = tuple(([-2] if x1.ndim == 1 else []) + ([-1] if x2.ndim == 1 else []))
    scale, narrow = (None if each is None else each.squeeze(gone) for each in (want.scale, want.narrow))
    return [replace(want, values=want.values.squeeze(gone), scale=scale, narrow=narrow)]


@oracle("sort")
def sort(call: Call) -> list[Expected]:
    (x,) = call.inputs
    order = _order(call)
    return [Expected(widen(np.take_along_axis(x, order, call.attributes["axis"])), x.dtype)]


@oracle("argsort")
def argsort(call: Call) -> list[Expected]:
    return [Expected(_order(call), INT64)]


def _order(call: Call) -> Array:
    axis = call.attributes["axis"]
    moved = np.moveaxis(call.inputs[0], axis, -1)
    (want,) = movement.argsort_last(Call("argsort_last", (moved,), call.attributes))
    return np.moveaxis(want.values, -1, axis)


@oracle("tril", "triu")
def triangle(call: Call) -> list[Expected]:
    (x,) = call.inputs
    function = np.tril if call.op == "tril" else np.triu
    keep = function(np.ones(x.shape, bool), call.attributes["k"])
    return [Expected(widen(np.where(keep, x, np.zeros((), x.dtype))), x.dtype)]
