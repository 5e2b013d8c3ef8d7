"""Elementwise ops on every layout, shape and broadcast, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from masked_devices import PRIMITIVES, Mask, masked
from paired_operands import COMPLEX, FLOATS, INTEGERS, broadcastable, shapes, viewed

import device_api as da

BINARY = {
    "add": INTEGERS + FLOATS + COMPLEX,
    "subtract": INTEGERS + FLOATS + COMPLEX,
    "multiply": INTEGERS + FLOATS + COMPLEX,
    "maximum": ("bool", *INTEGERS, *FLOATS),
    "minimum": ("bool", *INTEGERS, *FLOATS),
    "equal": ("bool", *INTEGERS, *FLOATS, *COMPLEX),
    "less": ("bool", *INTEGERS, *FLOATS),
    "bitwise_xor": ("bool", *INTEGERS),
    "logical_and": ("bool",),
}
UNARY = {
    "negative": (*INTEGERS, *FLOATS, *COMPLEX),
    "abs": (*INTEGERS, *FLOATS),
    "square": (*INTEGERS, *FLOATS, *COMPLEX),
    "bitwise_invert": ("bool", *INTEGERS),
    "isfinite": (*FLOATS, *COMPLEX),
    "floor": FLOATS,
    "exp": ("float32", "float64"),
}
DEVICES = {
    "cpu": None,
    "contiguous only": Mask(contiguous=True),
    "rank 3": Mask(max_rank=3),
    "rank 3, contiguous only": Mask(max_rank=3, contiguous=True),
    "primitives": Mask(only=PRIMITIVES),
}


def device_of(name: str) -> str:
    mask = DEVICES[name]
    return "cpu" if mask is None else masked(mask)


def same(result: da.Tensor, expected: npt.NDArray[Any]) -> None:
    """Equal in shape, dtype and value; floats within a few units in the last place."""
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    found = result.numpy()
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
    else:
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        close = {"float16": 4e-3, "bfloat16": 3e-2}.get(expected.dtype.name, 1e-6)
        np.testing.assert_allclose(found.astype(wide), expected.astype(wide), rtol=close, atol=close)


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_binary_ops_take_any_layout_and_broadcast(device: str, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(sorted(BINARY)))
    name = data.draw(st.sampled_from(BINARY[op]))
    shape = data.draw(shapes())
    place = device_of(device)
    x = data.draw(viewed(shape, name, place))
    y = data.draw(viewed(data.draw(broadcastable(shape)), name, place))
    if data.draw(st.booleans()):
        x, y = y, x
    same(getattr(da, op)(x.tensor, y.tensor), getattr(np, op)(x.array, y.array))


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_unary_ops_take_any_layout(device: str, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(sorted(UNARY)))
    name = data.draw(st.sampled_from(UNARY[op]))
    x = data.draw(viewed(data.draw(shapes()), name, device_of(device)))
    same(getattr(da, op)(x.tensor), getattr(np, op)(x.array))


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_where_broadcasts_all_three_operands(device: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=4))
    place = device_of(device)
    condition = data.draw(viewed(data.draw(broadcastable(shape)), "bool", place))
    x = data.draw(viewed(data.draw(broadcastable(shape)), "float32", place))
    y = data.draw(viewed(shape, "float32", place))
    same(da.where(condition.tensor, x.tensor, y.tensor), np.where(condition.array, x.array, y.array))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("rank", range(8))
def test_a_size_of_one_stretches_in_every_position_up_to_rank_seven(side: str, rank: int) -> None:
    whole = np.arange(2**rank, dtype=np.int32).reshape((2,) * rank)
    for axis in range(rank):
        thin = whole.take([1], axis=axis)
        operands = (thin, whole) if side == "left" else (whole, thin)
        result = da.subtract(*(da.asarray(each) for each in operands))
        np.testing.assert_array_equal(result.numpy(), np.subtract(*operands))


def test_rank_32_is_folded_for_a_device_that_takes_3() -> None:
    device = masked(Mask(max_rank=3))
    array = np.arange(2**12, dtype=np.float32).reshape((2, 1) * 12 + (1,) * 8)
    order = tuple(reversed(range(32)))
    tensor = da.permute_dims(da.asarray(array, device=device), order)
    np.testing.assert_array_equal((tensor + 1).numpy(), np.transpose(array, order) + 1)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX])
def test_python_numbers_take_the_dtype_of_the_tensor(dtype: str) -> None:
    x = da.ones((2,), dtype=dtype)
    assert (x + 1).dtype == x.dtype
    assert (2 * x).numpy().tolist() == [2, 2]


@pytest.mark.parametrize(("dtype", "value"), [("int8", 128), ("int8", -129), ("uint8", -1), ("int64", 2**63)])
def test_a_python_integer_that_does_not_fit_is_an_error_each_time(dtype: str, value: int) -> None:
    x = da.ones((2,), dtype=dtype)
    assert (x + 1).numpy().tolist() == [2, 2]
    for _ in range(2):
        with pytest.raises(OverflowError):
            x + value


def test_one_plan_serves_all_values_of_a_python_number() -> None:
    x = da.ones((3,))
    before = (x + 1.0, da.cache_info())[1]
    for value in (2.0, -3.5, float("inf")):
        assert (x + value).numpy().tolist() == [1 + value] * 3
    after = da.cache_info()
    assert after["misses"] == before["misses"]


def test_numpy_scalars_and_arrays_and_lists_stand_beside_tensors() -> None:
    x = da.asarray([1.0, 2.0])
    assert (x + np.float32(1)).numpy().tolist() == [2, 3]
    assert (np.asarray([1.0, 2.0], np.float32) * x).numpy().tolist() == [1, 4]
    assert (x - [1.0, 1.0]).numpy().tolist() == [0, 1]
    with pytest.raises(TypeError):
        x + "text"
