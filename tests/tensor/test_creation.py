"""Tensors from nothing and from host data, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import device_api as da
from device_api import dtypes

ALL = [dtypes.from_code(code) for code in dtypes.NAMES]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_dtype_travels_to_the_device_and_back_bit_for_bit(dtype: np.dtype[Any]) -> None:
    bits = np.random.default_rng(0).integers(0, 256, (5, dtype.itemsize), dtype=np.uint8)
    array = (bits[:, 0] % 2 == 0) if dtype.kind == "b" else bits.reshape(-1).view(dtype)
    tensor = da.asarray(array)
    assert tensor.dtype == dtype
    assert tensor.numpy().tobytes() == array.tobytes()
    assert da.asarray(array[::-2]).numpy().tobytes() == array[::-2].tobytes()


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_zeros_ones_and_full(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    for made, expected in (
        (da.zeros(shape, dtype=dtype), np.zeros(shape, dtype)),
        (da.ones(shape, dtype=dtype), np.ones(shape, dtype)),
        (da.full(shape, True, dtype=dtype), np.ones(shape, dtype)),
        (da.ones_like(da.empty(shape, dtype=dtype)), np.ones(shape, dtype)),
        (da.zeros_like(da.ones(shape, dtype=dtype)), np.zeros(shape, dtype)),
    ):
        assert (made.shape, made.dtype) == (shape, dtype)
        assert made.numpy().tobytes() == expected.tobytes()
        assert made.is_contiguous


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, np.bool_),
        (3, np.int64),
        (2.5, np.float32),
        (1j, np.complex64),
        (np.float64(2.5), np.float64),
        (np.int8(3), np.int8),
        ([1, 2], np.int64),
        ([1, 2.5], np.float32),
        ([True, False], np.bool_),
        ([[1, 2j]], np.complex64),
        ([np.float64(1.0), 2.0], np.float64),
        ([], np.float32),
        (np.arange(3.0), np.float64),
        (np.arange(3, dtype=">i4"), np.int32),
        (ml_dtypes.bfloat16(1.5), ml_dtypes.bfloat16),
        (2**63, np.uint64),
    ],
)
def test_the_dtype_of_host_data(value: Any, dtype: Any) -> None:
    tensor = da.asarray(value)
    assert tensor.dtype == dtype
    np.testing.assert_array_equal(tensor.numpy(), np.asarray(value))


@pytest.mark.parametrize("value", [True, 3, 2.5, 1j, np.float64(2.5), np.int8(3), ml_dtypes.bfloat16(1.5)])
def test_full_has_the_dtype_of_its_value(value: Any) -> None:
    assert da.full((2,), value).dtype == da.asarray(value).dtype


def test_nested_lists_may_hold_tensors_and_arrays() -> None:
    tensor = da.asarray([[da.asarray(1.0), 2.0], np.asarray([3.0, 4.0], np.float32)])
    assert da.asarray([np.int8(1), 2]).dtype == np.int8
    assert da.asarray([np.float32(1), np.float64(2)]).dtype == np.float64
    assert tensor.dtype == np.float32
    assert tensor.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ([[1, 2], [3]], da.ShapeError, "ragged"),
        ("text", da.DTypeError, "U4"),
        ([None], da.DTypeError, "number"),
        (np.array(["2020"], "datetime64[Y]"), da.DTypeError, "datetime64"),
        (2**64, OverflowError, "64 bits"),
        ([-1, 2**64], OverflowError, "64 bits"),
    ],
)
def test_what_is_no_array_of_numbers_is_a_typed_error(value: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        da.asarray(value)


def test_asarray_with_a_dtype_converts_or_refuses() -> None:
    assert da.asarray([1, 2], dtype=da.float16).dtype == np.float16
    assert da.asarray([1.7, -1.7], dtype=da.int8).tolist() == [1, -1]
    assert da.asarray([float("nan"), 1e9, -1e9], dtype=da.int16).tolist() == [0, 32767, -32768]
    assert da.asarray([0, 2], dtype=da.bool).tolist() == [False, True]
    with pytest.raises(OverflowError, match="300"):
        da.asarray([1, 300], dtype=da.int8)
    with pytest.raises(TypeError, match="element type"):
        da.asarray([1], dtype="S4")


def test_copy_rules_of_asarray() -> None:
    x = da.asarray([1.0, 2.0])
    assert da.asarray(x) is x
    assert da.asarray(x, copy=False) is x
    copied = da.asarray(x, copy=True)
    copied += 1
    assert x.tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        da.asarray(x, dtype=da.float64, copy=False)
    with pytest.raises(ValueError, match="copy"):
        da.asarray(np.ones(2), copy=False)


def test_a_tensor_never_shares_memory_with_an_array() -> None:
    array = np.ones(3, np.float32)
    x = da.asarray(array)
    array[0] = 5
    back = x.numpy()
    back[1] = 7
    assert x.tolist() == [1, 1, 1]


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-9, 9).filter(bool))
@settings(deadline=None)
def test_arange_of_integers_counts_as_numpy_does(start: int, stop: int, step: int) -> None:
    np.testing.assert_array_equal(da.arange(start, stop, step).numpy(), np.arange(start, stop, step))
    found = da.arange(start, stop, step, dtype=da.float64)
    np.testing.assert_array_equal(found.numpy(), np.arange(start, stop, step, dtype=np.float64))


def test_arange_counts_with_numbers_beyond_64_bits() -> None:
    assert da.arange(0, -509, -2.0e19).tolist() == [0]
    assert da.arange(2**70, 2**70).tolist() == []
    assert da.arange(1.0e300, 3.0e300, 1.0e300, dtype=da.float64).tolist() == [1.0e300, 2.0e300]
    assert da.arange(-(2**70), 2**70, 2**70, dtype=da.float64).tolist() == [-(2.0**70), 0]
    assert da.arange(2**63, 2**63 + 3, dtype=da.uint64).tolist() == [2**63, 2**63 + 1, 2**63 + 2]
    assert da.arange(2**64 - 1, 2**64 - 3, -1, dtype=da.uint64).tolist() == [2**64 - 1, 2**64 - 2]


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, np.float32("inf")])
def test_arange_needs_finite_numbers(bad: float) -> None:
    for arguments in ((bad,), (0.0, bad), (bad, 3.0), (0.0, 3.0, bad)):
        with pytest.raises(da.AttributeValueError, match="arange"):
            da.arange(*arguments)


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((-1.7e308, 1.7e308), None),
        ((0.0, 1.0, 5e-324), None),
        ((10**400, 10**400 + 2), "float64"),
        ((2**70, 2**70 + 2), None),
        ((2**63, 2**63 + 2), "int64"),
        ((0, 300), "uint8"),
        ((-1, 2), "uint64"),
    ],
)
def test_arange_refuses_what_its_elements_cannot_be(arguments: Any, dtype: Any) -> None:
    with pytest.raises(da.AttributeValueError, match="arange"):
        da.arange(*arguments, dtype=dtype)


def test_arange_of_floats_and_defaults() -> None:
    assert da.arange(3).tolist() == [0, 1, 2]
    assert da.arange(0.0, 1.0, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert da.arange(1.0, 0.0, -0.5).dtype == np.float32
    with pytest.raises(da.AttributeValueError, match="step"):
        da.arange(0, 3, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("start", "stop", "count"), [(0, 1, 11), (-3, 7, 4), (2, 2, 3), (0, 1, 1), (0, 1, 0)]
)
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(dtype: Any, start: float, stop: float, count: int, endpoint: bool) -> None:
    found = da.linspace(start, stop, count, dtype=dtype, endpoint=endpoint).numpy()
    expected = np.linspace(start, stop, count, dtype=dtype, endpoint=endpoint)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    if endpoint and count > 1:
        assert found[-1] == stop


@pytest.mark.parametrize(
    ("rows", "columns", "k"), [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (2, 2, 9)]
)
def test_eye(rows: int, columns: int | None, k: int) -> None:
    np.testing.assert_array_equal(da.eye(rows, columns, k=k).numpy(), np.eye(rows, columns, k))


def test_sizes_may_be_one_integer() -> None:
    assert da.zeros(3).shape == (3,)
    assert da.full(2, 1.0).shape == (2,)


def test_like_functions_follow_dtype_and_device() -> None:
    x = da.ones((2,), dtype=da.int16)
    assert da.full_like(x, 3).dtype == np.int16
    assert da.zeros_like(x, dtype=da.float64).dtype == np.float64
    assert da.empty_like(x).shape == (2,)
