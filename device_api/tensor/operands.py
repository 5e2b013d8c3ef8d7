"""What may stand beside a tensor in an expression: the coerce hook of dispatch.

NumPy scalars, arrays and lists become tensors on the device of the tensor they meet; a call with Python
numbers only gets its first as a tensor of this thread's device. Anything else is left to the other operand's
own operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from device_api import _core
from device_api.runtime.devices import get_device
from device_api.tensor.conversion import asarray


def coerce(op: int, inputs: tuple[Any, ...], device: _core.Device | None) -> tuple[Any, ...] | Any:
    """The inputs as tensors, Python numbers and None; NotImplemented when one of them is neither."""
    target = device or get_device()
    changed: list[Any] = []
    for value in inputs:
        if isinstance(value, np.generic | np.ndarray | list | tuple):
            changed.append(asarray(value, device=target))
        elif value is None or isinstance(value, _core.Tensor | bool | int | float | complex):
            changed.append(value)
        else:
            return NotImplemented
    if not any(isinstance(value, _core.Tensor) for value in changed):
        place = next((i for i, value in enumerate(changed) if value is not None), None)
        if place is not None:
            changed[place] = asarray(changed[place], device=target)
    return tuple(changed)
