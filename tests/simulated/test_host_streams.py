"""Streams, events and stream-ordered memory of the host, on the simulated accelerator in both modes."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_driver import Host

MODES = pytest.mark.parametrize("mode", ["lazy", "eager"])


def good(host: Host, body: str, **settings: object) -> None:
    ran = host(body + "\nprint('end')", **settings)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stdout + ran.stderr


@MODES
@pytest.mark.parametrize("seed", range(3))
def test_random_interleavings_give_what_a_serial_program_gives(host: Host, mode: str, seed: int) -> None:
    text = Path(__file__).with_name("stream_program.py").read_text()
    good(host, f"SEED = {seed}\n{text}", MODE=mode, SEED=seed)
    good(host, f"SEED = {seed}\n{text}", MODE=mode, SEED=seed, ALLOCATOR="direct")
    good(host, f"SEED = {seed}\n{text}", MODE=mode, SEED=seed, MEMORY=9 << 20)


def test_each_thread_has_its_own_current_stream(host: Host) -> None:
    good(host, """
import threading
first, second = da.Stream("sim", priority=-1), da.Stream("sim")
assert first != second and first.priority == -1
default = da.default_stream("sim")
seen = []
with first:
    assert da.current_stream("sim") == first
    with second:
        assert da.current_stream("sim") == second
        thread = threading.Thread(target=lambda: seen.append(da.current_stream("sim")))
        thread.start(); thread.join()
    assert da.current_stream("sim") == first
    assert da.current_stream("sim:1") == da.default_stream("sim:1")
assert seen == [default] and da.current_stream("sim") == default
""")  # fmt: skip


@MODES
def test_a_queued_upload_and_a_download_into_pinned_memory_do_not_wait(host: Host, mode: str) -> None:
    good(host, """
stream = da.Stream("sim")
back = da.pinned_empty((1000,), "float32", "sim")
with stream:
    source = np.arange(1000, dtype=np.float32)
    x = da.asarray(source, device="sim")
    source[:] = -1
    y = x * 2
    da.copy_into(back, y, non_blocking=True)
    assert not stream.query()
    del x, y
# Whoever reads it waits for it.
np.testing.assert_array_equal(back.numpy(), 2 * np.arange(1000))
da.multiply(back, 0.5, out=back)
with stream:
    z = da.empty((1000,), device="sim")
    da.copy_into(z, back, non_blocking=True)
    back += 1  # behind the copy that still reads it
    np.testing.assert_array_equal(z.numpy(), np.arange(1000))
np.testing.assert_array_equal((back - 1).numpy(), np.arange(1000))
""", MODE=mode, MAX_DELAY_US=20_000)  # fmt: skip


@MODES
def test_events_order_time_and_limit_waits(host: Host, mode: str) -> None:
    good(host, """
stream = da.Stream("sim")
start, end, never = da.Event(timing=True), da.Event(timing=True), da.Event()
assert never.query()
never.synchronize()
with stream:
    start.record()
    x = da.ones((1000,), device="sim")
    for _ in range(20):
        x = x * 1.0
    end.record()
if not end.query():
    for wait in (end.synchronize, stream.synchronize):
        try:
            wait(timeout=0)
        except da.DeviceTimeout:
            pass
other = da.Stream("sim")
other.wait_event(end)
with other:
    assert float(da.sum(x)) == 1000
stream.synchronize(timeout=60)
end.synchronize(timeout=60)
assert end.query() and stream.query()
assert 0 <= start.elapsed_time(end) < 60_000
try:
    stream.synchronize(timeout=-1)
except da.AttributeValueError:
    pass
else:
    raise AssertionError
""", MODE=mode)  # fmt: skip


@MODES
def test_callbacks_run_once_in_order_with_the_status_of_the_work(host: Host, mode: str) -> None:
    good(host, """
stream, calls = da.Stream("sim"), []
with stream:
    x = da.ones((10,), device="sim")
    for i in range(5):
        x = x + 1
        stream.add_callback(lambda status, i=i: calls.append((i, status)))
stream.synchronize()
assert calls == [(i, 0) for i in range(5)], calls
stream.add_callback(lambda status: 1 / 0)
stream.synchronize()
cpu = da.Stream("cpu")
with cpu:
    cpu.add_callback(calls.append)
assert calls[-1] == 0 and cpu.query()
""", MODE=mode)  # fmt: skip


@MODES
def test_memory_is_not_used_again_while_another_stream_works_on_it(host: Host, mode: str) -> None:
    good(host, """
side = da.Stream("sim")
results = []
for i in range(30):
    x = da.full((20_000,), float(i), device="sim")
    with side:
        results.append(x * 2)     # a use by a stream that x does not belong to
        results[-1] = results[-1] + 0
    with da.Stream("sim"):
        results[-1] = results[-1] + 0
    x.record_stream(side)
    del x                         # its memory serves again only behind all of them
    y = da.full((20_000,), -1.0, device="sim")
    del y
for i, result in enumerate(results):
    assert (result.numpy() == 2 * i).all(), i
states = {b["state"] for b in da.memory_snapshot("sim")}
assert states <= {"used", "cached", "free"}
da.synchronize("sim")
del results, result
da.empty_cache("sim")
assert da.memory_reserved("sim") == 0
""", MODE=mode, MAX_DELAY_US=2000)  # fmt: skip


def test_out_of_memory_on_one_stream_takes_what_another_has_cached(host: Host) -> None:
    good(host, """
first, second = da.Stream("sim"), da.Stream("sim")
with first:
    held = [da.ones((1 << 18,), device="sim") for _ in range(16)]
    del held[::2]
with second:
    more = [da.ones((1 << 18,), device="sim") for _ in range(8)]
    assert sum(float(da.sum(each)) for each in more) == 8 << 18
assert da.memory_stats("sim")["retries"] >= 1
""", MEMORY=21 << 20)  # fmt: skip


def test_no_wait_holds_the_interpreter(host: Host) -> None:
    good(host, """
import threading, time
x = da.asarray(np.ones(10, np.float32), device="sim")
def ticks_during(wait):
    y = x
    for _ in range(30):
        y = y * 1.0
    count, stop = [0], threading.Event()
    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.01)
    before, start = count[0], time.perf_counter()
    wait(y)
    taken, ticks = time.perf_counter() - start, count[0] - before
    stop.set(); thread.join()
    assert taken < 0.05 or ticks > 5, (taken, ticks)
event = da.Event()
waits = [
    lambda y: y.numpy(),
    lambda y: da.synchronize("sim"),
    lambda y: da.current_stream("sim").synchronize(5),
    lambda y: (event.record(da.current_stream("sim")), event.synchronize()),
    lambda y: da.clear_plans(),
    lambda y: da.empty_cache("sim"),
    lambda y: y.to_device("sim:1").to_device("cpu"),
]
for wait in waits:
    ticks_during(wait)
""", MODE="eager", MAX_DELAY_US=30_000)  # fmt: skip


@MODES
def test_a_failure_is_met_again_whichever_stream_has_told_it(host: Host, mode: str) -> None:
    good(host, """
table = da.ones((5,), device="sim")
bad = da.asarray(np.array([99]), device="sim")
da.synchronize("sim")
side = da.Stream("sim")
for told in (da.synchronize, lambda: da.current_stream("sim").synchronize(60)):
    with side:
        x = da.take(table, bad, axis=0)
    y = x + 1    # follows the other stream
    for action in (y.numpy, x.numpy, y.numpy, lambda: (x + 2).numpy()):
        try:
            action()
        except da.IndexOutOfRange as error:
            assert "sim" in str(error)
            continue
        raise AssertionError
assert (table.numpy() == 1).all()
side.synchronize()
""", MODE=mode)  # fmt: skip


def test_streams_serve_again_and_do_not_pile_up(host: Host) -> None:
    good(host, """
names = set()
for _ in range(100):
    with da.Stream("sim") as stream:
        x = da.ones((10,), device="sim") + 1
        assert x.numpy().sum() == 20
    names.add(repr(stream))
    del stream
assert len(names) <= 3, names
""")  # fmt: skip


@MODES
def test_threads_on_streams_of_their_own_share_what_they_read(host: Host, mode: str) -> None:
    good(host, """
import threading
shared = da.asarray(np.arange(5000, dtype=np.float32), device="sim")
expected, wrong = np.arange(5000, dtype=np.float32), []
def work(k):
    try:
        with da.Stream("sim"):
            for i in range(15):
                x = shared * float(k + i)
                y = x + shared
                x -= 1
                good_y = (y.numpy() == expected * (k + i + 1)).all()
                if not (good_y and (x.numpy() == expected * (k + i) - 1).all()):
                    wrong.append((k, i))
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
""", MODE=mode)  # fmt: skip


@MODES
def test_a_copy_between_devices_is_ordered_with_streams_of_both(host: Host, mode: str) -> None:
    good(host, """
first, second = da.Stream("sim:0"), da.Stream("sim:1")
for i in range(10):
    with first, second:
        x = da.full((3000,), float(i), device="sim:0") + 1
        y = x.to_device("sim:1") * 2
        x -= 100
    assert (y.numpy() == 2 * i + 2).all() and (x.numpy() == i - 99).all()
    back = y.to_device("cpu")
    assert (back.numpy() == 2 * i + 2).all()
    y = da.asarray(back, device="sim:0")
    del back
    assert (y.numpy() == 2 * i + 2).all()
""", MODE=mode)  # fmt: skip
