"""A device of a prototype: what it is, and its memory. Every call is finished when it returns.

A handle is a number other than 0 that the device makes up; only the device knows what it means. `HostDevice`
is complete: its memory is NumPy's.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api.abi import constants

Array = npt.NDArray[Any]


class Device:
    """What a subclass may set as attributes, and must write as methods. A method that raises makes the call
    fail with that error: MemoryError for memory that is not there, NotImplementedError, `Failure`."""

    name = "prototype"
    driver_version = "none"
    runtime_version = "none"
    total_memory = 1 << 30  # bytes
    allocation_alignment = 64  # bytes
    max_rank = 32
    compute_units = 1
    flags = constants.DA_DEVICE_DETERMINISTIC  # besides synchronous, which every prototype is
    dl_device_type = 12  # DLPack's number; 12 where there is none

    def allocate(self, count: int) -> int:
        """A handle of `count` bytes; zero bytes have a handle too."""
        raise NotImplementedError("allocate")

    def free(self, handle: int) -> None:
        raise NotImplementedError("free")

    def write(self, handle: int, offset: int, source: memoryview) -> None:
        """Copies from host memory to the device."""
        raise NotImplementedError("write")

    def read(self, handle: int, offset: int, target: memoryview) -> None:
        """Copies from the device to host memory."""
        raise NotImplementedError("read")

    def move(self, target: int, target_offset: int, source: int, source_offset: int, count: int) -> None:
        """Copies inside the device; the ranges are apart or the same."""
        raise NotImplementedError("move")

    def array(
        self, handle: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Any:
        """The array that kernels see over the device's memory: `offset` and `strides` in bytes. It is
        assigned to by `array[...] = result`."""
        raise NotImplementedError("array")


class HostDevice(Device):
    """A device whose memory is the host's. An array that leaves its block is an error, not a crash."""

    name = "NumPy"
    flags = constants.DA_DEVICE_DETERMINISTIC | constants.DA_DEVICE_HOST_VISIBLE
    dl_device_type = 1

    def __init__(self) -> None:
        self._blocks: dict[int, Array] = {}
        self._lock = threading.Lock()

    def allocate(self, count: int) -> int:
        if count > self.total_memory:
            raise MemoryError(f"cannot allocate {count} bytes")
        raw = np.empty(count + self.allocation_alignment, np.uint8)
        skipped = -raw.ctypes.data % self.allocation_alignment
        block = raw[skipped : skipped + max(count, 1)]
        with self._lock:
            self._blocks[block.ctypes.data] = block
        return int(block.ctypes.data)

    def free(self, handle: int) -> None:
        with self._lock:
            del self._blocks[handle]

    def write(self, handle: int, offset: int, source: memoryview) -> None:
        self._bytes(handle, offset, len(source))[:] = np.frombuffer(source, np.uint8)

    def read(self, handle: int, offset: int, target: memoryview) -> None:
        np.frombuffer(target, np.uint8)[:] = self._bytes(handle, offset, len(target))

    def move(self, target: int, target_offset: int, source: int, source_offset: int, count: int) -> None:
        self._bytes(target, target_offset, count)[:] = self._bytes(source, source_offset, count)

    def array(
        self, handle: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Array:
        return np.ndarray(shape, dtype, self._blocks[handle], offset, strides)

    def _bytes(self, handle: int, offset: int, count: int) -> Array:
        return self.array(handle, offset, (count,), (1,), np.dtype(np.uint8))
