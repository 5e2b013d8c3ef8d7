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


@MODES
def test_managed_memory_serves_again_only_behind_the_work_that_uses_it(host: Host, mode: str) -> None:
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
""", MODE=mode, MAX_DELAY_US=3000)  # fmt: skip


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


@MODES
def test_pinned_and_managed_memory_are_counted_and_managed_memory_is_under_the_limit(
    host: Host, mode: str
) -> None:
    good(host, """
def stats():
    return da.memory_stats("sim")
pinned = da.pinned_empty((1 << 18,), "uint8", "sim")
managed = da.managed_empty((3 << 19,), "uint8", "sim")
now = stats()
assert now["pinned_allocated"] == 1 << 18 and now["managed_allocated"] == 3 << 19, now
assert now["pinned_reserved"] >= 1 << 18 and now["managed_reserved"] >= 3 << 19, now
assert now["allocated"] == now["reserved"] == 0, now
del pinned, managed
assert stats()["managed_allocated"] == 0 and stats()["managed_peak_allocated"] == 3 << 19
da.reset_peak_memory_stats("sim")
assert stats()["managed_peak_allocated"] == stats()["pinned_peak_allocated"] == 0
assert stats()["managed_peak_reserved"] == now["managed_reserved"]
da.empty_cache("sim")
assert stats()["managed_reserved"] == stats()["pinned_reserved"] == 0
da.set_memory_limit(8 << 20, "sim")
managed = da.managed_empty((6 << 20,), "uint8", "sim")
da.pinned_empty((16 << 20,), "uint8", "sim")   # memory of the host
for more in (lambda: da.ones((1 << 20,), device="sim"), lambda: da.managed_empty((1 << 20,), device="sim")):
    try:
        more()
    except da.DeviceOutOfMemory as error:
        assert "limit of 8388608 bytes" in str(error), error
        continue
    raise AssertionError
managed *= 2
del managed
assert da.ones((1 << 20,), device="sim").numpy().sum() == 1 << 20   # in the place of what was cached
assert stats()["retries"] > 0
""", MODE=mode)  # fmt: skip


def test_pinned_memory_that_ran_out_is_asked_for_again_when_caches_are_empty(host: Host) -> None:
    good(host, """
from device_api import layers
layers.use("sim", "fault(spec=memory.allocate:1:out_of_memory,memory.allocate:2:out_of_memory)")
assert da.pinned_empty((100,), device="sim").shape == (100,)
assert da.memory_stats("sim")["retries"] == 1
""")  # fmt: skip


@MODES
@pytest.mark.parametrize(
    "held",
    [
        "y = np.asarray(da.ones((1000,)))",
        "y = da.managed_empty((1000,), device='sim')\nwith da.host_view(y) as array: array[:] = 1",
        "x = da.managed_empty((1000,), device='sim') + 1",
        "y = da.pinned_empty((1000,), device='sim')",
        "array = np.ones(1000, np.float32)\n"
        "x = da.wrap_memory(array.ctypes.data, (1000,), 'float32', 'sim')\nx *= 2",
        "array = np.ones(1000, np.float32)\nx = da.wrap_memory(array.ctypes.data, (1000,), 'float32', 'cpu')",
    ],
    ids=["numpy", "host view", "managed", "pinned", "wrapped", "wrapped by the CPU"],
)
def test_memory_that_others_hold_at_the_end_is_no_leak(host: Host, mode: str, held: str) -> None:
    ran = host(f"""
from device_api import layers
layers.use("sim", "validate")
layers.use("cpu", "validate")
{held}
""", MODE=mode)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    # A plugin that was not needed says nothing.
    assert "0 findings" in ran.stderr, ran.stderr
    assert "VAL-" not in ran.stderr, ran.stderr
