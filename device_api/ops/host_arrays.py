"""NumPy arrays over the memory of tensors, for those who compute on the host: Python kernels and exchange.

Only memory that the host can see has such an array. It shares the elements and keeps the tensor alive;
whoever writes through it does what a kernel does, and must own the tensor. Nothing is copied here, ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core

HOST_VISIBLE = 1


def is_host_visible(device: _core.Device) -> bool:
    """Whether the host can read and write the memory of a device in place."""
    return bool(int(device.properties.get("flags") or 0) & HOST_VISIBLE)


class _Memory:
    """What NumPy asks for an array, and what keeps the memory alive while there is one."""

    def __init__(self, tensor: _core.Tensor, address: int) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "strides": tuple(stride * tensor.itemsize for stride in tensor.strides),
            # The elements as bytes without a meaning: NumPy's protocol has no word for bfloat16.
            "typestr": f"|V{tensor.itemsize}",
            "data": (address, False),
        }


def array_over(tensor: _core.Tensor) -> npt.NDArray[Any]:
    """The elements of a tensor in memory that the host reaches, shared; waits for the work that makes them.

    UnsupportedOp where the host does not reach it.
    """
    if tensor.size == 0:
        return np.empty(tensor.shape, tensor.dtype)
    return np.asarray(_Memory(tensor, _core.host_address(tensor))).view(tensor.dtype)
