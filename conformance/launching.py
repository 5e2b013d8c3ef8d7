"""A launch on tensors that the caller has laid out itself, without the guards and checks of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.attributes import AttributeBlock
from conformance.case import Failure
from conformance.memory import DeviceBytes
from conformance.target import Claim, Target
from conformance.trial_launch import dl_code
from device_api.ops._table import BY_NAME


@dataclass(frozen=True, slots=True)
class BareTensor:
    """Elements in device memory. Strides are in elements, `offset` in bytes."""

    memory: DeviceBytes
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


def launch(
    target: Target,
    claim: Claim,
    inputs: Sequence[BareTensor],
    outputs: Sequence[BareTensor],
    attributes: Mapping[str, Any],
) -> None:
    """prepare, launch, release, without a stream; raises Failure for an error. Scratch memory is freed at the
    end."""
    ffi, spec, kernel = target.ffi, BY_NAME[claim.op], claim.pointer
    kept: list[Any] = []
    scratch_memory: list[DeviceBytes] = []
    block = AttributeBlock(ffi, spec, attributes, outputs[0].dtype)

    def array(tensors: Sequence[BareTensor], with_data: bool) -> Any:
        made = [_tensor(target, tensor, with_data, kept) for tensor in tensors]
        kept.append(made)
        pointers = ffi.new("da_tensor *[]", made)
        kept.append(pointers)
        return pointers

    def scratch(host_context: Any, size: int, out_handle: Any, out_offset: Any) -> Any:
        memory = DeviceBytes(target, size)
        scratch_memory.append(memory)
        out_handle[0], out_offset[0] = memory.handle, 0
        return ffi.NULL

    context = ffi.new("da_kernel_context *")
    context.struct_size, context.device = ffi.sizeof("da_kernel_context"), target.device
    callback = ffi.callback("da_error *(void *, uint64_t, void **, uint64_t *)", scratch)
    context.scratch = callback
    state = ffi.new("void **")
    counts = len(inputs), len(outputs)
    if kernel.prepare != ffi.NULL:
        bare = array(inputs, False), counts[0], array(outputs, False), counts[1], block.pointer
        target.expect(kernel.prepare(target.device, kernel, *bare, state), f"{claim.op}.prepare")
    try:
        arguments = array(inputs, True), counts[0], array(outputs, True), counts[1], block.pointer
        target.expect(kernel.launch(state[0], context, *arguments), f"{claim.op}.launch")
        target.synchronize()
    finally:
        if kernel.prepare != ffi.NULL and kernel.release != ffi.NULL:
            kernel.release(state[0])
        for memory in scratch_memory:
            memory.free()


def _tensor(target: Target, source: BareTensor, with_data: bool, kept: list[Any]) -> Any:
    if len(source.shape) != len(source.strides):
        raise Failure(f"{len(source.shape)} sizes and {len(source.strides)} strides")
    ffi = target.ffi
    tensor = ffi.new("da_tensor *")
    tensor.struct_size = ffi.sizeof("da_tensor")
    shape, strides = (ffi.new("int64_t[]", list(numbers) or 1) for numbers in (source.shape, source.strides))
    kept += [shape, strides]
    dl = tensor.dl
    dl.data = source.memory.handle if with_data else ffi.NULL
    dl.device.type, dl.device.id = int(target.properties.dl_device_type), target.location.index
    dl.ndim, dl.shape, dl.strides, dl.byte_offset = len(source.shape), shape, strides, source.offset
    dl.dtype.code, dl.dtype.bits, dl.dtype.lanes = dl_code(source.dtype), source.dtype.itemsize * 8, 1
    tensor.dtype = dtypes.code(source.dtype)
    return tensor
