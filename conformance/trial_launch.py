"""A trial on a device: everything is placed between guard bands, and launched through the C table.

It says what was written, and whether anything was written where nothing may be. Whether the outputs are right
is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

import device_api.dtypes as dtypes
from conformance.attributes import AttributeBlock
from conformance.case import Failure
from conformance.layout import GUARD, OUTPUT_POISON, Placed, placed_output
from conformance.memory import Bytes, DeviceBytes
from conformance.oracle import Expected
from conformance.target import CallFailed, Target
from conformance.trial import Declined, Trial, failure
from device_api.abi import constants

Array = npt.NDArray[Any]

# dtype name -> DLPack code
_DL_CODES = {
    "bool": 6,
    "bfloat16": 4,
    "float8_e4m3fn": 10,
    "float8_e5m2": 12,
    "complex64": 5,
    "complex128": 5,
    **{f"int{bits}": 0 for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": 1 for bits in (8, 16, 32, 64)},
    **{f"float{bits}": 2 for bits in (16, 32, 64)},
}


def dl_code(dtype: np.dtype[Any]) -> int:
    """The DLPack type code of a dtype."""
    return _DL_CODES[dtype.name]


class Launch:
    """The C side of a trial: device memory, descriptors, context and calls."""

    def __init__(self, target: Target, trial: Trial, wanted: Sequence[Expected], stack: ExitStack) -> None:
        self.target, self.trial, self.ffi = target, trial, target.ffi
        self._kept: list[Any] = []
        self._stack = stack
        self._scratch_blocks: list[DeviceBytes] = []
        self._deny_scratch = self._denied = False
        # What the host's own errors are to a plugin: pointers that it may only hand back.
        self._kept.append(self.ffi.new("char[64]"))
        self._host_error = self.ffi.cast("da_error *", self._kept[-1])
        # One operand object given twice is one tensor: both inputs get the same memory.
        placed = {id(operand): operand.placed() for operand in trial.inputs if operand is not None}
        self.inputs = [None if operand is None else placed[id(operand)] for operand in trial.inputs]
        self.outputs: list[Placed] = []
        sources = {output: self.inputs[number] for output, number in trial.in_place}
        for number, want in enumerate(wanted):
            source = sources.get(number)
            self.outputs.append(source or placed_output(want.dtype, want.values.shape, trial.output_layout))
        everything = {id(each): each for each in (*self.inputs, *self.outputs) if each is not None}
        self._memories = {key: self._memory(each) for key, each in everything.items()}
        self._decoys: dict[int, DeviceBytes] = {}
        self._stored: dict[int, Bytes] = {}
        self.input_array = self._tensors(self.inputs, with_data=True)
        self.output_array = self._tensors(self.outputs, with_data=True)
        dtype = trial.dtype or next((p.dtype for p in self.inputs if p is not None), np.dtype(np.float32))
        self.attributes = AttributeBlock(self.ffi, trial.spec, trial.attributes, dtype)
        self.context = self._context()

    def memory_of(self, placed: Placed) -> DeviceBytes:
        return self._memories.get(id(placed)) or self._decoys[id(placed)]

    def _memory(self, placed: Placed) -> DeviceBytes:
        memory = DeviceBytes(self.target, placed.storage.size)
        self._stack.callback(memory.free)
        memory.write(placed.storage)
        return memory

    def _tensors(self, operands: Sequence[Placed | None], with_data: bool) -> Any:
        pointers = [
            self.ffi.NULL if placed is None else self._tensor(placed, with_data) for placed in operands
        ]
        array = self.ffi.new("da_tensor *[]", pointers or 1)
        self._kept += [array, pointers]
        return array

    def _tensor(self, placed: Placed, with_data: bool) -> Any:
        ffi = self.ffi
        tensor = ffi.new("da_tensor *")
        tensor.struct_size = ffi.sizeof("da_tensor")
        dl = tensor.dl
        dl.data = self.memory_of(placed).handle if with_data else ffi.NULL
        dl.device.type = int(self.target.properties.dl_device_type)
        dl.device.id = self.target.location.index
        dl.ndim = len(placed.shape)
        dl.dtype.code = dl_code(placed.dtype)
        dl.dtype.bits = placed.dtype.itemsize * 8
        dl.dtype.lanes = 1
        shape = ffi.new("int64_t[]", list(placed.shape) or 1)
        strides = ffi.new("int64_t[]", list(placed.placement.strides) or 1)
        dl.shape, dl.strides = shape, strides
        dl.byte_offset = placed.byte_offset
        tensor.dtype = dtypes.code(placed.dtype)
        self._kept += [shape, strides]
        return tensor

    def _context(self) -> Any:
        ffi = self.ffi
        context = ffi.new("da_kernel_context *")
        context.struct_size = ffi.sizeof("da_kernel_context")
        context.device = self.target.device
        if self.trial.deterministic:
            context.flags = constants.DA_CONTEXT_DETERMINISTIC
        if self.trial.on_stream:
            context.stream = self._stream()
        scratch = ffi.callback("da_error *(void *, uint64_t, void **, uint64_t *)", self._scratch)
        context.scratch = scratch
        self._kept.append(scratch)
        return context

    def _stream(self) -> Any:
        streams, device = self.target.streams, self.target.device
        out = self.ffi.new("da_stream **")
        self.target.expect(streams.create(device, 0, out), "stream.create")
        self._stack.callback(lambda: self.target.expect(streams.destroy(device, out[0]), "stream.destroy"))
        return out[0]

    def _scratch(self, host_context: Any, size: int, out_handle: Any, out_offset: Any) -> Any:
        """Poisoned memory between guard bands, or, where the trial says so, none at all."""
        if self._deny_scratch:
            self._denied = True
            return self._host_error
        try:
            memory = DeviceBytes(self.target, size + 2 * GUARD)
        except Failure:
            self._denied = True
            return self._host_error
        self._stack.callback(memory.free)
        memory.write(np.full(memory.size, OUTPUT_POISON, np.uint8))
        self._scratch_blocks.append(memory)
        out_handle[0], out_offset[0] = memory.handle, GUARD
        return self.ffi.NULL

    # --- calls ---------------------------------------------------------------------------------------

    def _arguments(self, inputs: Any, outputs: Any) -> tuple[Any, ...]:
        return inputs, len(self.inputs), outputs, len(self.outputs), self.attributes.pointer

    def run(self) -> None:
        """supports, prepare, launch (as often as asked) and release. Raises Declined, CallFailed."""
        kernel, target, ffi = self.trial.claim.pointer, self.target, self.ffi
        name = self.trial.spec.name
        bare = self._arguments(self._tensors(self.inputs, False), self._tensors(self.outputs, False))
        if kernel.supports != ffi.NULL:
            answer = ffi.new("int32_t *", 1)
            target.expect(kernel.supports(target.device, kernel, *bare, answer), f"{name}.supports")
            if answer[0] == 0 and not self.trial.past_denial:
                raise Declined(f"supports() says that it does not take {self.trial.describe()}")
        state = ffi.new("void **")
        if self.trial.prepared and kernel.prepare != ffi.NULL:
            with self._may_decline("prepare()"):
                target.check(kernel.prepare(target.device, kernel, *bare, state), f"{name}.prepare")
        try:
            for _ in range(self.trial.launches - 1):
                self._launch(state[0], self._decoy())
            if self._scratch_blocks:
                self._check_denial(state[0])
            with nullcontext() if self.trial.prepared else self._may_decline("launch()"):
                self._launch(state[0], self._arguments(self.input_array, self.output_array))
            stream = self.context.stream if self.trial.on_stream else None
            if stream is not None:
                target.check(target.streams.synchronize(target.device, stream), "stream.synchronize")
            # Read on the stream of the launch: a copy without one would wait for any other stream too.
            self._read_back(stream)
        finally:
            if kernel.prepare != ffi.NULL and kernel.release != ffi.NULL:
                kernel.release(state[0])

    @contextmanager
    def _may_decline(self, call: str) -> Iterator[None]:
        """UNIMPLEMENTED from the call says that the kernel does not take these tensors."""
        try:
            yield
        except CallFailed as error:
            if error.code == constants.DA_STATUS_UNIMPLEMENTED:
                raise Declined(f"{call} does not take {self.trial.describe()}") from error
            raise

    def _read_back(self, stream: Any = None) -> None:
        self._stored = {key: memory.read(stream=stream) for key, memory in self._memories.items()}

    def _launch(self, state: Any, arguments: tuple[Any, ...]) -> None:
        name, launch = self.trial.spec.name, self.trial.claim.pointer.launch
        self._denied = False
        error = launch(state, self.context, *arguments)
        if self._denied and error != self._host_error:
            self.target.check(error, f"{name}.launch")
            raise failure(
                self.trial,
                "the host had no scratch memory, and the launch did not give back the host's error",
            )
        if self._denied and not self._deny_scratch:
            raise failure(self.trial, "the kernel asked for more scratch memory than the device has")
        if error != self._host_error:
            self.target.check(error, f"{name}.launch")

    def _check_denial(self, state: Any) -> None:
        """A kernel that uses scratch memory hands the host's error back when there is none."""
        self._deny_scratch = True
        self._launch(state, self._decoy())
        self._deny_scratch = False

    def _decoy(self) -> tuple[Any, ...]:
        """The same operands in other memory, the elements of inputs in reverse order, outputs fresh."""
        given = [each for each in self.inputs if each is not None]
        copies = {id(each): each.copy() for each in (*given, *self.outputs)}
        for each in given:
            values = each.view()
            copies[id(each)].view()[...] = values.reshape(-1)[::-1].reshape(values.shape)
        self._kept.append(copies)
        for each in copies.values():
            self._decoys[id(each)] = self._memory(each)
        inputs = [None if each is None else copies[id(each)] for each in self.inputs]
        outputs = [copies[id(each)] for each in self.outputs]
        return self._arguments(self._tensors(inputs, True), self._tensors(outputs, True))

    def bad_bytes(self) -> str:
        """What was written where nothing may be written: "" when all is well."""
        if not self._stored:
            self._read_back()
        for memory in self._scratch_blocks:
            around = memory.read()
            if not (np.delete(around, slice(GUARD, memory.size - GUARD)) == OUTPUT_POISON).all():
                return f"memory around {memory.size - 2 * GUARD} bytes of scratch memory was written"
        for number, placed in enumerate(self.inputs):
            if placed is None or any(placed is output for output in self.outputs):
                continue
            if not np.array_equal(self._stored[id(placed)], placed.storage):
                return f"input {number} was changed"
        for number, placed in enumerate(self.outputs):
            problem = placed.untouched(self._stored[id(placed)])
            if problem:
                return f"output {number}: {problem}"
        return ""

    def results(self) -> list[Array]:
        return [placed.view(self._stored[id(placed)]).copy() for placed in self.outputs]


def launch_expecting(target: Target, trial: Trial, wanted: Sequence[Expected]) -> int | None:
    """Launches what must fail: gives the status, None for success. Memory around the operands must be as it
    was, whatever the outputs hold."""
    with ExitStack() as stack:
        launch = Launch(target, trial, wanted, stack)
        code = None
        try:
            launch.run()
        except CallFailed as error:
            code = error.code
        problem = launch.bad_bytes()
    if problem:
        raise failure(trial, f"{problem}, by {trial.describe()}")
    return code
