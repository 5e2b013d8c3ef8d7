"""What a producer of DLPack capsules holds, as a tensor on the host over the same memory.

Which arguments of `__dlpack__` a producer knows depends on its age; this module asks so that each gives
the best it has. What becomes of the tensor is decided by those who ask for it.
"""

from __future__ import annotations

from typing import Any

from device_api import _core
from device_api.runtime.devices import device as open_device

HOST = (1, 0)  # kDLCPU


def host_tensor(x: Any) -> tuple[_core.Tensor, bool]:
    """A tensor of the device "cpu" over the memory of `x`, and whether it may be written.

    Memory of another device is copied to the host by its producer. Raises `TypeError` without `__dlpack__`,
    `BufferError` for what cannot be had or cannot be a tensor, and what the producer raises.
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} offers no __dlpack__")
    return _core.import_capsule(_capsule(x), open_device("cpu"))


def _capsule(x: Any) -> object:
    place = tuple(int(each) for each in x.__dlpack_device__()) if hasattr(x, "__dlpack_device__") else HOST
    away = place[0] != HOST[0]
    try:
        return x.__dlpack__(max_version=_core.dlpack_version, **({"dl_device": HOST} if away else {}))
    except TypeError:
        # A producer from before the arguments: its capsule is a legacy one, of memory where it is.
        if away:
            raise BufferError(
                f"{type(x).__name__} is on DLPack device {place} and cannot copy itself to the host"
            ) from None
        return x.__dlpack__()
