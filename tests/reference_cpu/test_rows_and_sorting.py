"""gather_rows, scatter_rows, compact and argsort_last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import (
    ALL,
    COMPLEX,
    E4M3FN,
    E5M2,
    FLOAT,
    HALF,
    INTEGER,
    NUMERIC,
    ORDERED,
    OUT_OF_RANGE,
    UNIMPLEMENTED,
    Plugin,
    PluginError,
    integer_attribute,
)
from cpu_oracle import all_codes, wide
from hypothesis import given, settings
from hypothesis import strategies as st

REPLACE, ADD = integer_attribute(1), integer_attribute(2)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_gather_takes_whole_rows(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = (np.arange(60) % 50).reshape(12, 5).astype(dtype)
    index = np.array([11, 0, 3, 3, 7], np.int64)
    for source in (x, np.asfortranarray(x), x[::-1], np.repeat(x, 2, 1)[:, ::2]):
        got = plugin.run("gather_rows", source, index, dtype=dtype, shape=(5, 5))
        assert got.tobytes() == np.ascontiguousarray(source[index]).tobytes()
    wide_memory = np.zeros((5, 10), dtype)
    plugin.launch("gather_rows", [x, index[::-1]], [wide_memory[:, ::2]])
    assert (wide_memory[:, ::2] == x[index[::-1]]).all()
    assert (wide_memory[:, 1::2] == np.zeros((), dtype)).all()


def test_gather_of_no_rows_and_of_rows_without_columns(plugin: Plugin) -> None:
    x = np.zeros((3, 0), np.float32)
    plugin.launch("gather_rows", [x, np.array([1, 2])], [np.zeros((2, 0), np.float32)])
    plugin.launch("gather_rows", [np.ones((3, 4)), np.zeros(0, np.int64)], [np.zeros((0, 4))])


def test_a_long_gather_is_shared_among_threads_and_complete(plugin: Plugin) -> None:
    rng = np.random.default_rng(0)
    x, index = rng.standard_normal((1000, 64)), rng.integers(0, 1000, 20_000)
    assert (plugin.run("gather_rows", x, index, dtype=x.dtype, shape=(20_000, 64)) == x[index]).all()


@pytest.mark.parametrize("bad", [-1, 12, 1 << 40, -(1 << 63)])
def test_an_index_outside_is_an_error_and_nothing_is_written(plugin: Plugin, bad: int) -> None:
    x = np.ones((12, 3), np.float32)
    index = np.array([0, 1, bad, 2])
    out = np.full((4, 3), 7, np.float32)
    with pytest.raises(PluginError, match=f"index {bad} at position 2 is outside the 12 rows") as caught:
        plugin.launch("gather_rows", [x, index], [out])
    assert caught.value.code == OUT_OF_RANGE
    assert (out == 7).all()
    out = np.full((12, 3), 7, np.float32)
    with pytest.raises(PluginError, match=f"index {bad}") as caught:
        plugin.launch("scatter_rows", [x, index, np.zeros((4, 3), np.float32)], [out], REPLACE)
    assert caught.value.code == OUT_OF_RANGE
    assert (out == 7).all()


def test_any_index_into_no_rows_is_outside(plugin: Plugin) -> None:
    with pytest.raises(PluginError, match="outside the 0 rows"):
        plugin.launch("gather_rows", [np.ones((0, 3)), np.array([0])], [np.ones((1, 3))])


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_scatter_replaces_and_the_last_update_wins(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = (np.arange(40) % 30).reshape(8, 5).astype(dtype)
    updates = (np.arange(20) % 9 + 1).reshape(4, 5).astype(dtype)
    index = np.array([2, 7, 2, 0])
    expected = x.copy()
    for row, update in zip(index, updates, strict=True):
        expected[row] = update
    for base in (x, np.asfortranarray(x), x.copy()[:, ::-1][:, ::-1]):
        out = np.zeros((8, 5), dtype)
        plugin.launch("scatter_rows", [base, index, updates], [out], REPLACE)
        assert out.tobytes() == expected.tobytes()
    columns = np.asfortranarray(np.zeros((8, 5), dtype))
    plugin.launch("scatter_rows", [x, index, np.asfortranarray(updates)], [columns], REPLACE)
    assert (columns == expected).all()


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_scatter_adds_in_order(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(1)
    x, updates = (rng.integers(0, 100, size).astype(dtype) for size in ((6, 3), (9, 3)))
    index = rng.integers(0, 6, 9)
    expected = x.copy()
    for row, update in zip(index, updates, strict=True):
        with np.errstate(over="ignore"):
            expected[row] = expected[row] + update
    out = np.zeros((6, 3), dtype)
    plugin.launch("scatter_rows", [x, index, updates], [out], ADD)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.dtype(bool), E4M3FN, E5M2], ids=str)
def test_types_that_do_not_add_say_so(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = np.ones((2, 2)).astype(dtype)
    with pytest.raises(PluginError, match="adds no elements") as caught:
        plugin.launch("scatter_rows", [x, np.array([0]), x[:1]], [x.copy()], ADD)
    assert caught.value.code == UNIMPLEMENTED


def test_an_unknown_reduction_is_an_error(plugin: Plugin) -> None:
    x = np.ones((2, 2))
    with pytest.raises(PluginError, match="reduction 5 does not exist"):
        plugin.launch("scatter_rows", [x, np.array([0]), x[:1]], [x.copy()], integer_attribute(5))


@pytest.mark.parametrize("n", [1, 2, 100, 5000])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_compact_lists_the_true_positions_and_zeros_the_rest(plugin: Plugin, n: int, density: float) -> None:
    mask = np.random.default_rng(n).random(n) < density
    for view in (mask, np.repeat(mask, 2)[::2], mask[::-1]):
        index, count = np.full(n, -1), np.array(-1)
        plugin.launch("compact", [view], [index, count])
        positions = np.flatnonzero(view)
        assert count == positions.size
        assert (index[:count] == positions).all()
        assert not index[count:].any()


def test_compact_of_nothing_counts_0(plugin: Plugin) -> None:
    count = np.array(-1)
    plugin.launch("compact", [np.zeros(0, bool)], [np.zeros(0, np.int64), count])
    assert count == 0


def argsort(x: np.ndarray, descending: bool) -> np.ndarray:
    """Python's sort is stable, in reverse too."""

    def order(row: list[Any]) -> list[int]:
        nans = [i for i, v in enumerate(row) if v != v]
        rest = [i for i, v in enumerate(row) if v == v]
        return sorted(rest, key=lambda i: row[i], reverse=descending) + nans

    return np.array([order(row) for row in x.tolist()], np.int64).reshape(x.shape)


@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.parametrize("dtype", ORDERED, ids=str)
def test_argsort_is_stable_with_nan_last(plugin: Plugin, dtype: np.dtype[Any], descending: bool) -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 48, 49, 300):
        if dtype in FLOAT:
            x = rng.integers(-8, 8, (4, n)) / 4
            x[rng.random((4, n)) < 0.2] = np.nan
            x[rng.random((4, n)) < 0.1] = -0.0
            x[rng.random((4, n)) < 0.1] = np.inf
            x[rng.random((4, n)) < 0.1] = -np.inf
        elif dtype in INTEGER:
            info = np.iinfo(dtype)
            x = rng.choice(
                np.array([info.min, info.max, 0, 1, 2, info.max // 3, info.min // 3], object), (4, n)
            )
        else:
            x = rng.random((4, n)) < 0.5
        x = x.astype(dtype)
        expected = argsort(wide(x) if dtype in FLOAT else x, descending)
        for view in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
            got = plugin.run("argsort_last", view, dtype=np.int64, attributes=integer_attribute(descending))
            assert (got == expected).all()


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_argsort_of_all_codes(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    x = all_codes(dtype)
    got = plugin.run("argsort_last", x, dtype=np.int64, attributes=integer_attribute(0))
    assert (got == np.argsort(wide(x), kind="stable")).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=64), min_size=1, max_size=200), st.booleans())
def test_argsort_of_any_floats(plugin: Plugin, values: list[float], descending: bool) -> None:
    x = np.array(values)
    got = plugin.run("argsort_last", x, dtype=np.int64, attributes=integer_attribute(descending))
    assert (got == argsort(x[None], descending)[0]).all()


@settings(max_examples=60, deadline=None)
@given(
    first=st.integers(0, 63),
    bits=st.integers(0, 63),
    size=st.integers(49, 300),
    around=st.integers(-(1 << 63), (1 << 63) - 1),
)
def test_long_rows_sort_by_whichever_bits_differ(
    plugin: Plugin, first: int, bits: int, size: int, around: int
) -> None:
    loose = np.random.default_rng(size).integers(0, 1 << bits, size, np.uint64) << np.uint64(first)
    x = (loose ^ np.uint64(around & ((1 << 64) - 1))).view(np.int64)
    got = plugin.run("argsort_last", x, dtype=np.int64, attributes=integer_attribute(0))
    assert (got == np.argsort(x, kind="stable")).all()


def test_no_kernel_sorts_complex_numbers(plugin: Plugin) -> None:
    assert not set(COMPLEX) & set(plugin.dtypes("argsort_last"))
