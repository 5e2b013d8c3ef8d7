"""A small device for the tests of the core: the C plugin opened with ctypes, and a planner for a few ops.

The core must be testable without the loader, the op set or the planner of the package, so this module plays
their parts in the smallest way that shows each mechanism. It also runs as the start of subprocess tests.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from device_api import _core, dtypes
from device_api._core import Device, Program, Tensor

FIELDS = (
    "allocations", "frees", "live_bytes", "capacity", "fail_allocation", "kernel_memory_fails", "prepared",
    "released", "launches", "copies", "scratch_bytes", "silent_errors", "broken_list", "synchronizations",
)  # fmt: skip

# Numbers that no op of the op set has: other tests of the same process may have put its names in.
ADD, ADD_SCALAR_OP, TRANSPOSE, FAIL, LEAST = 1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005
F32, I32, I64 = dtypes.FLOAT32, dtypes.INT32, dtypes.INT64
OPERATORS = {"add": ADD, "subtract": LEAST}

Shape = tuple[int, ...]


class Control(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]

    def reset(self) -> None:
        for name in FIELDS:
            if name not in {"live_bytes"}:
                setattr(self, name, 0)


class TestDevice:
    """The loaded plugin, its counters and faults, and devices on it."""

    __test__ = False

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        self.control = Control.in_dll(self.library, "control")
        self.library.table.restype = ctypes.c_void_p
        self.library.device_handle.restype = ctypes.c_void_p

    def table(self, name: str) -> int:
        address = self.library.table(name.encode())
        assert isinstance(address, int)
        return address

    def open(self, index: int = 0, *, interfaces: Sequence[str] = ("random",), **properties: Any) -> Device:
        names = ["memory", "kernel", "device", *interfaces]
        return Device(
            "toy",
            index,
            self.library.device_handle(index),
            {name: self.table(name) for name in names},
            self.table("errors"),
            {"name": "toy device", **properties},
        )


def kernel(device: Device, op: str) -> int:
    return next(entry.index for entry in device.kernels if entry.op == op)


def row_major(shape: Shape) -> Shape:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def operand(slot: int, code: int, shape: Shape, strides: Shape | None = None, offset: int = 0) -> Any:
    return (slot, code, shape, row_major(shape) if strides is None else strides, offset)


def single(
    device: Device, op: str, *, code: int = dtypes.FLOAT32, shape: Shape = (1,), **more: Any
) -> Program:
    """A program of one step without tensor inputs and with one output."""
    out = operand(0, code, shape)
    size = int(np.prod(shape, dtype=np.int64)) * dtypes.from_code(code).itemsize
    attributes, scalar = more.get("attributes", b""), more.get("scalar")
    step = (kernel(device, op), [], [out], attributes, (), scalar, 0)
    return Program(device, [("output", size)], [step], [out], op=op)


def fill_bytes(value: int = 0) -> bytes:
    return struct.pack("<QQQQ", 32, 0, value, 0)


def put(device: Device, values: Any) -> Tensor:
    array = np.ascontiguousarray(values)
    return _core.from_host(device, dtypes.code(array.dtype), np.shape(values), array)


def get(tensor: Tensor) -> np.ndarray[Any, Any]:
    if not tensor.is_contiguous:
        tensor = copy_program(tensor).run([tensor])[0]
    out = np.empty(tensor.shape, tensor.dtype)
    _core.read_into(tensor, out)
    return out


def copy_program(source: Tensor) -> Program:
    code, shape = source.dtype_code, source.shape
    device = source.device
    return Program(
        device,
        [("input", 0), ("output", source.size * source.itemsize)],
        [
            (
                kernel(device, "copy"),
                [operand(0, code, shape, source.strides)],
                [operand(1, code, shape)],
                b"", (), None, 0,
            )
        ],
        [operand(1, code, shape)],
        op="copy",
    )  # fmt: skip


def plan(
    op: int,
    device: Device,
    inputs: tuple[Any, ...],
    attributes: tuple[Any, ...],
    out: tuple[Tensor, ...] | None,
) -> Program:
    """Plans `add` with broadcasting, scalars and out=, `transpose`, and a kernel that fails."""
    if op == TRANSPOSE:
        (x,) = inputs
        return Program(
            device, [("input", 0)], [],
            [operand(0, x.dtype_code, x.shape[::-1], x.strides[::-1])], op="transpose",
        )  # fmt: skip
    if op == FAIL:
        (x,) = inputs
        return Program(
            device, [("input", 0), ("output", 4)],
            [
                (
                    kernel(device, "failing"), [operand(0, x.dtype_code, x.shape, x.strides)],
                    [operand(1, F32, ())], fill_bytes(attributes[0]), (), None, 0,
                )
            ],
            [operand(1, F32, ())], op="fail",
        )  # fmt: skip
    assert op == ADD
    return plan_add(device, inputs, out)


def plan_add(device: Device, inputs: tuple[Any, ...], out: tuple[Tensor, ...] | None) -> Program:
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    code = tensors[0].dtype_code
    shape = np.broadcast_shapes(*(x.shape for x in tensors))
    size = int(np.prod(shape, dtype=np.int64)) * 4
    slots: list[Any] = []
    steps: list[Any] = []
    operands = []
    for position, value in enumerate(inputs):
        slot = len(slots)
        if isinstance(value, Tensor):
            slots.append(("input", position))
            lead = (0,) * (len(shape) - value.ndim)
            strides = lead + tuple(
                0 if n == 1 else s for n, s in zip(value.shape, value.strides, strict=True)
            )
            operands.append(operand(slot, code, shape, strides))
        else:
            slots.append(("temp", 0))
            steps.append(
                (
                    kernel(device, "fill"),
                    [],
                    [operand(slot, code, ())],
                    fill_bytes(),
                    (),
                    (position, 16, code),
                    0,
                )
            )
            operands.append(operand(slot, code, shape, (0,) * len(shape)))
    target = len(slots)
    add = kernel(device, "add")
    if out is None:
        slots.append(("output", size))
        result = operand(target, code, shape)
    else:
        slots.append(("out", 0))
        result = operand(target, code, shape, out[0].strides)
    overlapping = out is not None and any(x is not out[0] for x in tensors)
    if overlapping:
        slots.append(("temp", 64))
        temp = operand(len(slots) - 1, code, shape)
        steps.append((add, operands, [temp], b"", (), None, 0))
        steps.append((kernel(device, "copy"), [temp], [result], b"", (), None, 0))
    else:
        steps.append((add, operands, [result], b"", (), None, 0))
    arena = 64 + (size if overlapping else 0)
    return Program(device, slots, steps, [result], arena_bytes=arena, op="add")


def coerce(op: int, inputs: tuple[Any, ...], device: Device | None) -> Any:
    """Takes lists as tensors; has no answer for anything else."""
    if device is None or not all(isinstance(x, (Tensor, list, bool, int, float)) for x in inputs):
        return NotImplemented
    return tuple(put(device, np.asarray(x, np.float32)) if isinstance(x, list) else x for x in inputs)


def install(record: Callable[..., object] = lambda *call: None) -> Callable[[], None]:
    """Puts this module's hooks in; the function that it returns puts the former ones back."""
    _core.clear_plans()
    hooks = _core.set_hooks(plan=plan, record=record, coerce=coerce)
    operators = _core.set_operators({})
    _core.set_operators({name: OPERATORS.get(name, -1) for name in operators})

    def restore() -> None:
        _core.clear_plans()
        _core.set_hooks(**hooks)
        _core.set_operators(operators)

    return restore


def main() -> tuple[TestDevice, Device]:
    """Start of a subprocess test: the library's path is the first argument."""
    toy = TestDevice(Path(sys.argv[1]))
    install()
    return toy, toy.open()
