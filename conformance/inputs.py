"""Input values: random ones that suit an op, and the special ones that break kernels.

Everything is drawn from the case's own generator. Nothing here knows layouts, plugins or right answers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.compare import FORMATS

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

# Where an op's interesting arguments lie, in every type: (low, high) of a uniform draw.
_UNIFORM = {
    "exp": (-9.0, 9.0),
    "exp2": (-13.0, 13.0),
    "expm1": (-9.0, 9.0),
    "sinh": (-9.0, 9.0),
    "cosh": (-9.0, 9.0),
    "tanh": (-9.0, 9.0),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atanh": (-0.999, 0.999),
    "erf": (-4.0, 4.0),
    "erfc": (-4.0, 3.0),
    "logaddexp": (-20.0, 20.0),
    "sin": (-30.0, 30.0),
    "cos": (-30.0, 30.0),
    "tan": (-30.0, 30.0),
    "log1p": (-0.99, 50.0),
    "acosh": (1.0, 50.0),
    "reduce_prod": (0.6, 1.7),
    "scan_prod": (0.6, 1.7),
}
_POSITIVE = {"sqrt", "log", "log2", "log10", "pow"}
# Wider types see their own range of exponents too.
_WIDE_EXPONENT = {"exp": 80.0, "exp2": 120.0, "sinh": 80.0, "cosh": 80.0}


def random_values(rng: np.random.Generator, op: str, dtype: np.dtype[Any], shape: Shape) -> Array:
    """Random elements for an op, none of them NaN or infinite."""
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        return _integers(rng, op, dtype, shape)
    if dtype.name.startswith("float8"):
        return rng.normal(0, 4, shape).astype(np.float32).astype(dtype)
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        parts = (_complex_part(rng, op, real, shape) for _ in range(2))
        return (next(parts) + 1j * next(parts)).astype(dtype)
    return _floats(rng, op, dtype, shape)


def _integers(rng: np.random.Generator, op: str, dtype: np.dtype[Any], shape: Shape) -> Array:
    limits = np.iinfo(dtype)
    full = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    small = rng.integers(-9 if limits.min < 0 else 0, 10, shape).astype(dtype)
    if op in ("reduce_prod", "scan_prod", "pow"):
        return small
    # A third kind has every magnitude between the two, where a product or a sum just fits.
    middle = full >> rng.integers(0, dtype.itemsize * 8, shape).astype(dtype)
    kind = rng.random(shape)
    return np.where(kind < 0.3, full, np.where(kind < 0.6, small, middle)).astype(dtype)


def _floats(rng: np.random.Generator, op: str, dtype: np.dtype[Any], shape: Shape) -> Array:
    if op in _UNIFORM:
        low, high = _UNIFORM[op]
        if op in _WIDE_EXPONENT and dtype.name != "float16" and rng.random() < 0.5:
            low, high = -_WIDE_EXPONENT[op], _WIDE_EXPONENT[op]
        values = rng.uniform(low, high, shape)
        # Values near zero, where a naive formula loses its digits.
        small = values * np.exp2(-rng.uniform(0, 12, shape))
        if low < 0 < high:
            values = np.where(rng.random(shape) < 0.3, small, values)
    else:
        exponent = 7.0 if dtype.name == "float16" else 20.0
        values = rng.uniform(1, 2, shape) * np.exp2(np.round(rng.uniform(-exponent, exponent, shape)))
        if op in ("reduce_sum", "scan_sum", "batch_matmul", "scatter_rows"):
            values = rng.normal(0, 1, shape)
        if op == "pow":
            values = np.exp2(rng.uniform(-3, 3, shape))
        if op not in _POSITIVE:
            values = np.where(rng.random(shape) < 0.5, -values, values)
    return np.asarray(values).astype(dtype)


def _complex_part(rng: np.random.Generator, op: str, real: np.dtype[Any], shape: Shape) -> Array:
    """Moderate numbers away from zero: there the branch and the relative error are well defined."""
    values = rng.uniform(0.1, 2.5, shape)
    if op in ("reduce_prod", "scan_prod"):
        values = rng.uniform(0.4, 1.0, shape)
    if op == "pow":
        # The error of exp(y log x) grows with |y log x|, in any library.
        values = rng.uniform(0.1, 1.5, shape)
    return np.asarray(np.where(rng.random(shape) < 0.5, -values, values)).astype(real)


def special_values(dtype: np.dtype[Any]) -> Array:
    """NaN, infinities, zeros of both signs, subnormals, extremes, and numbers where functions turn."""
    if dtype == np.bool_:
        return np.array([True, False, False])
    if dtype.kind in "iu":
        return _special_integers(dtype)
    if dtype.kind == "c":
        real = special_values(np.dtype(f"f{dtype.itemsize // 2}"))
        keep = real[np.isnan(real) | np.isinf(real) | (real == 0) | (np.abs(real) == 1)]
        grid = np.empty((keep.size, keep.size), dtype)
        grid.real, grid.imag = keep[:, None], keep[None, :]
        return grid.ravel()
    if dtype.name.startswith("float8"):
        return np.arange(256, dtype=np.uint8).view(dtype)
    form = FORMATS[dtype.name]
    greatest = (2 - 2.0 ** (1 - form.precision)) * 2.0**form.greatest_exponent
    normal = form.smallest_normal
    tiny = math.ldexp(1.0, form.least_exponent - form.precision + 1)
    epsilon = 2.0 ** (1 - form.precision)
    positive = [
        0.0, tiny, 2 * tiny, normal - tiny, normal, normal + tiny, 1 - epsilon / 2, 1.0, 1 + epsilon,
        0.5, 1.5, 2.5, math.pi / 2, math.pi, math.e, 3.0, 10.0, 100.0, 2.0 ** (form.precision - 1) - 0.5,
        2.0**form.precision, greatest, greatest / 2, math.sqrt(greatest), math.inf, math.nan,
    ]  # fmt: skip
    return np.array([*positive, *(-value for value in positive)]).astype(dtype)


def _special_integers(dtype: np.dtype[Any]) -> Array:
    limits, width = np.iinfo(dtype), dtype.itemsize * 8
    values = {0, 1, 2, 3, 7, width - 1, width, width + 1, limits.min, limits.min + 1, limits.max}
    values |= {limits.max - 1, limits.max // 2, -1, -2, -width}
    kept = sorted(value for value in values if limits.min <= value <= limits.max)
    return np.array(kept, dtype)


def without_nonfinite(values: Array) -> Array:
    """The elements that are numbers, for ops that only order or add them."""
    return values[np.isfinite(values)] if values.dtype.kind in "fcV" else values


def spread(values: Array, copies: int = 5) -> Array:
    """The values again and again, with a period that no vector width divides, so each meets every lane."""
    period = values.size + (values.size % 2 == 0)
    return np.resize(np.resize(values, period), period * copies)


def pairs(values: Array) -> tuple[Array, Array]:
    """Every ordered pair of the values, as two arrays with an odd period."""
    left, right = (grid.ravel() for grid in np.meshgrid(values, values, indexing="ij"))
    size = left.size * 2 + 1
    return np.resize(left, size), np.resize(right, size)
