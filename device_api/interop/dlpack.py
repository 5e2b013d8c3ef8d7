"""DLPack: tensors that other libraries see, and arrays of theirs that become tensors.

Memory that the host sees is exported in place, as a capsule that NumPy makes: legacy or versioned as the
consumer asks, keeping the tensor alive for as long as it is held, after the end of the interpreter too. Other
devices hand out a copy on the host when they are asked for one. What comes in is read through NumPy, which
knows the rules of capsules, and copied: tensors own their memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import DTypeError, GradientError
from device_api.ops import _functions as F
from device_api.ops.host_arrays import array_over, is_host_visible
from device_api.runtime.devices import DeviceLike, resolve
from device_api.runtime.devices import device as open_device
from device_api.tensor.conversion import from_numpy, to_device, to_numpy

_CPU = (1, 0)
_UNNAMED = 12  # kDLExtDev: an accelerator that DLPack has no number for


def dlpack_device(x: _core.Tensor, /) -> tuple[int, int]:
    """DLPack's number for the kind of device, and the device's index."""
    if is_host_visible(x.device):
        return _CPU
    kind = int(x.device.properties.get("dl_device_type") or _UNNAMED)
    return kind, x.device.index


def dlpack(
    x: _core.Tensor,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule with the elements, shared where the host sees the memory, else copied to the host if
    `dl_device` is (1, 0).

    The work that makes the elements is done when this returns. Raises `BufferError` for a device that cannot
    be had, for `copy=False` where a copy is needed and for dtypes that NumPy has no DLPack code for,
    `GradientError` for a tensor whose gradient is recorded, and `ValueError` for a stream.
    """
    if stream is not None:
        raise ValueError("host memory has no stream: leave stream out")
    if x.requires_grad and _core.grad_enabled():
        raise GradientError(
            "an exported tensor has no gradient",
            subject=f"{x.dtype.name}{x.shape}",
            remedy="Export x.detach().",
        )
    wanted = None if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted not in (None, dlpack_device(x), _CPU):
        raise BufferError(f"a tensor of {x.device} cannot be exported to DLPack device {wanted}")
    if x.dtype_code == dtypes.BFLOAT16 or x.dtype_code in dtypes.FLOAT8:
        raise BufferError(f"{x.dtype.name} has no capsule: convert it with astype first")
    if is_host_visible(x.device):
        array = array_over(x.detach() if x.requires_grad else x)
        if not x.size:
            array = np.empty(x.shape, x.dtype)
    elif wanted != _CPU:
        raise BufferError(f"the memory of {x.device} is exported as a copy only: ask for dl_device=(1, 0)")
    elif copy is False:
        raise BufferError(f"the host sees the memory of {x.device} as a copy only: leave copy out")
    else:
        array, copy = to_numpy(x), None
    return array.__dlpack__(**_given(max_version=max_version, copy=copy))


def _given(**options: Any) -> dict[str, Any]:
    """The options that are not None; NumPy takes them all since 2.1."""
    return {name: value for name, value in options.items() if value is not None}


def from_dlpack(x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> _core.Tensor:
    """A tensor of anything with `__dlpack__`: a copy, on the named device or else where the host's memory is.

    A tensor of this package is given back over the same memory unless a copy or another device is wanted.
    Raises `ValueError` for `copy=False` where a copy is needed, and what the producer raises.
    """
    if isinstance(x, _core.Tensor):
        return _of_tensor(x, device, copy)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"{type(x).__name__} offers no __dlpack__")
    if copy is False:
        raise ValueError("memory of others becomes a tensor by a copy only: leave copy out")
    return from_numpy(_array(x), open_device("cpu") if device is None else resolve(device))


def _of_tensor(x: _core.Tensor, device: DeviceLike | None, copy: bool | None) -> _core.Tensor:
    target = x.device if device is None else open_device(device)
    if target != x.device:
        if copy is False:
            raise ValueError(f"a tensor of {x.device} reaches {target} as a copy only: leave copy out")
        return to_device(x, target)
    if copy:
        return F.copy(x)
    return _core.view(x, x.dtype_code, x.shape, x.strides, x.byte_offset)


def _array(x: Any) -> npt.NDArray[Any]:
    """The elements of a foreign array on the host, by the protocol."""
    kind = int(x.__dlpack_device__()[0])
    try:
        if kind == _CPU[0]:
            return np.from_dlpack(x)
        return np.from_dlpack(x, device="cpu")
    except RuntimeError as error:
        raise DTypeError(
            "an array cannot become a tensor", subject=type(x).__name__, why=str(error), dtypes=()
        ) from error
