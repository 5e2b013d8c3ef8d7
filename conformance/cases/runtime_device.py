"""Devices and the truth of their properties."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import case, require
from conformance.cases.runtime_stream import Queue, stream_of
from conformance.memory import allocated
from conformance.target import CallFailed, Target
from device_api.abi import constants


@case("runtime.device.count")
def count(target: Target, rng: np.random.Generator) -> None:
    """The number of devices is the same each time, from any thread."""

    def ask(_: int) -> int:
        out = target.ffi.new("uint32_t *", 12345)
        target.expect(target.devices.count(out), "device.count")
        return int(out[0])

    first = ask(0)
    with ThreadPoolExecutor(8) as pool:
        require(set(pool.map(ask, range(64))) == {first}, "device.count gives different numbers")
    require(first > 0, "there is no device")


@case("runtime.device.open_again")
def open_again(target: Target, rng: np.random.Generator) -> None:
    """Opening a device again gives the same handle; different devices have different handles."""
    handles = []
    for index in range(target.count):
        outs = [target.ffi.new("da_device **") for _ in range(3)]
        for out in outs:
            target.expect(target.devices.open(index, out), f"device.open({index})")
        require(len({out[0] for out in outs}) == 1, f"opening device {index} again gives another handle")
        require(outs[0][0] != target.ffi.NULL, f"device {index} has no handle")
        handles.append(outs[0][0])
    require(len(set(handles)) == len(handles), "two devices share one handle")


@case("runtime.device.open_from_threads")
def open_from_threads(target: Target, rng: np.random.Generator) -> None:
    """Eight threads that open the device at once get one handle."""
    device = target.device

    def open_it(_: int) -> bool:
        out = target.ffi.new("da_device **")
        target.expect(target.devices.open(target.location.index, out), "device.open")
        return bool(out[0] == device)

    with ThreadPoolExecutor(8) as pool:
        require(all(pool.map(open_it, range(64))), "concurrent opens give different handles")


@case("runtime.device.out_of_range")
def out_of_range(target: Target, rng: np.random.Generator) -> None:
    """Numbers beyond the count are errors, and write no handle."""
    for index in (target.count, target.count + 7, 2**31, 2**32 - 1):
        out = target.ffi.new("da_device **")
        try:
            target.check(target.devices.open(index, out), "device.open")
        except CallFailed:
            require(out[0] == target.ffi.NULL, f"device.open({index}) failed and wrote a handle")
        else:
            require(False, f"device.open({index}) succeeds, though there are {target.count} devices")


@case("runtime.device.close_null")
def close_null(target: Target, rng: np.random.Generator) -> None:
    """Closing NULL does nothing."""
    target.expect(target.devices.close(target.ffi.NULL), "device.close(NULL)")


@case("runtime.device.properties")
def properties(target: Target, rng: np.random.Generator) -> None:
    """The facts about the device are possible ones."""
    facts = target.properties
    name = target.ffi.string(facts.name).decode() if facts.name != target.ffi.NULL else ""
    require(name, "the device has no name")
    require(3 <= facts.max_rank <= constants.DA_MAX_RANK, f"max_rank is {facts.max_rank}, not 3 to 32")
    alignment = facts.allocation_alignment
    require(alignment & (alignment - 1) == 0, f"allocation_alignment {alignment} is no power of two")
    known = sum(1 << code for code in dtypes.NAMES)
    require(facts.dtypes & known, "the device holds no dtype")
    require(not facts.dtypes & ~known, f"unknown dtypes in {facts.dtypes:#x}")
    flags = constants.DA_DEVICE_HOST_VISIBLE | constants.DA_DEVICE_DETERMINISTIC
    flags |= constants.DA_DEVICE_SYNCHRONOUS
    require(not facts.flags & ~flags, f"unknown flags in {facts.flags:#x}")
    require(facts.dl_device_type > 0, f"dl_device_type is {facts.dl_device_type}")


@case("runtime.device.properties_repeat")
def properties_repeat(target: Target, rng: np.random.Generator) -> None:
    """Asking again gives the same facts, and nothing is written behind the struct the plugin knows."""
    ffi = target.ffi
    size = ffi.sizeof("da_device_properties")
    first = bytes(ffi.buffer(target.properties, size))
    storage = ffi.new("uint64_t[]", size // 8 + 8)
    ffi.memmove(ffi.cast("char *", storage) + size, b"\xa5" * 64, 64)
    grown = ffi.cast("da_device_properties *", storage)
    grown.struct_size = size + 64
    target.expect(target.devices.properties(target.device, grown), "device.properties")
    again = bytes(ffi.buffer(storage, size + 64))
    require(again[16:size] == first[16:], "the properties changed between two calls")
    require(again[size:] == b"\xa5" * 64, "fields behind those of this version were written")


@case("runtime.device.synchronize")
def synchronize(target: Target, rng: np.random.Generator) -> None:
    """Waiting for an idle device returns, again and again; waiting for a busy one finishes its work."""
    for _ in range(10):
        target.synchronize()
    if target.optional_interface("stream") is None:
        return
    data = rng.integers(0, 256, 100_000).astype(np.uint8)
    with stream_of(target) as stream, allocated(target, data.size) as memory:
        queue = Queue(target, stream)
        queue.write(memory, data)
        back = queue.read(memory)
        target.synchronize()
        require(np.array_equal(back, data), "the device was waited for, and its work is not done")
