"""Allocation, copies, and what a plugin says about its memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np

from conformance.case import NotSupported, case, require
from conformance.cases.abi_interfaces import resident_bytes
from conformance.memory import Bytes, DeviceBytes, allocated
from conformance.target import CallFailed, Target, status_name
from device_api.abi import constants

SIZES = (
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    17,
    31,
    63,
    64,
    65,
    127,
    255,
    257,
    1000,
    4095,
    4096,
    4097,
    65_537,
    1_000_003,
)
OFFSETS = (0, 1, 2, 3, 7, 8, 13, 64, 100)


def _bytes(rng: np.random.Generator, size: int) -> Bytes:
    return rng.integers(0, 256, size).astype(np.uint8)


def _status(target: Target, error: object, entry: str) -> int | None:
    """The status of a call, None for success."""
    try:
        target.check(error, entry)
    except CallFailed as failed:
        return failed.code
    return None


@case("runtime.memory.zero_bytes")
def zero_bytes(target: Target, rng: np.random.Generator) -> None:
    """Allocating, copying and setting nothing succeeds, in every direction."""
    with allocated(target, 0) as empty, allocated(target, 16) as memory:
        nothing = np.empty(0, np.uint8)
        memory.write(_bytes(rng, 16))
        before = memory.read()
        for each in (empty, memory):
            each.write(nothing)
            each.read(0)
        memory.copy_from(empty, 0)
        empty.copy_from(memory, 0)
        if target.memory.set != target.ffi.NULL:
            null = target.ffi.NULL
            target.expect(target.memory.set(target.device, null, memory.handle, 3, 9, 0), "memory.set")
        require(np.array_equal(memory.read(), before), "an operation of zero bytes changed memory")


@case("runtime.memory.free_null")
def free_null(target: Target, rng: np.random.Generator) -> None:
    """Freeing NULL does nothing."""
    for kind in (constants.DA_MEMORY_DEVICE, constants.DA_MEMORY_PINNED, constants.DA_MEMORY_MANAGED):
        error = target.memory.free(target.device, kind, target.ffi.NULL)
        code = _status(target, error, "memory.free(NULL)")
        allowed = (None,) if kind == constants.DA_MEMORY_DEVICE else (None, constants.DA_STATUS_UNIMPLEMENTED)
        require(code in allowed, f"free(NULL) of kind {kind} gave {status_name(code or 0)}")


@case("runtime.memory.alignment")
def alignment(target: Target, rng: np.random.Generator) -> None:
    """Handles have the alignment that the properties promise."""
    promised = max(int(target.properties.allocation_alignment), 1)
    with ExitStack() as stack:
        for size in SIZES:
            memory = stack.enter_context(allocated(target, size))
            require(memory.handle != target.ffi.NULL, f"the allocation of {size} bytes has no handle")
            address = int(target.ffi.cast("uintptr_t", memory.handle))
            require(address % promised == 0, f"a handle {address:#x} is not aligned to {promised} bytes")


@case("runtime.memory.round_trip")
def round_trip(target: Target, rng: np.random.Generator) -> None:
    """Bytes come back as they went, at odd sizes."""
    for size in SIZES:
        with allocated(target, size) as memory:
            data = _bytes(rng, size)
            memory.write(data)
            require(np.array_equal(memory.read(), data), f"{size} bytes did not come back as they went")


@case("runtime.memory.offsets")
def offsets(target: Target, rng: np.random.Generator) -> None:
    """Copies at odd offsets touch their range and nothing else."""
    with allocated(target, 512) as memory:
        for offset in OFFSETS:
            for size in (1, 3, 8, 33, 100):
                model, data = _bytes(rng, 512), _bytes(rng, size)
                memory.write(model)
                memory.write(data, offset)
                model[offset : offset + size] = data
                where = f"{size} bytes at offset {offset}"
                require(np.array_equal(memory.read(), model), f"writing {where} is wrong")
                require(np.array_equal(memory.read(size, offset), data), f"reading {where} is wrong")


@case("runtime.memory.host_offsets")
def host_offsets(target: Target, rng: np.random.Generator) -> None:
    """The host side of a copy has an offset too, and may be aligned to nothing."""
    ffi = target.ffi
    data, back = _bytes(rng, 100), np.zeros(100, np.uint8)
    with allocated(target, 64) as memory:
        copy = ffi.new("da_copy *")
        copy.struct_size, copy.bytes = ffi.sizeof("da_copy"), 50
        copy.kind = constants.DA_COPY_HOST_TO_DEVICE
        copy.destination, copy.destination_offset = memory.handle, 5
        copy.source, copy.source_offset = ffi.from_buffer(data), 13
        target.expect(target.memory.copy(target.device, ffi.NULL, copy), "memory.copy host to device")
        copy.kind = constants.DA_COPY_DEVICE_TO_HOST
        copy.destination, copy.destination_offset = ffi.from_buffer(back, require_writable=True), 27
        copy.source, copy.source_offset = memory.handle, 5
        target.expect(target.memory.copy(target.device, ffi.NULL, copy), "memory.copy device to host")
    require(np.array_equal(back[27:77], data[13:63]), "the host's offset is not honoured")
    require(not back[:27].any() and not back[77:].any(), "a copy to the host wrote outside its range")


@case("runtime.memory.device_to_device")
def device_to_device(target: Target, rng: np.random.Generator) -> None:
    """Copies inside the device, at odd sizes and offsets, and of a range onto itself."""
    with allocated(target, 70_000) as first, allocated(target, 70_000) as second:
        for size, to, start in ((1, 0, 0), (17, 3, 5), (4096, 64, 64), (65_537, 1, 2)):
            data, model = _bytes(rng, 70_000), _bytes(rng, 70_000)
            first.write(data)
            second.write(model)
            second.copy_from(first, size, to, start)
            model[to : to + size] = data[start : start + size]
            require(np.array_equal(second.read(), model), f"a copy of {size} bytes in the device is wrong")
            require(np.array_equal(first.read(), data), "a copy changed its source")
        first.copy_from(first, 1000, 10, 10)
        require(np.array_equal(first.read(), data), "a copy of a range onto itself changed it")


@case("runtime.memory.set")
def set_bytes(target: Target, rng: np.random.Generator) -> None:
    """Setting bytes, at odd sizes and offsets."""
    if target.memory.set == target.ffi.NULL:
        raise NotSupported("memory.set is not implemented")
    with allocated(target, 5000) as memory:
        for value, offset, size in ((0, 0, 5000), (255, 1, 1), (7, 3, 64), (165, 100, 4097)):
            model = _bytes(rng, 5000)
            memory.write(model)
            call = target.memory.set(target.device, target.ffi.NULL, memory.handle, offset, value, size)
            target.expect(call, "memory.set")
            model[offset : offset + size] = value
            require(np.array_equal(memory.read(), model), f"set of {size} bytes at {offset} is wrong")


@case("runtime.memory.copy_kinds")
def copy_kinds(target: Target, rng: np.random.Generator) -> None:
    """Copy kinds that do not exist are refused, and copy nothing."""
    ffi, data = target.ffi, _bytes(rng, 64)
    with allocated(target, 64) as memory:
        memory.write(data)
        for kind in (0, 5, 99, -1):
            copy = ffi.new("da_copy *")
            copy.struct_size, copy.kind, copy.bytes = ffi.sizeof("da_copy"), kind, 32
            copy.destination, copy.source, copy.source_offset = memory.handle, memory.handle, 32
            code = _status(target, target.memory.copy(target.device, ffi.NULL, copy), "memory.copy")
            require(code is not None, f"a copy of kind {kind} succeeds")
        require(np.array_equal(memory.read(), data), "a copy that was refused changed memory")


@case("runtime.memory.kinds")
def kinds(target: Target, rng: np.random.Generator) -> None:
    """Pinned and managed memory works or is UNIMPLEMENTED; kinds that do not exist are refused."""
    ffi = target.ffi
    for kind in (0, 4, 99, -1):
        out = ffi.new("void **")
        code = _status(target, target.memory.allocate(target.device, kind, 64, out), "memory.allocate")
        require(code is not None, f"an allocation of kind {kind} succeeds")
    for kind in (constants.DA_MEMORY_PINNED, constants.DA_MEMORY_MANAGED):
        out = ffi.new("void **")
        code = _status(target, target.memory.allocate(target.device, kind, 1000, out), "memory.allocate")
        if code is not None:
            require(code == constants.DA_STATUS_UNIMPLEMENTED, f"kind {kind} gave {status_name(code)}")
            continue
        data = _bytes(rng, 1000)
        ffi.memmove(out[0], data.tobytes(), 1000)
        with allocated(target, 1000) as memory:
            copy = ffi.new("da_copy *")
            copy.struct_size, copy.bytes = ffi.sizeof("da_copy"), 1000
            copy.kind, copy.destination, copy.source = constants.DA_COPY_HOST_TO_DEVICE, memory.handle, out[0]
            target.expect(target.memory.copy(target.device, ffi.NULL, copy), "memory.copy")
            require(np.array_equal(memory.read(), data), f"a copy from memory of kind {kind} is wrong")
        target.expect(target.memory.free(target.device, kind, out[0]), "memory.free")


@case("runtime.memory.out_of_memory")
def out_of_memory(target: Target, rng: np.random.Generator) -> None:
    """More memory than there is gives OUT_OF_MEMORY, again and again, and the device stays usable."""
    for size in (2**64 - 1, 2**63, 2**63 - 1, 2**60, 2**50):
        out = target.ffi.new("void **")
        error = target.memory.allocate(target.device, constants.DA_MEMORY_DEVICE, size, out)
        code = _status(target, error, "memory.allocate")
        if code is None:
            target.expect(
                target.memory.free(target.device, constants.DA_MEMORY_DEVICE, out[0]), "memory.free"
            )
        require(code is not None, f"an allocation of {size} bytes succeeds")
        require(
            code == constants.DA_STATUS_OUT_OF_MEMORY,
            f"an allocation of {size} bytes gave {status_name(code or 0)} instead of OUT_OF_MEMORY",
        )
        require(out[0] == target.ffi.NULL, "a failed allocation wrote a handle")
        with allocated(target, 1000) as memory:
            data = _bytes(rng, 1000)
            memory.write(data)
            require(np.array_equal(memory.read(), data), "after running out of memory, a copy is wrong")


@case("runtime.memory.blocks_are_separate")
def blocks_are_separate(target: Target, rng: np.random.Generator) -> None:
    """Two hundred blocks at once share no byte."""
    with ExitStack() as stack:
        blocks = [
            (stack.enter_context(allocated(target, int(size))), number)
            for number, size in enumerate(rng.integers(1, 5000, 200))
        ]
        for memory, number in blocks:
            memory.write(np.full(memory.size, number, np.uint8))
        for memory, number in blocks:
            require((memory.read() == number).all(), f"block {number} was overwritten by another")


@case("runtime.memory.info")
def info(target: Target, rng: np.random.Generator) -> None:
    """Free memory is at most the total, which is that of the properties; a device's own memory shrinks by
    allocations."""
    free, total = _info(target)
    require(0 < free <= total, f"{free} bytes free of {total}")
    known = int(target.properties.total_memory)
    require(known in (0, total), f"memory.info gives {total} bytes in all, the properties give {known}")
    if target.properties.flags & constants.DA_DEVICE_HOST_VISIBLE:
        return  # Memory of the host is shared with everybody: its numbers move on their own.
    with allocated(target, min(free // 4, 64 << 20)):
        left = _info(target)[0]
        require(left < free, f"{free} bytes were free, and {left} are after an allocation")


def _info(target: Target) -> tuple[int, int]:
    if target.memory.info == target.ffi.NULL:
        raise NotSupported("memory.info is not implemented")
    free, total = target.ffi.new("uint64_t *"), target.ffi.new("uint64_t *")
    target.expect(target.memory.info(target.device, free, total), "memory.info")
    return int(free[0]), int(total[0])


@case("runtime.memory.leak")
def leak(target: Target, rng: np.random.Generator) -> None:
    """500 allocations of a mebibyte, each used and freed, leave no memory behind."""

    def work(count: int) -> None:
        for _ in range(count):
            with allocated(target, 1 << 20) as memory:
                memory.write(np.zeros(1 << 20, np.uint8))

    work(20)
    before = resident_bytes()
    work(500)
    grown = resident_bytes() - before
    require(grown < 64 << 20, f"500 allocations of a mebibyte left {grown} bytes behind", bytes=grown)


@case("runtime.memory.host_visible")
def host_visible(target: Target, rng: np.random.Generator) -> None:
    """If the device says that handles are host addresses, the host reads and writes through them."""
    if not target.properties.flags & constants.DA_DEVICE_HOST_VISIBLE:
        raise NotSupported("the device does not claim that its memory is visible to the host")
    data = _bytes(rng, 1000)
    with allocated(target, 1000) as memory:
        memory.write(data)
        require(bytes(target.ffi.buffer(memory.handle, 1000)) == data.tobytes(), "the host reads other bytes")
        target.ffi.memmove(memory.handle, data[::-1].tobytes(), 1000)
        require(np.array_equal(memory.read(), data[::-1]), "the device reads other bytes than the host wrote")


@case("runtime.memory.wrap")
def wrap(target: Target, rng: np.random.Generator) -> None:
    """Wrapped memory of the host is used in place, and survives unwrap."""
    table, ffi = target.memory, target.ffi
    if table.wrap == ffi.NULL:
        raise NotSupported("memory.wrap is not implemented")
    require(table.unwrap != ffi.NULL, "memory.wrap is implemented and unwrap is not")
    data = _bytes(rng, 4096)
    out = ffi.new("void **")
    address = ffi.from_buffer(data, require_writable=True)
    code = _status(target, table.wrap(target.device, address, data.size, out), "memory.wrap")
    if code == constants.DA_STATUS_UNIMPLEMENTED:
        raise NotSupported("memory.wrap does not take memory of the host")
    require(code is None, f"memory.wrap failed with {status_name(code or 0)}")
    with allocated(target, 4096) as memory:
        view = DeviceBytes.__new__(DeviceBytes)
        view.target, view.size, view.handle, view.kind = target, 4096, out[0], constants.DA_MEMORY_DEVICE
        memory.copy_from(view, 4096)
        require(np.array_equal(memory.read(), data), "a copy from wrapped memory is wrong")
        other = _bytes(rng, 4096)
        view.write(other)
    target.expect(table.unwrap(target.device, out[0]), "memory.unwrap")
    require(np.array_equal(data, other), "a copy to wrapped memory did not reach it")


@case("runtime.memory.threads")
def threads(target: Target, rng: np.random.Generator) -> None:
    """Eight threads allocate, copy and free at once."""
    seeds = rng.integers(0, 2**31, 8)
    target.device, target.memory  # noqa: B018 - opened before the threads start

    def work(seed: int) -> bool:
        own = np.random.default_rng(seed)
        for size in own.integers(1, 100_000, 60):
            with allocated(target, int(size)) as memory:
                data = _bytes(own, int(size))
                memory.write(data)
                if not np.array_equal(memory.read(), data):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        require(all(pool.map(work, seeds)), "a thread read bytes that it did not write")


@case("runtime.memory.large", quick=False)
def large(target: Target, rng: np.random.Generator) -> None:
    """96 MiB and three bytes, there and back."""
    size = (96 << 20) + 3
    data = np.arange(size // 4 + 1, dtype=np.uint32).view(np.uint8)[:size]
    with allocated(target, size) as memory:
        memory.write(data)
        require(np.array_equal(memory.read(), data), "a large copy is wrong")


@case("runtime.memory.peer")
def peer(target: Target, rng: np.random.Generator) -> None:
    """Copies between two devices of the plugin."""
    if target.count < 2:
        raise NotSupported("the plugin has one device")
    ffi = target.ffi
    for first, second in device_pairs(target):
        data = _bytes(rng, 1001)
        handles = []
        for device in (first, second):
            out = ffi.new("void **")
            error = target.memory.allocate(device, constants.DA_MEMORY_DEVICE, 1001, out)
            target.expect(error, "memory.allocate")
            handles.append(out[0])
        copy = ffi.new("da_copy *")
        copy.struct_size, copy.bytes, copy.kind = (
            ffi.sizeof("da_copy"),
            1001,
            constants.DA_COPY_HOST_TO_DEVICE,
        )
        copy.destination, copy.source = handles[0], ffi.from_buffer(data)
        target.expect(target.memory.copy(first, ffi.NULL, copy), "memory.copy")
        copy.kind, copy.destination, copy.source = constants.DA_COPY_PEER, handles[1], handles[0]
        copy.peer = first
        code = _status(target, target.memory.copy(second, ffi.NULL, copy), "memory.copy peer")
        if code == constants.DA_STATUS_UNIMPLEMENTED:
            raise NotSupported("copies between devices are not implemented")
        require(code is None, f"a copy between devices failed with {status_name(code or 0)}")
        back = np.zeros(1001, np.uint8)
        copy.kind, copy.peer = constants.DA_COPY_DEVICE_TO_HOST, ffi.NULL
        copy.destination, copy.source = ffi.from_buffer(back, require_writable=True), handles[1]
        target.expect(target.memory.copy(second, ffi.NULL, copy), "memory.copy")
        require(np.array_equal(back, data), "a copy between devices is wrong")
        for device, handle in zip((first, second), handles, strict=True):
            target.expect(target.memory.free(device, constants.DA_MEMORY_DEVICE, handle), "memory.free")


def device_pairs(target: Target) -> Iterator[tuple[object, object]]:
    """The first two devices of a plugin that has as many, in both orders."""
    outs = [target.ffi.new("da_device **") for _ in range(2)]
    for index, out in enumerate(outs):
        target.expect(target.devices.open(index, out), "device.open")
    yield outs[0][0], outs[1][0]
    yield outs[1][0], outs[0][0]
