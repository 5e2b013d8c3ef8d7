"""Operators called again and again take a shorter way, which must not be seen but by its speed."""

from __future__ import annotations

import numpy as np
import pytest
from core_harness import TestDevice, get, install, put

from device_api import _core, errors
from device_api._core import Device


def test_repeated_operators_count_as_hits_and_runs(toy: TestDevice, device: Device) -> None:
    a, b = put(device, np.float32([1, 2])), put(device, np.float32([10, 20]))
    device.reset_kernel_runs()
    before = _core.cache_info()["hits"]
    for i in range(20):
        assert get(a + b).tolist() == [11, 22]
        toy.control.launches = i
    assert _core.cache_info()["hits"] == before + 19
    assert device.kernel_runs()["add"] == 20


def test_operands_of_every_kind_take_turns(device: Device) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-9, 9, shape).astype(np.float32) for shape in [(4,), (3, 4), (1, 4), (3, 1), ()]]
    tensors = [put(device, each) for each in arrays]
    for _ in range(400):
        i, j = rng.integers(len(arrays), size=2)
        np.testing.assert_array_equal(get(tensors[i] + tensors[j]), arrays[i] + arrays[j])


def test_a_view_with_the_same_layout_reads_its_own_place(device: Device) -> None:
    whole = put(device, np.arange(12, dtype=np.float32))
    views = [_core.view(whole, whole.dtype_code, (4,), (1,), 16 * i) for i in range(3)]
    for _ in range(3):
        for i, view in enumerate(views):
            assert get(view + view).tolist() == [2 * (4 * i + k) for k in range(4)]


def test_forgotten_plans_are_not_used(device: Device) -> None:
    for n in range(1, 200):
        a = put(device, np.full(n, 1, np.float32))
        for _ in range(2):
            assert get(a + a).tolist() == [2] * n
        if n % 10 == 0:
            _core.clear_plans()


def test_calls_are_recorded_as_soon_as_an_operand_needs_a_gradient(toy: TestDevice, device: Device) -> None:
    calls: list[int] = []
    restore = install(lambda op, *rest: calls.append(op))
    try:
        a, b = put(device, np.float32([1])), put(device, np.float32([2]))
        for _ in range(3):
            a + b
        assert not calls
        b.requires_grad = True
        a + b
        assert len(calls) == 1
    finally:
        restore()


def test_two_devices_with_equal_layouts_keep_apart(toy: TestDevice) -> None:
    first, second = toy.open(0), toy.open(1)
    a, b = put(first, np.float32([1])), put(second, np.float32([5]))
    for _ in range(3):
        assert get(a + a).tolist() == [2]
        result = b + b
        assert (result.device is second, get(result).tolist()) == (True, [10])
        with pytest.raises(errors.DeviceMismatch):
            a + b


def test_a_kernel_that_fails_or_lacks_memory_does_so_as_on_the_long_way(
    toy: TestDevice, device: Device
) -> None:
    a = put(device, np.float32([1, 2]))
    for _ in range(3):
        a + a
    toy.control.kernel_memory_fails = 1
    assert get(a + a).tolist() == [2, 4]
    toy.control.kernel_memory_fails = 5
    with pytest.raises(errors.DeviceOutOfMemory, match="add"):
        a + a
    toy.control.kernel_memory_fails = 0
    stats = device.memory_stats()["allocated"]
    assert get(a + a).tolist() == [2, 4]
    assert device.memory_stats()["allocated"] == stats
    device.retire()
    with pytest.raises(errors.DeviceUnavailable):
        a + a
