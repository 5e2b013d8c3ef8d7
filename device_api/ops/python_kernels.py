"""Kernels written in Python: the registry that planning asks after the device's native kernels.

A Python kernel takes the place of a native one for an op on a device type. It gets contiguous tensors of the
device, the outputs already allocated, and the attributes by name; it writes the outputs and returns nothing.
`on_arrays` makes one of a function on arrays. A plugin's kernels may live in a package of their own, which is
named with `provide` and imported when one of them is first needed. The registry only remembers; choosing and
running are the planner's and the program's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from device_api import _core
from device_api.errors import AttributeValueError, KernelFailed, ShapeError
from device_api.ops._table import BY_NAME
from device_api.ops.host_arrays import array_over, is_host_visible

Kernel = Callable[[Sequence[_core.Tensor | None], Sequence[_core.Tensor], Mapping[str, Any]], None]

_kernels: dict[tuple[str, str], Kernel] = {}
_providers: dict[str, str] = {}
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


def provide(device_type: str, package: str) -> None:
    """Names the package that holds a device type's kernels: its `KERNELS` says which module of it has the
    function of an op, under the op's name. Nothing is imported yet."""
    with _lock:
        _providers[device_type] = package


def find(op: str, device_type: str) -> Kernel | None:
    """The kernel of an op on a device type, if one was registered or is provided."""
    found = _kernels.get((op, device_type))
    if found is None and device_type in _providers:
        package = _providers[device_type]
        module = import_module(package).KERNELS.get(op)
        if module is not None:
            found = on_arrays(op, getattr(import_module(f"{package}.{module}"), op))
            with _lock:
                found = _kernels.setdefault((op, device_type), found)
    return found


def registered(device_type: str) -> tuple[str, ...]:
    """The ops that have a Python kernel on a device type, sorted."""
    return tuple(sorted(op for op, kind in _kernels if kind == device_type))


def on_arrays(op: str, function: Callable[..., Any]) -> Kernel:
    """A kernel of a function that takes arrays and attributes, and returns an array, or a tuple of them.

    Where the host sees the device's memory the arrays are NumPy's, over that memory, for reading; elsewhere
    they are the tensors. A result has the announced shape; it is converted to the announced dtype. A
    `LinAlgError` becomes `KernelFailed`.
    """

    def run(
        inputs: Sequence[_core.Tensor | None], outputs: Sequence[_core.Tensor], attributes: Mapping[str, Any]
    ) -> None:
        visible = is_host_visible(outputs[0].device)
        arrays = [each if each is None or not visible else _readable(each) for each in inputs]
        try:
            made = function(*arrays, **attributes)
        except np.linalg.LinAlgError as error:
            raise KernelFailed(
                f"{op} failed",
                subject=", ".join(f"{each.dtype.name}{each.shape}" for each in inputs if each is not None),
                why=str(error),
                op=op,
                device=outputs[0].device.name,
                detail=str(error),
            ) from error
        results = made if isinstance(made, tuple) else (made,)
        for result, output in zip(results, outputs, strict=True):
            if tuple(result.shape) != output.shape:
                raise ShapeError(
                    "a Python kernel returned another shape than the op has",
                    subject=f"{result.shape} instead of {output.shape}",
                    op=op,
                    shapes=(tuple(result.shape), output.shape),
                )
            if visible:
                array_over(output)[...] = result
            else:
                _core.dispatch(BY_NAME["copy"].id, (result,), (None,), output)

    return run


def _readable(tensor: _core.Tensor) -> Any:
    array = array_over(tensor)
    array.flags.writeable = False
    return array
