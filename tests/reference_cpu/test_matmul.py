"""batch_matmul: every dtype, shape class and layout, against products in higher precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import COMPLEX, HALF, INTEGER, NUMERIC, Plugin

SHAPES = [
    (1, 1, 1),
    (4, 4, 4),
    (1, 7, 5),
    (7, 1, 9),
    (5, 6, 1),
    (3, 16, 17),
    (13, 33, 8),
    (24, 24, 24),
    (40, 31, 50),
]
SHAPES += [(2, 300, 3), (300, 2, 5), (1, 500, 60), (60, 500, 1), (65, 66, 67), (200, 30, 170)]


def numbers(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype in INTEGER:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype in COMPLEX else x).astype(dtype)


def product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]:
    """The product, and how far a result may be from it."""
    if a.dtype in INTEGER:
        with np.errstate(over="ignore"):
            return np.matmul(a, b), 0
    high = np.complex128 if a.dtype in COMPLEX else np.float64
    x, y = a.astype(high), b.astype(high)
    size = np.matmul(np.abs(x), np.abs(y))
    if a.dtype in HALF:
        rounding = 2.0**-11 if a.dtype == np.float16 else 2.0**-8
        return x @ y, rounding * np.abs(x @ y) * 1.01 + 1e-6 * size
    return x @ y, float(np.finfo(a.dtype).eps) * (2 + a.shape[-1] ** 0.5) * size


def check(got: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    exact, bound = product(a, b)
    if a.dtype in INTEGER:
        assert (got == exact).all()
    else:
        assert (np.abs(got.astype(exact.dtype) - exact) <= bound).all()


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_products_of_every_shape(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    for seed, (m, k, n) in enumerate(SHAPES):
        a, b = numbers((m, k), dtype, seed), numbers((k, n), dtype, seed + 50)
        check(plugin.run("batch_matmul", a, b, shape=(m, n)), a, b)


@pytest.mark.parametrize(
    "dtype", [np.dtype(n) for n in ("int32", "float16", "float32", "float64", "complex64")], ids=str
)
@pytest.mark.parametrize("size", [5, 70], ids=["small", "large"])
def test_products_of_every_layout(plugin: Plugin, dtype: np.dtype[Any], size: int) -> None:
    m, k, n = size, size + 3, size + 1
    a, b = numbers((m, k), dtype, 1), numbers((k, n), dtype, 2)

    def forms(x: np.ndarray) -> list[np.ndarray]:
        wide = np.zeros((2 * x.shape[0], 2 * x.shape[1]), dtype)
        wide[::2, ::2] = x
        padded = np.zeros((x.shape[0], x.shape[1] + 5), dtype)
        padded[:, 2:-3] = x
        backwards = np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
        return [
            x,
            np.asfortranarray(x),
            wide[::2, ::2],
            padded[:, 2:-3],
            backwards,
            np.broadcast_to(x[:1], x.shape),
        ]

    for left in forms(a):
        for right in forms(b):
            for out in forms(np.zeros((m, n), dtype))[:5]:
                plugin.launch("batch_matmul", [left, right], [out])
                check(out, left, right)


def test_writes_outside_a_strided_output_do_not_happen(plugin: Plugin) -> None:
    for size in (4, 90):
        memory = np.zeros((2 * size, 2 * size), np.float32)
        a = np.ones((size, size), np.float32)
        for out in (memory[::2, ::2], memory[:size, :size], memory.T[::2, :size]):
            plugin.launch("batch_matmul", [a, a], [out])
            assert (out == size).all()
            out[...] = 0
            assert not memory.any()


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_an_empty_inner_dimension_writes_zeros(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = np.zeros((2, 3, 0), dtype), np.zeros((2, 0, 4), dtype)
    assert (plugin.run("batch_matmul", a, b, shape=(2, 3, 4)) == np.zeros((), dtype)).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.int8), np.dtype(np.complex128)], ids=str)
def test_batches_with_broadcast_and_permuted_operands(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    a, b = numbers((3, 2, 6, 5), dtype, 1), numbers((5, 7), dtype, 2)
    for left, right in (
        (a, np.broadcast_to(b, (3, 2, 5, 7))),
        (a.transpose(1, 0, 2, 3), numbers((2, 3, 5, 7), dtype, 3)),
        (np.broadcast_to(a[:, :1], a.shape), np.broadcast_to(b, (3, 2, 5, 7))),
    ):
        shape = (*left.shape[:-1], right.shape[-1])
        check(plugin.run("batch_matmul", left, right, shape=shape), left, right)


def test_many_small_products_in_one_batch(plugin: Plugin) -> None:
    a, b = numbers((5000, 4, 4), np.dtype(np.float32), 1), numbers((5000, 4, 4), np.dtype(np.float32), 2)
    check(plugin.run("batch_matmul", a, b), a, b)


def test_nan_and_infinity_reach_the_rows_they_belong_to(plugin: Plugin) -> None:
    for size in (4, 64):
        a, b = np.ones((size, size), np.float32), np.ones((size, size), np.float32)
        a[1, 2], a[2, 0] = np.nan, np.inf
        got = plugin.run("batch_matmul", a, b)
        assert np.isnan(got[1]).all()
        assert np.isposinf(got[2]).all()
        assert (got[[0, 3]] == size).all()
