"""The device, memory and stream interfaces of a prototype, over its Python devices.

Handles of C are numbers here: a device is its index plus one, a stream or an event a number that was given
out. A stream of a device that finishes every call at once has nothing to wait for; what it must do is refuse
to be confused with others, and time events.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from device_api.abi import constants
from device_api.abi._declarations import ffi
from device_api.prototype.device import Device
from device_api.prototype.failures import Failure
from device_api.prototype.tables import text

Functions = Mapping[str, Callable[..., None]]


def _refuse(message: str) -> Failure:
    return Failure(constants.DA_STATUS_INVALID_ARGUMENT, message)


def _number(handle: Any) -> int:
    return int(ffi.cast("uintptr_t", handle))


class DeviceTable:
    """The functions of device.h."""

    def __init__(self, devices: Sequence[Device], dtypes: Callable[[], int]) -> None:
        self.devices = tuple(devices)
        self._dtypes = dtypes
        self._texts = [
            {name: text(getattr(each, name)) for name in ("name", "driver_version", "runtime_version")}
            for each in self.devices
        ]

    def functions(self) -> Functions:
        return {"count": self.count, "open": self.open, "close": self.close, "properties": self.properties}

    def of(self, handle: Any) -> Device:
        number = _number(handle)
        if not 1 <= number <= len(self.devices):
            raise _refuse("no such device is open")
        return self.devices[number - 1]

    def count(self, out_count: Any) -> None:
        out_count[0] = len(self.devices)

    def open(self, index: int, out_device: Any) -> None:
        if index >= len(self.devices):
            raise _refuse(f"there are {len(self.devices)} devices; none has number {index}")
        out_device[0] = ffi.cast("da_device *", index + 1)

    def close(self, device: Any) -> None:
        """Devices of a prototype stay ready; NULL is fine."""

    def properties(self, handle: Any, out_properties: Any) -> None:
        device = self.of(handle)
        known = ffi.new("da_device_properties *")
        for name, value in self._texts[_number(handle) - 1].items():
            setattr(known, name, value)
        for name in (
            "total_memory", "allocation_alignment", "max_rank", "compute_units", "dl_device_type"
        ):  # fmt: skip
            setattr(known, name, getattr(device, name))
        known.flags = device.flags | constants.DA_DEVICE_SYNCHRONOUS
        known.dtypes = self._dtypes()
        # An older host knows fewer fields, a newer one more: fill those that both know, keep its size.
        size = known.struct_size = out_properties.struct_size
        ffi.memmove(out_properties, known, min(size, ffi.sizeof("da_device_properties")))


class MemoryTable:
    """The functions of memory.h."""

    def __init__(self, devices: DeviceTable) -> None:
        self._devices = devices

    def functions(self) -> Functions:
        return {"allocate": self.allocate, "free": self.free, "copy": self.copy}

    def allocate(self, device: Any, kind: int, count: int, out_handle: Any) -> None:
        if kind != constants.DA_MEMORY_DEVICE:
            raise NotImplementedError(f"memory of kind {kind}: only device memory exists here")
        out_handle[0] = ffi.cast("void *", self._devices.of(device).allocate(count))

    def free(self, device: Any, kind: int, handle: Any) -> None:
        if handle != ffi.NULL:
            self._devices.of(device).free(_number(handle))

    def copy(self, device: Any, stream: Any, copy: Any) -> None:
        owner, kind, count = self._devices.of(device), copy.kind, copy.bytes
        if not constants.DA_COPY_HOST_TO_DEVICE <= kind <= constants.DA_COPY_PEER:
            raise _refuse(f"{kind} is no kind of copy")
        if count == 0:
            return
        if ffi.NULL in (copy.destination, copy.source):
            raise _refuse(f"a copy of {count} bytes with a NULL handle")
        target, source = _number(copy.destination), _number(copy.source)
        if kind == constants.DA_COPY_HOST_TO_DEVICE:
            owner.write(target, copy.destination_offset, _host(source + copy.source_offset, count))
        elif kind == constants.DA_COPY_DEVICE_TO_HOST:
            owner.read(source, copy.source_offset, _host(target + copy.destination_offset, count))
        elif kind == constants.DA_COPY_PEER and self._devices.of(copy.peer) is not owner:
            # By way of the host: two prototypes share nothing.
            between = memoryview(bytearray(count))
            owner.read(source, copy.source_offset, between)
            self._devices.of(copy.peer).write(target, copy.destination_offset, between)
        else:
            owner.move(target, copy.destination_offset, source, copy.source_offset, count)


def _host(address: int, count: int) -> memoryview:
    return memoryview(ffi.buffer(ffi.cast("char *", address), count)).cast("B")


class StreamTable:
    """The functions of stream.h, for devices on which every call is finished when it returns."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._recorded: dict[int, tuple[int, int | None]] = {}  # event -> flags, time of its record
        self._lock = threading.Lock()

    def functions(self) -> Functions:
        nothing = self._nothing
        return {
            "create": self.create, "destroy": nothing, "synchronize": nothing, "query": self.query,
            "wait_event": nothing, "add_callback": self.add_callback, "event_create": self.event_create,
            "event_destroy": self.event_destroy, "event_record": self.event_record, "event_query": self.query,
            "event_synchronize": nothing, "event_elapsed": self.event_elapsed,
        }  # fmt: skip

    def _nothing(self, *arguments: Any) -> None:
        """The work that this would wait for is done."""

    def _next(self) -> int:
        with self._lock:
            return next(self._numbers)

    def create(self, device: Any, priority: int, out_stream: Any) -> None:
        out_stream[0] = ffi.cast("da_stream *", self._next())

    def query(self, device: Any, handle: Any, out_done: Any) -> None:
        out_done[0] = 1

    def add_callback(self, device: Any, stream: Any, callback: Any) -> None:
        callback.function(callback.user_data, 0)
        if callback.destroy != ffi.NULL:
            callback.destroy(callback.user_data)

    def event_create(self, device: Any, flags: int, out_event: Any) -> None:
        number = self._next()
        self._recorded[number] = (flags, None)
        out_event[0] = ffi.cast("da_event *", number)

    def event_destroy(self, device: Any, event: Any) -> None:
        self._recorded.pop(_number(event), None)

    def event_record(self, device: Any, event: Any, stream: Any) -> None:
        flags, _ = self._recorded[_number(event)]
        self._recorded[_number(event)] = (flags, time.perf_counter_ns())

    def event_elapsed(self, device: Any, start: Any, end: Any, out_nanoseconds: Any) -> None:
        marks = [self._recorded.get(_number(event), (0, None)) for event in (start, end)]
        first, last = (when for _, when in marks)
        timed = all(flags & constants.DA_EVENT_TIMING for flags, _ in marks)
        if first is None or last is None or not timed:
            raise Failure(
                constants.DA_STATUS_FAILED_PRECONDITION, "both events must be recorded, and made with TIMING"
            )
        out_nanoseconds[0] = float(last - first)
