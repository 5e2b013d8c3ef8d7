"""Batches of host data that are on a device before they are needed.

The next batches are copied through pinned memory on a stream of their own, while the device works on the
present one. Nothing of an op, and nothing of where batches come from, is known here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from device_api import _core, dtypes
from device_api.errors import AttributeValueError
from device_api.runtime.devices import DeviceLike, resolve
from device_api.runtime.streams import Stream, copy_into, pinned_empty
from device_api.tensor.sharing import host_view


def prefetch(batches: Iterable[Any], device: DeviceLike | None = None, depth: int = 2) -> Iterator[Any]:
    """Gives the batches as tensors of a device, in order; the next `depth` (at least 1) are under way then.

    A batch is an array of the host (whatever NumPy makes an array of), or tuples, lists and dicts of them;
    the same comes back with tensors of the same shapes and dtypes. Whoever makes the batches may reuse the
    memory of one for the next. What `batches` raises is raised behind the batches before it. DTypeError,
    DeviceOutOfMemory; AttributeValueError for another depth.
    """
    if depth < 1:
        raise AttributeValueError(
            "batches are fetched at least 1 ahead", subject="prefetch", argument="depth", value=depth
        )
    return _ahead(iter(batches), resolve(device), depth)


def _ahead(batches: Iterator[Any], device: _core.Device, depth: int) -> Iterator[Any]:
    stream = Stream(device)
    waiting: deque[Any] = deque()
    while True:
        try:
            batch = next(batches)
        except Exception as stopped:  # also at the end of the batches
            problem = stopped
            break
        with stream:
            waiting.append(_upload(batch, device))
        if len(waiting) > depth:
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()
    if not isinstance(problem, StopIteration):
        raise problem


def _upload(batch: Any, device: _core.Device) -> Any:
    if isinstance(batch, Mapping):
        return {name: _upload(part, device) for name, part in batch.items()}
    if isinstance(batch, tuple | list):
        parts = [_upload(part, device) for part in batch]
        return parts if isinstance(batch, list) else tuple(parts)
    array = np.asarray(batch)
    pinned = pinned_empty(array.shape, array.dtype, device)
    with host_view(pinned) as memory:
        memory[...] = array
    tensor = _core.empty(device, dtypes.code(array.dtype), array.shape)
    copy_into(tensor, pinned, non_blocking=True)
    return tensor
