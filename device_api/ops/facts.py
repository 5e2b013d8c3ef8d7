"""Static facts that decompose and gradient rules compute with: axes, shapes and dtypes, never values.
Rules are text in the op set; these functions are the only helpers they have besides ops, so each is
small and total for calls whose shapes were already checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from device_api import dtypes

DType = np.dtype[Any]
Shape = tuple[int, ...]


def axes_of(axis: Sequence[int] | int | None, ndim: int) -> Shape:
    """Axes counted from the front, ascending; None means all."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(each % ndim for each in ((axis,) if isinstance(axis, int) else axis)))


def product(sizes: Sequence[int]) -> int:
    """The product of sizes; 1 for none."""
    return math.prod(sizes)


def last_axis_order(axes: Sequence[int], ndim: int) -> Shape:
    """The order of axes that puts these behind all others. Negative axes count from the end."""
    last = [axis % ndim for axis in axes]
    return (*(axis for axis in range(ndim) if axis not in last), *last)


def last_axis_shape(shape: Sequence[int], axes: Sequence[int]) -> Shape:
    """The shape after these axes were put last and merged into one. Negative axes count from the end."""
    last = [axis % len(shape) for axis in axes]
    kept = (size for axis, size in enumerate(shape) if axis not in last)
    return (*kept, math.prod(shape[axis] for axis in last))


def inverse_permutation(order: Sequence[int]) -> Shape:
    """The order of axes that undoes another."""
    inverse = [0] * len(order)
    for place, axis in enumerate(order):
        inverse[axis] = place
    return tuple(inverse)


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> Shape:
    """The shape after these axes were reduced."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def replaced(shape: Sequence[int], axis: int, size: int) -> Shape:
    """A shape with another size along one axis."""
    sizes = list(shape)
    sizes[axis] = size
    return tuple(sizes)


def broadcast_shape(*shapes: Sequence[int]) -> Shape:
    """The shape that shapes stretch to; they are known to fit."""
    return np.broadcast_shapes(*(tuple(shape) for shape in shapes))


def slice_bounds(
    shape: Sequence[int], axis: int, start: int, stop: int, step: int = 1
) -> tuple[Shape, Shape, Shape]:
    """start, stop and step of a slice along one axis that keeps all others whole."""
    axis %= len(shape)
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return tuple(starts), tuple(stops), tuple(steps)


def is_complex(dtype: DType) -> bool:
    """Whether elements are complex."""
    return dtypes.code(dtype) in dtypes.COMPLEX


def is_floating(dtype: DType) -> bool:
    """Whether elements are real floats."""
    return dtypes.code(dtype) in dtypes.FLOATING


def default_dtype(requested: DType | None) -> DType:
    """The dtype of what is made without one: what was asked for, else the default of the process."""
    return dtypes.from_code(dtypes.default_code(float)) if requested is None else requested


def accumulation_dtype(dtype: DType) -> DType:
    """Where sums of this dtype are kept: float32 for 16-bit floats, else the dtype itself."""
    small = dtypes.code(dtype) in (dtypes.FLOAT16, dtypes.BFLOAT16)
    return np.dtype(np.float32) if small else dtype


def sum_dtype(dtype: DType, requested: DType | None) -> DType:
    """The dtype of a sum: what was asked for, else 64 bits for bool and integers, else that of the terms."""
    if requested is not None:
        return requested
    code = dtypes.code(dtype)
    if code in dtypes.UNSIGNED:
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if code in dtypes.SIGNED | dtypes.BOOL else dtype


def each_axis(values: Sequence[int], count: int) -> Shape:
    """One number for each of `count` axes; a single one serves all."""
    return tuple(values) * count if len(values) == 1 else tuple(values)


def both_sides(padding: Sequence[int], count: int) -> tuple[Shape, Shape]:
    """What is added before and after each of `count` axes: one number, one for each axis, or all that go
    before and then all that go after."""
    if len(padding) == 2 * count and count > 1:
        return tuple(padding[:count]), tuple(padding[count:])
    sides = each_axis(padding, count)
    return sides[:count], sides[-count:]


def window_count(size: int, window: int, step: int, dilation: int) -> int:
    """How many windows fit into an axis; 0 or less when not even one does."""
    return (size - dilation * (window - 1) - 1) // step + 1


def window_ends(
    sizes: Sequence[int],
    window: Sequence[int],
    step: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
) -> tuple[Shape, Shape]:
    """Padding before and after each axis, so that windows which begin inside but end outside count too when
    `ceil_mode` asks for it."""
    before, after = both_sides(padding, len(sizes))
    if not ceil_mode:
        return before, after
    stretched = []
    for place, size in enumerate(sizes):
        reach = dilation[place] * (window[place] - 1) + 1
        count = -(-(size + before[place] + after[place] - reach) // step[place]) + 1
        if (count - 1) * step[place] >= size + before[place]:
            count -= 1
        missing = (count - 1) * step[place] + reach - size - before[place]
        stretched.append(max(missing, after[place]))
    return before, tuple(stretched)


def spread_bounds(size: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Start and stop of windows that share an axis among `parts` results as evenly as may be."""
    return tuple((i * size // parts, -(-(i + 1) * size // parts)) for i in range(parts))
