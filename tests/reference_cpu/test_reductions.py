"""Reductions and scans over the last axis: values, accuracy, empty rows, NaN, strides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cpu_driver import BOOL, COMPLEX, FLOAT, HALF, INTEGER, NUMERIC, ORDERED, WIDE, Plugin
from cpu_oracle import complex_error, wide, worst

LENGTHS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 255, 1025]


def numbers(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same rows in memory laid out in several ways: plain, columns, stepped, backwards, repeated rows."""
    stepped = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    stepped[...] = x
    return [
        x,
        np.asfortranarray(x),
        stepped,
        np.ascontiguousarray(x[:, ::-1])[:, ::-1],
        np.ascontiguousarray(x[::-1])[::-1],
        np.broadcast_to(x[:1], x.shape),
    ]


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
@pytest.mark.parametrize("op", ["reduce_sum", "scan_sum"])
def test_sums(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    for n in LENGTHS:
        for x in layouts(numbers((6, n), dtype, n)):
            shape = x.shape if op == "scan_sum" else x.shape[:1]
            got = plugin.run(op, x, shape=shape)
            if dtype in INTEGER:
                with np.errstate(over="ignore"):
                    made = np.cumsum(x, -1, dtype) if op == "scan_sum" else x.sum(-1, dtype=dtype)
                assert (got == made).all()
                continue
            exact = np.cumsum(wide(x), -1) if op == "scan_sum" else wide(x).sum(-1)
            scale = np.cumsum(np.abs(wide(x)), -1) if op == "scan_sum" else np.abs(wide(x)).sum(-1)
            epsilon = {"bfloat16": 2.0**-8}.get(dtype.name) or float(np.finfo(dtype).eps) / 2
            # Blocks of a long row are added up in float32; all else in float64.
            blocks = op == "reduce_sum" and n >= 512 and float(np.finfo(wide(x).dtype).eps) < epsilon
            share = 2.0**-22 if blocks else 2e-16
            assert (
                np.abs(got.astype(exact.dtype) - exact) <= epsilon * np.abs(exact) * 1.01 + share * scale
            ).all()


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
@pytest.mark.parametrize("op", ["reduce_prod", "scan_prod"])
def test_products(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    for n in (1, 2, 5, 8, 20):
        for x in layouts(numbers((6, n), dtype, n)):
            shape = x.shape if op == "scan_prod" else x.shape[:1]
            got = plugin.run(op, x, shape=shape)
            if dtype in INTEGER:
                with np.errstate(over="ignore"):
                    made = np.cumprod(x, -1, dtype) if op == "scan_prod" else x.prod(-1, dtype=dtype)
                assert (got == made).all()
            else:
                exact = np.cumprod(wide(x), -1) if op == "scan_prod" else wide(x).prod(-1)
                error = complex_error(got, exact) if dtype in COMPLEX else worst(got, exact)
                assert error <= (n if dtype in COMPLEX or dtype == np.float64 else 0.51)


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("op", ["max", "min", "argmax", "argmin"])
def test_extremes_and_their_places(plugin: Plugin, op: str, dtype: np.dtype[Any]) -> None:
    for n in LENGTHS:
        small = numbers((6, n), dtype, n)
        if dtype.kind in "iu":
            small %= 5  # equal extremes: the first one counts
        for x in [*layouts(numbers((6, n), dtype, n)), small]:
            got = plugin.run(f"reduce_{op}", x, dtype=np.int64 if op.startswith("arg") else dtype, shape=(6,))
            values = wide(x) if dtype in HALF else x
            np.testing.assert_array_equal(wide(got) if dtype in HALF else got, getattr(np, op)(values, -1))


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
@pytest.mark.parametrize("op", ["max", "min", "argmax", "argmin"])
def test_a_nan_anywhere_is_the_extreme_and_the_first_one_counts(
    plugin: Plugin, op: str, dtype: np.dtype[Any]
) -> None:
    for n in (1, 5, 16, 40, 1100, 70_000):
        for places in ([0], [n - 1], [n // 2, n - 1], []):
            x = numbers((2, n), dtype, n)
            x[0, : n // 3] = -np.inf
            x[1, n // 2 :] = np.inf
            x[0, places] = np.nan
            got = plugin.run(f"reduce_{op}", x, dtype=np.int64 if op.startswith("arg") else dtype, shape=(2,))
            expected = getattr(np, op)(wide(x), -1)
            np.testing.assert_array_equal(got.astype(expected.dtype), expected)
            columns = np.asfortranarray(np.repeat(x, 3, 0))
            got = plugin.run(f"reduce_{op}", columns, dtype=got.dtype, shape=(6,))
            np.testing.assert_array_equal(got.astype(expected.dtype), np.repeat(expected, 3))


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
def test_rows_of_one_infinity_have_an_extreme_at_their_first_place(
    plugin: Plugin, dtype: np.dtype[Any]
) -> None:
    for sign in (1, -1):
        x = np.full((1, 50), sign * np.inf).astype(dtype)
        for op in ("argmax", "argmin"):
            assert plugin.run(f"reduce_{op}", x, dtype=np.int64, shape=(1,)).tolist() == [0]


def test_any_and_all(plugin: Plugin) -> None:
    for n in LENGTHS:
        for fill in (False, True):
            x = np.full((8, n), fill)
            x[np.arange(7), np.arange(7) % n] = not fill
            for view in layouts(x):
                assert (plugin.run("reduce_any", view, shape=(8,)) == view.any(-1)).all()
                assert (plugin.run("reduce_all", view, shape=(8,)) == view.all(-1)).all()


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_an_empty_sum_is_0_and_an_empty_product_1(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    for shape in ((3, 0), (0,)):
        x = np.zeros(shape, dtype)
        assert (plugin.run("reduce_sum", x, shape=shape[:-1]) == np.zeros((), dtype)).all()
        assert (plugin.run("reduce_prod", x, shape=shape[:-1]) == np.ones((), dtype)).all()


def test_an_empty_any_is_false_and_an_empty_all_true(plugin: Plugin) -> None:
    x = np.zeros((3, 0), bool)
    assert plugin.dtypes("reduce_any") == BOOL
    assert plugin.run("reduce_any", x, shape=(3,)).tolist() == [False] * 3
    assert plugin.run("reduce_all", x, shape=(3,)).tolist() == [True] * 3


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_large_sums_are_correct_to_the_last_place_but_for_rows_of_float32(
    plugin: Plugin, dtype: np.dtype[Any], layout: str
) -> None:
    x = np.random.default_rng(2).uniform(0, 1, (4, 300_000)).astype(dtype)
    x[1] = 0.1
    x[2, ::2] *= -1e8
    x[3] += 1e6
    exact = [math.fsum(row.tolist()) for row in x]
    got = plugin.run("reduce_sum", x if layout == "rows" else np.asfortranarray(x), shape=(4,))
    if dtype == np.float32 and layout == "rows":
        scale = np.abs(x.astype(np.float64)).sum(-1)
        assert (np.abs(got.astype(np.float64) - exact) <= 2.0**-22 * scale).all()
    else:
        assert worst(got, np.array(exact, np.longdouble)) <= 0.51


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_sums_of_16_bit_floats_do_not_stop_where_the_type_cannot_count_on(
    plugin: Plugin, dtype: np.dtype[Any]
) -> None:
    x = np.ones((1, 50_000), dtype)
    assert plugin.run("reduce_sum", x, shape=(1,))[0] == np.array(50_000).astype(dtype)
    tiny = np.full((1, 4096), 2.0**-12).astype(dtype)
    assert plugin.run("reduce_sum", tiny, shape=(1,))[0] == 1


@pytest.mark.parametrize("dtype", [*FLOAT, *COMPLEX], ids=str)
def test_infinities_and_nan_in_a_sum(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    for n in (5, 20, 100):
        x = np.ones((4, n), dtype)
        x[0, 1], x[1, n - 1], x[2, 0], x[2, n - 1], x[3, 2] = np.inf, -np.inf, np.inf, -np.inf, np.nan
        for view in (x, np.asfortranarray(x)):
            got = plugin.run("reduce_sum", view, shape=(4,)).real.astype(np.float64)
            assert got[:2].tolist() == [np.inf, -np.inf]
            assert np.isnan(got[2:]).all()
            scanned = plugin.run("scan_sum", view).real.astype(np.float64)
            assert scanned[0, -1] == np.inf
            assert np.isnan(scanned[3, -1])


def test_a_sum_of_rank_3_with_permuted_axes(plugin: Plugin) -> None:
    x = np.random.default_rng(0).standard_normal((5, 6, 7)).astype(np.float32)
    for axes in ((0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1)):
        view = x.transpose(axes)
        memory = np.zeros((view.shape[1], view.shape[0], 2), np.float32)
        out = memory[..., 0].T
        plugin.launch("reduce_sum", [view], [out])
        np.testing.assert_allclose(out, view.astype(float).sum(-1), rtol=1e-6, atol=1e-6)
        assert not memory[..., 1].any()


@pytest.mark.parametrize("dtype", [np.dtype(np.int16), np.dtype(np.float64), np.dtype(np.complex64)], ids=str)
def test_a_scan_may_overwrite_its_input(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = np.arange(24).reshape(4, 6).astype(dtype)
    expected = np.cumsum(x, -1)
    plugin.launch("scan_sum", [x], [x])
    assert (x == expected).all()
