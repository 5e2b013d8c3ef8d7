"""Calls that do not fit: each a typed error that names what, where, why, and what would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da
from device_api import dtypes

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def x(**options: Any) -> da.Tensor:
    return da.asarray(X, **options)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: x() + da.ones((2, 2)), da.ShapeError, r"add.*\(2, 3\).*\(2, 2\)"),
        (lambda: x() @ x(), da.ShapeError, r"matmul.*\(2, 3\)"),
        (lambda: da.ones(()) @ x(), da.ShapeError, "matmul"),
        (lambda: da.concat([x(), da.ones((3, 3))], axis=1), da.ShapeError, "concat"),
        (lambda: da.reshape(x(), (4, 2)), da.ShapeError, "reshape"),
        (lambda: da.reshape(x(), (-1, -1)), da.ShapeError, "reshape"),
        (lambda: da.broadcast_to(x(), (3, 3)), da.ShapeError, "broadcast_to"),
        (lambda: da.squeeze(x(), 0), da.ShapeError, "squeeze"),
        (lambda: da.zeros((2, -1)), da.ShapeError, "negative"),
        (lambda: da.max(da.zeros((0, 2)), axis=0), da.ShapeError, "max"),
        (lambda: da.softmax(x(), axis=2), da.AxisError, "axis 2"),
        (lambda: da.softmax(x(), axis=-3), da.AxisError, "axis -3"),
        (lambda: da.sum(x(), axis=(0, -2)), da.AxisError, "twice"),
        (lambda: da.permute_dims(x(), (0, 0)), da.AxisError, "twice"),
        (lambda: da.softmax(da.ones(()), axis=0), da.AxisError, "0-d"),
        (lambda: da.softmax(x(), axis=0.5), da.AttributeValueError, "axis.*integer"),
        (lambda: da.astype(x(), "text"), da.AttributeValueError, "dtype"),
        (lambda: da.bitwise_and(x(), x()), da.DTypeError, "bitwise_and.*float32"),
        (lambda: da.floor_divide(da.ones(1, dtype=da.complex64), 1), da.DTypeError, "floor_divide"),
        (lambda: da.ones(1, dtype=da.uint64) + da.ones(1, dtype=da.int8), da.DTypeError, "int8.*uint64"),
        (lambda: da.where(x(), x(), x()), da.DTypeError, "condition"),
        (lambda: da.take(x(), da.asarray([2])), da.IndexOutOfRange, "take.*cpu:0"),
        (lambda: da.take(x(), da.asarray([-3])), da.IndexOutOfRange, "take"),
        (lambda: da.cross_entropy(x(), da.asarray([0, 3])), da.IndexOutOfRange, "range"),
    ],
)  # fmt: skip
def test_wrong_calls_raise_typed_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    for _ in range(2):  # the first call plans, the second could find a cached plan
        with pytest.raises(error, match=f"(?s){words}"):
            call()
    assert (x() + 1).tolist() == (X + 1).tolist()


def test_the_built_in_exceptions_are_bases() -> None:
    for ours, builtin in (
        (da.ShapeError, ValueError),
        (da.AxisError, IndexError),
        (da.DTypeError, TypeError),
        (da.DeviceMismatch, ValueError),
        (da.IndexOutOfRange, IndexError),
        (da.UnsupportedOp, NotImplementedError),
        (da.DeviceOutOfMemory, MemoryError),
    ):
        assert issubclass(ours, builtin)


def test_tensors_of_two_devices_do_not_meet() -> None:
    other = masked(Mask())
    with pytest.raises(da.DeviceMismatch, match=f"(?s)cpu:0.*{other}|{other}.*cpu:0"):
        x() + x(device=other)


def test_a_dtype_without_a_kernel_lists_what_there_is() -> None:
    device = masked(Mask(hidden=("exp",), without_dtypes=(dtypes.FLOAT64, dtypes.FLOAT16)))
    with da.fallback("error"):
        with pytest.raises(
            da.FallbackForbidden, match=r"sin.*float64.*there are kernels for .*float32"
        ) as caught:
            da.sin(x(dtype=da.float64, device=device))
        assert "float32" in (caught.value.available or ())
        assert (da.sin(x(device=device)).numpy() == da.sin(x()).numpy()).all()


def test_a_dtype_that_memory_does_not_hold_is_refused_with_the_list() -> None:
    device = masked(Mask(unheld_dtypes=(dtypes.FLOAT64, dtypes.COMPLEX128)))
    for make in (
        lambda: x(dtype=da.float64, device=device),
        lambda: da.zeros((2,), dtype=da.float64, device=device),
        lambda: da.empty((2,), dtype=da.complex128, device=device),
        lambda: da.astype(x(device=device), da.float64),
        lambda: da.to_device(x(dtype=da.float64), device),
    ):
        with pytest.raises(da.DTypeError, match=rf"{device} does not hold (float64|complex128).*float32"):
            make()


def test_more_memory_than_there_is_is_an_error_and_everything_goes_on() -> None:
    before = da.memory_allocated("cpu")
    for make in (
        lambda: da.empty((1 << 50,), dtype=da.float32),
        lambda: da.zeros((1 << 25, 1 << 25), dtype=da.int8),
        lambda: da.broadcast_to(da.ones((1,)), (1 << 50,)) + 1,
        lambda: da.ones((1 << 25, 1)) @ da.ones((1, 1 << 25)),
    ):
        with pytest.raises(da.DeviceOutOfMemory, match="memory") as caught:
            make()
        del caught
    assert da.memory_allocated("cpu") == before
    assert (x() + 1).tolist() == (X + 1).tolist()


def test_sizes_beyond_64_bits_are_an_error() -> None:
    for make in (
        lambda: da.zeros((1 << 40, 1 << 40)),
        lambda: da.empty((1 << 70,)),
        lambda: da.broadcast_to(da.ones((1,)), (1 << 32, 1 << 32)) + 1,
    ):
        with pytest.raises((da.ShapeError, da.DeviceOutOfMemory)):
            make()


def test_a_memory_limit_is_kept_and_can_be_lifted() -> None:
    device = masked(Mask(hidden=("erf",)))
    da.set_memory_limit(1 << 20, device)
    with pytest.raises(da.DeviceOutOfMemory):
        da.zeros((1 << 20,), device=device)
    assert da.zeros((1 << 10,), device=device).size == 1 << 10
    da.set_memory_limit(0, device)
    assert da.zeros((1 << 20,), device=device).size == 1 << 20


def test_moving_never_loses_a_gradient() -> None:
    other = masked(Mask())
    weight = x()
    weight.requires_grad = True
    (gradient,) = da.grad(da.sum(weight.to_device(other) * 3.0), [weight])
    assert gradient.device == weight.device
    assert (gradient.numpy() == 3).all()
    with da.no_grad():
        assert weight.to_device(other).device == other
    assert weight.detach().to_device(other).to_device("cpu").tolist() == X.tolist()
