"""What stands between the brackets of `x[...]`, in one normal form.

A key is checked against a shape and split in two: a basic part (a slice of every axis, and which axes stay,
go or are added) and the advanced indices that gather. Nothing is computed on a device here, except that
masks become positions, and arrays of the host become tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from device_api import _core, dtypes
from device_api.errors import DTypeError, IndexOutOfRange, MaskError
from device_api.ops import _functions as F
from device_api.tensor.conversion import asarray
from device_api.tensor.dynamic import positions


@dataclass(slots=True)
class Advanced:
    """Positions (int64) along `count` flattened axes, of which the first is axis `axis` of the viewed tensor.

    `size` is the number of positions there are; a mask covers as many axes as it has, an array one.
    """

    index: _core.Tensor
    axis: int
    count: int
    size: int


@dataclass(slots=True)
class Key:
    """A key in normal form. `start`, `count` and `step` slice each axis of the tensor; `axes` lists the axes
    of the view: an axis of the tensor, or -1 for a new one. `insert` is where the axes of the advanced
    indices stand among the view's other axes."""

    start: list[int] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)
    advanced: list[Advanced] = field(default_factory=list)
    insert: int = 0


def parse(x: _core.Tensor, key: Any) -> Key:
    """The normal form of a key for a tensor. Raises `IndexOutOfRange`, `ShapeError` and `DTypeError`."""
    items = _expanded(x, key if isinstance(key, tuple) else (key,))
    result = Key()
    fancy: list[int] = []  # places of integers and arrays among the items
    axis = 0
    for place, item in enumerate(items):
        if item is None:
            result.axes.append(-1)
            continue
        if isinstance(item, slice):
            start, stop, step = _bounds(item, x.shape[axis])
            _take(result, start, len(range(start, stop, step)), step)
            result.axes.append(axis)
            axis += 1
            continue
        if not fancy:
            result.insert = len(result.axes)
        fancy.append(place)
        if isinstance(item, int):
            _take(result, position(item, x.shape[axis], axis), 1, 1)
            axis += 1
            continue
        covered = item.ndim if item.dtype_code == dtypes.BOOL_CODE else 1
        sizes = x.shape[axis : axis + covered]
        result.advanced.append(_advanced(item, len(result.axes), covered, sizes))
        for offset, size in enumerate(sizes):
            _take(result, 0, size, 1)
            result.axes.append(axis + offset)
        axis += covered
    if fancy and fancy != list(range(fancy[0], fancy[0] + len(fancy))):
        result.insert = 0
    return result


def _take(key: Key, start: int, count: int, step: int) -> None:
    key.start.append(start)
    key.count.append(count)
    key.step.append(step)


def _expanded(x: _core.Tensor, key: tuple[Any, ...]) -> list[Any]:
    """One item per axis or new axis: `...` is spelled out, host data are tensors, integers are plain."""
    items = [_item(x, each) for each in key]
    used = sum(_axes_used(item) for item in items if item is not Ellipsis)
    if used > x.ndim:
        raise IndexOutOfRange(
            "too many indices",
            subject=f"{used} for shape {x.shape}",
            op="index",
            argument="key",
            index=used,
            size=x.ndim,
        )
    gaps = sum(item is Ellipsis for item in items)
    if gaps > 1:
        raise IndexOutOfRange("a key may hold one ellipsis", subject=f"{gaps} were given", op="index")
    whole = [slice(None)] * (x.ndim - used)
    place = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return [*items[:place], *whole, *items[place + 1 :]]


def _item(x: _core.Tensor, item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, bool | np.bool_):
        return asarray(bool(item), device=x.device)
    if isinstance(item, _core.Tensor):
        if item.ndim == 0 and item.dtype_code in dtypes.INTEGER:
            return int(item)
        tensor = item
    elif isinstance(item, list | tuple | np.ndarray):
        array = np.asarray(item)
        empty_list = array.size == 0 and not isinstance(item, np.ndarray)
        tensor = asarray(array.astype(np.int64) if empty_list else item, device=x.device)
    else:
        try:
            return operator.index(item)
        except TypeError:
            raise _no_index(type(item).__name__) from None
    if tensor.dtype_code != dtypes.BOOL_CODE and tensor.dtype_code not in dtypes.INTEGER:
        raise _no_index(tensor.dtype.name)
    return tensor


def _no_index(what: str) -> DTypeError:
    return DTypeError(
        "only integers, slices, '...', None, masks and integer arrays index a tensor",
        subject=f"got {what}",
        op="index",
        argument="key",
        dtypes=(what,),
    )


def _axes_used(item: Any) -> int:
    if item is None:
        return 0
    if isinstance(item, _core.Tensor) and item.dtype_code == dtypes.BOOL_CODE:
        return item.ndim
    return 1


def _bounds(item: slice, size: int) -> tuple[int, int, int]:
    try:
        start, stop, step = item.indices(size)
    except TypeError as error:
        raise _no_index("a slice of something else") from error
    # A step that is never taken could be of any size, and no stride could hold it.
    count = len(range(start, stop, step))
    return (start, stop, step) if count > 1 else (start, start + count, 1)


def position(index: int, size: int, axis: int) -> int:
    """An index counted from the front; `IndexOutOfRange` when it is outside the axis."""
    if not -size <= index < size:
        raise IndexOutOfRange(
            "an index is out of range",
            subject=f"index {index} of axis {axis} with {size} elements",
            op="index",
            argument="key",
            index=index,
            size=size,
        )
    return index + size if index < 0 else index


def _advanced(item: _core.Tensor, axis: int, covered: int, sizes: tuple[int, ...]) -> Advanced:
    size = 1
    for each in sizes:
        size *= each
    if item.dtype_code == dtypes.BOOL_CODE:
        if item.size == 0 and all(mask in (0, each) for mask, each in zip(item.shape, sizes, strict=True)):
            # As in NumPy, a mask without elements fits any size: it chooses nothing.
            return Advanced(positions(item), axis, covered, size)
        if item.shape != sizes:
            raise MaskError(
                "a mask must have the shape of the axes that it covers",
                subject=f"mask {item.shape}, axes {sizes}",
                op="index",
                argument="key",
                shapes=(item.shape, sizes),
            )
        return Advanced(positions(item), axis, covered, size)
    index = item if item.dtype_code == dtypes.INT64 else F.copy(item, dtype="int64")
    return Advanced(F.where(F.less(index, 0), F.add(index, size), index), axis, covered, size)


def joined_sizes(advanced: list[Advanced]) -> Iterator[int]:
    """For each advanced index, how many positions the ones after it span together."""
    after = 1
    spans = []
    for each in reversed(advanced):
        spans.append(after)
        after *= each.size
    return reversed(spans)
