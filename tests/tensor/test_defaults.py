"""The default dtype, the parts of real numbers, in-place operators with wider operands: what clients need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import device_api as da
from device_api.ops import _functions as F


@pytest.fixture
def double_precision() -> Iterator[None]:
    da.set_default_dtype(da.float64)
    yield
    da.set_default_dtype(da.float32)


def _made() -> dict[str, np.dtype]:
    """What is made without a dtype of its own, by how."""
    whole = da.asarray([1, 4])
    tensors = {
        "numbers": da.asarray([0.5]), "nested": da.asarray([[1, 0.5]]), "zeros": da.zeros(2),
        "ones": da.ones(2), "empty": da.empty(2), "eye": da.eye(2), "full": da.full(2, 1.5),
        "arange": da.arange(0.5, 2.0), "linspace": da.linspace(0, 1, 3), "uniform": da.uniform(2),
        "normal": da.normal(2), "exponential": da.exponential(2), "quotient": whole / whole,
        "root": da.sqrt(whole), "scaled": whole * 0.5, "mean": da.mean(whole),
        "frequencies": da.fft.fftfreq(4), "one hot": da.one_hot(da.asarray([1]), 2),
        "pinned": da.pinned_empty(2),
        "from the op set": F.zeros((2,), device=da.device("cpu")),
        "identity": F.eye(2, device=da.device("cpu")),
    }  # fmt: skip
    return {name: tensor.dtype for name, tensor in tensors.items()}


def test_float32_is_the_default_at_the_start() -> None:
    assert da.get_default_dtype() == np.float32
    assert set(_made().values()) == {np.dtype(np.float32)}


@pytest.mark.usefixtures("double_precision")
def test_another_default_dtype_holds_for_all_that_is_made_without_one() -> None:
    assert {name: dtype for name, dtype in _made().items() if dtype != np.float64} == {}
    assert da.asarray([1j]).dtype == np.complex128
    assert (da.asarray([1]) * 1j).dtype == np.complex128
    assert da.__array_namespace_info__().default_dtypes()["complex floating"] == np.complex128


def test_plans_made_with_the_old_default_are_forgotten() -> None:
    whole = da.asarray([1, 2])
    assert (whole * 0.5).dtype == np.float32
    da.set_default_dtype(da.float64)
    try:
        assert (whole * 0.5).dtype == np.float64
    finally:
        da.set_default_dtype(da.float32)
    assert (whole * 0.5).dtype == np.float32


@pytest.mark.usefixtures("double_precision")
def test_the_default_does_not_widen_tensors() -> None:
    x = da.asarray([1.0], dtype=da.float32)
    assert (x * 0.5).dtype == np.float32
    assert (x * 1j).dtype == np.complex64


@pytest.mark.parametrize("dtype", ["int64", "float16", "complex64", "bool"])
def test_only_two_dtypes_can_be_the_default(dtype: str) -> None:
    with pytest.raises(da.DTypeError, match="float32 or float64"):
        da.set_default_dtype(dtype)


def test_real_numbers_have_parts_too() -> None:
    x = da.asarray([1.5, -2.0])
    assert da.real(x).tolist() == [1.5, -2.0]
    assert x.imag.tolist() == [0.0, 0.0]
    assert x.imag.dtype == np.float32
    assert da.imag(da.asarray([1 + 2j])).tolist() == [2.0]


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("float32", "float64"), ("int8", "int64"), ("bfloat16", "float32"), ("complex64", "complex128")],
)
def test_in_place_operators_keep_the_dtype_of_what_they_change(narrow: str, wide: str) -> None:
    x = da.asarray([1, 2], dtype=narrow)
    same = x
    x += da.asarray([3, 4], dtype=wide)
    assert x is same
    assert x.dtype == da.asarray(0, dtype=narrow).dtype
    assert x.tolist() == [4, 6]


@pytest.mark.parametrize(
    ("left", "right"), [("int64", "float32"), ("uint8", "int64"), ("float32", "complex64")]
)
def test_in_place_operators_do_not_change_the_kind_of_numbers(left: str, right: str) -> None:
    x = da.asarray([1, 2], dtype=left)
    with pytest.raises(da.DTypeError, match="out"):
        x += da.asarray([1, 2], dtype=right)
    assert x.tolist() == [1, 2]


def test_out_still_has_the_dtype_of_the_result() -> None:
    with pytest.raises(da.DTypeError, match="out"):
        da.add(da.ones(2), da.ones(2, dtype=da.float64), out=da.ones(2))
