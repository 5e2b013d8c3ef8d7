"""Streams and events of the simulated accelerator: what waits for what, in both modes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from simulated_driver import Accelerator, Make, Refused, ffi, refused, tensor

from device_api.abi import constants as c

MODES = [{"MODE": "lazy"}, {"MODE": "eager", "SEED": 1}, {"MODE": "eager", "SEED": 2, "MAX_DELAY_US": 2000}]
TIMING = c.DA_EVENT_TIMING
N = 1000


@pytest.fixture(params=MODES, ids=["lazy", "eager", "slow"])
def any_mode(make: Make, request: pytest.FixtureRequest) -> Accelerator:
    return make(**request.param)


def vector(handle: object) -> tuple[object, object]:
    return tensor(handle, (N,), "float32")


def ones(sim: Accelerator, value: float = 1, device: int = 0) -> object:
    return sim.upload(np.full(N, value, np.float32), device=device)


def values(sim: Accelerator, handle: object, device: int = 0) -> np.ndarray:
    return sim.download(handle, np.zeros(N, np.float32), device=device)


def fail_on(sim: Accelerator, stream: object) -> None:
    """Queues work that fails when it runs: an index outside of a tensor."""
    table, index, out = ones(sim), sim.upload(np.array([N], np.int64)), sim.allocate(4)
    made = [tensor(table, (N, 1), "float32"), tensor(index, (1,), "int64")]
    sim.launch("gather_rows", made, [tensor(out, (1, 1), "float32")], stream=stream)


def test_work_of_one_stream_runs_in_order(any_mode: Accelerator) -> None:
    sim, stream, x = any_mode, any_mode.stream(), vector(ones(any_mode, 2))
    for op in ["square", "negative", "square", "sqrt", "negative"]:
        sim.launch(op, [x], [x], stream=stream)
    result = np.zeros(N, np.float32)
    sim.read(x[0].dl.data, result, stream=stream)
    sim.wait_stream(stream)
    assert (result == -4).all()


def test_lazy_work_runs_only_when_somebody_waits(sim: Accelerator) -> None:
    stream, handle = sim.stream(), ones(sim)
    result = np.zeros(N, np.float32)
    sim.read(handle, result, stream=stream)
    time.sleep(0.05)
    assert not sim.is_done(stream)
    assert (result == 0).all()
    sim.wait_stream(stream)
    assert sim.is_done(stream)
    assert (result == 1).all()


def test_a_missing_wait_between_streams_shows_in_lazy_mode(sim: Accelerator) -> None:
    producer, consumer, x = sim.stream(), sim.stream(), vector(ones(sim, 3))
    result = np.zeros(N, np.float32)
    sim.launch("square", [x], [x], stream=producer)
    sim.read(x[0].dl.data, result, stream=consumer)
    sim.wait_stream(consumer)
    assert (result == 3).all()


def test_an_event_orders_streams(any_mode: Accelerator) -> None:
    sim = any_mode
    producer, consumer, event, x = sim.stream(), sim.stream(), sim.event(), vector(ones(sim, 3))
    result = np.zeros(N, np.float32)
    sim.launch("square", [x], [x], stream=producer)
    sim.record(event, producer)
    sim.wait_event(consumer, event)
    sim.read(x[0].dl.data, result, stream=consumer)
    sim.check(sim.streams.event_destroy(sim.devices[0], event))
    sim.wait_stream(consumer)
    assert (result == 9).all()


def test_waiting_runs_what_stands_before_and_nothing_behind(sim: Accelerator) -> None:
    stream, event, seen = sim.stream(), sim.event(), []
    sim.on_stream(stream, lambda status: seen.append(1))
    sim.record(event, stream)
    sim.on_stream(stream, lambda status: seen.append(2))
    sim.wait_for(event)
    time.sleep(0.02)
    assert seen == [1]
    sim.wait_stream(stream)
    assert seen == [1, 2]


def test_a_program_that_polls_in_lazy_mode_comes_to_an_end(sim: Accelerator) -> None:
    stream, event = sim.stream(), sim.event()
    sim.record(event, stream)
    while not sim.is_reached(event):
        pass
    sim.on_stream(stream, lambda status: None)
    while not sim.is_done(stream):
        pass


def test_the_source_of_a_copy_is_read_when_the_copy_runs(sim: Accelerator) -> None:
    stream, handle = sim.stream(), sim.allocate(4 * N)
    source = np.full(N, 5, np.float32)
    sim.write(handle, source, stream=stream)
    source[:] = 6
    sim.wait_stream(stream)
    assert (values(sim, handle) == 6).all()


def test_a_source_that_is_gone_when_the_copy_runs_crashes(child: Callable) -> None:
    body = """
import mmap
pages = mmap.mmap(-1, 4096)
source = np.frombuffer(pages, np.uint8)
place, stream, handle = address(source), sim.stream(), sim.allocate(4096)
sim.write(handle, source, stream=stream)
del source
pages.close()
print("ready", flush=True)
sim.wait_stream(stream)
"""
    ran = child(body)
    assert ran.returncode < 0, ran.stderr
    assert ran.stdout == "ready\n"


def test_arguments_of_a_launch_are_copied(any_mode: Accelerator) -> None:
    sim, stream, out = any_mode, any_mode.stream(), any_mode.allocate(8 * N)
    made = tensor(out, (N,), "int64")
    attributes = ffi.new("uint64_t[]", [48, 0, 7, 3, 0, 0])
    sim.launch("iota", [], [made], stream=stream, attributes=attributes)
    made[1][0][0] = made[1][1][0] = 10**12
    made[0].dl.data = ffi.NULL
    attributes[2] = 0
    sim.wait_stream(stream)
    assert (sim.download(out, np.zeros(N, np.int64)) == 7 + 3 * np.arange(N)).all()


def test_a_state_released_before_its_work_ran_is_still_there(sim: Accelerator) -> None:
    stream, x = sim.stream(), vector(ones(sim, 4))
    kernel = sim.kernels["sqrt"]
    operands = ffi.new("da_tensor *[]", [x[0]])
    null = ffi.NULL
    state = sim.out("void **", kernel.prepare, sim.devices[0], kernel, operands, 1, operands, 1, null)
    sim.launch("sqrt", [x], [x], stream=stream, state=state)
    kernel.release(state)
    sim.wait_stream(stream)
    assert (values(sim, x[0].dl.data) == 2).all()


def test_memory_freed_before_its_work_ran_fails_the_stream(sim: Accelerator) -> None:
    stream, x = sim.stream(), vector(ones(sim))
    sim.launch("square", [x], [x], stream=stream)
    sim.free(x[0].dl.data)
    with refused(
        c.DA_STATUS_INVALID_ARGUMENT, "square: memory of this work was freed before the work was done"
    ):
        sim.wait_stream(stream)


def test_work_without_a_stream_comes_after_everything_on_the_device(any_mode: Accelerator) -> None:
    sim = any_mode
    streams = [sim.stream() for _ in range(3)]
    for stream in streams:
        x = vector(ones(sim, 2))
        sim.launch("square", [x], [x], stream=stream)
        sim.wait_event(streams[0], sim.event())
    sim.launch("negative", [x], [x])
    for stream in streams:
        assert sim.is_done(stream)


def test_work_without_a_stream_leaves_other_devices_alone(sim: Accelerator) -> None:
    stream, result = sim.stream(device=1), np.zeros(N, np.float32)
    sim.read(ones(sim, device=1), result, stream=stream, device=1)
    sim.synchronize(0)
    ones(sim)
    assert not sim.is_done(stream, device=1)
    sim.synchronize(1)
    assert sim.is_done(stream, device=1)


def test_streams_of_two_devices_wait_for_each_other(any_mode: Accelerator) -> None:
    sim = any_mode
    x, y = vector(ones(sim, 3)), sim.allocate(4 * N, device=1)
    first, second, event = sim.stream(), sim.stream(device=1), sim.event()
    sim.launch("square", [x], [x], stream=first)
    sim.record(event, first)
    sim.wait_event(second, event, device=1)
    sim.copy(c.DA_COPY_PEER, y, x[0].dl.data, 4 * N, stream=second, device=1, peer=0)
    sim.wait_stream(second, device=1)
    assert (values(sim, y, device=1) == 9).all()


def test_an_event_that_was_never_recorded_holds_nobody_up(any_mode: Accelerator) -> None:
    sim, stream, event = any_mode, any_mode.stream(), any_mode.event()
    assert sim.is_reached(event)
    sim.wait_for(event)
    sim.wait_for(event, 0)
    sim.wait_event(stream, event)
    sim.wait_stream(stream)


def test_timeouts(sim: Accelerator) -> None:
    stream, event, gate = sim.stream(), sim.event(), threading.Event()
    sim.on_stream(stream, lambda status: gate.wait(60))
    sim.record(event, stream)
    for timeout in (0, 1, 20_000_000):
        with refused(c.DA_STATUS_TIMEOUT, "not reached within"):
            sim.wait_for(event, timeout)
    gate.set()
    for timeout in (2**64 - 1, 2**64 - 2, 2**63, 0, 10**9):
        sim.wait_for(event, timeout)


def test_recording_again_moves_the_mark_but_not_earlier_waits(sim: Accelerator) -> None:
    stream, other, event, gate = sim.stream(), sim.stream(), sim.event(), threading.Event()
    sim.record(event, stream)
    sim.wait_event(other, event)
    sim.on_stream(stream, lambda status: gate.wait(60))
    sim.record(event, stream)
    sim.wait_stream(other)
    with refused(c.DA_STATUS_TIMEOUT, "not reached"):
        sim.wait_for(event, 10_000_000)
    gate.set()
    sim.wait_for(event)


def test_elapsed_time_needs_two_reached_events_made_for_it(any_mode: Accelerator) -> None:
    sim, stream = any_mode, any_mode.stream()
    start, end, plain, never = sim.event(TIMING), sim.event(TIMING), sim.event(), sim.event(TIMING)
    sim.record(start, stream)
    sim.on_stream(stream, lambda status: time.sleep(0.01))
    sim.record(end, stream)
    sim.record(plain, stream)
    if not sim.is_reached(start):
        with refused(c.DA_STATUS_FAILED_PRECONDITION, "recorded but not reached"):
            sim.elapsed(start, end)
    sim.wait_stream(stream)
    assert sim.elapsed(start, end) >= 10_000_000
    assert sim.elapsed(end, start) == -sim.elapsed(start, end)
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "without DA_EVENT_TIMING"):
        sim.elapsed(start, plain)
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "start event was never recorded"):
        sim.elapsed(never, end)


def test_handles_after_their_end_and_of_other_devices_are_errors(sim: Accelerator) -> None:
    stream, event = sim.stream(), sim.event()
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "the stream is one of sim:0, not of sim:1"):
        sim.wait_stream(stream, device=1)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "the event is one of sim:0, not of sim:1"):
        sim.record(event, ffi.NULL, device=1)
    destroy_stream, destroy_event = sim.streams.destroy, sim.streams.event_destroy
    sim.check(destroy_stream(sim.devices[0], stream))
    sim.check(destroy_event(sim.devices[0], event))
    for call in (sim.is_done, sim.wait_stream):
        with refused(c.DA_STATUS_INVALID_ARGUMENT, "its stream was destroyed"):
            call(stream)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "its stream was destroyed"):
        sim.check(destroy_stream(sim.devices[0], stream))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "its event was destroyed"):
        sim.is_reached(event)
    sim.check(destroy_stream(sim.devices[0], ffi.NULL))
    sim.check(destroy_event(sim.devices[0], ffi.NULL))


def test_destroying_a_stream_waits_for_its_work(any_mode: Accelerator) -> None:
    sim, stream, handle = any_mode, any_mode.stream(), ones(any_mode)
    result = np.zeros(N, np.float32)
    sim.read(handle, result, stream=stream)
    sim.check(sim.streams.destroy(sim.devices[0], stream))
    assert (result == 1).all()


def test_callbacks_run_exactly_once_in_order_and_are_destroyed_after(any_mode: Accelerator) -> None:
    sim, stream, seen = any_mode, any_mode.stream(), []
    handle, result = ones(sim), np.zeros(N, np.float32)
    for i in range(20):
        sim.on_stream(
            stream, lambda s, i=i: seen.append(("ran", i, s)), lambda i=i: seen.append(("ended", i))
        )
    sim.read(handle, result, stream=stream)
    sim.on_stream(stream, lambda status: seen.append(float(result[0])))
    sim.wait_stream(stream)
    assert seen == [entry for i in range(20) for entry in (("ran", i, 0), ("ended", i))] + [1.0]


def test_a_callback_that_waits_is_refused_instead_of_hanging(any_mode: Accelerator) -> None:
    sim, stream, told = any_mode, any_mode.stream(), []

    def wait(function: Callable[[], None]) -> Callable[[int], None]:
        def run(status: int) -> None:
            try:
                function()
            except Refused as error:
                told.append((error.code, "must not wait" in error.message))

        return run

    sim.on_stream(stream, wait(lambda: sim.wait_stream(stream)))
    sim.on_stream(stream, wait(sim.synchronize))
    sim.on_stream(stream, wait(lambda: sim.check(sim.streams.destroy(sim.devices[0], stream))))
    sim.wait_stream(stream)
    assert told == [(c.DA_STATUS_FAILED_PRECONDITION, True)] * 3


def test_a_failure_reaches_every_waiter_with_its_cause_and_then_it_is_over(any_mode: Accelerator) -> None:
    sim, statuses = any_mode, []
    failing, waiting, third = sim.stream(), sim.stream(), sim.stream()
    event, late, x = sim.event(), sim.event(), vector(ones(sim, 2))
    fail_on(sim, failing)
    sim.record(event, failing)
    sim.on_stream(failing, statuses.append)
    sim.wait_event(waiting, event)
    sim.launch("square", [x], [x], stream=waiting)
    sim.record(late, waiting)
    sim.wait_event(third, late)
    words = "gather_rows: .*gather_rows"
    with refused(c.DA_STATUS_OUT_OF_RANGE, words):
        sim.wait_for(late)
    for stream in (third, waiting, failing):
        with refused(c.DA_STATUS_OUT_OF_RANGE, words):
            sim.wait_stream(stream)
        sim.wait_stream(stream)
    assert statuses == [c.DA_STATUS_OUT_OF_RANGE]
    assert (values(sim, x[0].dl.data) == 2).all(), "work that waited for failed work must not run"
    sim.launch("square", [x], [x], stream=failing)
    sim.wait_stream(failing)
    assert (values(sim, x[0].dl.data) == 4).all()


def test_the_first_cause_wins(any_mode: Accelerator) -> None:
    sim, stream, x = any_mode, any_mode.stream(), vector(ones(any_mode))
    fail_on(sim, stream)
    sim.launch("square", [x], [x], stream=stream)
    sim.free(x[0].dl.data)
    with refused(c.DA_STATUS_OUT_OF_RANGE, "gather_rows"):
        sim.wait_stream(stream)


def test_waiting_for_the_device_gives_each_cause_once(sim: Accelerator) -> None:
    first, second, follower, event = sim.stream(), sim.stream(), sim.stream(), sim.event()
    x = vector(sim.allocate(4 * N))
    fail_on(sim, first)
    sim.record(event, first)
    sim.wait_event(follower, event)
    sim.launch("square", [x], [x], stream=second)
    sim.free(x[0].dl.data)
    for code in (c.DA_STATUS_OUT_OF_RANGE, c.DA_STATUS_INVALID_ARGUMENT):
        with refused(code, "gather_rows|square"):
            sim.synchronize()
    sim.synchronize()
    for stream in (first, second, follower):
        sim.wait_stream(stream)


def test_work_without_a_stream_is_refused_after_a_failure_that_nobody_was_told_of(sim: Accelerator) -> None:
    stream, handle = sim.stream(), sim.allocate(4 * N)
    fail_on(sim, stream)
    with refused(c.DA_STATUS_OUT_OF_RANGE, "gather_rows"):
        sim.write(handle, np.ones(N, np.float32))
    assert np.isnan(values(sim, handle)).all()


def test_a_failure_without_a_stream_comes_back_at_once(sim: Accelerator) -> None:
    with refused(c.DA_STATUS_OUT_OF_RANGE, "gather_rows"):
        fail_on(sim, ffi.NULL)
    sim.synchronize()


def test_a_stream_destroyed_with_an_untold_failure_reports_it_to_the_host(sim: Accelerator) -> None:
    stream = sim.stream()
    fail_on(sim, stream)
    sim.check(sim.streams.destroy(sim.devices[0], stream))
    assert [code for code, _ in sim.services.failures] == [c.DA_STATUS_OUT_OF_RANGE]


def test_the_named_launch_fails_when_it_runs(make: Make) -> None:
    sim = make(FAIL_LAUNCH=2)
    stream, x = sim.stream(), vector(ones(sim, 3))
    for _ in range(3):
        sim.launch("square", [x], [x], stream=stream)
    with refused(c.DA_STATUS_INTERNAL, r"square: launch 2 was told to fail \(SIM_FAIL_LAUNCH\)"):
        sim.wait_stream(stream)
    assert (values(sim, x[0].dl.data) == 9).all()


def test_a_lost_device_stays_lost_and_its_neighbour_lives(make: Make) -> None:
    sim = make(LOSE_DEVICE=1)
    stream, x = sim.stream(), vector(ones(sim))
    sim.launch("square", [x], [x], stream=stream)
    event = sim.event()
    sim.record(event, stream)
    with refused(c.DA_STATUS_DEVICE_LOST, "sim:0 was lost in launch 1"):
        sim.wait_for(event)
    for call in (lambda: sim.allocate(1), lambda: sim.wait_stream(stream), sim.synchronize, sim.properties):
        with refused(c.DA_STATUS_DEVICE_LOST, "sim:0 is lost"):
            call()
    sim.upload(np.ones(3), device=1)


def test_lower_priority_numbers_run_first(sim: Accelerator) -> None:
    seen: list[int] = []
    for priority in (3, 0, -2, 7, 1):
        stream = sim.stream(priority)
        for _ in range(3):
            sim.on_stream(stream, lambda status, priority=priority: seen.append(priority))
    sim.synchronize()
    assert seen == [p for p in (-2, 0, 1, 3, 7) for _ in range(3)]


def test_eager_work_starts_without_being_asked(make: Make) -> None:
    sim = make(MODE="eager")
    stream, done = sim.stream(), threading.Event()
    sim.on_stream(stream, lambda status: done.set())
    assert done.wait(60)


def test_many_threads_may_use_one_stream(any_mode: Accelerator) -> None:
    sim, stream, seen, failures = any_mode, any_mode.stream(), [], []

    def use(number: int) -> None:
        try:
            for i in range(20):
                sim.on_stream(stream, lambda status, i=i: seen.append((number, i)))
                if i % 5 == number:
                    sim.wait_stream(stream)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sim.wait_stream(stream)
    assert not failures
    assert len(seen) == 80
    for number in range(4):
        assert [i for who, i in seen if who == number] == list(range(20))


def test_shutdown_ends_what_was_only_queued_and_calls_back_once(library: object) -> None:
    sim, statuses = Accelerator(library), []
    streams = [sim.stream() for _ in range(3)]
    handle, result = sim.upload(np.ones(N, np.float32)), np.zeros(N, np.float32)
    for stream in streams:
        sim.read(handle, result, stream=stream)
        sim.on_stream(stream, statuses.append)
    sim.close()
    sim.close()
    assert statuses == [c.DA_STATUS_ABORTED] * 3
    assert (result == 0).all()
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "shut down"):
        sim.wait_stream(streams[0])
    again = Accelerator(library)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "stream handle was never given out"):
        again.wait_stream(streams[0])
    again.close()


def test_a_process_may_end_in_the_middle_of_everything(child: Callable) -> None:
    for mode in ("lazy", "eager"):
        body = (
            "stream, handle = sim.stream(), sim.allocate(1 << 20)\n"
            "pinned = sim.allocate(1 << 20, c.DA_MEMORY_PINNED)\n"
            "for _ in range(50):\n"
            "    sim.copy(c.DA_COPY_HOST_TO_DEVICE, handle, pinned, 1 << 20, stream=stream)\n"
            "print('end', flush=True)\n"
        )
        ran = child(body, MODE=mode, MAX_DELAY_US=5000)
        assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stderr


def test_a_fork_after_use_is_an_error_in_the_child(child: Callable) -> None:
    body = """
import os
stream = sim.stream()
pid = os.fork()
if pid == 0:
    told = 0
    for call in (lambda: sim.wait_stream(stream), lambda: sim.allocate(1), sim.synchronize, sim.close):
        try:
            call()
        except Refused as error:
            told += error.code == c.DA_STATUS_FAILED_PRECONDITION and "fork of it" in error.message
    os._exit(told)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sim.wait_stream(stream)
"""
    ran = child(body)
    assert (ran.returncode, ran.stdout) == (0, "4\n"), ran.stderr


def test_a_wrapped_stream_is_a_second_handle_of_its_stream_and_ends_alone(any_mode: Accelerator) -> None:
    sim = any_mode
    native, x = sim.stream(), ones(sim)
    wrapped = sim.out("da_stream **", sim.streams.wrap, sim.devices[0], native)
    assert wrapped != native
    sim.launch("add", [vector(x), vector(x)], [vector(x)], stream=wrapped)
    sim.launch("multiply", [vector(x), vector(x)], [vector(x)], stream=native)
    sim.call(sim.streams.destroy, sim.devices[0], wrapped)  # waits for the work
    assert sim.is_done(native)
    assert (values(sim, x) == 4).all()
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "wrapped stream handle was never given out"):
        sim.wait_stream(wrapped)
    sim.launch("add", [vector(x), vector(x)], [vector(x)], stream=native)
    sim.wait_stream(native)
    assert (values(sim, x) == 8).all()
    again = sim.out("da_stream **", sim.streams.wrap, sim.devices[0], native)
    sim.call(sim.streams.destroy, sim.devices[0], native)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "the native stream behind the handle was destroyed"):
        sim.wait_stream(again)
    sim.call(sim.streams.destroy, sim.devices[0], again)


def test_only_a_stream_of_the_device_is_wrapped(sim: Accelerator) -> None:
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "never given out"):
        sim.out("da_stream **", sim.streams.wrap, sim.devices[0], ffi.cast("void *", 4096))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "not of"):
        sim.out("da_stream **", sim.streams.wrap, sim.devices[0], sim.stream(device=1))
