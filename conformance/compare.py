"""Comparing what a device wrote with what the oracle says, in units of the last place.

The expectation is held in higher precision than the result, so an error below half a unit is seen too. NaN
positions, infinities and (by rule) signs of zero must agree exactly; finite values may differ by `tolerance`
units. The worst element is reported with its index and both bit patterns even when it is good, because an
accuracy table is worth more than a verdict. Knows nothing of ops or plugins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """Significand bits, the hidden one included, and exponents of the least and greatest normal numbers."""

    precision: int
    least_exponent: int
    greatest_exponent: int

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, self.least_exponent)


FORMATS = {
    "float16": FloatFormat(11, -14, 15),
    "bfloat16": FloatFormat(8, -126, 127),
    "float32": FloatFormat(24, -126, 127),
    "float64": FloatFormat(53, -1022, 1023),
    "complex64": FloatFormat(24, -126, 127),
    "complex128": FloatFormat(53, -1022, 1023),
}

# What the oracle's own rounding may add, in ulps: float64 judges narrower types, extended precision float64.
ORACLE_ERROR = {False: 1e-6, True: 2e-3}


@dataclass(frozen=True, slots=True)
class Rule:
    """How strict a comparison is. `tolerance` is in ulps of the expectation, or of `scale` where given."""

    tolerance: float = 0.5
    zero_sign: bool = False


@dataclass(slots=True)
class Comparison:
    """What was found: how many elements are wrong, and the worst of all elements."""

    wrong: int
    total: int
    max_ulp: float
    worst: tuple[int, ...] | None = None
    reason: str = ""
    actual: str = ""
    expected: str = ""
    flushed: int = 0

    @property
    def good(self) -> bool:
        return self.wrong == 0

    def message(self) -> str:
        """One line: how many, where, and both values with their bits."""
        where = f" at {list(self.worst)}" if self.worst is not None else ""
        return (
            f"{self.wrong} of {self.total} elements are wrong, worst{where}: {self.reason}; "
            f"got {self.actual}, expected {self.expected}"
        )

    def facts(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "wrong": self.wrong,
            "total": self.total,
            "max_ulp": finite_or_text(self.max_ulp),
            "worst_index": None if self.worst is None else list(self.worst),
            "actual": self.actual,
            "expected": self.expected,
        }


def finite_or_text(number: float) -> float | str:
    """JSON has no infinity: a number, or its name."""
    return number if math.isfinite(number) else str(number)


def units(scale: Array, form: FloatFormat) -> Array:
    """The size of one unit in the last place of numbers as large as `scale` (finite, any sign)."""
    _, exponent = np.frexp(np.abs(scale))
    # Zero has no exponent of its own; its neighbours are the least subnormal numbers.
    exponent = np.where(scale == 0, form.least_exponent, exponent - 1)
    exponent = np.clip(exponent, form.least_exponent, form.greatest_exponent)
    unit: Array = np.ldexp(np.ones_like(scale), exponent - form.precision + 1)
    return unit


def compare(actual: Array, expected: Array, rule: Rule, scale: Array | None = None) -> Comparison:
    """Compares a device's array with the oracle's of the same shape.

    `expected` of floating and complex results is float64 or wider (complex likewise); of all other dtypes it
    has the dtype of `actual` and must be met exactly. `scale` replaces |expected| as the measure of a unit.
    """
    if actual.shape != expected.shape:
        return Comparison(1, 1, math.inf, None, f"shape {actual.shape} instead of {expected.shape}")
    name = actual.dtype.name
    if name not in FORMATS:
        return _compare_exact(actual, expected)
    if name.startswith("complex"):
        return _compare_complex(actual, expected, rule, FORMATS[name], scale)
    return _compare_real(actual, expected, rule, FORMATS[name], scale)


def _compare_exact(actual: Array, expected: Array) -> Comparison:
    if expected.dtype != actual.dtype:
        raise TypeError(f"the oracle gave {expected.dtype} for {actual.dtype}")
    same = actual == expected
    if actual.dtype == np.bool_:
        same &= np.isin(actual.view(np.uint8), (0, 1))
    elif actual.dtype.name.startswith("float8"):
        same |= np.isnan(actual) & np.isnan(expected)
        same &= np.isnan(actual) | (np.signbit(actual) == np.signbit(expected))
    wrong = int(same.size - np.count_nonzero(same))
    if not wrong:
        return Comparison(0, same.size, 0.0)
    worst = np.unravel_index(int(np.argmin(same)), same.shape)
    return _described(Comparison(wrong, same.size, math.inf, reason="values differ"), worst, actual, expected)


def _compare_real(
    actual: Array, expected: Array, rule: Rule, form: FloatFormat, scale: Array | None
) -> Comparison:
    if not actual.size:
        return Comparison(0, 0, 0.0)
    wide = np.promote_types(expected.dtype, np.float64)
    if actual.dtype == np.float64:
        wide = np.dtype(np.longdouble)
    with np.errstate(all="ignore"):
        got, want = actual.astype(wide), expected.astype(wide)
        limit = np.ldexp(wide.type(1), form.greatest_exponent + 1)
        nan_differs = np.isnan(got) != np.isnan(want)
        exact_infinity = np.isinf(want) & (got != want) & ~np.isnan(got)
        both = ~(np.isnan(got) | np.isnan(want) | np.isinf(want))
        # Infinity counts as the first power of two that does not fit: an overflow is judged like a rounding.
        clamped = np.where(both, np.clip(want, -limit, limit), 0)
        error = np.abs(np.where(both, np.clip(got, -limit, limit), 0) - clamped)
        measure = (
            np.abs(clamped) if scale is None else np.maximum(np.abs(scale).astype(wide), np.abs(clamped))
        )
        measure = np.where(both & np.isfinite(measure), measure, 0)
        distance = error / units(measure, form)
        signs = np.zeros_like(nan_differs)
        if rule.zero_sign:
            signs = (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
        too_far = distance > rule.tolerance + ORACLE_ERROR[actual.dtype == np.float64]
        flushed = too_far & (got == 0) & (np.abs(want) < form.smallest_normal)
    wrong = nan_differs | exact_infinity | signs | too_far
    finite_worst = float(np.max(distance, initial=0.0))
    count = int(np.count_nonzero(wrong))
    result = Comparison(count, wrong.size, finite_worst, flushed=int(np.count_nonzero(flushed)))
    if not count:
        worst = np.unravel_index(int(np.argmax(distance)), wrong.shape)
        return _described(result, worst, actual, expected)
    for mask, reason in (
        (nan_differs, "NaN where a number belongs, or the reverse"),
        (exact_infinity, "not the infinity that belongs there"),
        (signs, "the sign of zero differs"),
    ):
        if mask.any():
            result.reason, result.max_ulp = reason, math.inf
            return _described(result, np.unravel_index(int(np.argmax(mask)), wrong.shape), actual, expected)
    worst = np.unravel_index(int(np.argmax(distance)), wrong.shape)
    result.reason = f"off by {finite_worst:.4g} ulp, {rule.tolerance:g} allowed"
    return _described(result, worst, actual, expected)


def _compare_complex(
    actual: Array, expected: Array, rule: Rule, form: FloatFormat, scale: Array | None
) -> Comparison:
    """By the distance in the complex plane. Where the oracle is not finite, the result must not be either:
    which component becomes infinite or NaN differs between correct implementations."""
    if not actual.size:
        return Comparison(0, 0, 0.0)
    with np.errstate(all="ignore"):
        got, want = actual.astype(np.clongdouble), expected.astype(np.clongdouble)
        size = np.abs(want)
        finite = np.isfinite(want) & np.isfinite(size)
        category = finite != np.isfinite(got)
        near = finite & np.isfinite(got)
        got, want = np.where(near, got, 0), np.where(near, want, 0)
        error = np.abs(got - want)
        measure = size if scale is None else np.maximum(np.abs(scale).astype(np.longdouble), size)
        unit = units(np.where(near & np.isfinite(measure), measure, 0), form)
        distance, limit = error / unit, rule.tolerance + ORACLE_ERROR[actual.dtype == np.complex128]
        too_far = distance > limit
        parts = (_unflushed(got.real, want.real, form), _unflushed(got.imag, want.imag, form))
        rest = np.hypot(parts[0] - want.real, parts[1] - want.imag)
        flushed = too_far & ~(rest / unit > limit)
    wrong = category | too_far
    count = int(np.count_nonzero(wrong))
    worst_distance = float(np.max(distance, initial=0.0))
    result = Comparison(count, wrong.size, worst_distance, flushed=int(np.count_nonzero(flushed)))
    if category.any():
        result.reason, result.max_ulp = "finite where it must not be, or the reverse", math.inf
        return _described(result, np.unravel_index(int(np.argmax(category)), wrong.shape), actual, expected)
    if count:
        result.reason = f"off by {worst_distance:.4g} ulp of the modulus, {rule.tolerance:g} allowed"
    return _described(result, np.unravel_index(int(np.argmax(distance)), wrong.shape), actual, expected)


def _unflushed(got: Array, want: Array, form: FloatFormat) -> Array:
    """What was found, with the wanted subnormal number where zero stands in its place."""
    return np.where((got == 0) & (np.abs(want) < form.smallest_normal), want, got)


def _described(result: Comparison, worst: Any, actual: Array, expected: Array) -> Comparison:
    """Adds the worst index and both values with their bits."""
    result.worst = tuple(int(i) for i in worst)
    got, want = actual[result.worst], expected[result.worst]
    with np.errstate(all="ignore"):
        rounded = np.asarray(want).astype(actual.dtype)
    result.actual = f"{got!s} ({bits(np.asarray(got))})"
    result.expected = f"{want!s} ({bits(rounded)})"
    return result


def bits(value: Array) -> str:
    """The bit pattern of one element, most significant byte first."""
    return "0x" + np.ascontiguousarray(value).reshape(1).view(np.uint8)[::-1].tobytes().hex()
