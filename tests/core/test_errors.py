"""What plugins report reaches the user with its cause, whatever shape the report has."""

from __future__ import annotations

import logging

import core_harness
import numpy as np
import pytest
from core_harness import F32, FAIL, TestDevice, get, put, single

from device_api import _core, errors
from device_api._core import Device
from device_api.abi import constants


def fail(device: Device, code: int) -> None:
    _core.dispatch(FAIL, (put(device, np.ones((2, 3), np.int32)),), (code,))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *((code, errors.KernelFailed) for code in (5, 2, 0x12345, 0)),
        (3, errors.DeviceOutOfMemory),
        (9, errors.IndexOutOfRange),
        (8, errors.DeviceLost),
        (6, errors.DeviceTimeout),
        (1, errors.UnsupportedOp),
    ],
)
def test_a_status_becomes_its_exception_with_op_device_types_shapes_and_text(
    device: Device, code: int, error: type[errors.DeviceApiError]
) -> None:
    with pytest.raises(error) as caught:
        fail(device, code)
    text = str(caught.value)
    for fact in ("failing", "toy:0", "int32(2, 3)", "float32()", "vendor text 0x2A"):
        assert fact in text
    if error is errors.KernelFailed:
        assert isinstance(caught.value, errors.KernelFailed)
        assert (caught.value.op, caught.value.device, caught.value.code) == ("failing", "toy:0", code)
        assert caught.value.detail == "vendor text 0x2A"
    a = put(device, np.float32([1]))
    assert get(a + a).tolist() == [2]


def test_an_error_without_text_is_still_an_error(toy: TestDevice, device: Device) -> None:
    toy.control.silent_errors = 1
    with pytest.raises(errors.KernelFailed, match=r"gave no message \(status 5\)"):
        fail(device, 5)


def test_a_failed_call_keeps_no_memory(device: Device) -> None:
    for _ in range(3):
        with pytest.raises(errors.KernelFailed):
            fail(device, 5)
    assert device.memory_stats()["allocated"] == 0


def test_a_malformed_kernel_list_is_told_and_the_device_can_be_opened_later(toy: TestDevice) -> None:
    toy.control.broken_list = 1
    text = r"kernel.list failed: toy:0: kernel 0 \(add\) has no launch"
    with pytest.raises(errors.PluginFailed, match=text):
        toy.open()
    toy.control.broken_list = 0
    assert toy.open().kernels


def test_a_device_that_was_never_opened_is_refused() -> None:
    half_made = Device.__new__(Device)
    for use in (half_made.synchronize, half_made.memory_stats, lambda: half_made.synchronous):
        with pytest.raises(errors.DeviceUnavailable, match="never opened"):
            use()
    with pytest.raises(errors.DeviceUnavailable):
        _core.empty(half_made, F32, (1,))
    with pytest.raises(errors.DeviceUnavailable):
        _core.dispatch(1, (), device=half_made)
    half_made.retire()


def test_missing_tables_are_refused(toy: TestDevice) -> None:
    with pytest.raises(ValueError, match="memory"):
        Device("toy", 0, 1, {"kernel": 1, "device": 1}, toy.table("errors"), {})


def test_a_retired_device_has_given_all_back_refuses_work_and_lets_tensors_go(toy: TestDevice) -> None:
    before = toy.control.live_bytes
    device = toy.open()
    program = single(device, "prepared")
    tensors = [put(device, np.float32([1]))]
    device.retire()
    assert (toy.control.live_bytes, toy.control.released) == (before, 1)
    for use in (
        lambda: tensors[0] + 1.0,
        lambda: get(tensors[0]),
        device.synchronize,
        device.empty_cache,
    ):
        with pytest.raises(errors.DeviceUnavailable, match="shut down"):
            use()
    frees = toy.control.frees
    tensors.clear()
    del program
    assert (toy.control.frees, toy.control.released) == (frees, 1)


def test_a_device_that_says_it_is_synchronous_needs_no_stream(toy: TestDevice) -> None:
    device = toy.open(interfaces=("stream",), flags=constants.DA_DEVICE_SYNCHRONOUS)
    assert device.synchronous
    device.synchronize()
    assert toy.control.synchronizations == 1


def test_what_a_plugin_reports_on_its_own_is_raised_by_the_next_wait(toy: TestDevice) -> None:
    device = toy.open(interfaces=("stream",))
    assert not device.synchronous
    toy.library.set_host(core_harness.ctypes.c_void_p(_core.host_table_address()))
    try:
        program = single(device, "sleepy")
        for wait in (get, lambda _: device.synchronize()):
            (result,) = program.run([])
            with pytest.raises(errors.PluginFailed, match="the queue stopped"):
                wait(result)
        device.synchronize()
        # Told once; but what it should have written never becomes a number.
        for use in (get, lambda tensor: tensor + 1.0):
            with pytest.raises(errors.PluginFailed, match="the queue stopped"):
                use(result)
        assert get(put(device, np.float32([1])) + 1.0).tolist() == [2]
    finally:
        toy.library.set_host(None)


def test_log_lines_of_a_plugin_reach_logging(toy: TestDevice, caplog: pytest.LogCaptureFixture) -> None:
    device = toy.open()
    toy.library.set_host(core_harness.ctypes.c_void_p(_core.host_table_address()))
    try:
        with caplog.at_level(logging.DEBUG, "device_api.plugin"):
            single(device, "sleepy").run([])
            with pytest.raises(errors.PluginFailed):
                device.synchronize()
        assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
            ("device_api.plugin", "WARNING", "sleepy woke up")
        ]
    finally:
        toy.library.set_host(None)
