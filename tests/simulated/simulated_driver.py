"""Drives the simulated accelerator through its C tables, as a host would, with as little between as possible.

`Accelerator` owns one initialised plugin of the process; every method is one call of the ABI, and an error
comes back as `Refused`. Nothing of the host's runtime is used: what these tests hold is the plugin itself.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device_api.abi import constants as c
from device_api.abi._declarations import ffi
from device_api.loading.host import HostServices

ROOT = Path(__file__).resolve().parents[2]
IN_PLACE = ROOT / "plugins" / "simulated" / "libdevice_api_simulated.so"
CODES = {"bool": 1, "int32": 4, "int64": 5, "uint32": 8, "float32": 12, "float64": 13}


class Refused(Exception):
    """An error of the plugin: its code and its words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@contextlib.contextmanager
def refused(code: int, words: str) -> Iterator[None]:
    """The block must fail with an error of this code whose message matches `words`."""
    with pytest.raises(Refused, match=words) as caught:
        yield
    assert caught.value.code == code, caught.value


@functools.cache
def opened(library: str) -> Any:
    """Never closed: a library whose threads may run is not unloaded."""
    return ffi.dlopen(library)


class Accelerator:
    """One initialised plugin. `devices` are its da_device handles."""

    def __init__(self, library: Path) -> None:
        self._library = opened(str(library))
        request = ffi.new("da_plugin_request *", {"struct_size": 24, "host_major": 0, "host_minor": 9})
        self.descriptor = self._library.device_api_plugin(request)
        self.services = HostServices()
        self.check(self.descriptor.initialize(self.services.table))
        self.device_table = self.table("device")
        self.memory = self.table("memory")
        self.streams = self.table("stream")
        self.captures = self.table("capture")
        self.profiler = self.table("profiler")
        self.devices = [self.out("da_device **", self.device_table.open, i) for i in range(self.count())]
        self.kernels = self._list_kernels() if self.devices else {}
        self._keep: list[Any] = []

    def close(self) -> None:
        self.check(self.descriptor.shutdown())

    def check(self, error: Any) -> None:
        if error == ffi.NULL:
            return
        errors = self.descriptor.errors
        refused = Refused(errors.code(error), ffi.string(errors.message(error)).decode())
        errors.destroy(error)
        raise refused

    def call(self, function: Any, *arguments: Any) -> None:
        self.check(function(*arguments))

    def out(self, kind: str, function: Any, *arguments: Any) -> Any:
        """Calls a function whose last parameter is an `out_` pointer, and gives what it wrote."""
        place = ffi.new(kind)
        self.check(function(*arguments, place))
        return place[0]

    def table(self, name: str) -> Any:
        found = self.descriptor.get_interface(f"device_api.{name}".encode(), 1)
        return None if found == ffi.NULL else ffi.cast(f"const da_{name}_interface *", found)

    # --- devices --------------------------------------------------------------------------------

    def count(self) -> int:
        return int(self.out("uint32_t *", self.device_table.count))

    def properties(self, device: int = 0) -> Any:
        facts = ffi.new("da_device_properties *", {"struct_size": ffi.sizeof("da_device_properties")})
        self.check(self.device_table.properties(self.devices[device], facts))
        return facts

    def synchronize(self, device: int = 0) -> None:
        self.check(self.device_table.synchronize(self.devices[device]))

    def _list_kernels(self) -> dict[str, Any]:
        listed = ffi.new("da_kernel_list *", {"struct_size": ffi.sizeof("da_kernel_list")})
        self.check(self.table("kernel").list(self.devices[0], listed))
        return {ffi.string(listed.first[i].op).decode(): listed.first + i for i in range(listed.count)}

    # --- memory ---------------------------------------------------------------------------------

    def allocate(self, count: int, kind: int = c.DA_MEMORY_DEVICE, device: int = 0) -> Any:
        return self.out("void **", self.memory.allocate, self.devices[device], kind, count)

    def free(self, handle: Any, kind: int = c.DA_MEMORY_DEVICE, device: int = 0) -> None:
        self.check(self.memory.free(self.devices[device], kind, handle))

    def copy(
        self,
        kind: int,
        to: Any,
        source: Any,
        count: int,
        *,
        stream: Any = ffi.NULL,
        device: int = 0,
        to_offset: int = 0,
        offset: int = 0,
        peer: int | None = None,
    ) -> None:
        order = ffi.new("da_copy *", {"struct_size": ffi.sizeof("da_copy"), "kind": kind, "bytes": count})
        order.destination, order.destination_offset = to, to_offset
        order.source, order.source_offset = source, offset
        order.peer = ffi.NULL if peer is None else self.devices[peer]
        self.check(self.memory.copy(self.devices[device], stream, order))

    def write(self, handle: Any, values: np.ndarray, *, stream: Any = ffi.NULL, device: int = 0) -> None:
        """The array must live, unchanged, until the stream has passed the copy."""
        self.copy(
            c.DA_COPY_HOST_TO_DEVICE, handle, address(values), values.nbytes, stream=stream, device=device
        )

    def read(self, handle: Any, values: np.ndarray, *, stream: Any = ffi.NULL, device: int = 0) -> np.ndarray:
        self.copy(
            c.DA_COPY_DEVICE_TO_HOST, address(values), handle, values.nbytes, stream=stream, device=device
        )
        return values

    def upload(self, values: np.ndarray, device: int = 0) -> Any:
        handle = self.allocate(values.nbytes, device=device)
        self.write(handle, values, device=device)
        return handle

    def download(self, handle: Any, like: np.ndarray, device: int = 0) -> np.ndarray:
        return self.read(handle, np.zeros_like(like), device=device)

    # --- streams and events ---------------------------------------------------------------------

    def stream(self, priority: int = 0, device: int = 0) -> Any:
        return self.out("da_stream **", self.streams.create, self.devices[device], priority)

    def wait_stream(self, stream: Any, device: int = 0) -> None:
        self.check(self.streams.synchronize(self.devices[device], stream))

    def is_done(self, stream: Any, device: int = 0) -> bool:
        return bool(self.out("int32_t *", self.streams.query, self.devices[device], stream))

    def event(self, flags: int = 0, device: int = 0) -> Any:
        return self.out("da_event **", self.streams.event_create, self.devices[device], flags)

    def record(self, event: Any, stream: Any, device: int = 0) -> None:
        self.check(self.streams.event_record(self.devices[device], event, stream))

    def wait_event(self, stream: Any, event: Any, device: int = 0) -> None:
        self.check(self.streams.wait_event(self.devices[device], stream, event))

    def is_reached(self, event: Any, device: int = 0) -> bool:
        return bool(self.out("int32_t *", self.streams.event_query, self.devices[device], event))

    def wait_for(self, event: Any, timeout_ns: int = 2**64 - 1, device: int = 0) -> None:
        self.check(self.streams.event_synchronize(self.devices[device], event, timeout_ns))

    def elapsed(self, start: Any, end: Any) -> float:
        return float(self.out("double *", self.streams.event_elapsed, self.devices[0], start, end))

    def on_stream(self, stream: Any, function: Any, destroy: Any = None) -> None:
        """Queues a Python function of one argument, the status."""

        def call(_: Any, status: int) -> None:
            function(status)

        def end(_: Any) -> None:
            destroy()

        called = ffi.callback("void(void *, int32_t)", call)
        ended = ffi.NULL if destroy is None else ffi.callback("void(void *)", end)
        self._keep += [called, ended]
        callback = ffi.new("da_callback *", {"struct_size": 40, "function": called, "destroy": ended})
        self.check(self.streams.add_callback(self.devices[0], stream, callback))

    # --- kernels --------------------------------------------------------------------------------

    def launch(
        self,
        op: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        *,
        stream: Any = ffi.NULL,
        attributes: Any = ffi.NULL,
        state: Any = ffi.NULL,
        device: int = 0,
    ) -> None:
        """Inputs and outputs are what `tensor` makes."""
        context = ffi.new("da_kernel_context *", {"struct_size": ffi.sizeof("da_kernel_context")})
        context.device, context.stream = self.devices[device], stream
        self.check(
            self.kernels[op].launch(
                state, context, pointers(inputs), len(inputs), pointers(outputs), len(outputs), attributes
            )
        )


Make = Callable[..., Accelerator]
# Runs Python text on the whole host, in a process of its own.
Host = Callable[..., subprocess.CompletedProcess[str]]


def address(values: np.ndarray) -> Any:
    return ffi.cast("void *", values.ctypes.data)


def pointers(tensors: Sequence[Any]) -> Any:
    return ffi.new("da_tensor *[]", [ffi.NULL if t is None else t[0] for t in tensors])


def tensor(
    handle: Any, shape: Sequence[int], dtype: str, *, strides: Sequence[int] | None = None, offset: int = 0
) -> tuple[Any, Any]:
    """A da_tensor and what it points to; row-major where no strides (in elements) are given."""
    if strides is None:
        strides = list(itertools.accumulate(reversed([*shape[1:], 1]), lambda a, b: a * b))[::-1]
    held = (ffi.new("int64_t[]", list(shape)), ffi.new("int64_t[]", list(strides)[: len(shape)]))
    made = ffi.new("da_tensor *", {"struct_size": ffi.sizeof("da_tensor"), "dtype": CODES[dtype]})
    made.dl.data, made.dl.ndim, made.dl.byte_offset = handle, len(shape), offset
    made.dl.shape, made.dl.strides = held
    return made, held
