"""DLPack: tensors that other libraries see, and arrays of theirs that become tensors.

Memory that the host sees crosses in place, both ways: in a capsule, legacy or versioned as the consumer
asks, that keeps the other side's memory alive for as long as it is used. Other devices hand out a copy on
the host when they are asked for one.
"""

from __future__ import annotations

from typing import Any

from device_api import _core
from device_api.errors import GradientError
from device_api.interop.capsules import HOST, host_tensor
from device_api.ops import _functions as F
from device_api.ops.host_arrays import is_host_visible
from device_api.runtime.devices import DeviceLike, resolve
from device_api.runtime.devices import device as open_device
from device_api.tensor.conversion import to_device

_UNNAMED = 12  # kDLExtDev: an accelerator that DLPack has no number for


def dlpack_device(x: _core.Tensor, /) -> tuple[int, int]:
    """DLPack's number for the kind of device, and the device's index."""
    if is_host_visible(x.device):
        return HOST
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
    `dl_device` is (1, 0). It is a versioned one if the consumer takes major version 1.

    The work that makes the elements is done when this returns. Raises `BufferError` for a device that cannot
    be had and for `copy=False` where a copy is needed, `GradientError` for a tensor whose gradient is
    recorded, and `ValueError` for a stream.
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
    if wanted not in (None, dlpack_device(x), HOST):
        raise BufferError(f"a tensor of {x.device} cannot be exported to DLPack device {wanted}")
    away = not is_host_visible(x.device)
    if away and wanted != HOST:
        raise BufferError(f"the memory of {x.device} is exported as a copy only: ask for dl_device=(1, 0)")
    if away and copy is False:
        raise BufferError(f"the host sees the memory of {x.device} as a copy only: leave copy out")
    plain = x.detach() if x.requires_grad else x
    if away:
        plain = to_device(plain, "cpu")
    elif copy:
        plain = F.copy(plain)
    versioned = max_version is not None and max_version[0] >= 1
    return _core.export_capsule(plain, *HOST, versioned, away or bool(copy))


def from_dlpack(x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> _core.Tensor:
    """A tensor of anything with `__dlpack__`, on the named device or else where the host's memory is.

    It shares the memory where it can: on "cpu", unless the producer says that it is read-only, and for a
    tensor of this package where it is. `copy=True` copies in any case. Raises `BufferError` for `copy=False`
    where a copy is needed and for capsules that cannot be read, `TypeError` for what is no producer, and what
    the producer raises.
    """
    if isinstance(x, _core.Tensor):
        source = x.detach() if x.requires_grad else x
        target = x.device if device is None else open_device(device)
        shared, why = _core.view(source, x.dtype_code, x.shape, x.strides, x.byte_offset), ""
    else:
        shared, writable = host_tensor(x)
        target = shared.device if device is None else resolve(device)
        why = "" if writable else f"the memory of {type(x).__name__} is read-only"
    if target != shared.device:
        why = f"memory of {shared.device} cannot be that of {target}"
    if why and copy is False:
        raise BufferError(f"{why}: leave copy out")
    if target != shared.device:
        return to_device(shared, target)
    return F.copy(shared) if copy or why else shared
