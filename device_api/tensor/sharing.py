"""Memory that host and device both see, and memory that somebody else owns.

Ordinary memory of a device belongs to the device alone, and everything moves in copies. Managed memory has
one address for both; wrapped memory is a buffer of another library that becomes a tensor as it is. Whether a
device has either is for its plugin to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, SupportsIndex

import numpy.typing as npt

from device_api import _core, dtypes
from device_api.ops.host_arrays import array_over
from device_api.runtime.devices import DeviceLike, resolve

Sizes = SupportsIndex | Sequence[SupportsIndex]


def _sizes(shape: Sizes) -> tuple[SupportsIndex, ...]:
    return (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)


def managed_empty(
    shape: Sizes, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> _core.Tensor:
    """A tensor of a device, without values, in memory that the host reaches as well (see `host_view`).

    dtype: the default dtype where none is given. UnsupportedOp where the device has no such memory;
    DeviceOutOfMemory.
    """
    code = dtypes.code(float if dtype is None else dtype)
    return _core.managed_empty(resolve(device), code, _sizes(shape))


@contextmanager
def host_view(tensor: _core.Tensor) -> Iterator[npt.NDArray[Any]]:
    """A block with a NumPy array over the memory of a tensor: of the CPU, pinned, or managed.

    Queued work on the tensor is done when the block begins. Within it the device must not work on the tensor;
    after it the array still holds the memory, and shows what the device writes there. UnsupportedOp when the
    host does not reach the memory.
    """
    array = array_over(tensor)
    try:
        yield array
    finally:
        _core.bump_version(tensor)


def wrap_memory(
    address: int,
    shape: Sizes,
    dtype: npt.DTypeLike,
    device: DeviceLike | None = None,
    *,
    release: Callable[[], object] | None = None,
) -> _core.Tensor:
    """A tensor over memory that somebody else owns, without a copy.

    address: of the first element, a multiple of its size, in memory that the device reaches; `shape` elements
    lie there one after the other. release: called once, without arguments and perhaps on another thread, when
    no tensor and no queued work uses the memory any more; not when this function raises. UnsupportedOp where
    the device takes no such memory, AttributeValueError for an address that cannot be one.
    """
    return _core.wrap_memory(resolve(device), dtypes.code(dtype), _sizes(shape), address, release)
