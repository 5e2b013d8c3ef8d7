"""The plan hook: what dispatch calls when it meets a call it has no program for.

The call's tensors become symbolic inputs, the builder records the op, and the recorded steps become a native
program. Here too is the handling of `out=`: what may be given, whether a result can be written straight into
it, and how memory that inputs and outputs share stays harmless. A plan sees shapes, strides, dtypes, the
kinds of Python numbers and the attributes; never a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from device_api import _core, dtypes
from device_api.errors import AttributeValueError, DeviceMismatch, DTypeError, OpError, ShapeError
from device_api.ops.assembly import Aliases, KernelsDeclined, assemble, drop_dead, redirect
from device_api.ops.binding import bind_attributes
from device_api.ops.builder import Builder, Operand
from device_api.ops.op_registry import spec_of
from device_api.ops.symbols import Ref, RunTimeScalar, Storage
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec

_KINDS = (dtypes.SIGNED, dtypes.UNSIGNED, dtypes.FLOATING, dtypes.COMPLEX)


def plan(
    op: int,
    device: _core.Device,
    inputs: tuple[Any, ...],
    attributes: tuple[Any, ...],
    out: tuple[_core.Tensor, ...] | None,
) -> _core.Program:
    """The program of one call. Raises the typed errors of shapes, dtypes, axes, attributes and devices."""
    declined: frozenset[int] = frozenset()
    while True:
        try:
            return _planned(spec_of(op), device, inputs, attributes, out, declined)
        except (ShapeError, AttributeValueError, DTypeError) as error:
            raise _of_call(error, spec_of(op).name) from error.__cause__
        except KernelsDeclined as answer:
            if answer.kernels <= declined:
                raise answer.error from None
            declined |= answer.kernels


def _of_call(error: OpError, op: str) -> OpError:
    """The error with the name of the op that was called, where an op that it is composed of has raised it."""
    if error.op != op:
        error.args = (f"{op}: {error}",)
        error.op = op
    return error


def _planned(
    spec: OpSpec,
    device: _core.Device,
    inputs: tuple[Any, ...],
    attributes: tuple[Any, ...],
    out: tuple[_core.Tensor, ...] | None,
    declined: frozenset[int],
) -> _core.Program:
    builder = Builder(device, declined)
    operands = [_symbol(builder, index, each) for index, each in enumerate(inputs)]
    bound = bind_attributes(spec, attributes)
    results = builder.lower(spec, operands, bound)
    may_share = spec.level == "view" or bound.get("copy") is False  # memory of the operands
    if not may_share or out is not None:
        results = _owned(builder, results)
    if out is None:
        return assemble(device, spec.name, drop_dead(builder.steps, results), results)
    aliases = aliases_between(inputs, out)
    targets = _checked_out(spec, builder, device, results, out, updated=(0, 0) in aliases.exact)
    steps = drop_dead(builder.steps, results)
    for result, target in zip(results, targets, strict=True):
        if not redirect(steps, result, target, aliases):
            builder.steps = steps
            builder.copy_into(result, target)
    return assemble(device, spec.name, steps, targets)


def _symbol(builder: Builder, index: int, value: Any) -> Operand:
    if value is None:
        return None
    if isinstance(value, _core.Tensor):
        return Ref(builder, Storage("input", index), value.dtype_code, Layout(value.shape, value.strides))
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return RunTimeScalar(index, kind)
    raise TypeError(f"{value!r} is neither a tensor nor a Python number")


def _owned(builder: Builder, results: Sequence[Ref]) -> list[Ref]:
    """Results with memory of their own: what lies in an input, a constant or another result is copied."""
    owned: list[Ref] = []
    taken: set[int] = set()
    for ref in results:
        whole = ref.storage.bytes == ref.size * dtypes.ITEM_SIZES[ref.code]
        plain = ref.storage.kind == "temp" and ref.storage.number is None
        if not plain or not whole or ref.layout.may_overlap_itself or id(ref.storage) in taken:
            ref = builder.packed(ref)
        taken.add(id(ref.storage))
        owned.append(ref)
    return owned


def _checked_out(
    spec: OpSpec,
    builder: Builder,
    device: _core.Device,
    results: Sequence[Ref],
    out: Sequence[_core.Tensor],
    updated: bool,
) -> list[Ref]:
    """The out tensors as symbols, once shape, dtype and device are known to fit.

    `updated`: the first out is the first operand itself, as in `x += y`, and keeps its dtype within its kind.
    """
    if len(out) != len(results):
        raise ShapeError(
            f"{spec.name} has {len(results)} result(s)",
            subject=f"out has {len(out)}",
            op=spec.name,
            argument="out",
        )
    targets = []
    for index, (tensor, result) in enumerate(zip(out, results, strict=True)):
        if tensor.device != device:
            raise DeviceMismatch(
                f"{spec.name} cannot write to another device",
                subject=f"out is on {tensor.device}, the operands on {device}",
                remedy="Give out on the device of the operands.",
                op=spec.name,
                argument="out",
                devices=(str(tensor.device), str(device)),
            )
        if tensor.shape != result.shape:
            raise ShapeError(
                f"{spec.name} cannot write its result to out",
                subject=f"result {result.shape}, out {tensor.shape}",
                why="out is never stretched",
                remedy=f"Give out the shape {result.shape}.",
                op=spec.name,
                argument="out",
                shapes=(result.shape, tensor.shape),
            )
        kept = updated and index == 0 and any({tensor.dtype_code, result.code} <= kind for kind in _KINDS)
        if tensor.dtype_code != result.code and not kept:
            names = (dtypes.NAMES[result.code], dtypes.NAMES[tensor.dtype_code])
            raise DTypeError(
                f"{spec.name} cannot write its result to out",
                subject=f"result {names[0]}, out {names[1]}",
                why="writing converts nothing",
                remedy=f"Give an out of {names[0]}, or convert the operands first.",
                op=spec.name,
                argument="out",
                dtypes=names,
            )
        layout = Layout(tensor.shape, tensor.strides)
        if layout.may_overlap_itself:
            raise ShapeError(
                f"{spec.name} cannot write to out",
                subject=f"shape {tensor.shape}, strides {tensor.strides}",
                why="several of its elements are one place in memory, as after broadcasting",
                remedy="Give a tensor with memory for each element.",
                op=spec.name,
                argument="out",
                shapes=(tensor.shape,),
            )
        targets.append(Ref(builder, Storage("out", index), tensor.dtype_code, layout))
    return targets


def aliases_between(inputs: Sequence[Any], out: Sequence[_core.Tensor]) -> Aliases:
    """Which inputs share memory with which out tensors, exactly or partly."""
    aliases = Aliases()
    for position, target in enumerate(out):
        for index, tensor in enumerate(inputs):
            kind = _core.alias_class(target, tensor) if isinstance(tensor, _core.Tensor) else 0
            if kind:
                (aliases.exact if kind == 1 else aliases.partial).add((position, index))
    return aliases
