"""The builder: records the steps that a call of an op becomes on one device.

A builder is the `F` of decomposition rules: `F.exp(x)` promotes, broadcasts and infers shapes exactly as a
call by the user does, and then finds a way to run: a native kernel of the device, a Python kernel, the op's
decomposition (rules calling this builder again, so that everything nested ends in one flat list), or the
CPU by the fallback policy. It works on symbolic tensors and never touches the values of the call.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from device_api import _core, dtypes
from device_api.errors import DTypeError, UnsupportedOp
from device_api.ops import fallback, python_kernels, selection, view_ops
from device_api.ops._rules import DECOMPOSE
from device_api.ops._table import BY_NAME
from device_api.ops.assembly import RecordedStep, Target
from device_api.ops.attributes import counted_axes, offsets, pack, scalar_bytes
from device_api.ops.binding import bind_call
from device_api.ops.emission import emit_kernel
from device_api.ops.promotion import bind_types
from device_api.ops.shapes import RULES, TensorSpec
from device_api.ops.symbols import Ref, RunTimeScalar, Storage
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec

_generator_lock = threading.Lock()

Operand = Ref | RunTimeScalar | bool | int | float | complex | None


@functools.lru_cache(maxsize=4096)
def constant(device: _core.Device, code: int, data: bytes) -> _core.Tensor:
    """One element in the memory of a device, shared by all plans that need it.

    It is there when this returns: what fails on a stream later cannot put it in doubt.
    """
    tensor = _core.from_host(device, code, (), data)
    _core.settle(tensor)
    return tensor


class Builder:
    """Records steps for one device. `steps` is the flat list so far; `declined` are kernels not to use."""

    def __init__(self, device: _core.Device, declined: Collection[int] = ()) -> None:
        self.device = device
        self.declined = declined
        self.steps: list[RecordedStep] = []
        self._scalars: dict[tuple[int, int], Ref] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in BY_NAME:
            raise AttributeError(f"there is no op {name!r}")
        return functools.partial(self.call, name)

    def call(self, op: str, *arguments: Any, **attributes: Any) -> Any:
        """Records an op as a rule calls it: inputs, then attributes. Gives a Ref, or a tuple of them."""
        spec = BY_NAME[op]
        inputs, values = bind_call(spec, arguments, attributes)
        results = self.lower(spec, inputs, values)
        return spec.gathered(results)

    # --- symbolic tensors -------------------------------------------------------------------------

    def temporary(self, code: int, shape: Sequence[int]) -> Ref:
        """A row-major tensor of its own."""
        if code not in selection.held_dtypes(self.device):
            held = dtypes.names(selection.held_dtypes(self.device))
            raise DTypeError(
                f"{self.device.name} does not hold {dtypes.NAMES[code]}",
                why=f"its memory holds {', '.join(held)}",
                remedy="Convert to one of these first.",
                dtypes=(dtypes.NAMES[code],),
            )
        layout = Layout.contiguous(shape)
        storage = Storage("temp", bytes=layout.size * dtypes.ITEM_SIZES[code])
        return Ref(self, storage, code, layout)

    def scalar(self, value: RunTimeScalar | bool | int | float | complex, code: int) -> Ref:
        """A 0-d tensor of a Python number: a constant, or one element filled when the plan runs."""
        if not isinstance(value, RunTimeScalar):
            tensor = constant(self.device, code, scalar_bytes(value, code))
            return Ref(self, Storage("constant", tensor=tensor, number=value), code, Layout((), ()))
        key = (value.index, code)
        if key not in self._scalars:
            ref = self.temporary(code, ())
            if not self._fill(ref, value):
                raise _unfilled(self.device, code)
            ref.storage.number = value
            self._scalars[key] = ref
        return self._scalars[key]

    def packed(self, ref: Ref) -> Ref:
        """The same elements in a row-major temporary."""
        return self.cast(ref, ref.code, copy=True)

    def cast(self, ref: Ref, code: int, *, copy: bool = False) -> Ref:
        """A tensor with another dtype; the same one when it has it and no copy is asked for."""
        if ref.code == code and not copy:
            return ref
        target = self.temporary(code, ref.shape)
        self.copy_into(ref, target)
        return target

    def assemble(self, shape: Sequence[int], dtype: np.dtype[Any], pieces: Sequence[tuple[Any, ...]]) -> Ref:
        """A new tensor into which pieces (value, start, stop, step) are written in order, each into the slice
        of these bounds. Together they cover it."""
        target = self.temporary(dtypes.code(dtype), shape)
        for value, starts, stops, steps in pieces:
            layout = target.layout
            for axis, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
                layout = layout.slice(axis, start, len(range(start, stop, step)), step)
            if layout.size:
                self.copy_into(value.viewed(value.layout.broadcast(layout.shape)), target.viewed(layout))
        return target

    def random_state(self, blocks: int) -> tuple[Ref, Ref]:
        """Seed and offset of the device's generator as 0-d uint64 tensors; each run moves the offset on."""
        state = (self.temporary(dtypes.UINT64, ()), self.temporary(dtypes.UINT64, ()))
        self.step(_draw_state(self.device, blocks), [], state)
        return state

    def copy_into(self, source: Ref, target: Ref) -> None:
        """Records the copy, with conversion, of one tensor to another of its shape."""
        spec = BY_NAME["copy"]
        number = source.storage.number
        if number is not None and target.layout.is_contiguous and self._fill(target, number):
            return
        if not self._native(spec, [source], [target], {"T": source.code, "U": target.code}, {}):
            self._on_host(spec, [source], [target], {"dtype": target.dtype})

    def _fill(self, target: Ref, value: Any) -> bool:
        """Records that every element becomes one number, by the kernel `fill`; False where there is none."""
        spec = BY_NAME["fill"]
        late = isinstance(value, RunTimeScalar)
        place = (value.index, offsets(spec)[0]["value"], target.code) if late else None
        packed = pack(spec, {"value": 0 if late else value}, target.code)
        return not fallback.is_denied("fill", self.device) and any(
            emit_kernel(self, kernel, spec, [], [target], packed, place)
            for kernel in selection.candidates(self.device, spec, {"T": target.code}, self.declined)
        )

    def step(
        self, target: Target, inputs: Sequence[Ref | None], outputs: Sequence[Ref], **facts: Any
    ) -> None:
        """Records one step as it is."""
        self.steps.append(RecordedStep(target, list(inputs), list(outputs), **facts))

    # --- one op -----------------------------------------------------------------------------------

    def lower(self, spec: OpSpec, inputs: Sequence[Operand], attributes: dict[str, Any]) -> list[Ref]:
        """Records one op and gives its results."""
        refs, bound = self._converted(spec, inputs)
        specs = [None if ref is None else TensorSpec(ref.shape, ref.code) for ref in refs]
        outputs = RULES[spec.shape](spec, specs, attributes)
        if spec.level == "view":
            return view_ops.apply(self, spec, refs, attributes, outputs)
        for declared, made in zip(spec.outputs, outputs, strict=False):
            bound.setdefault(declared.type, made.dtype)
        targets = [self.temporary(made.dtype, made.shape) for made in outputs]
        if spec.name == "copy" and refs[0] is not None:
            self.copy_into(refs[0], targets[0])
            return targets
        if fallback.is_denied(spec.name, self.device):
            self._on_host(spec, refs, targets, attributes, "the op is on the deny list")
            return targets
        kernel = python_kernels.find(spec.name, self.device.type, bound, preferred=True)
        if kernel is None and self._native(spec, refs, targets, bound, attributes):
            return targets
        if kernel is None and spec.name == "random_bits" and "random" in self.device.properties["interfaces"]:
            self.step("random", [], targets)
            return targets
        kernel = kernel or python_kernels.find(spec.name, self.device.type, bound)
        if kernel is not None:
            packed = [r if r is None or r.layout.is_contiguous else self.packed(r) for r in refs]
            self.step(_python_step(kernel, attributes), packed, targets)
            return targets
        composed = self._decomposed(spec, refs, attributes, outputs) if spec.has_decomposition else None
        if composed is None:
            self._on_host(spec, refs, targets, attributes)
        return composed or targets

    def _converted(self, spec: OpSpec, inputs: Sequence[Operand]) -> tuple[list[Ref | None], dict[str, int]]:
        """The inputs as tensors of the dtypes that the op's promotion gives them, and its type variables."""
        inputs = [each.item() if isinstance(each, np.generic) else each for each in inputs]
        binding = bind_types(spec, [_promotable(each) for each in inputs])
        refs: list[Ref | None] = []
        for operand, code in zip(inputs, binding.inputs, strict=True):
            if operand is None or code is None:
                refs.append(None)
            elif isinstance(operand, Ref):
                refs.append(self.cast(operand, code))
            else:
                refs.append(self.scalar(operand, code))
        return refs, dict(binding.types)

    def _native(
        self,
        spec: OpSpec,
        refs: Sequence[Ref | None],
        targets: Sequence[Ref],
        bound: Mapping[str, int],
        attributes: Mapping[str, Any],
    ) -> bool:
        """Records a native kernel; False, with nothing recorded, when the device has none that fits."""
        kernels = tuple(selection.candidates(self.device, spec, bound, self.declined))
        if not kernels:
            return False
        if spec.elementwise:
            shape = targets[0].shape
            refs = [r if r is None else r.viewed(r.layout.broadcast(shape, spec.name)) for r in refs]
        code = bound[spec.types[0][0]] if spec.types else targets[0].code
        first = next((ref for ref in refs if ref is not None), None)
        values = attributes if first is None else counted_axes(spec, attributes, first.ndim)
        packed = pack(spec, values, code)
        return any(emit_kernel(self, kernel, spec, refs, targets, packed) for kernel in kernels)

    def _decomposed(
        self,
        spec: OpSpec,
        refs: Sequence[Ref | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[TensorSpec],
    ) -> list[Ref] | None:
        """Records an op by its rule; results get the declared dtypes and shapes. None when the rule does not
        apply."""
        fixed = [each for each in spec.inputs if not each.variadic]
        arguments: list[Any] = list(refs[: len(fixed)])
        if len(fixed) < len(spec.inputs):
            arguments.append(tuple(refs[len(fixed) :]))
        rule: Callable[..., Any] = DECOMPOSE[spec.name]
        made = rule(self, *arguments, **attributes)
        if made is NotImplemented:
            return None
        results = spec.flattened(made)
        return [
            self.cast(ref.viewed(ref.layout.broadcast(wanted.shape, spec.name)), wanted.dtype)
            for ref, wanted in zip(results, outputs, strict=True)
        ]

    def _on_host(
        self,
        spec: OpSpec,
        refs: Sequence[Ref | None],
        targets: Sequence[Ref],
        attributes: Mapping[str, Any],
        reason: str | None = None,
    ) -> None:
        """Records that the op runs on the CPU, or raises: the CPU itself has nowhere to fall back to."""
        names = [dtypes.NAMES[ref.code] for ref in refs if ref is not None]
        shown = f"{names[0]} to {dtypes.NAMES[targets[0].code]}" if spec.name == "copy" else ", ".join(names)
        claimed = dtypes.names(selection.claimed_dtypes(self.device, spec.name))
        if reason is None and claimed:
            wanted = shown or dtypes.NAMES[targets[0].code]
            if names and names[0] in claimed:
                reason = f"its kernel does not take these operands ({wanted})"
            else:
                reason = f"no kernel for {wanted}; there are kernels for {', '.join(claimed)}"
        reason = reason or "no kernel and no composition"
        if self.device.type == fallback.HOST_TYPE:
            raise UnsupportedOp(
                f"{spec.name} does not run on {self.device.name}",
                subject=", ".join(names),
                why=reason,
                remedy="Convert the operands to one of the dtypes that it has." if claimed else None,
                op=spec.name,
                device=self.device.name,
                dtypes=tuple(names),
                available=tuple(claimed),
            )
        if fallback.policy() == "error":
            raise fallback.forbidden(spec, self.device, names, reason, claimed)
        values = tuple(attributes[each.name] for each in spec.attributes)
        self.step(fallback.host_step(spec, self.device, values, names, reason, claimed), refs, targets)


def _unfilled(device: _core.Device, code: int) -> UnsupportedOp:
    """A Python number of a call has no other way to a device than its kernel `fill`."""
    name = dtypes.NAMES[code]
    return UnsupportedOp(
        f"a Python number cannot be brought to {device.name}",
        subject=name,
        why=f"fill is denied, or the device has no kernel of it that takes {name}",
        remedy="Pass the number as a tensor of the device.",
        op="fill",
        device=device.name,
        dtypes=(name,),
        available=tuple(dtypes.names(selection.claimed_dtypes(device, "fill"))),
    )


def _promotable(operand: Operand) -> TensorSpec | type | bool | int | float | complex | None:
    """An operand as the promotion rules see it."""
    if isinstance(operand, Ref):
        return TensorSpec(operand.shape, operand.code)
    return operand.kind if isinstance(operand, RunTimeScalar) else operand


def _draw_state(device: _core.Device, blocks: int) -> Target:
    def run(inputs: list[_core.Tensor | None], outputs: list[_core.Tensor], _: tuple[Any, ...]) -> None:
        with _generator_lock:
            seed, offset = device.random_state()
            device.set_random_state(seed, (offset + blocks) % 2**64)
        for value, output in zip((seed, offset), outputs, strict=True):
            word = _core.from_host(device, dtypes.UINT64, (), value.to_bytes(8, sys.byteorder))
            _core.copy_bytes(word, output)

    return run


def _python_step(kernel: python_kernels.Kernel, attributes: Mapping[str, Any]) -> Target:
    def run(inputs: list[_core.Tensor | None], outputs: list[_core.Tensor], _: tuple[Any, ...]) -> None:
        kernel(inputs, outputs, attributes)

    return run
