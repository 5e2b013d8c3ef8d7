"""Cases of the rules for streams, events and callbacks."""

from __future__ import annotations

from bench import Bench
from rule_case import Case, by_mode
from rule_cases_calls import both


def foreign_stream(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    b.call("stream.synchronize", b.device, stream if right else b.ffi.cast("da_stream *", 0x10))
    b.call("stream.destroy", b.device, stream)


def ended_stream(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    if not right:
        b.call("stream.destroy", b.device, stream)
    b.call("stream.synchronize", b.device, stream)
    if right:
        b.call("stream.destroy", b.device, stream)


def stream_elsewhere(b: Bench, right: bool) -> None:
    b.start()
    other = b.make("device.open", "da_device *", 1)
    stream = b.make("stream.create", "da_stream *", other, 0)
    b.call("stream.synchronize", other if right else b.device, stream)
    b.call("stream.destroy", other, stream)
    b.call("device.close", other)


def foreign_event(b: Bench, right: bool) -> None:
    b.start()
    event = b.event()
    b.call("stream.event_synchronize", b.device, event if right else b.ffi.cast("da_event *", 0x10), 0)
    b.call("stream.event_destroy", b.device, event)


def ended_event(b: Bench, right: bool) -> None:
    b.start()
    event = b.event()
    if not right:
        b.call("stream.event_destroy", b.device, event)
    b.call("stream.event_synchronize", b.device, event, 0)
    if right:
        b.call("stream.event_destroy", b.device, event)


def event_elsewhere(b: Bench, right: bool) -> None:
    b.start()
    other = b.make("device.open", "da_device *", 1)
    event = b.make("stream.event_create", "da_event *", other, 0)
    b.call("stream.event_synchronize", other if right else b.device, event, 0)
    b.call("stream.event_destroy", other, event)
    b.call("device.close", other)


def leave_stream(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    if right:
        b.call("stream.destroy", b.device, stream)
    b.stop()


def leave_event(b: Bench, right: bool) -> None:
    b.start()
    event = b.event()
    if right:
        b.call("stream.event_destroy", b.device, event)
    b.stop()


def queried(b: Bench) -> None:
    b.start()
    stream = b.stream()
    b.call("stream.query", b.device, stream, b.new("int32_t *"))
    b.call("stream.destroy", b.device, stream)


def two_streams(b: Bench) -> None:
    b.start()
    first = b.stream()
    second = b.stream()
    b.call("stream.destroy", b.device, first)
    if second != first:
        b.call("stream.destroy", b.device, second)


def called_back(b: Bench) -> None:
    b.start()
    stream = b.stream()
    b.call("stream.add_callback", b.device, stream, b.callback())
    b.call("stream.synchronize", b.device, stream)
    b.call("stream.destroy", b.device, stream)


def flags(b: Bench, value: int) -> None:
    b.start()
    event = b.event(value)
    if b.code == 0:
        b.call("stream.event_destroy", b.device, event)


def elapsed(b: Bench, timing: int = 1) -> None:
    b.start()
    events = [b.event(timing), b.event(1)]
    b.call("stream.event_elapsed", b.device, *events, b.new("double *"))
    for event in events:
        b.call("stream.event_destroy", b.device, event)


def no_function(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    b.call("stream.add_callback", b.device, stream, b.callback(None if right else b.ffi.NULL))
    b.call("stream.destroy", b.device, stream)


CASES = {
    "VAL-STREAM-01": both(foreign_stream),
    "VAL-STREAM-02": both(ended_stream),
    "VAL-STREAM-03": both(stream_elsewhere),
    "VAL-STREAM-04": both(foreign_event),
    "VAL-STREAM-05": both(ended_event),
    "VAL-STREAM-06": both(event_elsewhere),
    "VAL-STREAM-07": both(leave_stream),
    "VAL-STREAM-08": both(leave_event),
    "VAL-STREAM-09": by_mode("bad_query", queried),
    "VAL-STREAM-10": by_mode("same_stream", two_streams),
    "VAL-STREAM-11": by_mode("callback_twice", called_back),
    "VAL-STREAM-12": by_mode("callback_never", called_back),
    "VAL-STREAM-13": by_mode("destroy_twice", called_back),
    "VAL-STREAM-14": Case(lambda b: flags(b, 6), lambda b: flags(b, 1)),
    "VAL-STREAM-15": Case(lambda b: elapsed(b, 0), elapsed),
    "VAL-STREAM-16": by_mode("bad_elapsed", elapsed),
    "VAL-STREAM-17": both(no_function),
}
