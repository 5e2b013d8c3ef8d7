"""Kernels written in Python: chosen after native ones and before compositions, mixed with both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da
from device_api import _core
from device_api.ops import python_kernels

DEVICE = Mask(hidden=("exp", "tanh", "softmax"))
calls: list[tuple[Any, ...]] = []


def exp_kernel(
    inputs: Sequence[da.Tensor | None], outputs: Sequence[da.Tensor], attributes: Mapping[str, Any]
) -> None:
    """exp by NumPy."""
    (x,) = inputs
    assert x is not None
    assert x.is_contiguous
    calls.append((x.shape, dict(attributes)))
    result = np.exp(x.numpy())
    _core.copy_bytes(da.asarray(result, device=x.device), outputs[0])


@pytest.fixture(autouse=True)
def registered() -> Iterator[str]:
    device = masked(DEVICE)
    kind = device.partition(":")[0]
    calls.clear()
    entry = python_kernels.register("exp", kind, exp_kernel)
    yield device
    python_kernels.unregister(entry)


def test_a_python_kernel_serves_an_op_the_device_lacks(registered: str) -> None:
    x = da.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=registered)
    np.testing.assert_allclose(da.exp(x.T).numpy(), np.exp(x.numpy().T), rtol=1e-6)
    assert calls == [((3, 2), {})]
    assert da.fallback_report() == ()
    assert python_kernels.registered(x.device.type) == ("exp",)


def test_it_is_used_inside_compositions_between_native_kernels(registered: str) -> None:
    x = da.asarray([[1.0, 2.0], [3.0, 5.0]], device=registered)
    expected = np.exp(x.numpy()) / np.exp(x.numpy()).sum(1, keepdims=True)
    np.testing.assert_allclose(da.softmax(x, axis=1).numpy(), expected, rtol=1e-6)
    assert len(calls) == 1


def test_it_may_write_into_out_even_where_out_is_an_operand(registered: str) -> None:
    x = da.asarray([0.0, 1.0], device=registered)
    da.exp(x, out=x)
    np.testing.assert_allclose(x.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)


def test_forgetting_it_brings_the_fallback_back(registered: str) -> None:
    x = da.ones((2,), device=registered)
    newer = python_kernels.register("tanh", x.device.type, exp_kernel)
    da.tanh(x)
    python_kernels.unregister(newer)
    with pytest.raises(da.FallbackForbidden):
        da.tanh(x)


def test_a_name_that_is_no_op_is_refused() -> None:
    with pytest.raises(da.AttributeValueError, match="exq"):
        python_kernels.register("exq", "cpu", exp_kernel)


def test_an_exception_in_a_python_kernel_reaches_the_caller(registered: str) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("inside")

    x = da.ones((2,), device=registered)
    entry = python_kernels.register("exp", x.device.type, broken)
    with pytest.raises(ZeroDivisionError, match="inside"):
        da.exp(x)
    python_kernels.unregister(entry)
    assert (x + x).tolist() == [2, 2]
