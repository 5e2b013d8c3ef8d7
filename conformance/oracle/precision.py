"""Widening before computing, and rounding exactly afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.compare import FORMATS, units

Array = npt.NDArray[Any]

# float8_e4m3fn has no infinity, and its greatest number is below the last power of two's end.
_FLOAT8 = {"float8_e4m3fn": (4, -6, 448.0, np.nan), "float8_e5m2": (3, -14, 57344.0, np.inf)}

_WIDE = {
    "float16": np.float64,
    "bfloat16": np.float64,
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
}


def is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.name in FORMATS and not dtype.name.startswith("complex")


def is_half(dtype: np.dtype[Any]) -> bool:
    return dtype.name in ("float16", "bfloat16")


def widen(values: Array) -> Array:
    """The same numbers in the type that the oracle computes in; integers and bools stay."""
    wide = _WIDE.get(values.dtype.name)
    return values if wide is None else values.astype(wide)


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 for complex64, float64 for complex128, else the dtype itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def sign_bits(values: Array) -> Array:
    """The sign bit of each floating element, NaN included."""
    # A contiguous copy of a number is a row of one, so the shape is put back.
    unsigned = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").reshape(values.shape)
    signs: Array = (unsigned >> np.array(values.dtype.itemsize * 8 - 1, unsigned.dtype)).astype(np.bool_)
    return signs


def round_to(values: Array, dtype: np.dtype[Any]) -> Array:
    """Real numbers of higher precision, rounded once to the nearest number of `dtype`, ties to even.

    The result of a floating dtype is in extended precision again, that of a float8 in its own dtype.
    """
    wide = values.astype(np.longdouble)
    if dtype.name in _FLOAT8:
        precision, least, greatest, overflow = _FLOAT8[dtype.name]
        unit = np.ldexp(np.longdouble(1), _exponents(wide, least) - precision + 1)
        rounded = np.rint(wide / unit) * unit
        too_large = np.abs(rounded) > greatest
        clipped = np.where(too_large, np.copysign(np.longdouble(overflow), wide), rounded)
        result: Array = clipped.astype(np.float32).astype(dtype)
        return result
    form = FORMATS[dtype.name]
    unit = units(np.where(np.isfinite(wide), wide, 0), form)
    rounded = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
    limit = np.ldexp(np.longdouble(1), form.greatest_exponent + 1)
    return np.where(np.abs(rounded) >= limit, np.copysign(np.longdouble(np.inf), wide), rounded)


def _exponents(values: Array, least: int) -> Array:
    _, exponent = np.frexp(np.where(np.isfinite(values), values, 0))
    exponents: Array = np.maximum(exponent - 1, least)
    return exponents
