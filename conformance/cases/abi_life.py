"""Starting and ending a plugin. Each case has a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from conformance import raw
from conformance.case import Failure, QualityWarning, case, require
from conformance.memory import DeviceBytes, allocated
from conformance.target import Target
from device_api.abi import _tables
from device_api.abi._declarations import ffi
from device_api.loading.host import HostServices


def _use(target: Target) -> None:
    with allocated(target, 100) as memory:
        data = np.arange(100, dtype=np.uint8)
        memory.write(data)
        require(np.array_equal(memory.read(), data), "a copy is wrong")


@case("abi.life.start_and_end", own_process=True)
def start_and_end(target: Target, rng: np.random.Generator) -> None:
    """initialize, use, shutdown."""
    _use(target)
    target.expect(target.plugin.descriptor.shutdown(), "shutdown")


@case("abi.life.end_twice", own_process=True)
def end_twice(target: Target, rng: np.random.Generator) -> None:
    """A second shutdown does nothing."""
    _use(target)
    for _ in range(3):
        target.expect(target.plugin.descriptor.shutdown(), "shutdown")


@case("abi.life.end_with_live_handles", own_process=True)
def end_with_live_handles(target: Target, rng: np.random.Generator) -> None:
    """shutdown with memory and a stream still there returns, and breaks nothing."""
    DeviceBytes(target, 1000)
    streams = target.optional_interface("stream")
    if streams is not None:
        target.expect(streams.create(target.device, 0, ffi.new("da_stream **")), "stream.create")
    target.expect(target.plugin.descriptor.shutdown(), "shutdown")


@case("abi.life.close_device", own_process=True)
def close_device(target: Target, rng: np.random.Generator) -> None:
    """A device is closed, opened again, and works."""
    _use(target)
    target.expect(target.devices.close(target.device), "device.close")
    del target.device
    _use(target)


def _start(target: Target, host: Any) -> None:
    """Initialises with a host table of the case's own making."""
    descriptor = raw.descriptor(target)
    error = descriptor.initialize(ffi.cast("const da_host *", host))
    if error != ffi.NULL:
        message = raw.text(descriptor.errors.message(error))
        descriptor.errors.destroy(error)
        raise Failure(f"initialize failed: {message}")


@case("abi.life.smallest_host", own_process=True)
def smallest_host(target: Target, rng: np.random.Generator) -> None:
    """A host table of the released size, without the optional services, and of the oldest minor accepted."""
    services = HostServices()
    host = services.table
    host.struct_size = _tables.MINIMUM_SIZES["da_host"]
    host.abi_minor = raw.descriptor(target).min_host_minor
    host.trace_begin = host.trace_end = ffi.NULL
    _start(target, host)
    target.expect(raw.descriptor(target).shutdown(), "shutdown")


@case("abi.life.grown_host", own_process=True)
def grown_host(target: Target, rng: np.random.Generator) -> None:
    """A host table of a later minor, with fields behind those that the plugin knows."""
    services = HostServices()
    known = ffi.sizeof("da_host")
    storage = ffi.new("uint64_t[]", [0xA5A5A5A5A5A5A5A5] * (known // 8 + 8))
    ffi.memmove(storage, services.table, known)
    host = ffi.cast("da_host *", storage)
    host.struct_size, host.abi_minor = known + 64, host.abi_minor + 1
    _start(target, host)
    target.expect(raw.descriptor(target).shutdown(), "shutdown")


@case("abi.life.silent_after_end", own_process=True)
def silent_after_end(target: Target, rng: np.random.Generator) -> None:
    """Nothing of the host is called once shutdown has returned: its table may be gone."""
    services = target.host
    _use(target)
    target.expect(target.plugin.descriptor.shutdown(), "shutdown")
    said = len(services.lines), len(services.failures)
    target.expect(target.plugin.descriptor.shutdown(), "shutdown")
    time.sleep(0.2)  # For threads that the plugin has left behind.
    lines = services.lines[said[0] :]
    require(
        (len(services.lines), len(services.failures)) == said,
        f"the host was called after shutdown: {lines[0][1] if lines else 'an asynchronous error'}",
    )


# What a run of a small program may print before it is a flood that fills a disk.
FLOOD = 1 << 16


@case("abi.life.quiet", own_process=True)
def quiet(target: Target, rng: np.random.Generator) -> None:
    """Ordinary work writes nothing to standard output and error, which belong to the program; the host has a
    log."""
    with tempfile.TemporaryFile() as file:
        saved = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in saved:
            os.dup2(file.fileno(), number)
        try:
            for _ in range(20):
                _use(target)
            target.expect(target.plugin.descriptor.shutdown(), "shutdown")
        finally:
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        beginning = file.read(200)
    require(size < FLOOD, f"twenty small copies printed {size} bytes, beginning {beginning!r}", bytes=size)
    if size:
        raise QualityWarning(f"the plugin printed {size} bytes, beginning {beginning!r}")


_EXIT = """
import sys
import numpy as np
from conformance.memory import DeviceBytes
from conformance.target import Target
target = Target(sys.argv[1])
memory = DeviceBytes(target, 1000)
memory.write(np.zeros(1000, np.uint8))
if sys.argv[2] == "raise":
    raise KeyError("on purpose")
sys.exit(int(sys.argv[2]))
"""


@case("abi.life.process_exit", own_process=True, quick=False)
def process_exit(target: Target, rng: np.random.Generator) -> None:
    """A program that ends without shutdown ends with its own status, whichever way it ends."""
    for how, wanted in (("0", 0), ("7", 7), ("raise", 1)):
        child = subprocess.run(
            [sys.executable, "-c", _EXIT, target.location.spec, how],
            capture_output=True,
            timeout=60,
            check=False,
        )
        require(
            child.returncode == wanted,
            f"a process that used the device and should end with {wanted} ended with {child.returncode}: "
            f"{child.stderr[-400:].decode(errors='replace')}",
        )
