"""Oracles of what moves, makes, converts or orders elements: exact answers, but for additions of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.oracle.precision import is_float, real_dtype, round_to, widen
from conformance.oracle.registry import Array, Call, Expected, oracle

INT64 = np.dtype(np.int64)
_FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


def exact(values: Array, dtype: np.dtype[Any], extra_ulp: float = 0.0) -> Expected:
    """Elements of `dtype` itself, to be met exactly (NaN as NaN)."""
    return Expected(widen(values), dtype, zero_sign=True, extra_ulp=extra_ulp)


@oracle("copy", "astype")
def copy(call: Call) -> list[Expected]:
    (x,) = call.inputs
    dtype = call.dtype or x.dtype
    return [exact(x, dtype) if dtype == x.dtype else convert(x, dtype)]


def convert(x: Array, dtype: np.dtype[Any]) -> Expected:
    """x in another dtype, by the op set's rules."""
    if dtype == np.bool_:
        return Expected(_truth(x), dtype)
    if x.dtype.kind == "c" and dtype.kind == "c":
        real, imaginary = (round_to(p, real_dtype(dtype)) for p in (x.real, x.imag))
        return Expected(real + 1j * imaginary, dtype)
    real = x.real if x.dtype.kind == "c" else x
    if dtype.kind in "iu":
        return Expected(_to_integer(real, dtype), dtype)
    rounded = round_to(_as_extended(real), real_dtype(dtype))
    return Expected(rounded.astype(np.clongdouble) if dtype.kind == "c" else rounded, dtype, zero_sign=True)


def _truth(x: Array) -> Array:
    return x if x.dtype == np.bool_ else (_as_extended(x) if x.dtype.kind != "c" else x) != 0


def _as_extended(x: Array) -> Array:
    narrow = x.astype(np.float32) if x.dtype.name in (*_FLOAT8, "bfloat16") else x
    return narrow.astype(np.longdouble)


def _to_integer(x: Array, dtype: np.dtype[Any]) -> Array:
    if x.dtype.kind in "biu":
        return x.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.trunc(_as_extended(x))
    result = np.zeros(x.shape, dtype)
    high, low, nan = whole > limits.max, whole < limits.min, np.isnan(whole)
    inside = ~(high | low | nan)
    result[inside] = whole[inside].astype(dtype)
    result[high], result[low] = limits.max, limits.min
    return result


@oracle("fill")
def fill(call: Call) -> list[Expected]:
    assert call.dtype is not None
    value = np.asarray(call.attributes["value"]).astype(call.dtype)
    return [exact(np.broadcast_to(value, call.shape), call.dtype)]


@oracle("iota")
def iota(call: Call) -> list[Expected]:
    assert call.dtype is not None
    count, attributes = call.shape[0], call.attributes
    if is_float(call.dtype):
        values = attributes["start_float"] + np.arange(count, dtype=np.float64) * attributes["step_float"]
        # A fused multiplication and addition may differ in the last place of float64.
        return [Expected(values.astype(np.longdouble), call.dtype, extra_ulp=1.0)]
    index = np.arange(count, dtype=np.uint64)
    start, step = (np.uint64(attributes[name] % 2**64) for name in ("start", "step"))
    return [Expected((start + index * step).astype(call.dtype), call.dtype)]


@oracle("gather_rows")
def gather_rows(call: Call) -> list[Expected]:
    x, index = call.inputs
    return [exact(x[index], x.dtype)]


@oracle("scatter_rows")
def scatter_rows(call: Call) -> list[Expected]:
    x, index, updates = call.inputs
    if call.attributes["reduction"] == 1:
        out = x.copy()
        for place, row in zip(index, updates, strict=True):
            out[place] = row
        return [exact(out, x.dtype)]
    wide = widen(x).copy()
    np.add.at(wide, index, widen(updates))
    if x.dtype.kind in "iu":
        return [Expected(wide, x.dtype)]
    magnitude = np.abs(widen(x))
    np.add.at(magnitude, index, np.abs(widen(updates)))
    repeats = int(np.bincount(index).max()) if index.size else 0
    return [Expected(wide, x.dtype, magnitude, extra_ulp=(repeats + 1) / 2)]


@oracle("compact")
def compact(call: Call) -> list[Expected]:
    (mask,) = call.inputs
    positions = np.flatnonzero(mask)
    index = np.zeros(mask.shape, np.int64)
    index[: positions.size] = positions
    return [Expected(index, INT64), Expected(np.asarray(positions.size, np.int64), INT64)]


@oracle("argsort_last")
def argsort_last(call: Call) -> list[Expected]:
    (x,) = call.inputs
    wide = widen(x)
    nan = np.isnan(wide) if is_float(x.dtype) else np.zeros(x.shape, bool)
    # Ranks: integers that order like the values, so that descending is a change of sign.
    _, ranks = np.unique(np.where(nan, 0, wide), return_inverse=True)
    ranks = ranks.reshape(x.shape).astype(np.int64)
    if call.attributes["descending"]:
        ranks = -ranks
    ranks = np.where(nan, np.iinfo(np.int64).max, ranks)
    return [Expected(np.argsort(ranks, axis=-1, kind="stable"), INT64)]
