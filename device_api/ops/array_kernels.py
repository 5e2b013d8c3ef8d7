"""Python kernels as functions of arrays: what they are given, what they may return, how they fail.

Where the host sees the device's memory the function gets NumPy arrays over that memory, inputs read-only;
elsewhere it gets the tensors themselves, which other libraries read in place through
`__cuda_array_interface__` or DLPack where the device has them. Nothing is copied on the way in. All work that
makes the inputs is done when the function begins, so it may use any stream or thread that it waits for. It
is called with the interpreter's lock held, and by several threads only if the program calls the op from
several.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from device_api import _core
from device_api.errors import DeviceApiError, KernelFailed, ShapeError
from device_api.ops._table import BY_NAME
from device_api.ops.host_arrays import array_over, is_host_visible


def on_arrays(
    op: str, function: Callable[..., Any]
) -> Callable[[Sequence[_core.Tensor | None], Sequence[_core.Tensor], Mapping[str, Any]], None]:
    """A kernel of a function that takes the op's inputs by position and its attributes by name.

    A function with a parameter `out` gets the outputs there, an array or a tuple of them, and writes them;
    a list of outputs is a tuple. Any other function returns its results in the same form, which must have
    the shapes of the outputs and are converted to their dtypes; on memory that the host does not see they
    are tensors of the device or NumPy arrays. Exceptions of the package pass through; any other becomes
    `KernelFailed`.
    """
    writes = has_out(function)

    def run(
        inputs: Sequence[_core.Tensor | None], outputs: Sequence[_core.Tensor], attributes: Mapping[str, Any]
    ) -> None:
        device = outputs[0].device
        visible = is_host_visible(device)
        if not device.synchronous:
            _core.current_stream(device).synchronize()
        arguments = [each if each is None or not visible else _readable(each) for each in inputs]
        options = dict(attributes)
        if writes:
            targets = tuple(array_over(each) if visible else each for each in outputs)
            options["out"] = BY_NAME[op].gathered(targets)
        try:
            made = function(*arguments, **options)
        except DeviceApiError:
            raise
        except Exception as error:
            raise _failed(op, inputs, device, error) from error
        if not writes:
            _store(op, BY_NAME[op].flattened(made), outputs)
        elif made is not None and made is not options["out"]:
            raise _refused(op, device, "it has a parameter out and returns something as well")

    return run


def has_out(function: Callable[..., Any]) -> bool:
    """Whether a function writes its outputs, given by a parameter `out`. NumPy's universal functions, which
    could, return their results: some of them write wrong ones into arrays that run backwards."""
    if isinstance(function, np.ufunc):
        return False
    try:
        return "out" in inspect.signature(function).parameters
    except ValueError:  # some functions written in C do not tell
        return False


def _readable(tensor: _core.Tensor) -> Any:
    array = array_over(tensor)
    array.flags.writeable = False
    return array


def _store(op: str, results: Sequence[Any], outputs: Sequence[_core.Tensor]) -> None:
    """Puts what a function returned where it belongs."""
    device = outputs[0].device
    if len(results) != len(outputs):
        raise _refused(op, device, f"it returned {len(results)} results; the op has {len(outputs)}")
    for result, output in zip(results, outputs, strict=True):
        shape = tuple(getattr(result, "shape", ()))
        if shape != output.shape:
            raise ShapeError(
                "a Python kernel returned another shape than the op has",
                subject=f"{shape} instead of {output.shape}",
                op=op,
                shapes=(shape, output.shape),
            )
        if is_host_visible(device):
            array_over(output)[...] = result.numpy() if isinstance(result, _core.Tensor) else result
        else:
            _core.dispatch(BY_NAME["copy"].id, (_on_device(result, device),), (None,), output)


def _on_device(result: Any, device: _core.Device) -> Any:
    from device_api.tensor.conversion import asarray

    return result if isinstance(result, _core.Tensor) else asarray(result, device=device)


def _failed(
    op: str, inputs: Sequence[_core.Tensor | None], device: _core.Device, error: Exception
) -> KernelFailed:
    """The error of a function that raised, with its traceback from the function on."""
    frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, frames))
    operands = ", ".join(f"{each.dtype.name}{list(each.shape)}" for each in inputs if each is not None)
    return KernelFailed(
        f"the Python kernel of {op} failed on {device.name}",
        subject=operands or None,
        why=f"{type(error).__name__}: {error}",
        op=op,
        device=device.name,
        detail=text,
    )


def _refused(op: str, device: _core.Device, why: str) -> KernelFailed:
    return KernelFailed(
        f"the Python kernel of {op} is not usable on {device.name}",
        why=why,
        remedy="Return one array for each output, or write all of them through out.",
        op=op,
        device=device.name,
        detail=why,
    )
