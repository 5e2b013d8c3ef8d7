"""`x[key]` and `x[key] = value` on tensors of any device, with the keys of NumPy.

Basic keys are views. With advanced indices, the axes they cover move to the front and become the rows of a
matrix, and the row kernels gather or scatter those. Keys are parsed elsewhere; here they are carried out, in
a way that gradients can follow when they are recorded and by plain arithmetic on layouts when not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from device_api import _core
from device_api.errors import DeviceMismatch, GradientError, ShapeError
from device_api.ops import _functions as F
from device_api.ops._table import BY_NAME
from device_api.ops.facts import inverse_permutation
from device_api.ops.views import Layout
from device_api.tensor.conversion import asarray, write
from device_api.tensor.keys import Advanced, Key, joined_sizes, parse

_REPLACE = 1


def getitem(x: _core.Tensor, key: Any, /) -> _core.Tensor:
    """The elements that a key names: a view for basic keys, else a new tensor.

    The native core has answered plain basic keys before. Raises `IndexOutOfRange`, `ShapeError` for masks
    that do not fit, `DTypeError` for keys of other dtypes.
    """
    recording = x.requires_grad and _core.grad_enabled()
    parsed = parse(x, key)
    view = _recorded_view(x, parsed) if recording else _plain_view(x, parsed)
    if not parsed.advanced:
        return view
    front, rest = _split(view, parsed.advanced)
    index = _flat_index(parsed.advanced)
    rows = F.reshape(F.permute_dims(view, (*front, *rest)), _row_shape(view, front, rest))
    picked = F.gather_rows(rows, F.reshape(index, (index.size,)))
    natural = F.reshape(picked, (*index.shape, *(view.shape[axis] for axis in rest)))
    return F.permute_dims(natural, _result_order(index.ndim, len(rest), parsed.insert))


def setitem(x: _core.Tensor, key: Any, value: Any, /) -> None:
    """Writes a number or a tensor to the elements that a key names, stretched and converted to fit.

    Where an integer array names an element twice, the last value stays. Raises what `x[key]` raises,
    `DeviceMismatch` for values of another device, and `GradientError` where a gradient would be lost.
    """
    given = _values(x, value)
    parsed = parse(x, key)
    view = _plain_view(x, parsed)
    if not parsed.advanced:
        write(_stretched(given, view.shape), view)
        return
    front, rest = _split(view, parsed.advanced)
    index = _flat_index(parsed.advanced)
    order = _result_order(index.ndim, len(rest), parsed.insert)
    natural = (*index.shape, *(view.shape[axis] for axis in rest))
    stretched = _stretched(given, tuple(natural[axis] for axis in order))
    shape = _row_shape(view, front, rest)
    updates = F.reshape(F.permute_dims(stretched, inverse_permutation(order)), (index.size, shape[1]))
    target = F.permute_dims(view, (*front, *rest))
    rows = F.reshape(target, shape)
    flat = F.reshape(index, (index.size,))
    if Layout(target.shape, target.strides).reshape(shape) is not None:
        _core.dispatch(BY_NAME["scatter_rows"].id, (rows, flat, updates), (_REPLACE,), rows)
    else:
        changed = F.scatter_rows(rows, flat, updates, reduction=_REPLACE)
        write(F.reshape(changed, target.shape), target)


def _values(x: _core.Tensor, value: Any) -> _core.Tensor:
    """What is written, as a tensor of the device and dtype of x."""
    if isinstance(value, _core.Tensor):
        if value.device != x.device:
            raise DeviceMismatch(
                "a tensor takes values of its own device only",
                subject=f"values on {value.device}, tensor on {x.device}",
                remedy="Move the values with to_device.",
                devices=(str(value.device), str(x.device)),
            )
        given = value
    else:
        number = isinstance(value, bool | int | float | complex)
        given = asarray(value, dtype=x.dtype if number else None, device=x.device)
    if _core.grad_enabled() and (x.requires_grad or given.requires_grad):
        raise GradientError(
            "writing to elements is not recorded",
            subject=f"shape {x.shape}",
            why="the tensor or the values require a gradient",
            remedy="Write inside no_grad(), or build the tensor with where.",
        )
    return given if given.dtype_code == x.dtype_code else F.copy(given, dtype=x.dtype)


def _plain_view(x: _core.Tensor, key: Key) -> _core.Tensor:
    """The basic part of a key, as arithmetic on the layout."""
    strides = x.strides
    offset = 0
    if math.prod(key.count):
        offset = sum(start * stride for start, stride in zip(key.start, strides, strict=True))
    shape = tuple(1 if axis < 0 else key.count[axis] for axis in key.axes)
    steps = tuple(0 if axis < 0 else strides[axis] * key.step[axis] for axis in key.axes)
    return _core.view(x, x.dtype_code, shape, steps, x.byte_offset + offset * x.itemsize)


def _recorded_view(x: _core.Tensor, key: Key) -> _core.Tensor:
    """The same by ops that have gradients."""
    stop = [a + n * c for a, n, c in zip(key.start, key.count, key.step, strict=True)]
    shape = tuple(1 if axis < 0 else key.count[axis] for axis in key.axes)
    return F.reshape(F.slice(x, key.start, stop, key.step), shape)


def _stretched(value: _core.Tensor, shape: tuple[int, ...]) -> _core.Tensor:
    """A value in the shape of what it is written to; leading sizes of one may go, as in NumPy."""
    extra = value.ndim - len(shape)
    if extra > 0 and all(size == 1 for size in value.shape[:extra]):
        value = F.reshape(value, value.shape[extra:])
    if value.shape == shape:
        return value
    try:
        return F.broadcast_to(value, shape)
    except ShapeError as error:
        raise ShapeError(
            "values do not fit the elements that are written",
            subject=f"values {value.shape}, elements {shape}",
            op="index",
            argument="value",
            shapes=(value.shape, shape),
        ) from error


def _split(view: _core.Tensor, advanced: Sequence[Advanced]) -> tuple[list[int], list[int]]:
    """The axes that advanced indices cover, and the others, both in order."""
    front = [axis for each in advanced for axis in range(each.axis, each.axis + each.count)]
    return front, [axis for axis in range(view.ndim) if axis not in front]


def _row_shape(view: _core.Tensor, front: Sequence[int], rest: Sequence[int]) -> tuple[int, int]:
    return math.prod(view.shape[a] for a in front), math.prod(view.shape[a] for a in rest)


def _flat_index(advanced: Sequence[Advanced]) -> _core.Tensor:
    """One index into the rows. An index outside its own axis is sent outside of all rows, where the kernel
    finds it, instead of into a neighbour's."""
    if len(advanced) == 1:
        return advanced[0].index
    flat: Any = None
    inside: Any = None
    for each, span in zip(advanced, joined_sizes(list(advanced)), strict=True):
        fits = F.logical_and(F.greater_equal(each.index, 0), F.less(each.index, each.size))
        term = F.multiply(each.index, span)
        flat = term if flat is None else F.add(flat, term)
        inside = fits if inside is None else F.logical_and(inside, fits)
    return F.where(inside, flat, -1)


def _result_order(indexed: int, rest: int, insert: int) -> tuple[int, ...]:
    """The order of axes that puts those of the index (now in front) behind the first `insert` others."""
    return (
        *range(indexed, indexed + insert),
        *range(indexed),
        *range(indexed + insert, indexed + rest),
    )
