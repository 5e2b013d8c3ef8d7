"""Measures errors in units in the last place, for every float type, against results of higher precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from cpu_driver import BFLOAT16

# (bits of the mantissa, exponent of the smallest normal number)
FORMATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022)}
COMPONENT = {"complex64": "float32", "complex128": "float64"}


def wide(array: np.ndarray) -> np.ndarray:
    """The same numbers in a type of higher precision."""
    if array.dtype.kind == "c":
        return array.astype(np.clongdouble if array.dtype.itemsize == 16 else np.complex128)
    with np.errstate(invalid="ignore"):
        return array.astype(np.longdouble if array.dtype == np.float64 else np.float64)


def unit(exact: np.ndarray, name: str) -> np.ndarray:
    """One unit in the last place of a format at each exact value."""
    mantissa, smallest = FORMATS[name]
    _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1))
    return np.ldexp(np.ones_like(exact), np.maximum(exponent - 1, smallest) - mantissa)


def largest(dtype: np.dtype[Any]) -> float:
    return float.fromhex("0x1.fep127") if dtype == BFLOAT16 else float(np.finfo(dtype).max)


def worst(got: np.ndarray, exact: np.ndarray) -> float:
    """The greatest error in ulps; infinite where NaN or an infinity is wrong.

    An exact value within half a unit of overflow may be either the infinity or the largest number.
    """
    if got.dtype.kind == "c":
        return max(worst(got.real, exact.real), worst(got.imag, exact.imag))
    name = got.dtype.name
    value = got.astype(exact.dtype)
    with np.errstate(all="ignore"):
        error = np.abs(value - exact) / unit(exact, name)
    limit = largest(got.dtype)
    with np.errstate(all="ignore"):
        beyond = np.abs(exact) > limit
        overflowed = beyond & (value == np.copysign(np.inf, exact))
        clipped = (
            beyond & (np.abs(exact) <= limit * (1 + 2.0 ** -FORMATS[name][0])) & (np.abs(value) == limit)
        )
    error = np.where(overflowed | clipped, 0, error)
    error = np.where(np.isnan(exact) & np.isnan(value), 0, error)
    error = np.where(np.isinf(exact) & (value == exact), 0, error)
    error = np.where(np.isnan(error), np.inf, error)
    return float(error.max(initial=0))


def complex_error(got: np.ndarray, exact: np.ndarray) -> float:
    """The greatest error of complex results in ulps of their magnitude."""
    name = COMPONENT[got.dtype.name]
    error = np.abs(got.astype(exact.dtype) - exact) / unit(np.abs(exact), name)
    return float(error.max(initial=0))


def all_codes(dtype: np.dtype[Any]) -> np.ndarray:
    """Every number of a type of one or two bytes."""
    bits = 8 * dtype.itemsize
    return np.arange(1 << bits, dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)
