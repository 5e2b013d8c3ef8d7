"""Writing into given tensors: strided, aliased, in place, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from masked_devices import Mask, masked
from paired_operands import shapes, values, viewed

import device_api as da

DEVICES = {"cpu": None, "contiguous only": Mask(contiguous=True), "rank 3": Mask(max_rank=3)}


def device_of(name: str) -> str:
    mask = DEVICES[name]
    return "cpu" if mask is None else masked(mask)


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_a_strided_out_gets_the_result_and_its_gaps_stay(device: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=4))
    place = device_of(device)
    x = data.draw(viewed(shape, "int32", place))
    y = data.draw(viewed(shape, "int32", place))
    order = data.draw(st.permutations(range(len(shape))))
    steps = [data.draw(st.sampled_from((1, 2, -1, -2))) for _ in shape]
    base = [(shape[axis] * abs(step)) for axis, step in zip(order, [steps[a] for a in order], strict=True)]
    key = (..., *(slice(None, None, steps[axis]) for axis in order))
    inverse = tuple(int(i) for i in np.argsort(order))
    expected = np.full(base, -77, np.int32)
    whole = da.full(tuple(base), -77, dtype=np.int32, device=place)
    np.add(x.array, y.array, out=np.transpose(expected[key], inverse))
    target = da.permute_dims(whole[key], inverse)
    assert da.add(x.tensor, y.tensor, out=target) is target
    np.testing.assert_array_equal(whole.numpy(), expected)


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_out_that_overlaps_an_operand_behaves_as_if_operands_were_read_first(
    device: str, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, 12))
    room = size * 2 + 4
    place = device_of(device)
    op = data.draw(st.sampled_from(("add", "subtract", "maximum")))
    array = values("int32", room, data.draw(st.integers(0, 99)))
    tensor = da.asarray(array, device=place)
    keys = []
    for _ in range(3):
        step = data.draw(st.sampled_from((1, 2, -1, -2)))
        start = data.draw(st.integers(0, room - (size - 1) * abs(step) - 1))
        stop = start + size * abs(step)
        key = slice(start, min(stop, room), abs(step))
        keys.append((key, step < 0))

    def part(source: Any, key: tuple[slice, bool]) -> Any:
        chosen = source[key[0]]
        return chosen[::-1] if key[1] else chosen

    expected = array.copy()
    result = getattr(np, op)(part(array, keys[0]), part(array, keys[1]))
    part(expected, keys[2])[...] = result
    getattr(da, op)(part(tensor, keys[0]), part(tensor, keys[1]), out=part(tensor, keys[2]))
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize("device", DEVICES)
def test_in_place_operators_write_the_memory_of_the_tensor(device: str) -> None:
    x = da.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=device_of(device))
    view = x[:, 1]
    kept = x
    x += 1
    x *= x
    assert x is kept
    assert view.tolist() == [4.0, 25.0]
    view -= 4
    assert x.tolist() == [[1.0, 0.0, 9.0], [16.0, 21.0, 36.0]]


def test_in_place_on_a_transposed_view_of_itself() -> None:
    array = np.arange(9.0).reshape(3, 3)
    x = da.asarray(array)
    x += x.T
    np.testing.assert_array_equal(x.numpy(), array + array.T)


def test_a_fused_step_may_write_over_its_parameter() -> None:
    parameter = da.asarray([1.0, 2.0])
    gradient = da.asarray([1.0, 1.0])
    da.sgd_step(parameter, gradient, 0.5, weight_decay=0.5, out=parameter)
    assert parameter.tolist() == [0.25, 1.0]


def test_out_of_another_shape_is_refused_even_when_it_would_stretch() -> None:
    x = da.ones((1, 3))
    for shape in ((3,), (2, 3), (1, 3, 1)):
        with pytest.raises(da.ShapeError, match="out") as caught:
            da.add(x, x, out=da.zeros(shape))
        assert caught.value.op == "add"
        assert caught.value.shapes == ((1, 3), shape)


def test_out_of_another_dtype_is_refused() -> None:
    x = da.ones((3,))
    with pytest.raises(da.DTypeError, match=r"float32.*float64"):
        da.add(x, x, out=da.zeros((3,), dtype=da.float64))
    with pytest.raises(da.DTypeError, match="out"):
        x += da.ones((3,), dtype=da.complex64)
    assert x.tolist() == [1, 1, 1]


def test_out_of_another_device_is_refused() -> None:
    other = masked(Mask())
    x = da.ones((3,))
    with pytest.raises(da.DeviceMismatch) as caught:
        da.add(x, x, out=da.zeros((3,), device=other))
    assert set(caught.value.devices or ()) == {"cpu:0", other}


def test_a_broadcast_out_is_refused() -> None:
    x = da.ones((4, 3))
    with pytest.raises(da.ShapeError, match=r"share|memory"):
        da.add(x, x, out=da.broadcast_to(da.zeros((3,)), (4, 3)))


def test_a_broadcast_operand_cannot_be_the_target_of_an_in_place_operator() -> None:
    x = da.ones((3,))
    with pytest.raises(da.ShapeError, match="out"):
        x += da.ones((2, 3))


def test_a_copy_that_is_no_op_at_all_does_not_share_memory() -> None:
    x = da.asarray([1.0, 2.0])
    for same in (da.astype(x, da.float32), da.clip(x), +x, da.roll(x, 0), da.concat([x])):
        same += 1
        assert x.tolist() == [1.0, 2.0]


def test_zero_size_results_run_no_kernel() -> None:
    device = da.device("cpu")
    x = da.zeros((0, 3))
    device.reset_kernel_runs()
    for result in (x + x, da.exp(x), x @ da.ones((3, 2)), da.sum(x, axis=1), da.where(x > 0, x, x)):
        assert result.size == 0
    assert device.kernel_runs().get("add", 0) == 0
    assert device.kernel_runs().get("batch_matmul", 0) == 0


def test_a_product_over_nothing_writes_zeros() -> None:
    for device in ("cpu", masked(Mask(contiguous=True, max_rank=3))):
        poison = da.full((2, 3), np.nan, device=device)
        del poison
        result = da.zeros((2, 0), device=device) @ da.zeros((0, 3), device=device)
        assert result.tolist() == [[0.0] * 3] * 2
