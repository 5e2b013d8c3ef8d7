"""Times cases on one or several devices, interleaved, and on NumPy where it has the function.

A call is timed in two ways. Latency: one call and the wait for its result, again and again, as in a program
that looks at every result. Throughput: many calls and one wait. On a device that works beside the host the
second is also timed by the device's own events, which do not see the host; bytes and operations per second
are of that time where it is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from device_api import _core
from device_api.bench.cases import Case, call
from device_api.bench.timing import Timer, Timing, rotate
from device_api.errors import DeviceApiError

NUMPY = "numpy"


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds for each case, and seconds of each slice."""

    rounds: int = 11
    slice_seconds: float = 0.005


QUICK = Effort(rounds=5, slice_seconds=0.002)


@dataclass
class Calls:
    """A call on a device, timed together with the wait: after each call, or after all."""

    function: Callable[[], Any]
    wait: Callable[[], object]
    each: bool = False

    def timeit(self, number: int = 1) -> float:
        function, wait = self.function, self.wait
        began = time.perf_counter()
        for _ in range(number):
            function()
            if self.each:
                wait()
        wait()
        return time.perf_counter() - began


@dataclass
class DeviceCalls(Calls):
    """The same, which also keeps the seconds that the device's events measured, for each call."""

    stream: _core.Stream | None = None
    seen: list[float] = field(default_factory=list)

    def timeit(self, number: int = 1) -> float:
        begin, end = _core.Event(timing=True), _core.Event(timing=True)
        began = time.perf_counter()
        begin.record(self.stream)
        for _ in range(number):
            self.function()
        end.record(self.stream)
        self.wait()
        taken = time.perf_counter() - began
        self.seen.append(begin.elapsed_time(end) / 1e3 / number)
        return taken


@dataclass(frozen=True)
class Failure:
    """A case that a device could not run after all."""

    name: str
    device: str
    message: str


def rows(
    cases: Iterable[Case], devices: list[_core.Device], *, numpy: bool = False, effort: Effort | None = None
) -> Iterator[dict[str, Any] | Failure]:
    """A row for each case, as the JSON document has it: the first device's numbers, and a ratio to each of
    the others (ours divided by theirs, the median over rounds)."""
    for case in cases:
        yield _row(case, devices, numpy, effort or Effort())


def _row(case: Case, devices: list[_core.Device], numpy: bool, effort: Effort) -> dict[str, Any] | Failure:
    timers: dict[str, Timer] = {}
    moved = 0
    for device in devices:
        try:
            function = call(case, device)
            result = function()
            device.synchronize()
        except DeviceApiError as error:
            return Failure(case.name, str(device), str(error))
        moved = moved or _bytes(case, result)
        timers[f"latency {device}"] = Calls(function, device.synchronize, each=True)
        timers[f"throughput {device}"] = _throughput(function, device)
    if numpy and (function_of_numpy := _numpy_call(case)) is not None:
        timers[f"throughput {NUMPY}"] = Calls(function_of_numpy, lambda: None)
    timings = rotate(timers, rounds=effort.rounds, slice_seconds=effort.slice_seconds)
    return _document_row(case, devices, timers, timings, moved, effort.rounds)


def _throughput(function: Callable[[], Any], device: _core.Device) -> Calls:
    if device.synchronous:
        return Calls(function, device.synchronize)
    return DeviceCalls(function, device.synchronize, stream=_core.current_stream(device))


def _document_row(
    case: Case,
    devices: list[_core.Device],
    timers: dict[str, Timer],
    timings: dict[str, Timing],
    moved: int,
    rounds: int,
) -> dict[str, Any]:
    ours = str(devices[0])
    throughput, latency = timings[f"throughput {ours}"], timings[f"latency {ours}"]
    row: dict[str, Any] = {
        "name": case.name,
        "op": case.spec.name,
        "dtype": case.dtype,
        "shapes": [list(each) for each in case.inputs if isinstance(each, tuple)],
        "latency": latency.median,
        "latency_mad": latency.mad,
        "seconds": throughput.median,
        "seconds_mad": throughput.mad,
    }
    taken = throughput.median
    timer = timers[f"throughput {ours}"]
    if isinstance(timer, DeviceCalls):
        # The calls that warm up come first.
        taken = row["device_seconds"] = Timing(tuple(timer.seen[-rounds:])).median
    if taken > 0:
        row["bytes_per_second"] = moved / taken
        if case.flops is not None:
            row["flops_per_second"] = case.flops / taken
    others = [str(device) for device in devices[1:]] + [NUMPY] * (f"throughput {NUMPY}" in timings)
    row["ratio"] = {other: throughput.ratio_to(timings[f"throughput {other}"]) for other in others}
    return row


def _bytes(case: Case, result: Any) -> int:
    """Bytes of all tensors that are read and written."""
    outputs = result if isinstance(result, tuple) else (result,)
    read = sum(array.nbytes for array in case.arrays() if isinstance(array, np.ndarray))
    return read + sum(int(output.nbytes) for output in outputs)


def _numpy_call(case: Case) -> Callable[[], Any] | None:
    """The function of the same name in NumPy; None when there is none that takes the same call."""
    function = getattr(np, case.spec.name, None)
    if function is None or any(each is None for each in case.inputs):
        return None
    arrays, names = case.arrays(), {each.name for each in case.spec.attributes}
    attributes = {name: case.attributes[name] for name in names}

    def run() -> Any:
        return function(*arrays, **attributes)

    try:
        with np.errstate(all="ignore"):
            run()
    except (TypeError, ValueError):
        return None
    return run
