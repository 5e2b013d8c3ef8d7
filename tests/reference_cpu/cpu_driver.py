"""Calls the reference CPU plugin through its C tables, with NumPy arrays as tensors.

It exists so that these tests judge the library alone: nothing of the host takes part but the cffi
declarations of the headers. Arrays may have any strides, also negative and zero ones.
"""

from __future__ import annotations

import importlib.util
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from device_api.abi._declarations import ffi


def _folder() -> Path:
    spec = importlib.util.find_spec("reference_cpu")
    assert spec is not None, "the package reference_cpu is not importable"
    assert spec.origin is not None
    return Path(spec.origin).parent


FOLDER = _folder()
LIBRARY = Path(os.environ.get("REFERENCE_CPU_LIBRARY", FOLDER / "libdevice_api_cpu.so"))

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
E4M3FN = np.dtype(ml_dtypes.float8_e4m3fn)
E5M2 = np.dtype(ml_dtypes.float8_e5m2)
ALL = [
    *(np.dtype(name) for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16".split()),
    BFLOAT16,
    *(np.dtype(name) for name in "float32 float64 complex64 complex128".split()),
    E4M3FN,
    E5M2,
]
CODES = {dtype: code for code, dtype in enumerate(ALL, start=1)}

BOOL = ALL[:1]
SIGNED = ALL[1:5]
UNSIGNED = ALL[5:9]
INTEGER = ALL[1:9]
HALF = ALL[9:11]
WIDE = ALL[11:13]
FLOAT = ALL[9:13]
COMPLEX = ALL[13:15]
NUMERIC = INTEGER + FLOAT + COMPLEX
ORDERED = BOOL + INTEGER + FLOAT

OUT_OF_MEMORY, INVALID_ARGUMENT, UNIMPLEMENTED, OUT_OF_RANGE = 3, 2, 1, 9


class PluginError(Exception):
    """An error object of the plugin, read and destroyed."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code
        self.message = message


class Plugin:
    """The loaded and initialised library."""

    def __init__(self, path: Path = LIBRARY) -> None:
        self.library: Any = ffi.dlopen(str(path))
        self.descriptor = self.library.device_api_plugin(ffi.NULL)
        self.logged: list[str] = []
        self._log = ffi.callback(
            "void(void *, int32_t, char const *)",
            lambda _context, _level, text: self.logged.append(ffi.string(text).decode()),
        )
        self._host = ffi.new(
            "da_host *", {"struct_size": ffi.sizeof("da_host"), "abi_minor": 9, "log": self._log}
        )
        self.check(self.descriptor.initialize(self._host))
        self.device_table = self._table("device")
        self.memory = self._table("memory")
        self.random = self._table("random")
        self.kernel_table = self._table("kernel")
        out = ffi.new("da_device **")
        self.check(self.device_table.open(0, out))
        self.device = out[0]
        listing = ffi.new("da_kernel_list *", {"struct_size": ffi.sizeof("da_kernel_list")})
        self.check(self.kernel_table.list(self.device, listing))
        assert listing.stride == ffi.sizeof("da_kernel")
        self.kernels = {
            ffi.string(listing.first[i].op).decode(): listing.first + i for i in range(listing.count)
        }
        self.context = ffi.new(
            "da_kernel_context *", {"struct_size": ffi.sizeof("da_kernel_context"), "device": self.device}
        )

    def _table(self, name: str) -> Any:
        address = self.descriptor.get_interface(f"device_api.{name}".encode(), 1)
        assert address != ffi.NULL, name
        return ffi.cast(f"da_{name}_interface *", address)

    def check(self, error: Any) -> None:
        if error == ffi.NULL:
            return
        errors = self.descriptor.errors
        code, message = errors.code(error), ffi.string(errors.message(error)).decode()
        errors.destroy(error)
        raise PluginError(code, message)

    def dtypes(self, op: str, variable: int = 0) -> list[np.dtype[Any]]:
        mask = self.kernels[op].dtypes[variable]
        return [dtype for dtype, code in CODES.items() if mask >> code & 1]

    def launch(
        self,
        op: str,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        attributes: bytes = b"",
        prepared: bool = True,
    ) -> None:
        """Runs one kernel on arrays in place; without `prepared`, launches with no state."""
        kernel = self.kernels[op]
        keep: list[Any] = []
        given = [_tensor(array, keep) for array in inputs]
        made = [_tensor(array, keep) for array in outputs]
        ins, outs = ffi.new("da_tensor *[]", given or [ffi.NULL]), ffi.new("da_tensor *[]", made)
        attribute_bytes = ffi.from_buffer(attributes) if attributes else ffi.NULL
        state = ffi.new("void **")
        if prepared:
            self.check(
                kernel.prepare(self.device, kernel, ins, len(given), outs, len(made), attribute_bytes, state)
            )
        try:
            self.check(
                kernel.launch(state[0], self.context, ins, len(given), outs, len(made), attribute_bytes)
            )
        finally:
            kernel.release(state[0])

    def run(
        self,
        op: str,
        *inputs: np.ndarray,
        dtype: Any = None,
        shape: tuple[int, ...] | None = None,
        attributes: bytes = b"",
        prepared: bool = True,
    ) -> np.ndarray:
        """Runs a kernel into a new, poisoned array between guard bands, and checks the bands."""
        dtype = np.dtype(inputs[-1].dtype if dtype is None else dtype)
        shape = inputs[-1].shape if shape is None else shape
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        guard = 64
        memory = np.full(size + 2 * guard, 0xA5, np.uint8)
        out = np.ndarray(shape, dtype, memory, guard)
        before = [array.tobytes() for array in inputs]
        self.launch(op, inputs, [out], attributes, prepared)
        assert (memory[:guard] == 0xA5).all(), "wrote before the output"
        assert (memory[guard + size :] == 0xA5).all(), "wrote behind the output"
        assert before == [array.tobytes() for array in inputs], "changed an input"
        return out


def _tensor(array: np.ndarray, keep: list[Any]) -> Any:
    rank = array.ndim
    shape = ffi.new("int64_t[]", list(array.shape) or [0])
    strides = ffi.new("int64_t[]", [s // array.itemsize for s in array.strides] or [0])
    assert all(s % array.itemsize == 0 for s in array.strides)
    tensor = ffi.new("da_tensor *")
    tensor.struct_size = ffi.sizeof("da_tensor")
    tensor.dl.data = ffi.cast("void *", array.__array_interface__["data"][0] - 8)
    tensor.dl.byte_offset = 8
    tensor.dl.device.type = 1
    tensor.dl.ndim = rank
    tensor.dl.shape = shape
    tensor.dl.strides = strides
    tensor.dtype = CODES[array.dtype]
    keep += [shape, strides, tensor, array]
    return tensor


def fill_attributes(value: np.generic) -> bytes:
    raw = value.tobytes().ljust(16, b"\0")
    return struct.pack("<QQ", 32, 0) + raw


def iota_attributes(
    start: int = 0, step: int = 0, start_float: float = 0.0, step_float: float = 0.0
) -> bytes:
    return struct.pack("<QQqqdd", 48, 0, start, step, start_float, step_float)


def integer_attribute(value: int) -> bytes:
    return struct.pack("<QQq", 24, 0, value)


def child(code: str, **environment: str) -> str:
    """Runs code in a process of its own; a crash or an uncaught exception fails the test."""
    path = os.pathsep.join(filter(None, [os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
