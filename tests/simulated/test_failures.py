"""Failures of queued work on the simulated accelerator: none is lost, none becomes a number."""

from __future__ import annotations

import pytest
from simulated_driver import Host

from device_api.loading.environment import VARIABLES

MODES = pytest.mark.parametrize("mode", ["lazy", "eager"])


def good(host: Host, body: str, **settings: object) -> str:
    ran = host(body, **settings)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


@MODES
def test_a_failure_is_not_lost_with_the_plan_that_queued_it(host: Host, mode: str) -> None:
    body = """
t = da.take(da.asarray(np.ones(3, np.float32), device="sim"), da.asarray([99], device="sim"))
da.clear_plans()
for _ in range(2):
    try:
        print(t.numpy())
    except da.IndexOutOfRange as error:
        print("raised", error.op)
"""
    out = good(host, body, MODE=mode)
    assert out.count("raised take") == 2, out


@MODES
def test_forgetting_plans_does_not_wait(host: Host, mode: str) -> None:
    body = """
x = da.asarray(np.ones(100, np.float32), device="sim")
for i in range(40):
    x = x * 1.0
start = time.perf_counter()
da.clear_plans()
taken = time.perf_counter() - start
assert not da.current_stream("sim").query()
assert (x.numpy() == 1).all()
print("did not wait")
"""
    assert "did not wait" in good(host, "import time\n" + body, MODE=mode, MAX_DELAY_US=100_000)


@MODES
def test_what_failed_work_should_have_written_never_becomes_a_number(host: Host, mode: str) -> None:
    body = """
x = da.asarray(np.ones(10, np.float32), device="sim")
kept = x * 3
da.synchronize("sim")
y = x * 2
z = y + 1
view = y[2:5]
try:
    da.synchronize("sim")
except da.KernelFailed as error:
    print("raised", error.op)
da.synchronize("sim")
uses = [y.numpy, z.numpy, view.numpy, lambda: (z + x).numpy(), lambda: float(y[0])]
for use in uses:
    try:
        print("number", use())
    except da.KernelFailed:
        print("refused")
def add(a):
    a += 1
try:
    add(y)
except da.KernelFailed:
    print("refused")
assert kept.numpy().tolist() == [3] * 10
da.multiply(x, 5, out=y)  # all of it is written anew
assert y.numpy().tolist() == [5] * 10
"""
    out = good(host, body, MODE=mode, FAIL_LAUNCH=4)
    assert "number" not in out
    assert out.split()[:8] == ["raised", "multiply", *["refused"] * 6], out


def test_threads_that_share_a_stream_are_each_told(host: Host) -> None:
    body = """
import threading
x = da.asarray(np.ones(10, np.float32), device="sim")
y = x * 2
told = []
def read():
    try:
        told.append(y.numpy())
    except da.KernelFailed as error:
        told.append("raised")
threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(told)
"""
    assert good(host, body, FAIL_LAUNCH=1).count("raised") == 4


@MODES
def test_a_stream_that_did_nothing_wrong_keeps_its_tensors(host: Host, mode: str) -> None:
    body = """
x = da.asarray(np.ones(10, np.float32), device="sim")
da.synchronize("sim")
with da.Stream("sim") as bad:
    y = x * 2
with da.Stream("sim") as fine:
    z = x * 3
    assert z.numpy().tolist() == [3] * 10
for wait in (bad.synchronize, y.numpy):
    try:
        wait()
    except da.KernelFailed:
        print("raised")
assert z.numpy().tolist() == [3] * 10
"""
    assert good(host, body, MODE=mode, FAIL_LAUNCH=1).count("raised") == 2


def test_at_the_end_nothing_holds_memory_not_even_live_tensors_and_untold_failures_are_logged(
    host: Host,
) -> None:
    body = """
import logging
logging.basicConfig(level="WARNING")
x = da.asarray(np.ones(10, np.float32), device="sim")
y = x * 2
del x, y
"""
    for ending in ("del x, y", "del y", ""):
        assert "never freed" not in good(host, body.replace("del x, y", ending))
    assert "SIM_FAIL_LAUNCH" in good(host, body, FAIL_LAUNCH=1)


@pytest.mark.parametrize("streams", [0, 1])
def test_the_direct_allocator_gives_every_tensor_memory_of_its_own(host: Host, streams: int) -> None:
    assert "DEVICE_API_ALLOCATOR" in VARIABLES
    body = """
tensors = [da.asarray(np.full(n, n % 256, np.uint8), device="sim") for n in (1, 65, 1000)]
blocks = [b for b in da.memory_snapshot("sim") if b["kind"] == "device"]
assert sorted(b["bytes"] for b in blocks) == [1, 65, 1000], blocks
assert len({b["chunk"] for b in blocks}) == 3
for t in tensors:
    assert (t + 1).numpy().tolist() == [t.size + 1 & 255] * t.size
x = da.asarray(np.random.rand(50, 50).astype(np.float32), device="sim")
twin = da.asarray(x.numpy())
assert np.allclose(da.softmax(x @ x).numpy(), da.softmax(twin @ twin).numpy())
del t, tensors, x
da.synchronize("sim")
da.empty_cache("sim")
assert da.memory_reserved("sim") == 0, da.memory_snapshot("sim")
print("own")
"""
    assert "own" in good(host, body, STREAMS=streams, ALLOCATOR="direct")
