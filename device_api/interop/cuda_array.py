"""`__cuda_array_interface__`: how CuPy, Numba and PyTorch read the memory of a CUDA device in place.

Tensors of other devices have no such attribute. The work that makes the elements is done when it is read, so
the consumer need not know our streams.
"""

from __future__ import annotations

from typing import Any

from device_api import _core, dtypes
from device_api.errors import GradientError

_CUDA = (2, 13)  # DLPack's numbers of CUDA memory, plain and managed


def cuda_array_interface(x: _core.Tensor) -> dict[str, Any]:
    """Version 3 of the protocol. Raises `AttributeError` for other devices and for dtypes that the protocol
    has no word for, `GradientError` for a tensor whose gradient is recorded."""
    device = x.device
    if int(device.properties.get("dl_device_type") or 0) not in _CUDA:
        raise AttributeError(f"tensors of {device} have no __cuda_array_interface__")
    if x.dtype_code == dtypes.BFLOAT16 or x.dtype_code in dtypes.FLOAT8:
        raise AttributeError(f"__cuda_array_interface__ has no word for {x.dtype.name}")
    if x.requires_grad and _core.grad_enabled():
        raise GradientError(
            "an exported tensor has no gradient",
            subject=f"{x.dtype.name}{x.shape}",
            remedy="Export x.detach().",
        )
    if not device.synchronous:
        _core.current_stream(device).synchronize()
    return {
        "version": 3,
        "shape": x.shape,
        "strides": tuple(stride * x.itemsize for stride in x.strides),
        "typestr": x.dtype.str,
        "data": (_core.data_handle(x) + _core.data_start(x) if x.size else 0, False),
        "stream": None,
    }
