"""From recorded steps to a Program: what is dead, what lands where, and which slot is which.

The builder records steps over symbolic storages. Here steps that nothing reads are dropped, a result is
written straight into an `out=` tensor where nothing still reads the old value, temporaries that do not live
at the same time share arena memory, and every operand becomes the tuple that the native runner takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from device_api import _core
from device_api.errors import UnsupportedOp
from device_api.ops.symbols import Ref, Storage

ARENA_ALIGNMENT = 64

Target = int | str | Callable[[list[_core.Tensor | None], list[_core.Tensor], tuple[Any, ...]], None]


@dataclass(slots=True, eq=False)
class RecordedStep:
    """One launch. `in_place` has the positions (output, input) that may be exactly one memory."""

    target: Target
    inputs: list[Ref | None]
    outputs: list[Ref]
    attributes: bytes = b""
    relocations: Sequence[tuple[int, bytes]] = ()
    scalar: tuple[int, int, int] | None = None
    random_blocks: int = 0
    in_place: frozenset[tuple[int, int]] = frozenset()

    def reads(self) -> Iterable[Storage]:
        return (ref.storage for ref in self.inputs if ref is not None)

    def writes(self) -> Iterable[Storage]:
        return (ref.storage for ref in self.outputs)


@dataclass(slots=True)
class Aliases:
    """How `out` tensors share memory with inputs: sets of (out position, input position)."""

    exact: set[tuple[int, int]] = field(default_factory=set)
    partial: set[tuple[int, int]] = field(default_factory=set)

    def of(self, out: int) -> dict[int, bool]:
        """Input positions that share memory with an out, and whether exactly."""
        return {i: True for k, i in self.exact if k == out} | {i: False for k, i in self.partial if k == out}


def drop_dead(steps: Sequence[RecordedStep], results: Iterable[Ref]) -> list[RecordedStep]:
    """The steps without those whose outputs nobody reads."""
    wanted = {id(ref.storage) for ref in results}
    kept: list[RecordedStep] = []
    for step in reversed(steps):
        lands = any(id(s) in wanted or s.kind != "temp" for s in step.writes())
        if lands:
            kept.append(step)
            wanted.update(id(s) for s in step.reads())
    kept.reverse()
    return kept


def redirect(steps: Sequence[RecordedStep], result: Ref, out: Ref, aliases: Aliases) -> bool:
    """Lets the step that makes `result` write into `out` instead of a temporary; says whether it could.

    It may when the result is one whole contiguous temporary with one writer, and no step reads memory that
    `out` shares once the writer has begun. The writer itself may read the very same elements where its
    kernel takes that input and that output as one memory.
    """
    storage = result.storage
    whole = storage.kind == "temp" and result.layout.offset == 0 and result.layout.is_contiguous
    if not whole or not out.layout.is_contiguous or result.code != out.code:
        return False
    writers = [i for i, step in enumerate(steps) if any(s is storage for s in step.writes())]
    if len(writers) != 1:
        return False
    writer = steps[writers[0]]
    shared = aliases.of(out.storage.index)
    made = next(i for i, ref in enumerate(writer.outputs) if ref.storage is storage)
    target = writer.outputs[made]
    for position, step in enumerate(steps[writers[0] :]):
        for place, ref in enumerate(step.inputs):
            if ref is None or ref.storage.kind not in ("input", "out"):
                continue
            if ref.storage.kind == "out" and ref.storage is not out.storage:
                return False
            exact = shared.get(ref.storage.index)
            if exact is None:
                continue
            same_place = (
                position == 0
                and exact
                and (made, place) in writer.in_place
                and ref.code == target.code
                and ref.layout == target.layout
            )
            if not same_place:
                return False
    for step in steps:
        step.inputs = [_moved(ref, storage, out.storage) for ref in step.inputs]
        step.outputs = [_moved(ref, storage, out.storage) for ref in step.outputs]
    return True


def _moved(ref: Any, old: Storage, new: Storage) -> Any:
    if ref is None or ref.storage is not old:
        return ref
    return Ref(ref.builder, new, ref.code, ref.layout)


def plan_memory(
    steps: Sequence[RecordedStep], kept: Iterable[Storage], alignment: int
) -> tuple[dict[int, int], int]:
    """Arena offsets of the temporaries, by id of the storage, and the size of the arena in bytes.

    A temporary lives from the first step that touches it to the last. Greatest first, each takes the lowest
    offset where it overlaps none that lives at the same time.
    """
    apart = {id(storage) for storage in kept}
    lives: dict[int, tuple[Storage, int, int]] = {}
    for position, step in enumerate(steps):
        for storage in (*step.reads(), *step.writes()):
            if storage.kind == "temp" and id(storage) not in apart:
                first = lives[id(storage)][1] if id(storage) in lives else position
                lives[id(storage)] = (storage, first, position)
    placed: list[tuple[int, int, int, int]] = []  # offset, end, first, last
    offsets: dict[int, int] = {}
    for storage, first, last in sorted(lives.values(), key=lambda life: -life[0].bytes):
        size = -(-max(storage.bytes, 1) // alignment) * alignment
        offset = 0
        for begin, end, start, stop in sorted(placed):
            if start <= last and first <= stop and begin < offset + size and offset < end:
                offset = end
        placed.append((offset, offset + size, first, last))
        offsets[id(storage)] = offset
    return offsets, max((end for _, end, _, _ in placed), default=0)


class KernelsDeclined(Exception):
    """Kernels that said, when asked to prepare, that they do not take their tensors after all."""

    def __init__(self, kernels: frozenset[int], error: UnsupportedOp) -> None:
        super().__init__(kernels)
        self.kernels = kernels
        self.error = error


def assemble(
    device: _core.Device, op: str, steps: Sequence[RecordedStep], results: Sequence[Ref]
) -> _core.Program:
    """The program of the recorded steps; temporaries among the results become tensors of their own.

    Raises `KernelsDeclined` when a kernel declines; the plan can be made again without it.
    """
    alignment = max(ARENA_ALIGNMENT, int(device.properties.get("allocation_alignment") or 0))
    fresh = [ref.storage for ref in results if ref.storage.kind == "temp"]
    offsets, arena = plan_memory(steps, fresh, alignment)
    slots: list[Any] = []
    numbers: dict[int, int] = {}

    def number(storage: Storage) -> int:
        if id(storage) not in numbers:
            numbers[id(storage)] = len(slots)
            if storage.kind in ("input", "out"):
                slots.append((storage.kind, storage.index))
            elif storage.kind == "constant":
                slots.append(("constant", storage.tensor))
            elif id(storage) in offsets:
                slots.append(("temp", offsets[id(storage)]))
            else:
                slots.append(("output", storage.bytes))
        return numbers[id(storage)]

    def operand(ref: Ref) -> _core.native.Operand:
        return operand_of(ref, number(ref.storage))

    native = [
        (
            step.target,
            [None if ref is None else operand(ref) for ref in step.inputs],
            [operand(ref) for ref in step.outputs],
            step.attributes,
            step.relocations,
            step.scalar,
            step.random_blocks,
        )
        for step in steps
    ]
    outcome = [operand(ref) for ref in results]
    try:
        return _core.Program(device, slots, native, outcome, arena_bytes=arena, op=op)
    except UnsupportedOp as error:
        indices = (step.target for step in steps if isinstance(step.target, int))
        raise KernelsDeclined(
            frozenset(i for i in indices if device.kernels[i].op == error.op), error
        ) from error


def operand_of(ref: Ref, slot: int) -> _core.native.Operand:
    """A symbolic tensor as the native runner takes it."""
    return (slot, ref.code, ref.layout.shape, ref.layout.strides, ref.byte_offset)
