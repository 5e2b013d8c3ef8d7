"""Unary kernels against NumPy in higher precision: all 16-bit codes, special values, complex planes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from cpu_driver import COMPLEX, FLOAT, HALF, INTEGER, WIDE, Plugin
from cpu_oracle import all_codes, complex_error, wide, worst

Function = Callable[..., np.ndarray]


def by_mpmath(function: Any) -> Function:
    def apply(x: np.ndarray) -> np.ndarray:
        with mpmath.workdps(40):
            made = [_special(function, float(v)) for v in x]
        return np.array([_longdouble(v) for v in made], np.longdouble).astype(x.dtype)

    return apply


def _special(function: Any, value: float) -> Any:
    if math.isnan(value):
        return mpmath.nan
    if abs(value) > 1e4:
        return {mpmath.erf: math.copysign(1, value), mpmath.erfc: 0.0 if value > 0 else 2.0}[function]
    return function(mpmath.mpf(value))


def _longdouble(value: Any) -> np.longdouble:
    high = float(value)
    return np.longdouble(high) + (np.longdouble(float(value - high)) if math.isfinite(high) else 0)


FUNCTIONS: dict[str, Function] = {
    "negative": np.negative,
    "abs": np.abs,
    "square": np.square,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
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
    "erf": by_mpmath(mpmath.erf),
    "erfc": by_mpmath(mpmath.erfc),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
}
EXACT = {"negative", "abs", "floor", "ceil", "trunc", "round"}
ROUNDED = {"square", "sqrt", "reciprocal"}
REAL_ONLY = {"exp2", "erf", "erfc", "floor", "ceil", "trunc", "round"}
SLOW = {"erf", "erfc"}


def complex_log1p(z: np.ndarray) -> np.ndarray:
    """NumPy's own cancels near zero."""
    with mpmath.workdps(40):
        made = [mpmath.log(1 + mpmath.mpc(complex(v))) for v in z]
    parts = [[_longdouble(v.real), _longdouble(v.imag)] for v in made]
    return np.array(parts, np.longdouble).view(np.clongdouble)[:, 0]


def bound(op: str, dtype: np.dtype[Any]) -> float:
    if op in EXACT:
        return 0
    if op in ROUNDED:
        return 0.5
    if dtype in HALF:
        return 0.51
    if dtype == np.float64:
        return 5.0 if op == "erfc" else 2.5
    return {"tan": 3.5, "erfc": 5.0}.get(op, 2.5)


def points(dtype: np.dtype[Any], op: str) -> np.ndarray:
    """Numbers of every size and sign, and the special ones."""
    count = 150 if op in SLOW and dtype == np.float64 else 4000
    rng = np.random.default_rng(3)
    info = np.finfo(dtype)
    decades = 10.0 ** rng.uniform(np.log10(float(info.smallest_subnormal)), np.log10(float(info.max)), count)
    near = rng.standard_normal(count)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, info.tiny, -info.smallest_subnormal, info.max]
    special += [info.min, 0.5, -0.5, 2.5, 3.5, 88.7, 88.8, -103.9, -104.1, 709.7, 709.9, -745.2, 1 + info.eps]
    special += [np.pi / 2, np.pi, 100000.0, 100001.0, -1e6, 4.0, -4.1, 0.92, 0.93, 0.625]
    with np.errstate(over="ignore"):
        return np.concatenate([decades, -decades[: count // 2], near, near * 12, special]).astype(dtype)


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_all_codes_of_16_bit_floats(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    x = all_codes(dtype)
    if op in SLOW:  # the oracle takes long: every 37th code, and all near zero
        x = np.concatenate([x[::37], x[:200], x[0x8000:0x8040]])
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[op](wide(x))
    assert worst(plugin.run(op, x), exact) <= bound(op, dtype)


@pytest.mark.parametrize("dtype", WIDE, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_numbers_of_every_size(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    x = points(dtype, op)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[op](wide(x))
    got = plugin.run(op, x)
    assert worst(got, exact) <= bound(op, dtype)


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
@pytest.mark.parametrize(
    "op", sorted(set(FUNCTIONS) - {"exp", "exp2", "cos", "cosh", "acos", "erfc", "acosh", "abs"})
)
def test_zeros_keep_their_sign(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    x = np.array([0.0, -0.0], np.float64).astype(dtype)
    with np.errstate(all="ignore"):
        exact = [False, True] if op == "erf" else np.signbit(FUNCTIONS[op](wide(x))).tolist()
    assert np.signbit(wide(plugin.run(op, x))).tolist() == exact


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("op", sorted(set(FUNCTIONS) - REAL_ONLY - {"abs"}))
def test_complex_functions_in_the_plane(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(4)
    size = np.concatenate([rng.uniform(0, 4, 500), 10.0 ** rng.uniform(-6, 1, 500)])
    z = (size * np.exp(1j * rng.uniform(-np.pi, np.pi, 1000))).astype(dtype)
    with np.errstate(all="ignore"):
        exact = complex_log1p(z) if op == "log1p" else FUNCTIONS[op](wide(z))
    assert complex_error(plugin.run(op, z), exact) <= 8


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_magnitude_real_imag_conj_and_sign(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    real = np.dtype(f"f{dtype.itemsize // 2}")
    z = np.array([3 + 4j, -1e30 + 1e30j, 0, complex(np.nan, 1), complex(np.inf, np.nan), -2j], dtype)
    with np.errstate(all="ignore"):
        assert worst(plugin.run("abs", z, dtype=real), np.abs(wide(z))) <= 1
    np.testing.assert_array_equal(plugin.run("real", z, dtype=real), z.real)
    np.testing.assert_array_equal(plugin.run("imag", z, dtype=real), z.imag)
    np.testing.assert_array_equal(plugin.run("conj", z), z.conj())
    signs = plugin.run("sign", z)
    np.testing.assert_allclose(signs[[0, 2, 5]], np.array([0.6 + 0.8j, 0, -1j], dtype), rtol=1e-6)
    assert np.isnan(signs[3])
    infinite = np.array([complex(-np.inf, 3), complex(3, np.inf), complex(np.inf, np.inf)], dtype)
    signs = plugin.run("sign", infinite)
    np.testing.assert_array_equal(signs[:2], [-1, 1j])
    assert np.isnan([signs[2].real, signs[2].imag]).all()


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_integers_wrap(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, 0, 1, 7, info.max - 1, info.max], dtype)
    with np.errstate(over="ignore"):
        assert (plugin.run("negative", x) == (0 - x).astype(dtype)).all()
        assert (plugin.run("abs", x) == np.abs(x)).all()
        assert (plugin.run("square", x) == (x * x).astype(dtype)).all()
    assert (plugin.run("sign", x) == np.sign(x)).all()
    assert (plugin.run("bitwise_invert", x) == ~x).all()


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
def test_sign_and_tests_of_floats(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = all_codes(dtype) if dtype in HALF else points(dtype, "sign")
    numbers = wide(x)
    np.testing.assert_array_equal(wide(plugin.run("sign", x)), np.sign(numbers))
    for op, function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
        assert (plugin.run(op, x, dtype=bool) == function(numbers)).all()
    bits = x.view(f"u{dtype.itemsize}") >> (8 * dtype.itemsize - 1)
    assert (plugin.run("signbit", x, dtype=bool) == (bits != 0)).all()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_tests_of_complex_numbers_look_at_both_parts(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    parts = [0.0, 1.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts], dtype)
    for op, function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
        assert (plugin.run(op, z, dtype=bool) == function(z)).all()


def test_bools(plugin: Plugin) -> None:
    x = np.array([True, False])
    assert plugin.run("logical_not", x).tolist() == [False, True]
    assert plugin.run("bitwise_invert", x).tolist() == [False, True]


def test_claims_name_the_dtypes_of_the_op_set(plugin: Plugin) -> None:
    for op in FUNCTIONS:
        expected = set(FLOAT)
        if op not in REAL_ONLY:
            expected |= set(COMPLEX)
        if op in {"negative", "abs", "square"}:
            expected |= set(INTEGER)
        assert set(plugin.dtypes(op)) == expected, op
