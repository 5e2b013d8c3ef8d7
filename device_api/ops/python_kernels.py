"""Kernels written in Python: the registry that planning asks after the device's native kernels.

A Python kernel takes the place of a native one for an op on a device type. It gets contiguous tensors of the
device, the outputs already allocated, and the attributes by name; it writes the outputs and returns nothing.
The registry only remembers; choosing and running are the planner's and the program's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from device_api import _core
from device_api.errors import AttributeValueError
from device_api.ops._table import BY_NAME

Kernel = Callable[[Sequence[_core.Tensor | None], Sequence[_core.Tensor], Mapping[str, Any]], None]

_kernels: dict[tuple[str, str], Kernel] = {}
_lock = threading.Lock()


def register(op: str, device_type: str, kernel: Kernel) -> None:
    """Makes `kernel` serve an op on a device type, in place of an earlier one; plans made before are dropped.

    Raises `AttributeValueError` for a name that is no op.
    """
    if op not in BY_NAME:
        raise AttributeValueError("no such op", subject=repr(op), op=op, argument="op", value=op)
    with _lock:
        _kernels[op, device_type] = kernel
    _core.clear_plans()


def unregister(op: str, device_type: str) -> None:
    """Forgets a kernel; nothing happens when there is none."""
    with _lock:
        _kernels.pop((op, device_type), None)
    _core.clear_plans()


def find(op: str, device_type: str) -> Kernel | None:
    """The kernel of an op on a device type, if one was registered."""
    return _kernels.get((op, device_type))


def registered(device_type: str) -> tuple[str, ...]:
    """The ops that have a Python kernel on a device type, sorted."""
    return tuple(sorted(op for op, kind in _kernels if kind == device_type))
