"""Ops whose result's shape depends on values: they read a count back from the device, so they wait for it.

All rest on `compact`, which lists the positions of true elements, and on gathering rows. None of them can be
part of a plan, which knows shapes beforehand; and none is differentiable in its mask.
"""

from __future__ import annotations

from device_api import _core, dtypes
from device_api.errors import ShapeError
from device_api.ops import _functions as F
from device_api.tensor.conversion import to_numpy


def positions(mask: _core.Tensor) -> _core.Tensor:
    """The row-major positions of true elements, ascending: int64, one dimension."""
    index, count = F.compact(F.reshape(mask, (mask.size,)))
    return F.slice(index, (0,), (int(to_numpy(count)),), (1,))


def nonzero(x: _core.Tensor, /) -> tuple[_core.Tensor, ...]:
    """The indices of elements that are not zero, one int64 tensor for each dimension, in row-major order.

    Raises `ShapeError` for a 0-d tensor.
    """
    if x.ndim == 0:
        raise ShapeError("nonzero needs a dimension", subject="a 0-d tensor", op="nonzero", argument="x")
    mask = x if x.dtype_code == dtypes.BOOL_CODE else F.copy(x, dtype="bool")
    return unravel(positions(mask), x.shape)


def unravel(index: _core.Tensor, shape: tuple[int, ...]) -> tuple[_core.Tensor, ...]:
    """Row-major positions as one index for each dimension of a shape."""
    result: list[_core.Tensor] = []
    for size in reversed(shape[1:]):
        result.append(F.remainder(index, size))
        index = F.floor_divide(index, size)
    return (index, *reversed(result))


def count_nonzero(
    x: _core.Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> _core.Tensor:
    """How many elements along the axes (all by default) are not zero; int64."""
    return F.sum(F.copy(x, dtype="bool"), axis=axis, keepdims=keepdims)
