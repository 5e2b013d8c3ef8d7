"""Cases of the rules for captures, collectives, graphs, the profiler and custom ops."""

from __future__ import annotations

from typing import Any

from bench import Bench
from rule_case import Case, by_mode
from rule_cases_calls import both


def foreign_capture(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    capture = b.capture(stream)
    b.call("capture.replay", capture if right else b.ffi.cast("da_capture *", 0x10), stream)
    b.call("capture.destroy", capture)
    b.call("stream.destroy", b.device, stream)


def ended_capture(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    capture = b.capture(stream)
    if not right:
        b.call("capture.destroy", capture)
    b.call("capture.replay", capture, stream)
    if right:
        b.call("capture.destroy", capture)
    b.call("stream.destroy", b.device, stream)


def begin(b: Bench, times: int) -> None:
    b.start()
    stream = b.stream()
    for _ in range(times):
        b.call("capture.begin", b.device, stream)
    capture = b.make("capture.end", "da_capture *", b.device, stream)
    if b.code == 0:
        b.call("capture.destroy", capture)
    b.call("stream.destroy", b.device, stream)


def leave_capture(b: Bench, right: bool) -> None:
    b.start()
    stream = b.stream()
    capture = b.capture(stream)
    if right:
        b.call("capture.destroy", capture)
    b.call("stream.destroy", b.device, stream)
    b.stop()


def foreign_communicator(b: Bench, right: bool) -> None:
    b.start()
    made = b.communicator()
    b.call("collective.abort", made if right else b.ffi.cast("da_communicator *", 0x10))
    b.call("collective.destroy", made)


def ended_communicator(b: Bench, right: bool) -> None:
    b.start()
    made = b.communicator()
    if not right:
        b.call("collective.destroy", made)
    b.call("collective.abort", made)
    if right:
        b.call("collective.destroy", made)


def exchanged(b: Bench, slot: str, *more: int, **fields: Any) -> None:
    b.start()
    made, handle = b.communicator(), b.allocate()
    tensor = b.tensor(handle, **fields)
    tensors = [tensor] if slot in ("send", "receive") else [tensor, tensor]
    b.call(f"collective.{slot}", made, b.ffi.NULL, *tensors, *more)
    b.call("collective.destroy", made)
    b.free(handle)


def leave_communicator(b: Bench, right: bool) -> None:
    b.start()
    made = b.communicator()
    if right:
        b.call("collective.destroy", made)
    b.stop()


def group(b: Bench, right: bool) -> None:
    b.start()
    made = b.communicator()
    if right:
        b.call("collective.group_start", made)
    b.call("collective.group_end", made)
    b.call("collective.destroy", made)


def foreign_executable(b: Bench, right: bool) -> None:
    b.start()
    made = b.executable()
    other = made if right else b.ffi.cast("da_executable *", 0x10)
    b.call("graph.serialise", other, b.struct("da_bytes"))
    b.call("graph.destroy", made)


def ended_executable(b: Bench, right: bool) -> None:
    b.start()
    made = b.executable()
    if not right:
        b.call("graph.destroy", made)
    b.call("graph.serialise", made, b.struct("da_bytes"))
    if right:
        b.call("graph.destroy", made)


def leave_executable(b: Bench, right: bool) -> None:
    b.start()
    made = b.executable()
    if right:
        b.call("graph.destroy", made)
    b.stop()


def serialised(b: Bench) -> None:
    b.start()
    made = b.executable()
    b.call("graph.serialise", made, b.struct("da_bytes"))
    b.call("graph.destroy", made)


def recorded(b: Bench, *calls: str) -> None:
    b.start()
    sink = b.ffi.callback("void(void *, const da_activity *)", lambda data, activity: None)
    for call in calls:
        arguments = (sink, b.ffi.NULL) if call == "collect" else ()
        b.call(f"profiler.{call}", b.device, *arguments)


def custom_list(b: Bench) -> None:
    b.start()
    b.call("custom_op.list", b.struct("da_custom_op_list"))


def custom_lists(b: Bench) -> None:
    b.mode("")
    custom_list(b)
    b.mode("moving_custom_ops")
    b.call("custom_op.list", b.struct("da_custom_op_list"))


def custom_listed_twice(b: Bench) -> None:
    custom_list(b)
    b.call("custom_op.list", b.struct("da_custom_op_list"))


def inferred(b: Bench) -> None:
    b.start()
    b.infer()


CASES = {
    "VAL-CAPTURE-01": both(foreign_capture),
    "VAL-CAPTURE-02": both(ended_capture),
    "VAL-CAPTURE-03": Case(lambda b: begin(b, 2), lambda b: begin(b, 1)),
    "VAL-CAPTURE-04": Case(lambda b: begin(b, 0), lambda b: begin(b, 1)),
    "VAL-CAPTURE-05": both(leave_capture),
    "VAL-COLLECTIVE-01": both(foreign_communicator),
    "VAL-COLLECTIVE-02": both(ended_communicator),
    "VAL-COLLECTIVE-03": Case(lambda b: exchanged(b, "send", 2), lambda b: exchanged(b, "send", 1)),
    "VAL-COLLECTIVE-04": Case(
        lambda b: exchanged(b, "all_reduce", 9), lambda b: exchanged(b, "all_reduce", 1)
    ),
    "VAL-COLLECTIVE-05": both(leave_communicator),
    "VAL-COLLECTIVE-06": both(group),
    "VAL-COLLECTIVE-07": Case(
        lambda b: exchanged(b, "receive", 1, strides=(2,)), lambda b: exchanged(b, "receive", 1)
    ),
    "VAL-CUSTOM-01": by_mode("bad_custom_list", custom_list),
    "VAL-CUSTOM-02": by_mode("bad_custom_op", custom_list),
    "VAL-CUSTOM-03": Case(custom_lists, custom_listed_twice),
    "VAL-CUSTOM-04": by_mode("bad_extent", inferred),
    "VAL-CUSTOM-05": by_mode("bad_dtype", inferred),
    "VAL-GRAPH-01": both(foreign_executable),
    "VAL-GRAPH-02": both(ended_executable),
    "VAL-GRAPH-03": both(leave_executable),
    "VAL-GRAPH-04": by_mode("bad_bytes", serialised),
    "VAL-PROFILER-01": Case(
        lambda b: recorded(b, "start", "start"), lambda b: recorded(b, "start", "stop", "start", "stop")
    ),
    "VAL-PROFILER-02": Case(lambda b: recorded(b, "stop"), lambda b: recorded(b, "start", "stop")),
    "VAL-PROFILER-03": by_mode("bad_activity", lambda b: recorded(b, "start", "stop", "collect")),
}
