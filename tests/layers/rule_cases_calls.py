"""Cases of the rules for all calls, for the descriptor, for errors and for devices."""

from __future__ import annotations

import threading
import time
from typing import Any

from bench import Bench
from rule_case import Case, by_mode


def needs_out(b: Bench, right: bool) -> None:
    b.start()
    b.call("device.count", b.new("uint32_t *") if right else b.ffi.NULL)


def struct_size(b: Bench, right: bool) -> None:
    b.start()
    copy = b.copy(bytes=0)
    copy.struct_size = 72 if right else 71
    b.call("memory.copy", b.device, b.ffi.NULL, copy)


def extension(b: Bench, right: bool) -> None:
    b.start()
    copy = b.copy(bytes=0)
    if not right:
        copy.extension = copy
    b.call("memory.copy", b.device, b.ffi.NULL, copy)


def overlapping(b: Bench, right: bool) -> None:
    """Two threads record one event; the layer below makes the calls long."""
    b.start()
    stream, event = b.stream(), b.event()
    record = b.plugin.interface("stream").event_record
    errors: list[Any] = []
    threads = [
        threading.Thread(target=lambda: errors.append(record(b.device, event, stream))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
        if right:
            thread.join()
        else:
            time.sleep(0.02)
    for thread in threads:
        thread.join()
    for error in errors:
        b.check(error)
    b.call("stream.event_destroy", b.device, event)
    b.call("stream.destroy", b.device, stream)


def managed(b: Bench) -> None:
    """An allocation that fails."""
    b.start()
    b.allocate(64, 3)


def allocated(b: Bench) -> None:
    b.start()
    handle = b.allocate()
    if handle != b.ffi.NULL and b.code == 0:
        b.free(handle)


def before_start(b: Bench, right: bool) -> None:
    if right:
        b.start()
    b.call("device.count", b.new("uint32_t *"))


def after_end(b: Bench, right: bool) -> None:
    b.start()
    if not right:
        b.stop()
    b.call("device.count", b.new("uint32_t *"))


def twice(b: Bench, right: bool) -> None:
    b.start()
    if not right:
        b.initialize()


def fetch_again(b: Bench) -> None:
    b.start()
    for name in (b"device_api.memory", b"device_api.random"):
        b.plugin.descriptor.get_interface(name, 1)


def log(b: Bench, level: int) -> None:
    b.start()
    b.foreign.naughty_log(level, b"line")


def synchronized(b: Bench) -> None:
    b.start()
    b.call("device.synchronize", b.device)


def late(b: Bench, right: bool) -> None:
    b.start()
    if not right:
        b.stop()
    b.foreign.naughty_log(2, b"line")


def host_table(b: Bench, right: bool) -> None:
    if not right:
        b.host.table.log = b.ffi.NULL
    b.initialize()
    b.check(b.plugin.descriptor.shutdown())


def failed(b: Bench) -> Any:
    """An error of the plugin, not destroyed."""
    b.start()
    return b.plugin.interface("memory").allocate(b.device, 3, 64, b.new("void **"))


def destroy(b: Bench, times: int) -> None:
    error = failed(b)
    for _ in range(times):
        b.plugin.errors.destroy(error)


def read_error(b: Bench, right: bool) -> None:
    error = failed(b)
    if not right:
        b.plugin.errors.destroy(error)
    b.plugin.errors.code(error)
    if right:
        b.plugin.errors.destroy(error)


def leave_error(b: Bench, right: bool) -> None:
    error = failed(b)
    if right:
        b.plugin.errors.destroy(error)
    b.stop()


def foreign_device(b: Bench, right: bool) -> None:
    b.start()
    b.call("device.synchronize", b.device if right else b.ffi.cast("da_device *", 0x1234))


def closed_device(b: Bench, right: bool) -> None:
    b.start()
    if not right:
        b.call("device.close", b.device)
    b.call("device.synchronize", b.device)
    b.running = right
    if not right:
        b.check(b.plugin.descriptor.shutdown())


def open_index(b: Bench, index: int) -> None:
    b.start()
    b.call("device.count", b.new("uint32_t *"))
    other = b.make("device.open", "da_device *", index)
    if b.code == 0:
        b.call("device.close", other)


def open_again(b: Bench, index: int, mode: str) -> None:
    b.start()
    b.mode(mode)
    other = b.make("device.open", "da_device *", index)
    b.mode("")
    if index == 1 and not mode:
        b.call("device.close", other)


def leave_device(b: Bench, right: bool) -> None:
    b.start()
    if right:
        b.stop()
    else:
        b.running = False
        b.check(b.plugin.descriptor.shutdown())


def started(b: Bench) -> None:
    b.start()


def both(function: Any) -> Case:
    """A case of a function that is told whether to do it right."""
    return Case(lambda b: function(b, False), lambda b: function(b, True))


CASES = {
    "VAL-CALL-01": both(needs_out),
    "VAL-CALL-02": both(struct_size),
    "VAL-CALL-03": both(extension),
    "VAL-CALL-05": by_mode("writes_on_failure", managed),
    "VAL-CALL-06": by_mode("no_output", allocated),
    "VAL-CALL-04": Case(
        lambda b: overlapping(b, False),
        lambda b: overlapping(b, True),
        below=",fault(spec=stream.event_record:*:delay=150)",
    ),
    "VAL-PLUGIN-01": both(before_start),
    "VAL-PLUGIN-02": both(after_end),
    "VAL-PLUGIN-03": both(twice),
    "VAL-PLUGIN-04": by_mode("moving_table", fetch_again),
    "VAL-PLUGIN-05": by_mode("bad_table", fetch_again),
    "VAL-PLUGIN-06": Case(lambda b: log(b, 99), lambda b: log(b, 3)),
    "VAL-PLUGIN-07": by_mode("bad_async", synchronized, "good_async"),
    "VAL-PLUGIN-08": both(late),
    "VAL-PLUGIN-09": both(host_table),
    "VAL-ERROR-01": by_mode("bad_code", managed),
    "VAL-ERROR-02": by_mode("no_message", managed),
    "VAL-ERROR-03": Case(lambda b: destroy(b, 2), lambda b: destroy(b, 1)),
    "VAL-ERROR-04": both(read_error),
    "VAL-ERROR-05": both(leave_error),
    "VAL-DEVICE-01": both(foreign_device),
    "VAL-DEVICE-02": both(closed_device),
    "VAL-DEVICE-03": Case(lambda b: open_index(b, 2), lambda b: open_index(b, 1)),
    "VAL-DEVICE-04": Case(lambda b: open_again(b, 0, "moving_device"), lambda b: open_again(b, 0, "")),
    "VAL-DEVICE-05": Case(lambda b: open_again(b, 1, "shared_device"), lambda b: open_again(b, 1, "")),
    "VAL-DEVICE-06": both(leave_device),
    "VAL-DEVICE-07": by_mode("bad_properties", started),
}
