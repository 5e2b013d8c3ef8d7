"""Functions of the namespace that put elements in other places, and are no ops of their own.

Each is a few ops: views where strides allow it, gathers elsewhere, so that gradients follow. What the op set
has itself is not repeated here, but for `reshape` and `astype`, whose `copy` and `device` no plan could obey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import AttributeValueError, AxisError, ShapeError
from device_api.ops import _functions as F
from device_api.ops.views import Layout, normalize_axes, normalize_axis
from device_api.runtime.devices import DeviceLike
from device_api.tensor.conversion import asarray, to_device, to_numpy

Tensor = _core.Tensor


def positive(x: Tensor, /) -> Tensor:
    """A copy of x, which has a number dtype."""
    return F.copy(x) if isinstance(x, Tensor) else asarray(x)


def reshape(x: Tensor, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order under another shape; one size may be -1.

    `copy` True copies always, None where strides permit no view; False raises `ValueError` then.
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    made = F.reshape(x, shape)
    if copy:
        return F.copy(made) if Layout(x.shape, x.strides).reshape(made.shape) is not None else made
    if copy is False and Layout(x.shape, x.strides).reshape(made.shape) is None:
        raise ValueError(f"strides {x.strides} permit no view of shape {shape}: leave copy out")
    return made


def astype(
    x: Tensor, dtype: npt.DTypeLike, /, *, copy: bool = True, device: DeviceLike | None = None
) -> Tensor:
    """The tensor with another dtype, and on another device if one is named. Without `copy`, a tensor that has
    both already is returned as it is."""
    made = F.astype(x, dtype, copy=copy)
    return made if device is None else to_device(made, device)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that shapes stretch to; `ShapeError` when they do not fit each other."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, start=rank - len(shape)):
            if size not in (1, result[place]):
                if result[place] != 1:
                    raise ShapeError(
                        "shapes do not broadcast",
                        subject=" and ".join(str(tuple(each)) for each in shapes),
                        why=f"sizes {result[place]} and {size} meet in dimension {place}, and neither is 1",
                        op="broadcast_shapes",
                        shapes=tuple(tuple(each) for each in shapes),
                    )
                result[place] = size
    return tuple(result)


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Tensors stretched to the shape they have in common; views."""
    shape = broadcast_shapes(*(each.shape for each in arrays))
    return tuple(F.broadcast_to(each, shape) for each in arrays)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate matrices of coordinate vectors, Cartesian ("xy") or by matrix index ("ij")."""
    if indexing not in ("xy", "ij"):
        raise AttributeValueError(
            "meshgrid has two ways of indexing",
            subject=repr(indexing),
            why="they are 'xy' and 'ij'",
            op="meshgrid",
            argument="indexing",
            value=indexing,
        )
    swaps = indexing == "xy" and len(arrays) > 1
    placed = []
    for axis, each in enumerate(arrays):
        if each.ndim > 1:
            raise ShapeError(
                "meshgrid takes vectors", subject=str(each.shape), op="meshgrid", shapes=(each.shape,)
            )
        place = 1 - axis if swaps and axis < 2 else axis
        sizes = [1] * len(arrays)
        sizes[place] = each.size
        placed.append(F.reshape(each, tuple(sizes)))
    # Tensors of the user's own: memory that others see through would be a trap.
    return tuple(F.copy(each) for each in broadcast_arrays(*placed))


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> Tensor:
    """Axes moved to other places while the rest keep their order; a view."""
    start = normalize_axes((source,) if isinstance(source, int) else source, x.ndim, "moveaxis")
    goal = normalize_axes((destination,) if isinstance(destination, int) else destination, x.ndim, "moveaxis")
    if len(start) != len(goal):
        raise AxisError(
            "moveaxis needs a place for each axis", subject=f"{source} to {destination}", op="moveaxis"
        )
    order = [axis for axis in range(x.ndim) if axis not in start]
    for place, axis in sorted(zip(goal, start, strict=True)):
        order.insert(place, axis)
    return F.permute_dims(x, tuple(order))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis, without it; views."""
    axis = normalize_axis(axis, x.ndim, "unstack")
    key: tuple[Any, ...] = (slice(None),) * axis
    return tuple(x[(*key, place)] for place in range(x.shape[axis]))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element (or each part along an axis) several times in a row; without axis, of the flattened x.

    `repeats` is a number or a tensor of one for each part, whose sum is read back from the device.
    """
    if axis is None:
        x, axis = F.reshape(x, (x.size,)), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    size = x.shape[axis]
    counts = np.asarray(to_numpy(repeats) if isinstance(repeats, Tensor) else repeats)
    if counts.dtype.kind not in "iu" or counts.ndim > 1 or (counts.ndim and counts.size not in (1, size)):
        raise ShapeError(
            "repeats are an integer, or one for each part",
            subject=f"{counts.dtype}{counts.shape} for {size} parts",
            op="repeat",
            argument="repeats",
            shapes=(x.shape, counts.shape),
        )
    if (counts < 0).any():
        raise AttributeValueError(
            "nothing repeats less than no times", op="repeat", argument="repeats", value=int(counts.min())
        )
    places = np.repeat(np.arange(size, dtype=np.int64), counts)
    return F.take(x, asarray(places, device=x.device), axis=axis)


def diff(
    x: Tensor,
    /,
    n: int = 1,
    axis: int = -1,
    *,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The n-th differences of neighbours along an axis, after `prepend` and `append` were joined to x."""
    axis = normalize_axis(axis, x.ndim, "diff")
    if n < 0:
        raise AttributeValueError("differences are counted", subject=n, op="diff", argument="n", value=n)
    parts = [each for each in (prepend, x, append) if each is not None]
    if len(parts) > 1:
        stretched = []
        for each in parts:
            size = each.shape[axis] if each.ndim else 1
            stretched.append(F.broadcast_to(each, (*x.shape[:axis], size, *x.shape[axis + 1 :])))
        x = F.concat(stretched, axis=axis)
    whole: tuple[Any, ...] = (slice(None),) * axis
    subtract = F.not_equal if x.dtype_code == dtypes.BOOL_CODE else F.subtract
    for _ in range(n):
        x = subtract(x[(*whole, slice(1, None))], x[(*whole, slice(None, -1))])
    return x


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Products summed over pairs of axes: the last of x1 and the first of x2, or those that `axes` lists."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise AxisError(
                "tensordot cannot sum over so many axes",
                subject=f"{axes} of {x1.shape} and {x2.shape}",
                op="tensordot",
            )
        left, right = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        first, second = ((each,) if isinstance(each, int) else tuple(each) for each in axes)
        left = normalize_axes(first, x1.ndim, "tensordot")
        right = normalize_axes(second, x2.ndim, "tensordot")
    if [x1.shape[axis] for axis in left] != [x2.shape[axis] for axis in right]:
        raise ShapeError(
            "axes that are summed over have one size",
            subject=f"axes {left} of {x1.shape}, {right} of {x2.shape}",
            op="tensordot",
            shapes=(x1.shape, x2.shape),
        )
    rows = tuple(axis for axis in range(x1.ndim) if axis not in left)
    columns = tuple(axis for axis in range(x2.ndim) if axis not in right)
    inner = math.prod(x1.shape[axis] for axis in left)
    first_shape = tuple(x1.shape[axis] for axis in rows)
    last_shape = tuple(x2.shape[axis] for axis in columns)
    a = F.reshape(F.permute_dims(x1, (*rows, *left)), (math.prod(first_shape), inner))
    b = F.reshape(F.permute_dims(x2, (*right, *columns)), (inner, math.prod(last_shape)))
    return F.reshape(F.matmul(a, b), (*first_shape, *last_shape))
