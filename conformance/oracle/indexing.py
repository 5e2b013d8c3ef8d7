"""Oracles of ops that pick or add elements by position, and of those that make a pattern of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.oracle.forms import Array, formula, moves
from conformance.oracle.movement import argsort_last
from conformance.oracle.precision import is_float, widen
from conformance.oracle.registry import Call, Expected, oracle

BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)


@moves("take")
def take(call: Call) -> Array:
    x, indices = call.inputs
    return np.take(x, indices, axis=call.attributes["axis"])


@formula("put_add", reduces=True)
def put_add(call: Call) -> Array:
    updates, indices = call.inputs
    shape = tuple(call.attributes["shape"])
    return _added(np.zeros(shape, updates.dtype), indices, updates, call.attributes["axis"] % len(shape))


def _added(out: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Adds slices of updates at positions along an axis, whose place the axes of the indices take."""
    k = indices.ndim
    moved = np.moveaxis(updates, tuple(range(axis, axis + k)), tuple(range(k)))
    np.add.at(np.moveaxis(out, axis, 0), indices, moved)
    return out


@formula("index_add", reduces=True)
def index_add(call: Call) -> Array:
    x, indices, updates = call.inputs
    return _added(x.copy(), indices, updates, call.attributes["axis"] % x.ndim)


def _along(indices: Array, axis: int) -> tuple[Array, ...]:
    """The full index of elements picked along one axis."""
    full = list(np.indices(indices.shape, sparse=True))
    full[axis] = indices
    return tuple(full)


@moves("take_along_axis")
def take_along_axis(call: Call) -> Array:
    x, indices = call.inputs
    axis = call.attributes["axis"] % x.ndim
    shape = np.broadcast_shapes(
        *(tuple(1 if i == axis else n for i, n in enumerate(e.shape)) for e in (x, indices))
    )
    source = np.broadcast_to(x, (*shape[:axis], x.shape[axis], *shape[axis + 1 :]))
    index = np.broadcast_to(indices, (*shape[:axis], indices.shape[axis], *shape[axis + 1 :]))
    return np.asanyarray(source[_along(index, axis)])


@formula("put_along_axis_add", reduces=True)
def put_along_axis_add(call: Call) -> Array:
    updates, indices = call.inputs
    shape = tuple(call.attributes["shape"])
    axis = call.attributes["axis"] % len(shape)
    # Axes of size one in the shape take all of what broadcasting had spread there.
    wide = tuple(shape[i] if i == axis else n for i, n in enumerate(updates.shape))
    out = np.zeros(wide, updates.dtype)
    np.add.at(out, _along(np.broadcast_to(indices, updates.shape), axis), updates)
    gone = tuple(i for i, (n, m) in enumerate(zip(shape, wide, strict=True)) if n == 1 and m != 1)
    return np.asanyarray(out.sum(axis=gone, keepdims=True))


@formula("scatter_add", reduces=True)
def scatter_add(call: Call) -> Array:
    x, indices, updates = call.inputs
    out = x.copy()
    np.add.at(out, _along(indices, call.attributes["axis"] % x.ndim), updates)
    return out


@oracle("one_hot")
def one_hot(call: Call) -> list[Expected]:
    (indices,) = call.inputs
    hit = indices[..., None] == np.arange(call.attributes["num_classes"])
    axis = call.attributes["axis"] % (indices.ndim + 1)
    dtype = call.dtype or np.dtype(np.float32)
    return [Expected(widen(np.moveaxis(hit, -1, axis).astype(dtype)), dtype, zero_sign=True)]


@oracle("position_of_last")
def position_of_last(call: Call) -> list[Expected]:
    (index,) = call.inputs
    last = {int(row): place for place, row in enumerate(index)}
    return [Expected(np.array([last[int(row)] == i for i, row in enumerate(index)], bool), BOOL)]


@oracle("top_k")
def top_k(call: Call) -> list[Expected]:
    (x,), attributes = call.inputs, call.attributes
    axis = attributes["axis"] % x.ndim
    moved = np.moveaxis(x, axis, -1)
    (order,) = argsort_last(Call("argsort_last", (moved,), {"descending": attributes["largest"]}))
    places = np.moveaxis(order.values[..., : attributes["k"]], -1, axis)
    values = np.take_along_axis(x, places, axis)
    return [Expected(widen(values), x.dtype), Expected(places, INT64)]


@oracle("searchsorted")
def searchsorted(call: Call) -> list[Expected]:
    """NaN counts as greater than everything, and as equal to NaN."""
    x, values = (widen(each) for each in call.inputs)
    shape = (*values.shape, x.size)
    table, wanted = np.broadcast_to(x, shape), np.broadcast_to(values[..., None], shape)
    less, same = table < wanted, table == wanted
    if is_float(call.inputs[0].dtype):
        less = less | (~np.isnan(table) & np.isnan(wanted))
        same = same | (np.isnan(table) & np.isnan(wanted))
    hit = less | same if call.attributes["right"] else less
    return [Expected(hit.sum(axis=-1, dtype=np.int64), INT64)]


@oracle("share_among_equals")
def share_among_equals(call: Call) -> list[Expected]:
    x, extreme, value = (widen(each) for each in call.inputs)
    axes = call.attributes["axis"]
    hit = (x == extreme) | ((x != x) & (extreme != extreme))
    count = hit.sum(axis=None if axes is None else tuple(axes), keepdims=True)
    values = np.where(hit, value / np.maximum(count, 1), 0)
    return [Expected(values, call.inputs[2].dtype, np.abs(values))]


@moves("masked_fill")
def masked_fill(call: Call) -> Array:
    x, mask, value = call.inputs
    return np.where(mask, value.astype(x.dtype), x)


@moves("full", "full_like", "zeros", "ones", "eye")
def made(call: Call) -> Array:
    """Arrays that do not depend on the elements of any other."""
    shape: Any = call.attributes.get("shape", call.shape)
    if call.op == "full_like":
        x, value = call.inputs
        return np.full(x.shape, value, call.dtype or x.dtype)
    if call.op == "eye":
        rows, columns, k = (call.attributes[name] for name in ("n_rows", "n_cols", "k"))
        return np.eye(rows, columns, k, dtype=call.dtype)
    value = call.inputs[0] if call.op == "full" else call.op == "ones"
    return np.full(shape, value, call.dtype)
