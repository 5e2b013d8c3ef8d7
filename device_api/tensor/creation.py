"""Tensors from nothing: constant ones, counted ones, and ones shaped like another.

All take `dtype` and `device`; without a device they are made on this thread's. Shapes are an integer or a
tuple of integers. Where values are computed, the device computes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import AttributeValueError
from device_api.ops import _functions as F
from device_api.runtime.devices import DeviceLike, resolve
from device_api.tensor.conversion import check_held
from device_api.tensor.indexing import setitem

Shape = int | Sequence[int]
Number = bool | int | float | complex


def _shape(shape: Shape) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, Sequence) else (shape,)


def _dtype(dtype: npt.DTypeLike | None, default: npt.DTypeLike) -> np.dtype[Any]:
    return dtypes.from_code(dtypes.code(default if dtype is None else dtype))


def empty(
    shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """A tensor whose elements are whatever the memory held; the default dtype unless given."""
    target = resolve(device)
    code = dtypes.default_code(float) if dtype is None else dtypes.code(dtype)
    check_held(target, code)
    return _core.empty(target, code, _shape(shape))


def empty_like(
    x: _core.Tensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """An uninitialised tensor with the shape of x, and its dtype and device unless given."""
    return empty(x.shape, dtype=x.dtype if dtype is None else dtype, device=device or x.device)


def full(
    shape: Shape,
    fill_value: Number | np.generic | _core.Tensor,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """A tensor of one value, a Python number or a 0-d tensor. Without dtype, the default one of its kind."""
    if isinstance(fill_value, np.generic):
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    if isinstance(fill_value, _core.Tensor) and device is None:
        device = fill_value.device
    wanted = None if dtype is None else _dtype(dtype, dtype)
    return F.full(fill_value, shape=_shape(shape), dtype=wanted, device=resolve(device))


def full_like(
    x: _core.Tensor,
    /,
    fill_value: Number | _core.Tensor,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """A tensor of one value with the shape of x, and its dtype and device unless given."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device or x.device)


def zeros(
    shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """A tensor of zeros; the default dtype unless given."""
    return full(shape, 0, dtype=float if dtype is None else dtype, device=device)


def zeros_like(
    x: _core.Tensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """Zeros with the shape of x, and its dtype and device unless given."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones(
    shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """A tensor of ones; the default dtype unless given."""
    return full(shape, 1, dtype=float if dtype is None else dtype, device=device)


def ones_like(
    x: _core.Tensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """Ones with the shape of x, and its dtype and device unless given."""
    return full_like(x, 1, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """A matrix with ones on its k-th diagonal and zeros elsewhere; the default dtype unless given."""
    wanted = _dtype(dtype, float)
    # Beyond the corners there is no diagonal, however far.
    k = max(-n_rows, min(k, n_rows if n_cols is None else n_cols))
    return F.eye(n_rows, n_cols, k=k, dtype=wanted, device=resolve(device))


def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """start, start + step, … below stop (above, for a negative step); `arange(n)` counts from 0.

    int64 when all three are integers, else the default dtype. Raises `AttributeValueError` for a step of 0,
    for what is no finite number, and for elements that the dtype does not hold.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise AttributeValueError(
            "arange goes nowhere with a step of 0", op="arange", argument="step", value=step
        )
    whole = all(isinstance(each, int) for each in (start, stop, step))
    wanted = _dtype(dtype, int if whole else float)
    if dtypes.code(wanted) not in dtypes.REAL:
        raise AttributeValueError(
            "arange counts in real numbers", subject=wanted.name, op="arange", argument="dtype", value=wanted
        )
    try:
        ends = [float(each) for each in (start, stop, step)]
        if not all(map(math.isfinite, ends)):
            raise ValueError
        size = max(-((start - stop) // step) if whole else math.ceil((stop - start) / step), 0)
    except (ValueError, OverflowError):
        raise AttributeValueError(
            "arange cannot count that far",
            subject=f"{start} to {stop} by {step}",
            why="a number is infinite, NaN or beyond float64, or there would be that many elements",
            op="arange",
        ) from None
    place = resolve(device)
    if wanted.kind not in "iu":
        return F.iota(size=int(size), dtype=wanted, start_float=ends[0], step_float=ends[2], device=place)
    first, by = int(start), int(step)
    limits = np.iinfo(wanted)
    for element in (first, first + (size - 1) * by) if size else ():
        if not limits.min <= element <= limits.max:
            raise AttributeValueError(
                f"arange has an element that {wanted.name} does not hold",
                subject=element,
                remedy=f"Stay from {limits.min} to {limits.max}, or pass a wider dtype.",
                op="arange",
                argument="dtype",
                value=wanted,
            )
    return F.iota(size=int(size), dtype=wanted, start=_wrapped(first), step=_wrapped(by), device=place)


def _wrapped(value: int) -> int:
    """The integer of 64 bits with the same low bits: what uint64 counts with beyond int64."""
    return (value + 2**63) % 2**64 - 2**63


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
    endpoint: bool = True,
) -> _core.Tensor:
    """`num` numbers from start to stop, evenly apart; the default dtype unless given. Without endpoint,
    stop is left out."""
    if num < 0:
        raise AttributeValueError("linspace counts", subject=num, op="linspace", argument="num", value=num)
    wanted = _dtype(dtype, float)
    parts = num - 1 if endpoint else num
    line = F.iota(
        size=num,
        dtype=wanted,
        start_float=float(start),
        step_float=(float(stop) - float(start)) / parts if parts > 0 else 0.0,
        device=resolve(device),
    )
    if endpoint and num > 1:
        setitem(line, -1, float(stop))
    return line
