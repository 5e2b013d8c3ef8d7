"""What a device says of itself, and whether it is so: flags, the greatest rank, captures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Failure, NotSupported, QualityWarning, case, require
from conformance.cases.ops_common import Kernel
from conformance.cases.runtime_stream import Queue, stream_of
from conformance.judging import run_trial
from conformance.memory import DeviceBytes, allocated
from conformance.target import CallFailed, Target, status_name
from conformance.trial import Declined, Operand, TrialFailure
from device_api.abi import constants
from device_api.ops._table import BY_NAME


def _claimed(target: Target, op: str, dtype: str) -> Kernel:
    """The kernel of an op for a dtype; NotSupported where there is none."""
    code = dtypes.code(dtype)
    for claim in target.claims:
        if claim.op == op and all(mask >> code & 1 for mask in claim.dtypes if mask):
            spec = BY_NAME[op]
            return Kernel(spec, claim, {name: np.dtype(dtype) for name, _ in spec.types})
    raise NotSupported(f"no kernel claims {op} for {dtype}")


def _at_rank(target: Target, op: str, rank: int, rng: np.random.Generator) -> None:
    """One launch on tensors of a rank, with an axis of two somewhere."""
    kernel = _claimed(target, op, "float32")
    shape = [1] * rank
    for axis in rng.choice(rank, min(rank, 4), replace=False):
        shape[axis] = 2
    values = rng.normal(size=shape).astype(np.float32)
    operands = [Operand(values, "transposed" if op == "copy" else "contiguous")] * len(kernel.spec.inputs)
    attributes = {"dtype": kernel.dtype} if op == "copy" else {}
    run_trial(target, kernel.trial(*operands, attributes=attributes, dtype=kernel.dtype))


@case("runtime.device.max_rank")
def max_rank(target: Target, rng: np.random.Generator) -> None:
    """Kernels take the greatest rank that the properties name: the host folds no further."""
    rank = int(target.properties.max_rank)
    for op in ("copy", "add"):
        try:
            _at_rank(target, op, rank, rng)
        except Declined as error:
            raise Failure(f"max_rank is {rank}, and {op} declines tensors of that rank: {error}") from error


@case("runtime.device.beyond_max_rank", quick=False)
def beyond_max_rank(target: Target, rng: np.random.Generator) -> None:
    """A rank that the properties deny is refused, or given up as one that works."""
    rank = int(target.properties.max_rank)
    if rank >= constants.DA_MAX_RANK:
        raise NotSupported(f"the device takes every rank that tensors have, up to {rank}")
    try:
        _at_rank(target, "copy", rank + 1, rng)
    except (Declined, TrialFailure):
        return
    raise QualityWarning(f"denied but works: max_rank is {rank}, and copy takes tensors of rank {rank + 1}")


@case("runtime.device.says_synchronous")
def says_synchronous(target: Target, rng: np.random.Generator) -> None:
    """If the device says that work is done when a call returns, it is, on streams too."""
    if not target.properties.flags & constants.DA_DEVICE_SYNCHRONOUS:
        raise NotSupported("the device does not claim to be synchronous")
    with stream_of(target) as stream, allocated(target, 1 << 20) as memory:
        queue = Queue(target, stream)
        out = target.ffi.new("int32_t *")
        for _ in range(20):
            data = rng.integers(0, 256, 1 << 20).astype(np.uint8)
            queue.write(memory, data)
            back = queue.read(memory)
            require(np.array_equal(back, data), "a copy on a stream was not done when the call returned")
            target.expect(target.streams.query(target.device, stream, out), "stream.query")
            require(out[0] == 1, "the device says it is synchronous, and a stream still has work")


@case("runtime.device.says_deterministic")
def says_deterministic(target: Target, rng: np.random.Generator) -> None:
    """If the device says so, the same product and the same sum have the same bits each time."""
    if not target.properties.flags & constants.DA_DEVICE_DETERMINISTIC:
        raise NotSupported("the device does not claim to be deterministic")
    for op, shapes in (("batch_matmul", ((65, 300), (300, 33))), ("reduce_sum", ((3, 70_001),))):
        kernel = _claimed(target, op, "float32")
        operands = [Operand(rng.normal(size=shape).astype(np.float32)) for shape in shapes]
        first, *others = (run_trial(target, kernel.trial(*operands)).outputs[0] for _ in range(4))
        for other in others:
            require(first.tobytes() == other.tobytes(), f"{op} gives other bits for the same operands")


# --- captures ------------------------------------------------------------------------------------------


@contextmanager
def _captured(target: Target, stream: Any) -> Iterator[list[Any]]:
    """Records what the block queues; the capture is appended to the list at its end."""
    capture = target.interface("capture")
    found: list[Any] = []
    target.expect(capture.begin(target.device, stream), "capture.begin")
    require(_is_capturing(target, stream), "after capture.begin, is_capturing is 0")
    yield found
    out = target.ffi.new("da_capture **")
    target.expect(capture.end(target.device, stream, out), "capture.end")
    require(out[0] != target.ffi.NULL, "capture.end succeeded and gave no capture")
    require(not _is_capturing(target, stream), "after capture.end, is_capturing is 1")
    found.append(out[0])


def _is_capturing(target: Target, stream: Any) -> bool:
    out = target.ffi.new("int32_t *", 77)
    error = target.interface("capture").is_capturing(target.device, stream, out)
    target.expect(error, "capture.is_capturing")
    require(out[0] in (0, 1), f"capture.is_capturing gave {out[0]}")
    return bool(out[0])


@case("runtime.capture.replays")
def replays(target: Target, rng: np.random.Generator) -> None:
    """A capture runs nothing; each replay does all of it again, on what memory holds by then."""
    capture = target.interface("capture")
    size = 70_000
    with (
        stream_of(target) as stream,
        allocated(target, size) as source,
        allocated(target, size) as middle,
        allocated(target, size) as end,
    ):
        for memory in (source, middle, end):
            memory.write(np.zeros(size, np.uint8))
        queue = Queue(target, stream)
        with _captured(target, stream) as found:
            queue.move(middle, source)
            queue.move(end, middle)
        for number in range(4):
            data = rng.integers(0, 256, size).astype(np.uint8)
            before = end.read()
            source.write(data)
            target.synchronize()
            require(np.array_equal(end.read(), before), "work ran that was captured, and not replayed")
            target.expect(capture.replay(found[0], stream), "capture.replay")
            target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
            require(np.array_equal(end.read(), data), f"replay {number} did not copy what memory held")
        target.expect(capture.destroy(found[0]), "capture.destroy")
        target.expect(capture.destroy(target.ffi.NULL), "capture.destroy(NULL)")


@case("runtime.capture.orders_with_work")
def orders_with_work(target: Target, rng: np.random.Generator) -> None:
    """A replay takes its turn on the stream: after the work before it, before the work behind it."""
    capture, size = target.interface("capture"), 200_000
    with stream_of(target) as stream, allocated(target, size) as first, allocated(target, size) as second:
        first.write(np.zeros(size, np.uint8))
        queue = Queue(target, stream)
        with _captured(target, stream) as found:
            queue.move(second, first)
        pairs = []
        for _ in range(10):
            data = rng.integers(0, 256, size).astype(np.uint8)
            queue.write(first, data)
            target.expect(capture.replay(found[0], stream), "capture.replay")
            pairs.append((data, queue.read(second)))
        target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
        for data, back in pairs:
            require(np.array_equal(back, data), "a replay ran out of its turn")
        target.expect(capture.destroy(found[0]), "capture.destroy")


@case("runtime.capture.end_without_begin")
def end_without_begin(target: Target, rng: np.random.Generator) -> None:
    """Ending what was not begun is an error, and the stream stays usable."""
    capture = target.interface("capture")
    with stream_of(target) as stream, allocated(target, 1000) as memory:
        require(not _is_capturing(target, stream), "a new stream is being captured")
        out = target.ffi.new("da_capture **")
        try:
            target.check(capture.end(target.device, stream, out), "capture.end")
        except CallFailed as failed:
            require(failed.code != constants.DA_STATUS_INTERNAL, f"it gave {status_name(failed.code)}")
        else:
            raise Failure("capture.end of a stream that is not captured succeeds")
        _still_works(target, stream, memory, rng)


def _still_works(target: Target, stream: Any, memory: DeviceBytes, rng: np.random.Generator) -> None:
    data = rng.integers(0, 256, memory.size).astype(np.uint8)
    queue = Queue(target, stream)
    queue.write(memory, data)
    back = queue.read(memory)
    target.expect(target.streams.synchronize(target.device, stream), "stream.synchronize")
    require(np.array_equal(back, data), "afterwards a copy on the stream is wrong")
