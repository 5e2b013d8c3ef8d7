"""Random tensors: the drawing ops with the arguments users expect, `device=` among them.

The numbers come from the generator of the device, so `manual_seed` decides them; the same seed gives the same
bits on every device.
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
from device_api.tensor.inspection import finfo


def _floating(dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    return dtypes.from_code(dtypes.code(float if dtype is None else dtype))


def _check(op: str, name: str, value: float, good: bool, rule: str) -> None:
    if not good:
        raise AttributeValueError(
            f"{op} cannot take {name}", subject=value, why=rule, op=op, argument=name, value=value
        )


Shape = int | Sequence[int]


def uniform(
    shape: Shape,
    *,
    low: float = 0.0,
    high: float = 1.0,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """Numbers drawn evenly from [low, high); the default dtype unless given."""
    most = finfo(_floating(dtype)).max
    good = low <= high and max(abs(low), abs(high), high - low) <= most
    _check(
        "uniform",
        "high",
        high,
        good,
        f"low, {low}, is not above it, and the dtype holds what lies between",
    )
    return F.uniform(shape, low=low, high=high, dtype=_floating(dtype), device=resolve(device))


def normal(
    shape: Shape,
    *,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """Normally distributed numbers; the default dtype unless given."""
    _check("normal", "mean", mean, math.isfinite(mean), "it is finite")
    _check("normal", "std", std, 0.0 <= std < math.inf, "it is finite and not negative")
    return F.normal(shape, mean=mean, std=std, dtype=_floating(dtype), device=resolve(device))


def randint(
    low: int,
    high: int,
    shape: Shape,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """Integers drawn evenly from [low, high); int64 by default."""
    limits = np.iinfo(np.int64 if dtype is None or dtypes.code(dtype) not in dtypes.INTEGER else dtype)
    for name, value, most in (("low", low, limits.max), ("high", high, limits.max + 1)):
        good = not isinstance(value, int) or limits.min <= value <= most
        _check("randint", name, value, good, f"{limits.dtype} holds {limits.min} to {limits.max}")
    return F.randint(low, high, shape, dtype=dtype, device=resolve(device))


def bernoulli(shape: Shape, *, p: float = 0.5, device: DeviceLike | None = None) -> _core.Tensor:
    """Booleans, true with probability p."""
    return F.bernoulli(shape, p=p, device=resolve(device))


def exponential(
    shape: Shape,
    *,
    rate: float = 1.0,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> _core.Tensor:
    """Exponentially distributed numbers of this rate; the default dtype unless given."""
    _check("exponential", "rate", rate, 0.0 < rate < math.inf, "it is finite and above 0")
    return F.exponential(shape, rate=rate, dtype=_floating(dtype), device=resolve(device))


def permutation(size: int, *, device: DeviceLike | None = None) -> _core.Tensor:
    """The numbers 0 to size - 1 in random order."""
    return F.permutation(size, device=resolve(device))


def multinomial(x: _core.Tensor, /, count: int, *, replacement: bool = True) -> _core.Tensor:
    """Positions drawn from each row of weights (..., n), as int64 (..., count); the weights are not
    negative and need not sum to 1.

    Raises `AttributeValueError` for weights that are negative, infinite or NaN, for rows with fewer
    weights above 0 than have to be drawn, and for more draws without replacement than there are weights.
    Reads the answer to these back, and so waits for the weights.
    """
    drawn = F.multinomial(x, count, replacement=replacement)
    good = F.all(F.logical_and(F.greater_equal(x, 0.0), F.isfinite(x)))
    _check("multinomial", "x", math.nan, bool(good), "weights are finite and not negative")
    least = 1 if replacement else count
    enough = F.all(F.greater_equal(F.sum(F.astype(F.greater(x, 0.0), np.dtype(np.int64)), axis=-1), least))
    _check("multinomial", "count", count, count == 0 or bool(enough), "a row has fewer weights above 0")
    return drawn
