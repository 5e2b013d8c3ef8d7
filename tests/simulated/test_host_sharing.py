"""Managed memory and memory of others, on the simulated accelerator and the CPU."""

from __future__ import annotations

import pytest
from simulated_driver import Host

MODES = pytest.mark.parametrize("mode", ["lazy", "eager"])
DEVICES = pytest.mark.parametrize("device", ["sim", "cpu"])


def good(host: Host, body: str, **settings: object) -> None:
    ran = host(body + "\nprint('end')", **settings)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stdout + ran.stderr


@MODES
@DEVICES
def test_host_and_device_work_on_managed_memory_in_turns(host: Host, mode: str, device: str) -> None:
    good(host, f"device = {device!r}" + """
x = da.managed_empty((300, 4), "float32", device)
expected = np.zeros((300, 4), np.float32)
with da.host_view(x) as array:
    assert array.shape == (300, 4) and array.dtype == np.float32
    array[:] = expected
for i in range(5):
    before = x.version
    x += 1
    with da.Stream(device):
        y = x * 2               # reads what the default stream wrote
    with da.host_view(x) as array:  # waits for both
        assert (array == i + 1).all()
        array[i] -= 1
        expected[i] -= 1
    with da.host_view(x[i]) as array:
        array += 1
        expected[i] += 1
    assert x.version > before
    assert (y.numpy() == 2 * i + 2).all()
with da.host_view(da.managed_empty((0, 3), device=device)) as array:
    assert array.shape == (0, 3)
""", MODE=mode)  # fmt: skip


def test_managed_memory_serves_again_only_behind_the_work_that_uses_it(host: Host) -> None:
    good(host, """
for i in range(20):
    x = da.managed_empty((5000,), device="sim")
    with da.host_view(x) as array:
        array[:] = i
    with da.Stream("sim"):
        y = x + 1
    del x, array
    z = da.managed_empty((5000,), device="sim")
    z -= z
    assert (y.numpy() == i + 1).all()
del y, z
da.synchronize("sim")
da.empty_cache("sim")
assert not [each for each in da.memory_snapshot("sim") if each["kind"] == "managed"]
""", MODE="eager", MAX_DELAY_US=3000)  # fmt: skip


@MODES
@DEVICES
def test_a_buffer_of_somebody_else_becomes_a_tensor_and_comes_back_once(
    host: Host, mode: str, device: str
) -> None:
    good(host, f"device = {device!r}" + """
import gc
buffer, back = np.arange(1000, dtype=np.float32), []
x = da.wrap_memory(buffer.ctypes.data, (10, 100), "float32", device, release=lambda: back.append(buffer[-1]))
x *= 2
y, part = x + 1, x[3]
del x
gc.collect()
assert back == []
z = part - 1
del part
da.synchronize(device)
gc.collect()
da.synchronize(device)
assert back == [1998], back
assert (buffer == 2 * np.arange(1000)).all()
assert (y.numpy().ravel() == buffer + 1).all() and (z.numpy() == buffer[300:400] - 1).all()
whole = da.wrap_memory(buffer.ctypes.data, 1000, np.float32, device)
assert float(da.sum(whole)) == buffer.sum()
""", MODE=mode)  # fmt: skip


def test_what_a_device_cannot_share_is_a_typed_error(host: Host) -> None:
    good(host, """
def raises(kind, action):
    try:
        action()
    except kind as error:
        assert "sim" in str(error) or "address" in str(error), error
        return
    raise AssertionError
def look(x):
    with da.host_view(x):
        pass
raises(da.UnsupportedOp, lambda: look(da.ones((3,), device="sim")))
raises(da.AttributeValueError, lambda: da.wrap_memory(0, (3,), "float32", "sim"))
raises(da.AttributeValueError, lambda: da.wrap_memory(4098, (3,), "float64", "cpu"))
raises(da.DeviceOutOfMemory, lambda: da.managed_empty((1 << 30,), device="sim"))
""", MEMORY=1 << 22)  # fmt: skip
