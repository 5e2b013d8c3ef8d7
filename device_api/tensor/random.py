"""Random tensors: the drawing ops with the arguments users expect, `device=` among them.

The numbers come from the generator of the device, so `manual_seed` decides them; the same seed gives the same
bits on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.ops import _functions as F
from device_api.runtime.devices import DeviceLike, resolve


def _floating(dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    return dtypes.from_code(dtypes.code(float if dtype is None else dtype))


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
    return F.exponential(shape, rate=rate, dtype=_floating(dtype), device=resolve(device))


def permutation(size: int, *, device: DeviceLike | None = None) -> _core.Tensor:
    """The numbers 0 to size - 1 in random order."""
    return F.permutation(size, device=resolve(device))
