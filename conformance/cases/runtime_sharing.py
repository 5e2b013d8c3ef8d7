"""Memory that host and device share, and copies between devices on streams."""

from __future__ import annotations

import numpy as np

from conformance.case import NotSupported, case, require
from conformance.cases.runtime_memory import device_pairs
from conformance.cases.runtime_stream import Queue, stream_of
from conformance.memory import DeviceBytes, allocated
from conformance.target import CallFailed, Target, status_name
from device_api.abi import constants

SIZE = 5000


@case("runtime.memory.managed")
def managed(target: Target, rng: np.random.Generator) -> None:
    """Host and device find the same bytes at the address of managed memory, in turns."""
    out = target.ffi.new("void **")
    kind = constants.DA_MEMORY_MANAGED
    try:
        target.check(target.memory.allocate(target.device, kind, SIZE, out), "memory.allocate managed")
    except CallFailed as failed:
        require(
            failed.code == constants.DA_STATUS_UNIMPLEMENTED,
            f"managed memory gave {status_name(failed.code)}",
        )
        raise NotSupported("the device has no managed memory") from None
    shared = DeviceBytes.of(target, SIZE, out[0])
    with allocated(target, SIZE) as memory:
        for turn in range(3):
            data, other = (rng.integers(0, 256, SIZE).astype(np.uint8) for _ in range(2))
            target.ffi.memmove(out[0], data.tobytes(), SIZE)
            memory.copy_from(shared, SIZE)
            require(
                np.array_equal(memory.read(), data), f"turn {turn}: the device does not see the host's bytes"
            )
            memory.write(other)
            shared.copy_from(memory, SIZE)
            target.synchronize()
            seen = np.frombuffer(target.ffi.buffer(out[0], SIZE), np.uint8)
            require(np.array_equal(seen, other), f"turn {turn}: the host does not see the device's bytes")
    target.expect(target.memory.free(target.device, kind, out[0]), "memory.free")


@case("runtime.memory.peer_on_a_stream")
def peer_on_a_stream(target: Target, rng: np.random.Generator) -> None:
    """A copy from another device takes its turn on the stream, and respects both offsets."""
    if target.count < 2:
        raise NotSupported("the plugin has one device")
    ffi = target.ffi
    pair = next(device_pairs(target))
    second = pair[1] if pair[0] == target.device else pair[0]
    out = ffi.new("void **")
    target.expect(target.memory.allocate(second, constants.DA_MEMORY_DEVICE, SIZE, out), "memory.allocate")
    theirs = rng.integers(0, 256, SIZE).astype(np.uint8)
    copy = ffi.new("da_copy *")
    copy.struct_size, copy.kind, copy.bytes = ffi.sizeof("da_copy"), constants.DA_COPY_HOST_TO_DEVICE, SIZE
    copy.destination, copy.source = out[0], ffi.from_buffer(theirs)
    target.expect(target.memory.copy(second, ffi.NULL, copy), "memory.copy")
    copy.kind, copy.peer, copy.bytes = constants.DA_COPY_PEER, second, 4000
    copy.source, copy.source_offset, copy.destination_offset = out[0], 7, 100
    with stream_of(target) as stream, allocated(target, SIZE) as memory:
        memory.write(np.zeros(SIZE, np.uint8))
        queue = Queue(target, stream)
        answers = []
        for _ in range(5):
            ours = rng.integers(0, 256, SIZE).astype(np.uint8)
            queue.write(memory, ours)
            copy.destination = memory.handle
            try:
                target.check(target.memory.copy(target.device, stream, copy), "memory.copy peer")
            except CallFailed as failed:
                require(
                    failed.code == constants.DA_STATUS_UNIMPLEMENTED, f"it gave {status_name(failed.code)}"
                )
                target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
                raise NotSupported("copies between devices are not implemented") from None
            expected = ours.copy()
            expected[100:4100] = theirs[7:4007]
            answers.append((expected, queue.read(memory)))
        target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
        for expected, found in answers:
            require(np.array_equal(found, expected), "a copy between devices is wrong, or out of its turn")
    target.expect(target.memory.free(second, constants.DA_MEMORY_DEVICE, out[0]), "memory.free")
