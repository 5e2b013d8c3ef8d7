"""Random bits: the same on every device, by the published generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance import philox
from conformance.case import case, require
from conformance.cases.runtime_stream import Queue, stream_of
from conformance.memory import allocated
from conformance.target import Target

GUARD = 64


def _bits(target: Target, seed: int, offset: int, count: int, start: int = 0) -> Any:
    """`count` words, written at byte `start`; checks that nothing else is written."""
    random = target.interface("random")
    size = start + 4 * count + GUARD
    with allocated(target, size) as memory:
        memory.write(np.full(size, 0xA5, np.uint8))
        null = target.ffi.NULL
        error = random.bits(target.device, null, seed, offset, memory.handle, start, count)
        target.expect(error, "random.bits")
        data = memory.read()
    outside = np.concatenate([data[:start], data[start + 4 * count :]])
    require((outside == 0xA5).all(), f"random.bits of {count} words at byte {start} wrote outside its range")
    return data[start : start + 4 * count].copy().view(np.uint32)


@case("runtime.random.known_answer")
def known_answer(target: Target, rng: np.random.Generator) -> None:
    """The published answer for counter 0 and key 0."""
    words = tuple(int(word) for word in _bits(target, 0, 0, 4))
    wanted = philox.KNOWN_ANSWERS[0][2]
    require(words == wanted, f"got {[hex(w) for w in words]}, expected {[hex(w) for w in wanted]}")


@case("runtime.random.streams")
def streams(target: Target, rng: np.random.Generator) -> None:
    """Seeds and offsets of all sizes, across the counter's carry, at lengths that are no whole blocks."""
    seeds = (0, 1, 2**32 - 1, 2**32, 2**64 - 1, int(rng.integers(2**63)))
    offsets = (0, 1, 2**32 - 3, 2**32, 2**63, int(rng.integers(2**62)))
    for seed in seeds:
        for offset in offsets:
            for count in (1, 2, 3, 5, 17, 64, 301):
                same = np.array_equal(_bits(target, seed, offset, count), philox.stream(seed, offset, count))
                require(same, f"{count} words of stream ({seed}, {offset}) are wrong")


@case("runtime.random.large")
def large(target: Target, rng: np.random.Generator) -> None:
    """A million words, at which plugins use several threads."""
    seed, count = int(rng.integers(2**63)), 1_000_001
    require(
        np.array_equal(_bits(target, seed, 2**32 - 1000, count), philox.stream(seed, 2**32 - 1000, count)),
        "a long run of words is wrong",
    )


@case("runtime.random.split")
def split(target: Target, rng: np.random.Generator) -> None:
    """Reading in parts gives what reading at once gives."""
    seed = int(rng.integers(2**63))
    whole = _bits(target, seed, 0, 400)
    for blocks in (1, 3, 10, 50):
        parts = [_bits(target, seed, start, 4 * blocks) for start in range(0, 100, blocks)]
        require(np.array_equal(np.concatenate(parts)[:400], whole), f"parts of {blocks} blocks do not fit")


@case("runtime.random.offsets_in_memory")
def offsets_in_memory(target: Target, rng: np.random.Generator) -> None:
    """Words go where the byte offset says, and nowhere else; none are written for a count of 0."""
    for start in (4, 8, 20, 64):
        for count in (0, 1, 6, 33):
            words = _bits(target, 5, 7, count, start)
            require(
                np.array_equal(words, philox.stream(5, 7, count)), f"{count} words at byte {start} are wrong"
            )


@case("runtime.random.on_stream")
def on_stream(target: Target, rng: np.random.Generator) -> None:
    """Words queued on a stream."""
    random = target.interface("random")
    with stream_of(target) as stream, allocated(target, 4000) as memory:
        target.expect(random.bits(target.device, stream, 1, 2, memory.handle, 0, 1000), "random.bits")
        # Read on the same stream: a copy without one would wait for whatever stream the words were made on.
        data = Queue(target, stream).read(memory)
        target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
    require(
        np.array_equal(data.view(np.uint32), philox.stream(1, 2, 1000)), "words made on a stream are wrong"
    )
