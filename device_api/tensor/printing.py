"""How tensors print: NumPy's numbers, and what NumPy has no word for, the device.

Only the elements that are shown travel from the device: of a big tensor, the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core
from device_api.tensor.conversion import to_numpy
from device_api.tensor.indexing import getitem

_PREFIX = "Tensor("


def tensor_repr(tensor: _core.Tensor) -> str:
    """For example `Tensor([1., 2.], dtype=float32, device='cpu:0')`."""
    text = _numbers(tensor, prefix=_PREFIX)
    facts = [f"dtype={tensor.dtype.name}", f"device='{tensor.device.name}'"]
    if tensor.size == 0 and tensor.shape != (0,):
        facts.insert(0, f"shape={tensor.shape}")
    if tensor.requires_grad:
        facts.append("requires_grad=True")
    tail = ", ".join(facts) + ")"
    last = len(text.rpartition("\n")[2]) + (0 if "\n" in text else len(_PREFIX))
    width = int(np.get_printoptions()["linewidth"])
    gap = ", " if last + len(tail) + 2 <= width else ",\n" + " " * len(_PREFIX)
    return f"{_PREFIX}{text}{gap}{tail}"


def tensor_str(tensor: _core.Tensor) -> str:
    """The numbers alone, as NumPy prints them."""
    return _numbers(tensor, prefix="") if tensor.ndim else str(to_numpy(tensor)[()])


def _numbers(tensor: _core.Tensor, prefix: str) -> str:
    options: Any = np.get_printoptions()
    if tensor.size <= options["threshold"]:
        return np.array2string(_printable(to_numpy(tensor)), separator=", ", prefix=prefix)
    edge = int(options["edgeitems"])
    corner = _corners(tensor, edge)
    # The corners stand for the whole: a threshold of 0 lets NumPy put its dots between them.
    return np.array2string(corner, separator=", ", prefix=prefix, threshold=0, edgeitems=edge)


def _printable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """ml_dtypes' numbers print as the float32 they equal."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _corners(tensor: _core.Tensor, edge: int) -> npt.NDArray[Any]:
    """The tensor without the middle of its long axes, one element of which stays to make the dots."""
    recording = _core.set_grad_enabled(False)
    try:
        parts = to_numpy(_trimmed(tensor, edge))
    finally:
        _core.set_grad_enabled(recording)
    return _printable(parts)


def _trimmed(tensor: _core.Tensor, edge: int) -> _core.Tensor:
    for axis, size in enumerate(tensor.shape):
        if size > 2 * edge + 1:
            kept = np.r_[0 : edge + 1, size - edge : size]
            tensor = getitem(tensor, (*[slice(None)] * axis, kept))
    return tensor
