"""Cases of the rules for memory and random bits."""

from __future__ import annotations

from typing import Any

from bench import Bench
from rule_case import Case, by_mode
from rule_cases_calls import allocated, both


def kind(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate(64, 2 if right else 9)
    if right:
        b.free(handle, 2)


def foreign(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    b.set(b.ffi.NULL, handle if right else b.ffi.cast("void *", 0x1000))
    b.free(handle)


def freed(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    if not right:
        b.free(handle)
    b.set(b.ffi.NULL, handle)
    if right:
        b.free(handle)


def free_twice(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    b.free(handle)
    b.free(b.ffi.NULL if right else handle)


def wrong_kind(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    b.free(handle, 1 if right else 2)
    if not right:
        b.free(handle)


def wrapped(b: Bench, right: bool) -> None:
    b.start()
    place = b.new("char[]", 64)
    handle = b.make("memory.wrap", "void *", b.device, place, 64)
    if not right:
        b.free(handle)
    b.call("memory.unwrap", b.device, handle)


def copy_with(b: Bench, **fields: Any) -> None:
    """A copy inside of one allocation of 64 bytes, from byte 0 to byte 32."""
    b.start()
    handle = b.allocate()
    right = {"source": handle, "destination": handle, "destination_offset": 32}
    b.call("memory.copy", b.device, b.ffi.NULL, b.copy(**{**right, **fields}))
    b.free(handle)


def host_side(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    source = b.new("char[]", 16) if right else b.ffi.NULL
    b.call("memory.copy", b.device, b.ffi.NULL, b.copy(kind=1, source=source, destination=handle))
    b.free(handle)


def peer(b: Bench, right: bool) -> None:
    b.start()
    other = b.make("device.open", "da_device *", 1)
    target, source = b.allocate(), b.make("memory.allocate", "void *", other, 1, 64)
    copy = b.copy(kind=4, source=source, destination=target, peer=other)
    if not right:
        copy = b.copy(source=target, destination=target, destination_offset=32, peer=other)
    b.call("memory.copy", b.device, b.ffi.NULL, copy)
    b.free(target)
    b.call("memory.free", other, 1, source)
    b.call("device.close", other)


def other_device(b: Bench, right: bool) -> None:
    b.start()
    other = b.make("device.open", "da_device *", 1)
    handle = b.make("memory.allocate", "void *", other, 1, 64)
    b.call("memory.set", other if right else b.device, b.ffi.NULL, handle, 0, 0, 8)
    b.call("memory.free", other, 1, handle)
    b.call("device.close", other)


def two_blocks(b: Bench) -> None:
    b.start()
    first = b.allocate()
    second = b.allocate()
    b.mode("same_memory")  # nothing is freed for real
    b.free(first)
    if second != first:
        b.free(second)


def leak(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    if right:
        b.free(handle)
    b.stop()


def info(b: Bench) -> None:
    b.start()
    b.call("memory.info", b.device, b.new("uint64_t *"), b.new("uint64_t *"))


def in_use(b: Bench, right: bool) -> None:
    b.start()
    stream, handle = b.stream(), b.allocate()
    b.set(stream, handle)
    if right:
        b.call("stream.synchronize", b.device, stream)
    b.free(handle)
    b.call("stream.synchronize", b.device, stream)
    if not right:
        b.free(handle)
    b.call("stream.destroy", b.device, stream)


def bits(b: Bench, count: int) -> None:
    b.start()
    handle = b.allocate()
    b.call("random.bits", b.device, b.ffi.NULL, 1, 0, handle, 0, count)
    b.free(handle)


CASES = {
    "VAL-MEMORY-01": both(kind),
    "VAL-MEMORY-02": both(foreign),
    "VAL-MEMORY-03": both(freed),
    "VAL-MEMORY-04": both(free_twice),
    "VAL-MEMORY-05": both(wrong_kind),
    "VAL-MEMORY-06": both(wrapped),
    "VAL-MEMORY-07": Case(lambda b: copy_with(b, kind=8), copy_with),
    "VAL-MEMORY-08": Case(
        lambda b: copy_with(b, destination_offset=56), lambda b: copy_with(b, destination_offset=48)
    ),
    "VAL-MEMORY-09": both(host_side),
    "VAL-MEMORY-10": Case(
        lambda b: copy_with(b, destination_offset=8), lambda b: copy_with(b, destination_offset=0)
    ),
    "VAL-MEMORY-11": both(peer),
    "VAL-MEMORY-12": both(other_device),
    "VAL-MEMORY-13": by_mode("same_memory", two_blocks),
    "VAL-MEMORY-14": by_mode("misaligned", allocated),
    "VAL-MEMORY-15": both(leak),
    "VAL-MEMORY-16": by_mode("bad_info", info),
    "VAL-MEMORY-17": both(in_use),
    "VAL-RANDOM-01": Case(lambda b: bits(b, 17), lambda b: bits(b, 16)),
}
