"""Oracles of the element-by-element ops of two and three tensors. All inputs have the output's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.precision import is_float, is_half, widen
from conformance.oracle.registry import Array, Call, Expected, oracle

BOOL = np.dtype(np.bool_)

_ARITHMETIC: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
_ZERO_SIGN = {"add", "subtract", "multiply", "divide", "atan2", "copysign"}


@oracle(*_ARITHMETIC)
def arithmetic(call: Call) -> list[Expected]:
    x1, x2 = call.inputs
    values = _ARITHMETIC[call.op](widen(x1), widen(x2))
    return [Expected(values, x1.dtype, zero_sign=call.op in _ZERO_SIGN)]


@oracle("logaddexp")
def logaddexp(call: Call) -> list[Expected]:
    """Where the result is near zero it is a difference of larger numbers: they are the measure."""
    x1, x2 = (widen(x) for x in call.inputs)
    return [Expected(np.logaddexp(x1, x2), call.inputs[0].dtype, np.maximum(np.abs(x1), np.abs(x2)))]


def _floor_divide(x1: Any, x2: Any) -> Any:
    quotient = np.floor_divide(x1, x2)
    if quotient.dtype.kind != "f":
        return quotient
    return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), quotient)


@oracle("floor_divide", "remainder")
def division(call: Call) -> list[Expected]:
    """NumPy's own result in the type itself (float32 for the 16-bit types, rounded once). Beside an infinity
    a quotient is x1 / x2, as the array API has it."""
    x1, x2 = call.inputs
    function = _floor_divide if call.op == "floor_divide" else np.remainder
    if not is_float(x1.dtype):
        return [Expected(function(x1, x2), x1.dtype)]
    if is_half(x1.dtype):
        values = function(x1.astype(np.float32), x2.astype(np.float32)).astype(x1.dtype)
    else:
        values = function(x1, x2)
    return [Expected(widen(values), x1.dtype, zero_sign=call.op == "remainder")]


@oracle("pow")
def power(call: Call) -> list[Expected]:
    x1, x2 = call.inputs
    if x1.dtype.kind in "iu":
        return [Expected(integer_power(x1, x2), x1.dtype)]
    return [Expected(np.power(widen(x1), widen(x2)), x1.dtype)]


def integer_power(base: Array, exponent: Array) -> Array:
    """Wraps; with a negative exponent 1 for 1, 1 or -1 for -1, else 0."""
    negative = exponent < 0
    unsigned = base.astype(f"u{base.dtype.itemsize}")
    exponents = np.where(negative, 0, exponent).astype(unsigned.dtype)
    result = np.ones_like(unsigned)
    while exponents.any():
        result = np.where(exponents & 1, result * unsigned, result)
        unsigned, exponents = unsigned * unsigned, exponents >> 1
    wrapped = result.astype(base.dtype)
    if base.dtype.kind == "u":
        return wrapped
    odd = (exponent & 1).astype(bool)
    unit = np.where(base == -1, np.where(odd, -1, 1), base == 1)
    return np.where(negative, unit, wrapped).astype(base.dtype)


@oracle("nextafter")
def nextafter(call: Call) -> list[Expected]:
    x1, x2 = call.inputs
    return [Expected(widen(np.nextafter(x1, x2)), x1.dtype)]


_COMPARISONS: dict[str, Callable[..., Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


@oracle(*_COMPARISONS)
def comparison(call: Call) -> list[Expected]:
    x1, x2 = (widen(x) for x in call.inputs)
    return [Expected(_COMPARISONS[call.op](x1, x2), BOOL)]


_BITS: dict[str, Callable[..., Array]] = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@oracle(*_BITS)
def bits(call: Call) -> list[Expected]:
    x1, x2 = call.inputs
    return [Expected(_BITS[call.op](x1, x2), x1.dtype)]


@oracle("bitwise_left_shift", "bitwise_right_shift")
def shift(call: Call) -> list[Expected]:
    """A count outside [0, width) gives 0, or -1 for a negative number shifted right."""
    x1, x2 = call.inputs
    width = x1.dtype.itemsize * 8
    outside = (x2 < 0) | (x2 >= width)
    count = np.where(outside, 0, x2).astype(x1.dtype)
    if call.op == "bitwise_left_shift":
        return [Expected(np.where(outside, np.zeros_like(x1), np.left_shift(x1, count)), x1.dtype)]
    fill = np.where(x1 < 0, -1, 0).astype(x1.dtype) if x1.dtype.kind == "i" else np.zeros_like(x1)
    return [Expected(np.where(outside, fill, np.right_shift(x1, count)), x1.dtype)]


@oracle("where")
def where(call: Call) -> list[Expected]:
    condition, x1, x2 = call.inputs
    return [Expected(widen(np.where(condition, x1, x2)), x1.dtype, zero_sign=True)]
