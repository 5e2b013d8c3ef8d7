"""Oracles of reductions and scans over the last axis.

A sum may be added up in any order that is as good as pairwise, so its error is measured against the sum of
absolute values, and the tolerance grows with the logarithm of the length. The 16-bit types are added up in
float32: then only their last rounding shows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.compare import FORMATS
from conformance.oracle.arithmetic import within
from conformance.oracle.precision import is_half, widen
from conformance.oracle.registry import Array, Call, Expected, oracle

BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)

# How much of the sum of absolute values may show in a 16-bit result, as float32 held it meanwhile.
HALF_SHARE = 2.0**-6


def scale_of(result: Array, magnitude: Array, dtype: np.dtype[Any]) -> Array:
    """What one unit refers to: the sum of absolute values, or the result of a type that is rounded once."""
    return np.maximum(np.abs(result), magnitude * HALF_SHARE) if is_half(dtype) else magnitude


def reached(values: Array, total: Array, dtype: np.dtype[Any]) -> Array | None:
    """What a kernel may give whose terms have absolute values that add up to `total`: no number, where that
    is beyond the range in which the dtype is added up and the result itself is not that total."""
    if dtype.name not in FORMATS:
        return None
    held = within(np.dtype(np.float32) if is_half(dtype) else dtype)(total)
    return np.where(np.isfinite(held) | (np.abs(values) == total) | ~np.isfinite(values), values, np.nan)


def summed(values: Array, magnitude: Array, dtype: np.dtype[Any], extra: float) -> Expected:
    """A sum of terms whose absolute values add up to `magnitude`."""
    scale, narrow = scale_of(values, magnitude, dtype), reached(values, magnitude, dtype)
    return Expected(values, dtype, scale, extra_ulp=extra, narrow=narrow)


def _logarithm(length: int) -> float:
    return math.log2(max(length, 1))


@oracle("reduce_sum")
def reduce_sum(call: Call) -> list[Expected]:
    (x,) = call.inputs
    if x.dtype.kind in "iu":
        return [Expected(np.add.reduce(x, axis=-1, dtype=x.dtype), x.dtype)]
    wide = widen(x)
    values = np.asarray(np.sum(wide, axis=-1))
    magnitude = np.asarray(np.sum(np.abs(wide), axis=-1))
    extra = 0.0 if is_half(x.dtype) else _logarithm(x.shape[-1])
    return [summed(values, magnitude, x.dtype, extra)]


@oracle("reduce_prod")
def reduce_prod(call: Call) -> list[Expected]:
    (x,) = call.inputs
    if x.dtype.kind in "iu":
        return [Expected(np.multiply.reduce(x, axis=-1, dtype=x.dtype), x.dtype)]
    extra = 0.0 if is_half(x.dtype) else x.shape[-1] / 2
    return [Expected(np.asarray(np.prod(widen(x), axis=-1)), x.dtype, extra_ulp=extra)]


@oracle("reduce_max", "reduce_min")
def extreme(call: Call) -> list[Expected]:
    (x,) = call.inputs
    function = np.max if call.op == "reduce_max" else np.min
    return [Expected(np.asarray(function(widen(x), axis=-1)), x.dtype)]


@oracle("reduce_argmax", "reduce_argmin")
def position(call: Call) -> list[Expected]:
    (x,) = call.inputs
    function = np.argmax if call.op == "reduce_argmax" else np.argmin
    return [Expected(np.asarray(function(widen(x), axis=-1), np.int64), INT64)]


@oracle("reduce_any", "reduce_all")
def truth(call: Call) -> list[Expected]:
    (x,) = call.inputs
    function = np.any if call.op == "reduce_any" else np.all
    return [Expected(np.asarray(function(x, axis=-1)), BOOL)]


@oracle("scan_sum", "scan_prod")
def scan(call: Call) -> list[Expected]:
    (x,) = call.inputs
    function = np.cumsum if call.op == "scan_sum" else np.cumprod
    if x.dtype.kind in "iu":
        return [Expected(function(x, axis=-1, dtype=x.dtype), x.dtype)]
    wide = widen(x)
    values = function(wide, axis=-1)
    extra = 0.0 if is_half(x.dtype) else x.shape[-1] / 2
    if call.op == "scan_prod":
        return [Expected(values, x.dtype, extra_ulp=extra)]
    magnitude = np.cumsum(np.abs(wide), axis=-1)
    return [summed(values, magnitude, x.dtype, extra)]
