"""Capture and the profiler of the simulated accelerator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from simulated_driver import Accelerator, Make, Refused, ffi, refused, tensor

from device_api.abi import constants as c

N = 100


@pytest.fixture(params=["lazy", "eager"])
def sim(make: Make, request: pytest.FixtureRequest) -> Accelerator:
    return make(MODE=request.param)


def vector(sim: Accelerator, value: float = 1) -> tuple[object, object]:
    return tensor(sim.upload(np.full(N, value, np.float32)), (N,), "float32")


def values(sim: Accelerator, made: tuple) -> np.ndarray:
    return sim.download(made[0].dl.data, np.zeros(N, np.float32))


def begin(sim: Accelerator, stream: object) -> None:
    sim.check(sim.captures.begin(sim.devices[0], stream))


def end(sim: Accelerator, stream: object) -> object:
    return sim.out("da_capture **", sim.captures.end, sim.devices[0], stream)


def capturing(sim: Accelerator, stream: object) -> bool:
    return bool(sim.out("int32_t *", sim.captures.is_capturing, sim.devices[0], stream))


def test_captured_work_runs_only_when_it_is_replayed(sim: Accelerator) -> None:
    stream, x, y = sim.stream(), vector(sim, 2), vector(sim, 0)
    begin(sim, stream)
    assert capturing(sim, stream)
    sim.launch("add", [x, y], [y], stream=stream)
    sim.launch("square", [x], [x], stream=stream)
    capture = end(sim, stream)
    assert not capturing(sim, stream)
    sim.wait_stream(stream)
    assert (values(sim, x) == 2).all()
    for _ in range(2):
        sim.check(sim.captures.replay(capture, stream))
    sim.wait_stream(stream)
    assert (values(sim, x) == 16).all()
    assert (values(sim, y) == 6).all()
    sim.check(sim.captures.replay(capture, ffi.NULL))
    assert (values(sim, y) == 22).all()


def test_a_capture_destroyed_after_its_replay_was_queued_still_runs(sim: Accelerator) -> None:
    stream, x = sim.stream(), vector(sim, 2)
    begin(sim, stream)
    sim.launch("square", [x], [x], stream=stream)
    capture = end(sim, stream)
    sim.check(sim.captures.replay(capture, stream))
    sim.check(sim.captures.destroy(capture))
    sim.check(sim.captures.destroy(ffi.NULL))
    sim.wait_stream(stream)
    assert (values(sim, x) == 4).all()
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "its capture was destroyed"):
        sim.check(sim.captures.replay(capture, stream))


SPOILERS: list[Callable[[Accelerator, object], None]] = [
    lambda sim, stream: sim.wait_stream(stream),
    lambda sim, stream: sim.synchronize(),
    lambda sim, stream: vector(sim),
    lambda sim, stream: sim.on_stream(stream, lambda status: None),
]


@pytest.mark.parametrize("spoil", SPOILERS, ids=["wait", "device", "null stream", "callback"])
def test_what_a_capture_cannot_hold_spoils_it_and_the_stream_lives(
    sim: Accelerator, spoil: Callable[[Accelerator, object], None]
) -> None:
    stream, x = sim.stream(), vector(sim, 3)
    begin(sim, stream)
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "while the stream is captured"):
        spoil(sim, stream)
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "the capture was spoiled by"):
        end(sim, stream)
    sim.launch("square", [x], [x], stream=stream)
    sim.wait_stream(stream)
    assert (values(sim, x) == 9).all()


def test_events_inside_of_a_capture_order_nothing_outside(sim: Accelerator) -> None:
    stream, other, event = sim.stream(), sim.stream(), sim.event()
    begin(sim, stream)
    sim.record(event, stream)
    sim.wait_event(stream, event)
    for wait in (lambda: sim.wait_event(other, event), lambda: sim.wait_for(event)):
        with refused(c.DA_STATUS_FAILED_PRECONDITION, "recorded in a capture"):
            wait()
    sim.check(sim.captures.destroy(end(sim, stream)))


def test_memory_freed_after_the_capture_fails_the_replay(sim: Accelerator) -> None:
    stream, x = sim.stream(), vector(sim)
    begin(sim, stream)
    sim.launch("square", [x], [x], stream=stream)
    capture = end(sim, stream)
    sim.free(x[0].dl.data)
    sim.check(sim.captures.replay(capture, stream))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "replay of a capture: square: memory of this work was freed"):
        sim.wait_stream(stream)


def test_captures_begin_and_end_once(sim: Accelerator) -> None:
    stream = sim.stream()
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "not captured"):
        end(sim, stream)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "NULL stream"):
        begin(sim, ffi.NULL)
    begin(sim, stream)
    with refused(c.DA_STATUS_FAILED_PRECONDITION, "captured already"):
        begin(sim, stream)
    sim.check(sim.streams.destroy(sim.devices[0], stream))


def test_the_profiler_gives_real_times_in_order_and_ties_calls_to_work(sim: Accelerator) -> None:
    stream, x = sim.stream(), vector(sim)
    sim.launch("negative", [x], [x])
    sim.check(sim.profiler.start(sim.devices[0]))
    result = np.zeros(N, np.float32)
    sim.launch("square", [x], [x], stream=stream)
    sim.read(x[0].dl.data, result, stream=stream)
    sim.check(sim.memory.set(sim.devices[0], stream, x[0].dl.data, 0, 0, 40))
    sim.check(sim.profiler.stop(sim.devices[0]))
    sim.launch("negative", [x], [x])
    assert (result == 1).all()
    seen: list[tuple] = []

    @ffi.callback("void(void *, const da_activity *)")
    def sink(_: object, activity: object) -> None:
        name = ffi.string(activity.name).decode()
        times = (activity.start_ns, activity.end_ns)
        seen.append((activity.kind, name, times, activity.stream, activity.correlation, activity.bytes))

    sim.check(sim.profiler.collect(sim.devices[0], sink, ffi.NULL))
    work = [entry for entry in seen if entry[0] != c.DA_ACTIVITY_RUNTIME]
    calls = [entry for entry in seen if entry[0] == c.DA_ACTIVITY_RUNTIME]
    names = ["square", "copy device to host", "set"]
    assert [entry[:2] for entry in work] == list(
        zip([c.DA_ACTIVITY_KERNEL, c.DA_ACTIVITY_COPY, c.DA_ACTIVITY_SET], names, strict=True)
    )
    assert [entry[1] for entry in calls] == names
    assert [entry[4] for entry in work] == [entry[4] for entry in calls]
    assert [entry[5] for entry in work] == [800, 400, 40]
    assert all(start <= stop for _, _, (start, stop), *_ in seen)
    assert [entry[2][0] for entry in seen] == sorted(entry[2][0] for entry in seen)
    assert len({entry[3] for entry in work}) == 1
    assert work[0][3] != 0
    seen.clear()
    sim.check(sim.profiler.collect(sim.devices[0], sink, ffi.NULL))
    assert seen == []


def test_the_profiler_starts_and_stops_once(sim: Accelerator) -> None:
    with pytest.raises(Refused, match="is not profiled"):
        sim.check(sim.profiler.stop(sim.devices[0]))
    sim.check(sim.profiler.start(sim.devices[0]))
    with pytest.raises(Refused, match="profiled already"):
        sim.check(sim.profiler.start(sim.devices[0]))
