"""Calls to the naughty plugin through layers, written so that a test reads as what is done wrong."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from device_api import loading
from device_api.layers import Finding, findings, wrap
from device_api.loading.host import HostServices

FLOAT32 = 12


class Bench:
    """One naughty plugin under layers. Everything is called through the outermost tables."""

    def __init__(self, library: Path, layers: str, mode: str = "") -> None:
        self.foreign: Any = ctypes.CDLL(str(library))
        self.mode("")
        self.plugin = wrap(loading.open_library(library), layers)
        self.ffi = self.plugin.ffi
        self.host = HostServices()
        self.code = 0
        self.running = False
        self._keep: list[Any] = []
        self.mode(mode)

    def mode(self, name: str) -> None:
        """Switches a mistake on; "" for none."""
        self.foreign.naughty_set(name.encode())

    @property
    def rules(self) -> list[str]:
        """The ids of the broken rules."""
        return [finding.rule for finding in self.findings]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return findings(self.plugin)

    # --- calls ----------------------------------------------------------------------------------

    def check(self, error: Any) -> int:
        """The code of an error, which is destroyed; 0 for success."""
        taken = self.plugin.take_error(error)
        self.code = taken[0] if taken else 0
        return self.code

    def call(self, slot: str, *arguments: Any) -> int:
        """Calls an interface slot; the status code, 0 for success."""
        interface, _, function = slot.partition(".")
        return self.check(getattr(self.plugin.interface(interface), function)(*arguments))

    def make(self, slot: str, kind: str, *arguments: Any) -> Any:
        """Calls a slot whose last parameter is a result; the result."""
        out = self.new(f"{kind} *")
        self.call(slot, *arguments, out)
        return out[0]

    def new(self, kind: str, *initial: Any) -> Any:
        value = self.ffi.new(kind, *initial)
        self._keep.append(value)
        return value

    def struct(self, kind: str, /, **fields: Any) -> Any:
        """A struct that begins with its size."""
        made = self.new(f"{kind} *")
        made.struct_size = self.ffi.sizeof(kind)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    # --- life -----------------------------------------------------------------------------------

    def initialize(self) -> int:
        return self.check(self.plugin.descriptor.initialize(self.host.table))

    def start(self) -> Any:
        """Initialises and opens device 0, with its properties known; the device."""
        self.initialize()
        self.running = True
        self.device = self.make("device.open", "da_device *", 0)
        self.properties()
        return self.device

    def properties(self) -> Any:
        out = self.struct("da_device_properties")
        self.call("device.properties", self.device, out)
        return out

    def stop(self) -> int:
        """Closes device 0 and shuts the plugin down."""
        if self.running:
            self.call("device.close", self.device)
        self.running = False
        return self.check(self.plugin.descriptor.shutdown())

    def end(self) -> None:
        self.mode("")
        if self.running:
            self.stop()
        self.plugin.release()

    # --- things ---------------------------------------------------------------------------------

    def allocate(self, size: int = 64, kind: int = 1) -> Any:
        return self.make("memory.allocate", "void *", self.device, kind, size)

    def free(self, handle: Any, kind: int = 1) -> int:
        return self.call("memory.free", self.device, kind, handle)

    def stream(self) -> Any:
        return self.make("stream.create", "da_stream *", self.device, 0)

    def event(self, flags: int = 0) -> Any:
        return self.make("stream.event_create", "da_event *", self.device, flags)

    def copy(self, **fields: Any) -> Any:
        return self.struct("da_copy", **{"kind": 3, "bytes": 16, **fields})

    def set(self, stream: Any, handle: Any, offset: int = 0, size: int = 16) -> int:
        return self.call("memory.set", self.device, stream, handle, offset, 0, size)

    def callback(self, function: Any = None) -> Any:
        run = self.ffi.callback("void(void *, int32_t)", lambda data, status: None)
        destroy = self.ffi.callback("void(void *)", lambda data: None)
        self._keep += [run, destroy]
        return self.struct("da_callback", function=run if function is None else function, destroy=destroy)

    def tensor(
        self, handle: Any, shape: tuple[int, ...] = (4,), strides: tuple[int, ...] = (1,), **more: Any
    ) -> Any:
        tensor = self.struct("da_tensor", dtype=more.pop("dtype", FLOAT32))
        tensor.dl.data = handle
        tensor.dl.ndim = more.pop("ndim", len(shape))
        tensor.dl.shape = self.new("int64_t[]", list(shape) or [0])
        tensor.dl.strides = self.new("int64_t[]", list(strides) or [0])
        tensor.dl.dtype.code, tensor.dl.dtype.bits = more.pop("dl", (2, 32))
        tensor.dl.dtype.lanes = 1
        for name, value in more.items():
            setattr(tensor.dl, name, value)
        return tensor

    def kernels(self) -> Any:
        """Kernel 0 is "add" with prepare, release and supports; 1 is "copy", strided and in place; 2 is
        "momentum_step", in place by pairs."""
        out = self.struct("da_kernel_list")
        self.call("kernel.list", self.device, out)
        first = self.ffi.cast("char *", out.first)
        return [self.ffi.cast("const da_kernel *", first + i * out.stride) for i in range(out.count)]

    def context(self, **fields: Any) -> Any:
        scratch = self.ffi.callback("da_error *(void *, uint64_t, void **, uint64_t *)", self._scratch)
        self._keep.append(scratch)
        return self.struct("da_kernel_context", **{"device": self.device, "scratch": scratch, **fields})

    def _scratch(self, context: Any, size: int, out_handle: Any, out_offset: Any) -> Any:
        out_handle[0], out_offset[0] = self.device, 0
        return self.ffi.NULL

    def launch(self, index: int, inputs: Any, outputs: Any, **more: Any) -> int:
        kernel = self.kernels()[index]
        tensors = [
            self.new("const da_tensor *[]", list(items) or [self.ffi.NULL]) for items in (inputs, outputs)
        ]
        return self.check(
            kernel.launch(
                more.get("state", self.ffi.NULL),
                more.get("context", self.context()),
                tensors[0],
                len(inputs),
                tensors[1],
                len(outputs),
                more.get("attributes", self.ffi.NULL),
            )
        )

    def prepare(self, index: int = 0) -> Any:
        kernel, tensor = self.kernels()[index], self.tensor(self.ffi.NULL)
        tensors = self.new("const da_tensor *[]", [tensor])
        out = self.new("void **")
        self.check(kernel.prepare(self.device, kernel, tensors, 1, tensors, 1, self.ffi.NULL, out))
        return out[0]

    def communicator(self, ranks: int = 2, rank: int = 0) -> Any:
        identity = self.struct("da_unique_id")
        options = self.struct("da_communicator_options", rank=rank, rank_count=ranks, id=identity)
        return self.make("collective.create", "da_communicator *", self.device, options)

    def executable(self) -> Any:
        return self.make("graph.compile", "da_executable *", self.device, b"graph", 5)

    def custom_op(self) -> Any:
        """The one custom op of the list."""
        out = self.struct("da_custom_op_list")
        self.call("custom_op.list", out)
        return self.ffi.cast("const da_custom_op *", out.first)

    def infer(self) -> Any:
        """The answer of its shape function for one tensor without data."""
        op, tensor = self.custom_op(), self.tensor(self.ffi.NULL)
        shape = self.struct("da_output_shape", dtype=FLOAT32)
        tensors = self.new("const da_tensor *[]", [tensor])
        self.check(op.infer(op, tensors, 1, self.ffi.NULL, 1, shape))
        return shape

    def capture(self, stream: Any) -> Any:
        self.call("capture.begin", self.device, stream)
        return self.make("capture.end", "da_capture *", self.device, stream)
