"""A plugin wholly in Python: the fourteen primitive families in NumPy, behind the C tables of every plugin.

It is the place to try out an idea before writing C: replace one function by yours, and the conformance suite
says whether it is right. float32 is computed in float64 where NumPy's own would be less exact than the op set
asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import prototype

Array = npt.NDArray[Any]

BOOL = (np.dtype(np.bool_),)
SIGNED = tuple(np.dtype(f"i{size}") for size in (1, 2, 4, 8))
INTEGERS = (*SIGNED, *(np.dtype(f"u{size}") for size in (1, 2, 4, 8)))
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
ORDERED = (*BOOL, *INTEGERS, *FLOATS)
ALL = (*BOOL, *NUMBERS)

plugin = prototype.Plugin(
    "python_only",
    vendor="device_api",
    version="0.1.0",
    device_type="numpy",
    devices=[prototype.HostDevice()],
)
device_api_plugin = plugin.entry


def in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function with float32 computed in float64; it is rounded once, when the result is stored."""

    def computed(*arrays: Array) -> Array:
        return function(*(x.astype(np.float64) if x.dtype == np.float32 else x for x in arrays))

    return computed


# --- creation and conversion ----------------------------------------------------------------------------


@plugin.kernel("fill", dtypes=ALL)
def fill(value: Any, out: Array) -> None:
    out[...] = value


@plugin.kernel("iota", dtypes=(*INTEGERS, *FLOATS))
def iota(start: int, step: int, start_float: float, step_float: float, out: Array) -> None:
    index = np.arange(out.size, dtype=np.uint64)
    if out.dtype.kind == "f":
        out[...] = start_float + index.astype(np.float64) * step_float
    else:
        wrapped = np.uint64(start % 2**64) + index * np.uint64(step % 2**64)
        out[...] = wrapped.astype(out.dtype)


@plugin.kernel("copy", dtypes=ALL)
def copy(x: Array, out: Array) -> None:
    target = out.dtype
    if x.dtype.kind == "c" and target.kind not in "cb":
        x = x.real
    if x.dtype.kind == "f" and target.kind in "iu":
        x = saturated(x, target)
    out[...] = x != 0 if target.kind == "b" else x.astype(target)


def saturated(x: Array, target: np.dtype[Any]) -> Array:
    """Truncated and kept within an integer type, NaN as 0."""
    limits = np.iinfo(target)
    wide = np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64))
    below, beyond = wide <= float(limits.min), wide >= float(limits.max)
    inside = np.where(below | beyond, 0, wide).astype(target)
    return np.where(beyond, limits.max, np.where(below, limits.min, inside)).astype(target)


# --- element by element ---------------------------------------------------------------------------------

for name in ("negative", "square", "abs"):
    plugin.kernel(name, dtypes=NUMBERS)(getattr(np, name))
plugin.kernel("sign", dtypes=(*INTEGERS, *FLOATS))(np.sign)
plugin.kernel("reciprocal", dtypes=FLOATS)(lambda x: 1 / x)
plugin.kernel("conj", dtypes=NUMBERS)(np.conj)
plugin.kernel("round", dtypes=NUMBERS)(np.round)
plugin.kernel("real", dtypes=COMPLEX)(np.real)
plugin.kernel("imag", dtypes=COMPLEX)(np.imag)
plugin.kernel("logical_not", dtypes=BOOL)(np.logical_not)
plugin.kernel("bitwise_invert", dtypes=(*BOOL, *INTEGERS))(np.invert)
plugin.kernel("signbit", dtypes=FLOATS)(np.signbit)
for name in ("isnan", "isinf", "isfinite"):
    plugin.kernel(name, dtypes=NUMBERS)(getattr(np, name))
for name in ("floor", "ceil", "trunc"):
    plugin.kernel(name, dtypes=(*INTEGERS, *FLOATS))(getattr(np, name))
for name in (
    "sqrt", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
):  # fmt: skip
    plugin.kernel(name, dtypes=FLOATS)(in_double(getattr(np, name)))

for name in ("add", "subtract", "multiply"):
    plugin.kernel(name, dtypes=NUMBERS)(getattr(np, name))
plugin.kernel("divide", dtypes=(*FLOATS, *COMPLEX))(np.divide)
for name in ("maximum", "minimum"):
    plugin.kernel(name, dtypes=ORDERED)(getattr(np, name))
for name in ("atan2", "hypot", "logaddexp"):
    plugin.kernel(name, dtypes=FLOATS)(in_double(getattr(np, name)))
for name in ("copysign", "nextafter"):
    plugin.kernel(name, dtypes=FLOATS)(getattr(np, name))
for name in ("equal", "not_equal"):
    plugin.kernel(name, dtypes=ALL)(getattr(np, name))
for name in ("less", "less_equal", "greater", "greater_equal"):
    plugin.kernel(name, dtypes=ORDERED)(getattr(np, name))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    plugin.kernel(name, dtypes=(*BOOL, *INTEGERS))(getattr(np, name))
for name in ("logical_and", "logical_or", "logical_xor"):
    plugin.kernel(name, dtypes=BOOL)(getattr(np, name))
plugin.kernel("remainder", dtypes=(*INTEGERS, *FLOATS))(np.remainder)
plugin.kernel("where", dtypes=ALL)(np.where)


@plugin.kernel("floor_divide", dtypes=(*INTEGERS, *FLOATS))
def floor_divide(x1: Array, x2: Array) -> Array:
    quotient = np.floor_divide(x1, x2)
    return quotient if x1.dtype.kind in "iu" else np.where(np.isinf(x1) | np.isinf(x2), x1 / x2, quotient)


@plugin.kernel("pow", dtypes=(*INTEGERS, *FLOATS))
def power(x1: Array, x2: Array) -> Array:
    if x1.dtype.kind == "f":
        return in_double(np.power)(x1, x2)
    wrapped = np.power(x1, np.maximum(x2, 0))
    if x1.dtype.kind == "u":
        return wrapped
    # A negative exponent leaves only what an integer can say.
    unit = np.where(x1 == -1, np.where(x2 & 1, -1, 1), x1 == 1)
    return np.where(x2 < 0, unit, wrapped)


def shift(function: Callable[..., Array], x1: Array, x2: Array, outside: Any) -> Array:
    """A count below zero, or of the width and more, pushes every bit out."""
    inside = (x2 >= 0) & (x2 < x1.dtype.itemsize * 8)
    return np.where(inside, function(x1, np.where(inside, x2, 0).astype(x1.dtype)), outside)


@plugin.kernel("bitwise_left_shift", dtypes=INTEGERS)
def left_shift(x1: Array, x2: Array) -> Array:
    return shift(np.left_shift, x1, x2, 0)


@plugin.kernel("bitwise_right_shift", dtypes=INTEGERS)
def right_shift(x1: Array, x2: Array) -> Array:
    return shift(np.right_shift, x1, x2, np.where(x1 < 0, -1, 0) if x1.dtype.kind == "i" else 0)


# --- along the last axis --------------------------------------------------------------------------------


def along(function: Callable[..., Array]) -> Callable[[Array], Array]:
    """A NumPy function over the last axis. The result keeps the element type; float32 is added in double."""

    def over_last(x: Array) -> Array:
        wide = {np.float32: np.float64, np.complex64: np.complex128}.get(x.dtype.type, x.dtype)
        return np.asarray(function(x, axis=-1, dtype=wide))

    return over_last


plugin.kernel("reduce_sum", dtypes=NUMBERS)(along(np.sum))
plugin.kernel("reduce_prod", dtypes=NUMBERS)(along(np.prod))
plugin.kernel("scan_sum", dtypes=NUMBERS)(along(np.cumsum))
plugin.kernel("scan_prod", dtypes=NUMBERS)(along(np.cumprod))
plugin.kernel("reduce_max", dtypes=ORDERED)(lambda x: np.asarray(np.max(x, axis=-1)))
plugin.kernel("reduce_min", dtypes=ORDERED)(lambda x: np.asarray(np.min(x, axis=-1)))
plugin.kernel("reduce_any", dtypes=BOOL)(lambda x: np.asarray(np.any(x, axis=-1)))
plugin.kernel("reduce_all", dtypes=BOOL)(lambda x: np.asarray(np.all(x, axis=-1)))
plugin.kernel("reduce_argmax", dtypes=ORDERED)(lambda x: np.asarray(np.argmax(x, axis=-1)))
plugin.kernel("reduce_argmin", dtypes=ORDERED)(lambda x: np.asarray(np.argmin(x, axis=-1)))


@plugin.kernel("argsort_last", dtypes=ORDERED)
def argsort_last(x: Array, descending: int) -> Array:
    if descending:
        # Reverses the order and keeps equal elements in theirs; NaN stays last.
        x = -x if x.dtype.kind == "f" else ~x
    return np.argsort(x, axis=-1, kind="stable")


# --- matrices, rows, masks ------------------------------------------------------------------------------

plugin.kernel("batch_matmul", dtypes=NUMBERS)(np.matmul)


def checked(index: Array, rows: int) -> Array:
    bad = np.flatnonzero((index < 0) | (index >= rows))
    if bad.size:
        raise IndexError(f"index {index[bad[0]]} at position {bad[0]}, where there are {rows} rows")
    return index


@plugin.kernel("gather_rows", dtypes=ALL)
def gather_rows(x: Array, index: Array) -> Array:
    return x[checked(index, len(x))]


@plugin.kernel("scatter_rows", dtypes=ALL)
def scatter_rows(x: Array, index: Array, updates: Array, reduction: int) -> Array:
    result = x.copy()
    if reduction == 2:
        np.add.at(result, checked(index, len(x)), updates)
    else:
        # One after the other: which of several values for one row stays is not NumPy's promise.
        for row, update in zip(checked(index, len(x)), updates, strict=True):
            result[row] = update
    return result


@plugin.kernel("compact")
def compact(mask: Array) -> tuple[Array, Array]:
    index = np.zeros(mask.shape, np.int64)
    found = np.flatnonzero(mask)
    index[: found.size] = found
    return index, np.asarray(found.size)
