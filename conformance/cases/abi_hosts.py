"""The plugin under hosts of other versions: a conversation with structs of the sizes that they know.

Each case has a process of its own and talks to the library past the loader, from the entry to shutdown: opens
a device, asks for its properties, copies there and back, and launches a kernel. Bytes behind the structs must
stay as they were, whatever version the plugin was built with.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance import raw
from conformance.case import Case, Failure, NotSupported, require
from conformance.hosts import Host, Struct, hosts
from conformance.target import Target, status_name
from device_api.abi import _tables, constants
from device_api.abi._declarations import ffi
from device_api.loading.host import HostServices

COUNT = 33


def host_cases() -> Iterator[Case]:
    """`abi.host.NAME` for each host that the kept layouts stand for."""
    for host in hosts():
        text = f"A whole conversation with a host of minor {host.minor}, with structs of its sizes"
        text += f" and {host.grown} unknown bytes behind each." if host.grown else "."
        yield Case(f"abi.host.{host.name}", partial(_converse, host), text, own_process=True)


def _converse(host: Host, target: Target, rng: np.random.Generator) -> None:
    talk = _Conversation(host, target)
    talk.start()
    talk.properties()
    talk.round_trip(rng)
    talk.launch(rng)
    talk.end()


class _Conversation:
    """Calls into the plugin; checks after each that nothing behind a struct was written."""

    def __init__(self, host: Host, target: Target) -> None:
        self.host = host
        self._structs: list[tuple[str, Struct]] = []
        self._kept: list[Any] = []
        request = self._make("da_plugin_request")
        request.host_major, request.host_minor = _tables.VERSION[0], host.minor
        self.descriptor = raw.entry(target)(request)
        self._check_ends("the entry")
        if self.descriptor == ffi.NULL:
            least = raw.descriptor(target).min_host_minor
            if host.minor < least:
                raise NotSupported(
                    f"the plugin asks for hosts of minor {least} or later, this one is {host.minor}"
                )
            raise Failure(f"the plugin refuses a host of minor {host.minor}, and names {least} as the least")
        self.index = target.location.index

    def _make(self, struct: str) -> Any:
        made = self.host.make(struct)
        self._structs.append((struct, made))
        return made.pointer

    def _check_ends(self, entry: str) -> None:
        for name, struct in self._structs:
            changed = struct.overrun()
            require(
                not changed,
                f"{entry} wrote {changed} bytes behind a {name} of {self.host.size(name)} bytes",
                entry=entry,
                struct=name,
            )

    def _call(self, entry: str, error: Any) -> None:
        if error != ffi.NULL:
            code, message = (
                int(self.descriptor.errors.code(error)),
                raw.text(self.descriptor.errors.message(error)),
            )
            self.descriptor.errors.destroy(error)
            raise Failure(
                f"{entry} failed with {status_name(code)}: {message}", {"code": code, "entry": entry}
            )
        self._check_ends(entry)

    def _table(self, interface: str) -> Any:
        identifier, _, struct = _tables.INTERFACES[interface]
        pointer = self.descriptor.get_interface(identifier.encode(), 1)
        require(pointer != ffi.NULL, f"the {interface} interface is missing")
        return ffi.cast(f"const {struct} *", pointer)

    def start(self) -> None:
        """initialize with the host's table, and the device."""
        services = HostServices()
        table = self._make("da_host")
        known = min(self.host.size("da_host"), ffi.sizeof("da_host"))
        ffi.memmove(table, services.table, known)
        table.struct_size = self.host.size("da_host")
        table.abi_minor = self.host.minor
        self._kept.append(services)
        self._call("initialize", self.descriptor.initialize(ffi.cast("const da_host *", table)))
        self.devices, self.memory = self._table("device"), self._table("memory")
        out = ffi.new("da_device **")
        self._call("device.open", self.devices.open(self.index, out))
        self.device = out[0]

    def properties(self) -> None:
        """The properties fit into what the host has room for."""
        out = self._make("da_device_properties")
        self._call("device.properties", self.devices.properties(self.device, out))
        self.dl_device_type = int(out.dl_device_type)
        require(out.struct_size == self.host.size("da_device_properties"), "properties changed struct_size")
        require(3 <= out.max_rank <= constants.DA_MAX_RANK, f"properties give max_rank {out.max_rank}")

    def _copy(self, kind: int, destination: Any, source: Any, size: int) -> None:
        copy = self._make("da_copy")
        copy.kind, copy.destination, copy.source, copy.bytes = kind, destination, source, size
        self._call("memory.copy", self.memory.copy(self.device, ffi.NULL, copy))

    def _allocate(self, size: int) -> Any:
        out = ffi.new("void **")
        self._call(
            "memory.allocate", self.memory.allocate(self.device, constants.DA_MEMORY_DEVICE, size, out)
        )
        return out[0]

    def _upload(self, data: Any) -> Any:
        handle = self._allocate(data.nbytes)
        source = ffi.from_buffer(data)
        self._copy(constants.DA_COPY_HOST_TO_DEVICE, handle, source, data.nbytes)
        return handle

    def _download(self, handle: Any, like: Any) -> Any:
        data = np.zeros_like(like)
        destination = ffi.from_buffer(data, require_writable=True)
        self._copy(constants.DA_COPY_DEVICE_TO_HOST, destination, handle, data.nbytes)
        return data

    def _free(self, handle: Any) -> None:
        self._call("memory.free", self.memory.free(self.device, constants.DA_MEMORY_DEVICE, handle))

    def round_trip(self, rng: np.random.Generator) -> None:
        """Bytes go there and come back."""
        data = rng.integers(0, 256, 1000).astype(np.uint8)
        handle = self._upload(data)
        require(np.array_equal(self._download(handle, data), data), "a copy there and back changed bytes")
        self._free(handle)

    def _kernel(self) -> Any:
        """The kernel for additions of float32."""
        out = self._make("da_kernel_list")
        self._call("kernel.list", self._table("kernel").list(self.device, out))
        first = ffi.cast("char *", out.first)
        for number in range(out.count):
            kernel = ffi.cast("const da_kernel *", first + number * out.stride)
            if raw.text(kernel.op) == "add" and kernel.dtypes[0] >> dtypes.code("float32") & 1:
                return kernel
        raise NotSupported("all but the launch of a kernel was tried: none claims add for float32")

    def _tensor(self, handle: Any) -> Any:
        tensor = self._make("da_tensor")
        shape, strides = ffi.new("int64_t[]", [COUNT]), ffi.new("int64_t[]", [1])
        self._kept += [shape, strides]
        tensor.dl.data, tensor.dl.ndim, tensor.dl.shape, tensor.dl.strides = handle, 1, shape, strides
        tensor.dl.device.type, tensor.dl.device.id = self.dl_device_type, self.index
        tensor.dl.dtype.code, tensor.dl.dtype.bits, tensor.dl.dtype.lanes = 2, 32, 1
        tensor.dtype = dtypes.code("float32")
        return tensor

    def launch(self, rng: np.random.Generator) -> None:
        """add, prepared and launched with tensors and a context of this host."""
        kernel = self._kernel()
        x1, x2 = (rng.normal(size=COUNT).astype(np.float32) for _ in range(2))
        handles = [self._upload(x1), self._upload(x2), self._upload(np.zeros_like(x1))]
        with_data = [self._tensor(handle) for handle in handles]
        bare = [self._tensor(ffi.NULL) for _ in handles]
        context = self._make("da_kernel_context")
        context.device = self.device
        scratch = ffi.callback("da_error *(void *, uint64_t, void **, uint64_t *)", self._scratch)
        context.scratch = scratch
        state = ffi.new("void **")
        if kernel.prepare != ffi.NULL:
            error = kernel.prepare(self.device, kernel, *self._arguments(bare), ffi.NULL, state)
            self._call("add.prepare", error)
        error = kernel.launch(state[0], context, *self._arguments(with_data), ffi.NULL)
        self._call("add.launch", error)
        if kernel.prepare != ffi.NULL and kernel.release != ffi.NULL:
            kernel.release(state[0])
        require(np.array_equal(self._download(handles[2], x1), x1 + x2), "the sums of a kernel are wrong")
        for handle in handles:
            self._free(handle)

    def _arguments(self, tensors: list[Any]) -> tuple[Any, ...]:
        inputs, outputs = ffi.new("da_tensor *[]", tensors[:2]), ffi.new("da_tensor *[]", tensors[2:])
        self._kept += [inputs, outputs]
        return inputs, 2, outputs, 1

    def _scratch(self, host_context: Any, size: int, out_handle: Any, out_offset: Any) -> Any:
        out_handle[0], out_offset[0] = self._allocate(size), 0
        return ffi.NULL

    def end(self) -> None:
        """close and shutdown."""
        self._call("device.close", self.devices.close(self.device))
        self._call("shutdown", self.descriptor.shutdown())
