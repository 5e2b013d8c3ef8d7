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


PROGRAM = Path(__file__).with_name("interleavings.py")


@MODES
def test_interleavings_of_threads_and_streams_give_what_a_serial_program_gives(host: Host, mode: str) -> None:
    for seed, settings in enumerate(({}, {"ALLOCATOR": "direct"}, {"MEMORY": 3 << 20})):
        ran = host(
            f"import runpy; sys.exit(runpy.run_path({str(PROGRAM)!r})['main'](60, {seed}))",
            MODE=mode,
            **settings,
        )
        assert (ran.returncode, ran.stdout) == (0, "serial\n"), ran.stdout + ran.stderr


@pytest.mark.parametrize("lost", ["wait_event", "event_record"])
def test_an_interleaving_that_goes_wrong_is_shrunk_to_the_step_that_matters(host: Host, lost: str) -> None:
    ran = host(
        "from device_api import layers\n"
        f"layers.use('sim', 'fault(spec=stream.{lost}:*:drop)')\n"
        f"import runpy; sys.exit(runpy.run_path({str(PROGRAM)!r})['main'](60, 1))"
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stdout == "thread 0 stream 0: make(0, 0)\n", ran.stdout + ran.stderr


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


@MODES
def test_out_of_memory_on_one_stream_takes_what_another_has_cached(host: Host, mode: str) -> None:
    good(host, """
first, second = da.Stream("sim"), da.Stream("sim")
with first:
    held = [da.ones((1 << 18,), device="sim") for _ in range(16)]
    del held[::2]
with second:
    more = [da.ones((1 << 18,), device="sim") for _ in range(8)]
    assert sum(float(da.sum(each)) for each in more) == 8 << 18
assert da.memory_stats("sim")["retries"] >= 1
""", MODE=mode, MEMORY=21 << 20)  # fmt: skip


@MODES
def test_record_stream_alone_keeps_memory_from_being_used_again(host: Host, mode: str) -> None:
    good(host, """
import ctypes
# Work that the package does not know of: it reads the memory when the stream gets there.
def look(address, seen):
    return lambda status: seen.append(sum((ctypes.c_float * 5000).from_address(address)))
side, seen = da.Stream("sim"), []
for i in range(5):
    x = da.managed_empty((5000,), device="sim")
    with da.host_view(x) as array:
        array[:] = i
        address = array.ctypes.data
    with side:
        slow = da.ones((200_000,), device="sim") + 1
    side.add_callback(look(address, seen))
    x.record_stream(side)
    del x, array
    z = da.managed_empty((5000,), device="sim")
    with da.host_view(z) as array:
        array[:] = -1
    del z, array
side.synchronize()
assert seen == [5000 * i for i in range(5)], seen
""", MODE=mode, MAX_DELAY_US=3000)  # fmt: skip


@MODES
def test_a_wrapped_stream_is_in_one_order_with_the_stream_it_wraps(host: Host, mode: str) -> None:
    good(host, """
native = da.Stream("sim")    # as if other software had made it
stream = da.Stream.wrap(native.handle, "sim")
assert stream != native and stream == da.Stream.wrap(native.handle, "sim")
calls = []
with stream:
    x = da.ones((20_000,), device="sim")
    for _ in range(5):
        x = x * 2
stream.add_callback(calls.append)
with native:
    y = x + 1
native.synchronize()         # so that the work before, on the wrapped one, is done as well
assert stream.query() and calls == [0]
z = y - 1                    # on the default stream
assert (z.numpy() == 32).all()
stream.unwrap()
stream.unwrap()
for use in (stream.__enter__, stream.synchronize, stream.record_event, lambda: native.wait_stream(stream)):
    try:
        use()
    except da.AttributeValueError as error:
        assert "unwrap" in str(error)
        continue
    raise AssertionError
del x                        # of the stream that is no more
da.synchronize("sim")
assert (z.numpy() == 32).all()
with native:
    assert (y - 1).numpy().sum() == 32 * 20_000
with da.Stream.wrap(native.handle, "sim") as again:
    assert again != stream
    assert da.ones((3,), device="sim").numpy().sum() == 3
    try:
        again.unwrap()
    except da.AttributeValueError as error:
        assert "some thread works on it" in str(error)
    else:
        raise AssertionError
again.unwrap()
del y, z, again, stream
da.empty_cache("sim")
assert da.memory_reserved("sim") == 0
""", MODE=mode)  # fmt: skip


@MODES
def test_what_fails_on_a_wrapped_stream_is_raised_when_it_is_given_up(host: Host, mode: str) -> None:
    good(host, """
native = da.Stream("sim")
table, bad = da.ones((5,), device="sim"), da.asarray(np.array([99]), device="sim")
stream = da.Stream.wrap(native.handle, "sim")
with stream:
    x = da.take(table, bad, axis=0)
for action in (stream.unwrap, x.numpy, lambda: (x + 1).numpy()):
    try:
        action()
    except da.IndexOutOfRange:
        continue
    raise AssertionError
stream.unwrap()
assert float(da.sum(table)) == 5
""", MODE=mode)  # fmt: skip


def test_a_stream_that_cannot_be_wrapped_is_a_typed_error(host: Host) -> None:
    good(host, """
def raises(kind, action):
    try:
        action()
    except kind as error:
        assert "sim" in str(error) or "cpu" in str(error), error
        return
    raise AssertionError
raises(da.AttributeValueError, lambda: da.Stream.wrap(0, "sim"))
raises(da.PluginFailed, lambda: da.Stream.wrap(4096, "sim"))
raises(da.PluginFailed, lambda: da.Stream.wrap(da.Stream("sim:1").handle, "sim:0"))
raises(da.UnsupportedOp, lambda: da.Stream.wrap(4096, "cpu"))
raises(da.AttributeValueError, da.Stream("sim").unwrap)
assert da.Stream("cpu").handle == 0
""")  # fmt: skip


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
def test_an_event_without_a_stream_keeps_to_its_own_device(host: Host, mode: str) -> None:
    good(host, """
event, side = da.Event(), da.Stream("sim:1")
event.record(side)
with da.default_device("cpu"):
    event.record()  # not in a stream of this thread's device, which the event does not belong to
    event.wait()
    with side:
        x = da.ones((1000,), device="sim:1") * 3.0
        event.record()
    event.wait()
    assert float(da.sum(x)) == 3000 and event.device == "sim:1"
event.synchronize(timeout=60)
fresh = da.Event()
with da.default_device("sim:1"):
    fresh.record()
assert fresh.device == "sim:1"
""", MODE=mode)  # fmt: skip


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
