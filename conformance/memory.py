"""Device memory for cases: allocation and copies through the plugin's memory interface, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.target import Target
from device_api.abi import constants

Bytes = npt.NDArray[np.uint8]


class DeviceBytes:
    """One allocation of kind DEVICE. Offsets and sizes are in bytes; every copy is done on return."""

    def __init__(self, target: Target, size: int, kind: int = constants.DA_MEMORY_DEVICE) -> None:
        self.target, self.size, self.kind = target, size, kind
        out = target.ffi.new("void **")
        target.expect(
            target.memory.allocate(target.device, kind, size, out), f"memory.allocate of {size} bytes"
        )
        self.handle = out[0]

    @classmethod
    def of(cls, target: Target, size: int, handle: Any) -> DeviceBytes:
        """An allocation of kind DEVICE that the caller has made already, and leaves to this object."""
        made = cls.__new__(cls)
        made.target, made.size, made.kind = target, size, constants.DA_MEMORY_DEVICE
        made.handle = handle
        return made

    def write(self, data: Bytes, offset: int = 0) -> None:
        """Host to device."""
        source = self.target.ffi.from_buffer(np.ascontiguousarray(data))
        copy = _copy(self.target, constants.DA_COPY_HOST_TO_DEVICE, data.nbytes)
        copy.destination, copy.destination_offset, copy.source = self.handle, offset, source
        self._run(copy, "host to device")

    def read(self, size: int | None = None, offset: int = 0, stream: Any = None) -> Bytes:
        """Device to host; on a stream, which is then waited for, else after all work of the device."""
        data = np.empty(self.size if size is None else size, np.uint8)
        copy = _copy(self.target, constants.DA_COPY_DEVICE_TO_HOST, data.nbytes)
        copy.destination = self.target.ffi.from_buffer(data, require_writable=True)
        copy.source, copy.source_offset = self.handle, offset
        self._run(copy, "device to host", stream)
        if stream is not None:
            self.target.expect(
                self.target.streams.synchronize(self.target.device, stream), "stream.synchronize"
            )
        return data

    def copy_from(self, source: DeviceBytes, size: int, offset: int = 0, source_offset: int = 0) -> None:
        """Device to device."""
        copy = _copy(self.target, constants.DA_COPY_DEVICE_TO_DEVICE, size)
        copy.destination, copy.destination_offset = self.handle, offset
        copy.source, copy.source_offset = source.handle, source_offset
        self._run(copy, "device to device")

    def _run(self, copy: Any, what: str, stream: Any = None) -> None:
        target = self.target
        target.expect(
            target.memory.copy(target.device, target.ffi.NULL if stream is None else stream, copy),
            f"memory.copy of {copy.bytes} bytes {what}",
        )

    def free(self) -> None:
        self.target.expect(self.target.memory.free(self.target.device, self.kind, self.handle), "memory.free")


def _copy(target: Target, kind: int, size: int) -> Any:
    copy = target.ffi.new("da_copy *")
    copy.struct_size, copy.kind, copy.bytes = target.ffi.sizeof("da_copy"), kind, size
    return copy


@contextmanager
def allocated(target: Target, size: int, kind: int = constants.DA_MEMORY_DEVICE) -> Iterator[DeviceBytes]:
    """An allocation that is freed at the end of the block."""
    memory = DeviceBytes(target, size, kind)
    try:
        yield memory
    finally:
        memory.free()
