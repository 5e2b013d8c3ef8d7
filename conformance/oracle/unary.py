"""Oracles of the element-by-element ops of one tensor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from conformance.oracle.precision import is_float, real_dtype, sign_bits, widen
from conformance.oracle.registry import Array, Call, Expected, oracle

BOOL = np.dtype(np.bool_)


def erf(x: Array) -> Array:
    return _special("erf", x)


def erfc(x: Array) -> Array:
    return _special("erfc", x)


def _special(name: str, x: Array) -> Array:
    """SciPy in float64 for the narrower types; arbitrary precision for float64 itself."""
    if x.dtype == np.float64:
        import scipy.special

        result: Array = getattr(scipy.special, name)(x)
        return result
    import mpmath
    import scipy.special

    function = getattr(mpmath, name)
    result = np.empty(x.shape, np.longdouble)
    with mpmath.workdps(30):
        for index, value in np.ndenumerate(x):
            if not abs(value) < 100:  # settled, or beyond the range of every format
                result[index] = getattr(scipy.special, name)(float(value))
            else:
                result[index] = np.longdouble(mpmath.nstr(function(mpmath.mpf(float(value))), 25))
    # A text has no sign of zero.
    return np.copysign(result, x) if name == "erf" else result


def _sign(x: Array) -> Array:
    """One infinite part of a complex number outweighs the other, two give NaN, as does a NaN beside one."""
    signs: Array = np.sign(x)
    return np.where(np.isnan(x), complex(np.nan, np.nan), signs) if x.dtype.kind == "c" else signs


def _round(x: Array) -> Array:
    return np.rint(x.real) + 1j * np.rint(x.imag) if x.dtype.kind == "c" else np.rint(x)


_FLOATING: dict[str, Callable[[Array], Array]] = {
    "reciprocal": lambda x: 1 / x,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf,
    "erfc": erfc,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _round,
    "negative": np.negative,
    "square": np.square,
    "sign": _sign,
}
_KEEP_INTEGERS = {"floor", "ceil", "trunc", "round"}
# Odd functions and those that keep a zero: IEEE 754 and the array API standard give the sign.
_ZERO_SIGN = {
    "negative", "abs", "sqrt", "reciprocal", "floor", "ceil", "trunc", "round", "sin", "tan", "asin", "atan",
    "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf",
}  # fmt: skip


@oracle(*_FLOATING)
def floating(call: Call) -> list[Expected]:
    (x,) = call.inputs
    if x.dtype.kind in "iu" and call.op in _KEEP_INTEGERS:
        return [Expected(x, x.dtype)]
    return [Expected(_FLOATING[call.op](widen(x)), x.dtype, zero_sign=call.op in _ZERO_SIGN)]


@oracle("abs")
def absolute(call: Call) -> list[Expected]:
    (x,) = call.inputs
    return [Expected(np.abs(widen(x)), real_dtype(x.dtype), zero_sign=True)]


@oracle("isnan", "isinf", "isfinite")
def predicate(call: Call) -> list[Expected]:
    (x,) = call.inputs
    functions = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
    return [Expected(functions[call.op](widen(x)), BOOL)]


@oracle("signbit")
def signbit(call: Call) -> list[Expected]:
    return [Expected(sign_bits(call.inputs[0]), BOOL)]


@oracle("real", "imag", "conj", "conjugate")
def part(call: Call) -> list[Expected]:
    (x,) = call.inputs
    if call.op in ("conj", "conjugate"):
        return [Expected(np.conj(widen(x)) if x.dtype.kind == "c" else widen(x), x.dtype)]
    values: npt.NDArray[np.longdouble] = widen(x).real if call.op == "real" else widen(x).imag
    return [Expected(np.array(values), real_dtype(x.dtype), zero_sign=True)]


@oracle("logical_not")
def logical_not(call: Call) -> list[Expected]:
    return [Expected(~call.inputs[0], BOOL)]


@oracle("bitwise_invert")
def bitwise_invert(call: Call) -> list[Expected]:
    (x,) = call.inputs
    return [Expected(np.invert(x), x.dtype)]


def widened_result(values: Array, dtype: np.dtype[np.generic]) -> Array:
    """Exact results of the element type itself, in the form that comparison wants."""
    return values.astype(np.longdouble) if is_float(dtype) else values
