"""Streams and events of devices, and host memory that copies reach without a wait.

A device works on one stream per thread, which starts as the default stream of the device; `with stream:`
chooses another; a graph records what would be queued, and replays it. Tensors may cross streams freely: the
native core orders work that uses what another stream writes. What it cannot see (a library that works on a
tensor's memory by itself) is said with `Tensor.record_stream`, `Stream.wait_event` and `Stream.wait_stream`.
Nothing of an op is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy.typing as npt

from device_api import _core, dtypes
from device_api._core import Event, Graph, Stream, Tensor, current_stream, default_stream
from device_api.errors import DTypeError
from device_api.runtime.devices import DEFAULT_DEVICE, DeviceLike, resolve
from device_api.runtime.devices import device as open_device

__all__ = ["Event", "Graph", "Stream", "copy_into", "current_stream", "default_stream", "pinned_empty"]

_core.set_device_resolver(resolve)


def pinned_empty(
    shape: SupportsIndex | Sequence[SupportsIndex],
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """A CPU tensor without values in memory that a device has pinned: `copy_into` moves it to and from that
    device without waiting.

    dtype: the default dtype where none is given. DeviceOutOfMemory when the host has no more.
    """
    sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
    code = dtypes.code(float if dtype is None else dtype)
    return _core.pinned_empty(resolve(device), open_device(DEFAULT_DEVICE), code, sizes)


def copy_into(target: Tensor, source: Tensor, *, non_blocking: bool = False) -> None:
    """Copies the elements of a tensor over those of another, on any two devices; both are contiguous, of one
    shape and dtype.

    non_blocking: between a device and memory that it has pinned, the copy is only queued on the current
    stream. Whoever uses the target through this package waits as far as needed. ShapeError, DTypeError.
    """
    if target.dtype_code != source.dtype_code:
        raise DTypeError(
            "a copy keeps the dtype",
            subject=f"{source.dtype} to {target.dtype}",
            remedy="Convert one of them with astype().",
            dtypes=[str(source.dtype), str(target.dtype)],
        )
    _core.copy_bytes(source, target, non_blocking)
