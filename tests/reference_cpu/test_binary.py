"""Binary kernels and `where`: values, special values, and the integer rules that C leaves undefined."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from cpu_driver import BFLOAT16, BOOL, COMPLEX, FLOAT, HALF, INTEGER, ORDERED, SIGNED, WIDE, Plugin
from cpu_oracle import all_codes, complex_error, wide, worst

ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
COMPARE = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
EXTREME = {"maximum": np.maximum, "minimum": np.minimum}
MATH = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp}


def pairs(dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of special numbers, then random ones of like and unlike size."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = [info.min, info.min + 1, 0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, info.max - 1, info.max]
        ends += [-1, -2, -3, -7, -64] if dtype.kind == "i" else []
        grid = np.array(
            list(itertools.product([e for e in ends if info.min <= e <= info.max], repeat=2)), dtype
        )
        rng = np.random.default_rng(5)
        loose = rng.integers(info.min, info.max, (500, 2), dtype, endpoint=True)
        small = rng.integers(0, 20, (500, 2)).astype(dtype)
        both = np.concatenate([grid, loose, small])
    elif dtype.kind == "b":
        both = np.array(list(itertools.product([False, True], repeat=2)))
    else:
        special = [0.0, -0.0, 1, -1, 2.5, -2.5, 3, 0.5, np.inf, -np.inf, np.nan, 1e-3, 7, -7, 65504, 1e-7]
        grid = np.array(list(itertools.product(special, repeat=2)))
        rng = np.random.default_rng(6)
        sizes = rng.standard_normal((1500, 2)) * 2.0 ** rng.integers(-12, 12, (1500, 2))
        with np.errstate(over="ignore"):
            both = np.concatenate([grid, sizes, rng.integers(-50, 50, (500, 2))]).astype(dtype)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_float_arithmetic_rounds_correctly(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    got = plugin.run(op, a, b)
    with np.errstate(all="ignore"):
        if dtype in WIDE:
            np.testing.assert_array_equal(got, ARITHMETIC[op](a, b))
        assert worst(got, ARITHMETIC[op](wide(a), wide(b))) <= 0.5


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_every_code_plus_a_constant(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = all_codes(dtype)
    for constant in (1.0, 1e-3, 300.0):
        y = np.full_like(x, constant)
        with np.errstate(all="ignore"):
            assert worst(plugin.run("add", x, y), wide(x) + wide(y)) <= 0.5


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("op", [*ARITHMETIC, *EXTREME])
def test_halves_of_any_number_are_computed_one_by_one(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    one_by_one = wide(np.asarray([plugin.run(op, a[i : i + 1], b[i : i + 1])[0] for i in range(35)], dtype))
    for n in range(1, 36):
        np.testing.assert_array_equal(wide(plugin.run(op, a[:n], b[:n])), one_by_one[:n])


def test_powers_of_float32_have_the_edges_of_c(plugin: Plugin) -> None:
    edges = [0.0, 1.0, 2.0, 0.5, 3.0, 1.5, np.inf, np.nan, 1e-45, 1e-40, 3e38, 2.0**24, 2.0**24 - 1, 2.0**40]
    edges += [1 + 2.0**-23, 1 - 2.0**-24, 127.0, 149.0, 150.0]
    grid = np.array(list(itertools.product([s * x for x in edges for s in (1, -1)], repeat=2)), np.float32)
    a, b = np.ascontiguousarray(grid[:, 0]), np.ascontiguousarray(grid[:, 1])
    with np.errstate(all="ignore"):
        want = np.power(wide(a), wide(b))
        got = plugin.run("pow", a, b)
        assert worst(got, want) <= 1
    number = ~np.isnan(want)
    assert (np.signbit(got) == np.signbit(want))[number].all()


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply"])
def test_integer_arithmetic_wraps(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    with np.errstate(over="ignore"):
        assert (plugin.run(op, a, b) == ARITHMETIC[op](a, b)).all()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("op", [*ARITHMETIC, "pow"])
def test_complex_arithmetic(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((2, 2000)) + 1j * rng.standard_normal((2, 2000))).astype(dtype)
    exact = (np.power if op == "pow" else ARITHMETIC[op])(wide(a), wide(b))
    assert complex_error(plugin.run(op, a, b), exact) <= (16 if op == "pow" else 4)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_division_and_powers_at_special_values(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    big = float(np.finfo(dtype).max) / 4
    a = np.array([complex(big, big), 1e-30j, 2, 0, 3 - 1j, 2j], dtype)
    assert complex_error(plugin.run("divide", a[:1], a[:1].copy()), np.ones(1, np.clongdouble)) <= 4
    exponent = np.array([0, 1, -1, 2, 2, 3], dtype)
    got = plugin.run("pow", a, exponent)
    np.testing.assert_allclose(got, np.array([1, 1e-30j, 0.5, 0, 8 - 6j, -8j], dtype), rtol=1e-6)
    infinite = plugin.run("multiply", np.array([complex(np.inf, 1)], dtype), np.array([1 + 1j], dtype))
    assert np.isinf(infinite[0])


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_integer_division_has_a_rule_for_every_pair(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    quotient, rest = plugin.run("floor_divide", a, b), plugin.run("remainder", a, b)
    info = np.iinfo(dtype)
    for x, y, q, r in zip(a.tolist(), b.tolist(), quotient.tolist(), rest.tolist(), strict=True):
        if y == 0:
            assert (q, r) == (0, 0)
        elif x == info.min and y == -1:
            assert (q, r) == (info.min, 0)
        else:
            assert (q, r) == divmod(x, y)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_integer_powers_wrap_and_negative_exponents_have_a_rule(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    modulus = 1 << (8 * dtype.itemsize)
    for x, y, got in zip(a.tolist(), b.tolist(), plugin.run("pow", a, b).tolist(), strict=True):
        expected = {1: 1, -1: -1 if y % 2 else 1}.get(x, 0) if y < 0 else pow(x, y, modulus)
        assert (got - expected) % modulus == 0, (x, y)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_shifts_have_a_rule_for_every_count(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    bits = 8 * dtype.itemsize
    left, right = plugin.run("bitwise_left_shift", a, b), plugin.run("bitwise_right_shift", a, b)
    for x, n, got_left, got_right in zip(a.tolist(), b.tolist(), left.tolist(), right.tolist(), strict=True):
        inside = 0 <= n < bits
        assert (got_left - ((x << n) if inside else 0)) % (1 << bits) == 0
        assert got_right == ((x >> n) if inside else (-1 if x < 0 else 0))


@pytest.mark.parametrize("dtype", [*BOOL, *INTEGER], ids=str)
def test_bits(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    for op, function in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items():
        assert (plugin.run(f"bitwise_{op}", a, b) == function(a, b)).all()


def test_logic(plugin: Plugin) -> None:
    a, b = pairs(np.dtype(bool))
    for op, function in {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.items():
        assert (plugin.run(f"logical_{op}", a, b) == function(a, b)).all()


def floor_divide(x1: Any, x2: Any) -> Any:
    """NumPy's, but beside an infinity x1 / x2, as the array API has it."""
    return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), np.floor_divide(x1, x2))


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_float_division_with_rest_is_numpys(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        for op, function in {"floor_divide": floor_divide, "remainder": np.remainder}.items():
            got, expected = plugin.run(op, a, b), function(a, b)
            np.testing.assert_array_equal(got, expected)
            assert (np.signbit(got) == np.signbit(expected))[~np.isnan(expected)].all()


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_half_division_with_rest_is_that_of_wider_numbers_rounded_once(
    plugin: Plugin, dtype: np.dtype[Any]
) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        for op, function in {"floor_divide": floor_divide, "remainder": np.remainder}.items():
            expected = function(a.astype(np.float32), b.astype(np.float32)).astype(dtype)
            np.testing.assert_array_equal(wide(plugin.run(op, a, b)), wide(expected))


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
@pytest.mark.parametrize("op", MATH)
def test_float_functions_of_two_numbers(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        exact = MATH[op](wide(a), wide(b))
    assert worst(plugin.run(op, a, b), exact) <= {"float64": 4, "float32": 4}.get(dtype.name, 0.51)


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
def test_copysign_takes_the_sign_of_zero_and_nan(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    bits, mask = f"u{dtype.itemsize}", 1 << (8 * dtype.itemsize - 1)
    got = plugin.run("copysign", a, b).view(bits)
    finite = ~np.isnan(wide(a))
    expected = (a.view(bits) & np.array(mask - 1, bits)) | (b.view(bits) & np.array(mask, bits))
    assert (got[finite] == expected[finite]).all()
    assert ((got ^ b.view(bits)) & np.array(mask, bits) == 0).all()


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
def test_nextafter(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    if dtype in HALF:
        codes = all_codes(dtype)
        a = np.concatenate([a, codes, codes])
        b = np.concatenate([b, np.full_like(codes, np.inf), np.full_like(codes, -1)])
    got = plugin.run("nextafter", a, b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(wide(got), wide(np.nextafter(a, b)))


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("op", EXTREME)
def test_extremes_propagate_nan(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    a, b = pairs(dtype)
    if dtype in FLOAT:
        np.testing.assert_array_equal(wide(plugin.run(op, a, b)), EXTREME[op](wide(a), wide(b)))
    else:
        assert (plugin.run(op, a, b) == EXTREME[op](a, b)).all()


@pytest.mark.parametrize("dtype", ORDERED + COMPLEX, ids=str)
@pytest.mark.parametrize("op", COMPARE)
def test_comparisons(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    if dtype in COMPLEX:
        if op not in ("equal", "not_equal"):
            assert dtype not in plugin.dtypes(op)
            return
        parts = [0.0, -0.0, 1.0, np.nan]
        z = np.array([complex(x, y) for x in parts for y in parts], dtype)
        a, b = (np.ascontiguousarray(v.ravel()) for v in np.meshgrid(z, z))
    else:
        a, b = pairs(dtype)
    with np.errstate(invalid="ignore"):
        assert (plugin.run(op, a, b, dtype=bool) == COMPARE[op](a, b)).all()


@pytest.mark.parametrize("dtype", ORDERED + COMPLEX, ids=str)
def test_where_picks_bits(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = (
        pairs(dtype) if dtype not in COMPLEX else (np.array([1j, np.nan], dtype), np.array([2, -0.0], dtype))
    )
    condition = np.arange(a.size) % 3 == 0
    assert plugin.run("where", condition, a, b).tobytes() == np.where(condition, a, b).tobytes()


@pytest.mark.parametrize("dtype", [np.dtype(np.int8), SIGNED[2], np.dtype(np.float32), BFLOAT16], ids=str)
def test_the_output_may_be_an_input(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(8)
    for shape in ((7,), (3, 700), (40, 50)):
        a, b = rng.integers(-9, 9, (2, *shape)).astype(dtype)
        expected = (wide(a) if dtype.kind == "V" else a.astype(np.float64)) - b.astype(np.float64)
        for view in (lambda x: x, lambda x: x.T, lambda x: x[..., ::2]):
            left, right = view(a.copy()), view(b.copy())
            plugin.launch("subtract", [left, right], [left])
            np.testing.assert_array_equal(left.astype(np.float64), view(expected))
            left = view(a.copy())
            plugin.launch("subtract", [left, right], [right])
            np.testing.assert_array_equal(right.astype(np.float64), view(expected))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((3, 255), (1,)),
        ((3, 256), (1,)),
        ((300, 700), (0,)),
        ((300, 700), (1,)),
        ((3, 2, 40_001), (0, 2)),
        ((3, 2, 40_001), (1,)),
        ((2, 3, 2, 3, 700), (0, 2, 4)),
        ((200_001,), (0,)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.float16])
def test_long_rows_meet_operands_that_repeat(
    plugin: Plugin, dtype: type[Any], shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(17)
    x = rng.integers(-60, 60, shape).astype(dtype)
    stored = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    least, most = (np.broadcast_to(rng.integers(-60, 60, stored).astype(dtype), shape) for _ in range(2))
    np.testing.assert_array_equal(plugin.run("subtract", x, least), x - least)
    np.testing.assert_array_equal(plugin.run("subtract", most, x), most - x)
    np.testing.assert_array_equal(plugin.run("subtract", most, least), most - least)
    limited = np.minimum(np.maximum(x, least), most)
    np.testing.assert_array_equal(plugin.run("clip", x, least, most), limited)
