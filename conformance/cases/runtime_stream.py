"""Streams, events and callbacks, where the plugin has them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from conformance.case import NotSupported, case, require
from conformance.memory import DeviceBytes, allocated
from conformance.target import CallFailed, Target, status_name
from device_api.abi import constants


@contextmanager
def stream_of(target: Target, priority: int = 0) -> Iterator[Any]:
    """A stream, destroyed at the end of the block."""
    out = target.ffi.new("da_stream **")
    target.expect(target.streams.create(target.device, priority, out), "stream.create")
    require(out[0] != target.ffi.NULL, "stream.create succeeded and gave the default stream")
    yield out[0]
    target.expect(target.streams.destroy(target.device, out[0]), "stream.destroy")


@contextmanager
def event_of(target: Target, flags: int = 0) -> Iterator[Any]:
    """An event, destroyed at the end of the block."""
    out = target.ffi.new("da_event **")
    target.expect(target.streams.event_create(target.device, flags, out), "stream.event_create")
    yield out[0]
    target.expect(target.streams.event_destroy(target.device, out[0]), "stream.event_destroy")


def _wait(target: Target, stream: Any) -> None:
    target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")


def _done(target: Target, function: Callable[..., Any], handle: Any, entry: str) -> int:
    out = target.ffi.new("int32_t *", 77)
    target.expect(function(target.device, handle, out), entry)
    require(out[0] in (0, 1), f"{entry} gave {out[0]}, neither 0 nor 1")
    return int(out[0])


class Queue:
    """Copies on a stream; host memory stays alive until the queue is let go."""

    def __init__(self, target: Target, stream: Any) -> None:
        self.target, self.stream, self._kept = target, stream, []  # type: ignore[var-annotated]

    def _copy(self, kind: int, destination: Any, source: Any, size: int) -> None:
        ffi = self.target.ffi
        copy = ffi.new("da_copy *")
        copy.struct_size, copy.kind, copy.bytes = ffi.sizeof("da_copy"), kind, size
        copy.destination, copy.source = destination, source
        self.target.expect(self.target.memory.copy(self.target.device, self.stream, copy), "memory.copy")

    def write(self, memory: DeviceBytes, data: Any) -> None:
        source = self.target.ffi.from_buffer(data)
        self._kept.append(source)
        self._copy(constants.DA_COPY_HOST_TO_DEVICE, memory.handle, source, data.size)

    def read(self, memory: DeviceBytes) -> Any:
        data = np.zeros(memory.size, np.uint8)
        destination = self.target.ffi.from_buffer(data, require_writable=True)
        self._kept.append(destination)
        self._copy(constants.DA_COPY_DEVICE_TO_HOST, destination, memory.handle, data.size)
        return data

    def move(self, destination: DeviceBytes, source: DeviceBytes) -> None:
        self._copy(constants.DA_COPY_DEVICE_TO_DEVICE, destination.handle, source.handle, source.size)


@case("runtime.stream.create")
def create(target: Target, rng: np.random.Generator) -> None:
    """Many streams at once are different ones; priorities of any size are taken."""
    out = [target.ffi.new("da_stream **") for _ in range(32)]
    for number, each in enumerate(out):
        target.expect(target.streams.create(target.device, number - 16, each), "stream.create")
    require(len({each[0] for each in out}) == len(out), "two streams are one")
    for each in out:
        target.expect(target.streams.destroy(target.device, each[0]), "stream.destroy")


@case("runtime.stream.destroy_null")
def destroy_null(target: Target, rng: np.random.Generator) -> None:
    """Destroying NULL, as a stream or as an event, does nothing."""
    target.expect(target.streams.destroy(target.device, target.ffi.NULL), "stream.destroy(NULL)")
    target.expect(target.streams.event_destroy(target.device, target.ffi.NULL), "event_destroy(NULL)")


@case("runtime.stream.query")
def query(target: Target, rng: np.random.Generator) -> None:
    """A stream without work, and one that was waited for, is done."""
    with stream_of(target) as stream, allocated(target, 1000) as memory:
        require(_done(target, target.streams.query, stream, "stream.query"), "an empty stream is not done")
        queue = Queue(target, stream)
        queue.write(memory, np.zeros(1000, np.uint8))
        _wait(target, stream)
        require(_done(target, target.streams.query, stream, "stream.query"), "after a wait it is not done")


@case("runtime.stream.order")
def order(target: Target, rng: np.random.Generator) -> None:
    """A hundred copies on one stream happen in their order."""
    with stream_of(target) as stream, allocated(target, 5000) as first, allocated(target, 5000) as second:
        queue = Queue(target, stream)
        data = [rng.integers(0, 256, 5000).astype(np.uint8) for _ in range(50)]
        back = []
        for each in data:
            queue.write(first, each)
            queue.move(second, first)
            back.append(queue.read(second))
        _wait(target, stream)
        for number, (sent, got) in enumerate(zip(data, back, strict=True)):
            require(np.array_equal(sent, got), f"round {number} read bytes of another round")


@case("runtime.stream.destroy_waits")
def destroy_waits(target: Target, rng: np.random.Generator) -> None:
    """Destroying a stream finishes its work first."""
    data = rng.integers(0, 256, 200_000).astype(np.uint8)
    with allocated(target, 200_000) as memory:
        with stream_of(target) as stream:
            queue = Queue(target, stream)
            queue.write(memory, data)
            back = queue.read(memory)
        require(np.array_equal(back, data), "work was lost when its stream was destroyed")


@case("runtime.stream.null_copy_waits")
def null_copy_waits(target: Target, rng: np.random.Generator) -> None:
    """A copy without a stream sees all work queued before it on the device."""
    with stream_of(target) as stream, allocated(target, 200_000) as memory:
        for _ in range(5):
            data = rng.integers(0, 256, 200_000).astype(np.uint8)
            queue = Queue(target, stream)
            queue.write(memory, data)
            require(np.array_equal(memory.read(), data), "a synchronous copy overtook queued work")


@case("runtime.event.never_recorded")
def never_recorded(target: Target, rng: np.random.Generator) -> None:
    """An event that was never recorded is reached; waiting for it does nothing."""
    streams = target.streams
    with stream_of(target) as stream, event_of(target) as event:
        require(_done(target, streams.event_query, event, "stream.event_query"), "it is not reached")
        for timeout in (0, 1000, constants.DA_WAIT_FOREVER):
            error = streams.event_synchronize(target.device, event, timeout)
            target.expect(error, f"stream.event_synchronize with timeout {timeout}")
        target.expect(streams.wait_event(target.device, stream, event), "stream.wait_event")
        _wait(target, stream)


@case("runtime.event.orders_streams")
def orders_streams(target: Target, rng: np.random.Generator) -> None:
    """Work that waits for an event of another stream sees that stream's work."""
    streams, device = target.streams, target.device
    with (
        stream_of(target) as first,
        stream_of(target) as second,
        event_of(target) as event,
        allocated(target, 300_000) as source,
        allocated(target, 300_000) as copy,
    ):
        for _ in range(10):
            data = rng.integers(0, 256, 300_000).astype(np.uint8)
            maker, taker = Queue(target, first), Queue(target, second)
            maker.write(source, data)
            target.expect(streams.event_record(device, event, first), "stream.event_record")
            target.expect(streams.wait_event(device, second, event), "stream.wait_event")
            taker.move(copy, source)
            back = taker.read(copy)
            _wait(target, second)
            require(np.array_equal(back, data), "a stream that waited for an event read old bytes")
            _wait(target, first)


@case("runtime.event.synchronize")
def synchronize(target: Target, rng: np.random.Generator) -> None:
    """Waiting for an event finishes the work before it; recording again moves the mark."""
    streams, device = target.streams, target.device
    with stream_of(target) as stream, event_of(target) as event, allocated(target, 100_000) as memory:
        queue = Queue(target, stream)
        for _ in range(5):
            data = rng.integers(0, 256, 100_000).astype(np.uint8)
            queue.write(memory, data)
            back = queue.read(memory)
            target.expect(streams.event_record(device, event, stream), "stream.event_record")
            error = streams.event_synchronize(device, event, constants.DA_WAIT_FOREVER)
            target.expect(error, "stream.event_synchronize")
            require(_done(target, streams.event_query, event, "event_query"), "waited for and not reached")
            require(np.array_equal(back, data), "the event was reached before the work ahead of it")


# A program that has asked this often has waited, if only for a device that must be asked before it works.
QUESTIONS = 20_000


@case("runtime.stream.query_is_true")
def query_is_true(target: Target, rng: np.random.Generator) -> None:
    """While work is queued a stream may be done or not; once it says that it is, the work is done."""
    with stream_of(target) as stream, allocated(target, 300_000) as memory:
        for _ in range(5):
            data, back = _round_trip(target, stream, memory, rng)
            for _question in range(QUESTIONS):
                if _done(target, target.streams.query, stream, "stream.query"):
                    require(np.array_equal(back, data), "the stream says done, and its work is not")
                    break
            _wait(target, stream)


@case("runtime.event.query_is_true")
def event_query_is_true(target: Target, rng: np.random.Generator) -> None:
    """An event may be reached or not; once it says that it is, the work ahead of it is done."""
    streams, device = target.streams, target.device
    with stream_of(target) as stream, event_of(target) as event, allocated(target, 300_000) as memory:
        for _ in range(5):
            data, back = _round_trip(target, stream, memory, rng)
            target.expect(streams.event_record(device, event, stream), "stream.event_record")
            for _question in range(QUESTIONS):
                if _done(target, streams.event_query, event, "stream.event_query"):
                    require(np.array_equal(back, data), "the event says reached, and the work is not done")
                    break
            _wait(target, stream)


@case("runtime.event.timeouts")
def timeouts(target: Target, rng: np.random.Generator) -> None:
    """Waiting for an event with a time-out gives TIMEOUT, or success when the work ahead of it is done."""
    streams, device = target.streams, target.device
    with stream_of(target) as stream, event_of(target) as event, allocated(target, 300_000) as memory:
        for timeout in (0, 1, 1000):
            data, back = _round_trip(target, stream, memory, rng)
            target.expect(streams.event_record(device, event, stream), "stream.event_record")
            try:
                target.check(streams.event_synchronize(device, event, timeout), "stream.event_synchronize")
                require(
                    np.array_equal(back, data), f"a wait of {timeout} ns succeeded before the work was done"
                )
            except CallFailed as failed:
                require(
                    failed.code == constants.DA_STATUS_TIMEOUT,
                    f"a wait of {timeout} ns gave {status_name(failed.code)}",
                )
            _wait(target, stream)


def _round_trip(
    target: Target, stream: Any, memory: DeviceBytes, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Queues a copy to the device and back: what was sent, and the array where it will arrive."""
    queue = Queue(target, stream)
    data = rng.integers(0, 256, memory.size).astype(np.uint8)
    queue.write(memory, data)
    return data, queue.read(memory)


@case("runtime.event.elapsed")
def elapsed(target: Target, rng: np.random.Generator) -> None:
    """Time between two reached events is no negative number; FAILED_PRECONDITION where it cannot be told."""
    streams, device, ffi = target.streams, target.device, target.ffi
    if streams.event_elapsed == ffi.NULL:
        raise NotSupported("stream.event_elapsed is not implemented")
    timing = constants.DA_EVENT_TIMING
    out = ffi.new("double *", -1.0)
    with stream_of(target) as stream, event_of(target, timing) as start, event_of(target, timing) as end:
        _must_fail(target, streams.event_elapsed(device, start, end, out), "of events never recorded")
        target.expect(streams.event_record(device, start, stream), "stream.event_record")
        with allocated(target, 1 << 20) as memory:
            queue = Queue(target, stream)
            queue.write(memory, np.zeros(1 << 20, np.uint8))
            target.expect(streams.event_record(device, end, stream), "stream.event_record")
            _wait(target, stream)
        target.expect(streams.event_elapsed(device, start, end, out), "stream.event_elapsed")
        require(0 <= out[0] < 60e9, f"copying a mebibyte took {out[0]} ns")
        with event_of(target) as plain:
            target.expect(streams.event_record(device, plain, stream), "stream.event_record")
            _wait(target, stream)
            _must_fail(target, streams.event_elapsed(device, start, plain, out), "of an event without timing")


def _must_fail(target: Target, error: Any, what: str) -> None:
    try:
        target.check(error, "stream.event_elapsed")
    except CallFailed as failed:
        wanted = constants.DA_STATUS_FAILED_PRECONDITION
        require(failed.code == wanted, f"event_elapsed {what} gave {status_name(failed.code)}")
    else:
        require(False, f"event_elapsed {what} succeeds")


@case("runtime.stream.callback")
def callback(target: Target, rng: np.random.Generator) -> None:
    """A callback runs exactly once, after the work before it and before the work behind it is waited for;
    its destroy function runs once, afterwards."""
    streams, device, ffi = target.streams, target.device, target.ffi
    if streams.add_callback == ffi.NULL:
        raise NotSupported("stream.add_callback is not implemented")
    calls: list[tuple[str, int, int]] = []
    finished: list[bool] = []
    backs: list[Any] = []
    lock = threading.Lock()

    def note(kind: str, user_data: Any, status: int) -> None:
        number = int(ffi.cast("uintptr_t", user_data))
        with lock:
            calls.append((kind, number, status))
            if kind == "run":
                finished.append(bool((backs[number - 1] == number).all()))

    function = ffi.callback("void(void *, int32_t)", lambda data, status: note("run", data, status))
    destroy = ffi.callback("void(void *)", lambda data: note("destroy", data, 0))
    with stream_of(target) as stream, allocated(target, 100_000) as memory:
        queue = Queue(target, stream)
        for number in range(1, 21):
            queue.write(memory, np.full(100_000, number, np.uint8))
            backs.append(queue.read(memory))
            entry = ffi.new("da_callback *")
            entry.struct_size = ffi.sizeof("da_callback")
            entry.function, entry.user_data = function, ffi.cast("void *", number)
            entry.destroy = destroy if number % 2 else ffi.NULL
            target.expect(streams.add_callback(device, stream, entry), "stream.add_callback")
        _wait(target, stream)
    runs = [number for kind, number, _ in calls if kind == "run"]
    require(runs == list(range(1, 21)), f"twenty callbacks ran as {runs}")
    early = [number for number, done in zip(runs, finished, strict=True) if not done]
    require(not early, f"callbacks {early} ran before the work ahead of them was done")
    require(all(status == 0 for kind, _, status in calls if kind == "run"), "a callback got an error status")
    ends = sorted(number for kind, number, _ in calls if kind == "destroy")
    require(ends == list(range(1, 21, 2)), f"destroy functions ran for {ends}")
    for number in ends:
        ran, ended = calls.index(("run", number, 0)), calls.index(("destroy", number, 0))
        require(ran < ended, f"callback {number} was destroyed before it ran")


@case("runtime.stream.threads")
def threads(target: Target, rng: np.random.Generator) -> None:
    """Four threads, each with a stream of its own."""
    target.streams, target.memory, target.device  # noqa: B018 - opened before the threads start
    failures: list[str] = []

    def work(seed: int) -> None:
        own = np.random.default_rng(seed)
        try:
            with stream_of(target) as stream, allocated(target, 50_000) as memory:
                for _ in range(20):
                    data = own.integers(0, 256, 50_000).astype(np.uint8)
                    queue = Queue(target, stream)
                    queue.write(memory, data)
                    back = queue.read(memory)
                    _wait(target, stream)
                    require(np.array_equal(back, data), "a thread read bytes of another thread")
        except Exception as error:
            failures.append(str(error))

    workers = [threading.Thread(target=work, args=(int(seed),)) for seed in rng.integers(0, 2**31, 4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    require(not failures, "; ".join(failures))
