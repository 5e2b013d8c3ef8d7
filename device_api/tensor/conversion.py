"""Between tensors and the rest: NumPy arrays, nested lists, Python numbers, other devices and dtypes.

Host memory and device memory only ever meet in copies, so that a tensor never shares memory with a NumPy
array that it was made from; `from_dlpack` is there for those who want that.
Which dtype data without one of its own gets is decided here: Python floats become float32 and
complex numbers complex64 unless the default dtype says otherwise, integers int64; arrays keep theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import DTypeError, ShapeError
from device_api.interop.capsules import host_tensor
from device_api.ops import _functions as F
from device_api.ops._table import BY_NAME
from device_api.ops.promotion import result_dtype
from device_api.ops.selection import held_dtypes
from device_api.ops.shape_support import TensorSpec
from device_api.runtime.devices import DeviceLike, resolve
from device_api.runtime.devices import device as open_device

_KNOWN = {dtypes.from_code(code) for code in dtypes.NAMES}
# What NumPy makes of Python numbers, and what it is here.
_DEFAULTS: dict[type[np.generic], type] = {np.float64: float, np.complex128: complex}


def from_numpy(array: npt.NDArray[Any], device: _core.Device) -> _core.Tensor:
    """A tensor with a copy of an array. Raises `DTypeError` for dtypes that devices do not hold."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        code = dtypes.code(array.dtype)
    except TypeError as error:
        raise DTypeError(
            "an array cannot become a tensor",
            subject=f"dtype {array.dtype}",
            remedy="Convert it to a number type with astype first.",
            dtypes=(str(array.dtype),),
        ) from error
    check_held(device, code)
    packed = np.ascontiguousarray(array)
    return _core.from_host(device, code, array.shape, packed.reshape(-1).view(np.uint8))


def check_held(device: _core.Device, code: int) -> None:
    """Raises `DTypeError` when a device's memory does not hold a dtype."""
    held = held_dtypes(device)
    if code not in held:
        raise DTypeError(
            f"{device.name} does not hold {dtypes.NAMES[code]}",
            why=f"its memory holds {', '.join(dtypes.names(held))}",
            remedy="Give one of these as dtype.",
            dtypes=(dtypes.NAMES[code],),
        )


def as_array(value: object, *, exact: bool = False) -> npt.NDArray[Any]:
    """Anything that is no tensor as a NumPy array with the dtype that a tensor of it has.

    Python numbers, alone or in nested lists, get the default dtypes (with `exact` NumPy's, which keep all
    their digits for whoever converts them next); NumPy scalars and arrays keep theirs. Raises `ShapeError`
    for ragged lists, `DTypeError` for what holds no numbers, `OverflowError` for integers beyond 64 bits.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple):
        value = _without_tensors(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(
            "a nested list is ragged", why=str(error), remedy="Give rows of equal length."
        ) from error
    if array.dtype == object:
        if any(isinstance(leaf, int) for leaf in array.flat):
            raise OverflowError("an integer does not fit 64 bits")
        raise DTypeError(
            "only numbers become tensors", subject=f"a {type(value).__name__}", dtypes=("object",)
        )
    typed = {leaf.dtype for leaf in _leaves(value) if isinstance(leaf, np.generic | np.ndarray)}
    if exact:
        return array
    if not typed:
        kind = _DEFAULTS.get(array.dtype.type)
        return (
            array if kind is None else array.astype(dtypes.from_code(dtypes.default_code(kind)), copy=False)
        )
    if typed <= _KNOWN:
        plain = {type(leaf) for leaf in _leaves(value) if isinstance(leaf, bool | int | float | complex)}
        operands = [TensorSpec((), dtypes.code(each)) for each in typed]
        untyped = [kind for kind in plain if kind in (bool, int, float, complex)]
        return array.astype(dtypes.from_code(result_dtype([*operands, *untyped])), copy=False)
    return array


def _without_tensors(value: Sequence[Any]) -> Any:
    """A nested list in which tensors have been read back."""
    return [
        _without_tensors(each)
        if isinstance(each, list | tuple)
        else each.numpy()
        if isinstance(each, _core.Tensor)
        else each
        for each in value
    ]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def to_numpy(tensor: _core.Tensor) -> npt.NDArray[Any]:
    """A NumPy array with a copy of a tensor; waits for the work that makes it."""
    packed = contiguous(tensor)
    array = np.empty(tensor.shape, tensor.dtype)
    _core.read_into(packed, array.reshape(-1).view(np.uint8))
    return array


def contiguous(tensor: _core.Tensor) -> _core.Tensor:
    """The tensor itself when its elements are row-major without gaps, else a copy that is."""
    if tensor.is_contiguous:
        return tensor
    return F.copy(tensor)


def write(value: _core.Tensor, target: _core.Tensor) -> None:
    """Copies elements over those of a tensor (or view) of the same shape and dtype, on the device."""
    _core.dispatch(BY_NAME["copy"].id, (value,), (None,), target)


def item(tensor: _core.Tensor) -> bool | int | float | complex:
    """The one element as a Python number; `ShapeError` when there is not exactly one."""
    if tensor.size != 1:
        raise ShapeError(
            "only a tensor of one element is a number",
            subject=f"shape {tensor.shape}",
            remedy="Index one element, or use tolist().",
            shapes=(tensor.shape,),
        )
    number: bool | int | float | complex = _plain(to_numpy(tensor).reshape(()))
    return number


def _plain(array: npt.NDArray[Any]) -> Any:
    """Python numbers, nested as the array is; ml_dtypes' own scalars become floats."""
    code = dtypes.code(array.dtype)
    if code == dtypes.BFLOAT16 or code in dtypes.FLOAT8:
        array = array.astype(np.float32)
    return array.tolist()


def tolist(tensor: _core.Tensor) -> Any:
    """The elements as nested lists of Python numbers; a 0-d tensor gives one number."""
    return _plain(to_numpy(tensor))


_move_hook: Callable[[_core.Tensor, _core.Tensor], None] | None = None


def set_move_hook(hook: Callable[[_core.Tensor, _core.Tensor], None]) -> None:
    """Says who records that a tensor was copied to another device, for gradients."""
    global _move_hook
    _move_hook = hook


def to_device(tensor: _core.Tensor, device: DeviceLike, /, *, stream: Any = None) -> _core.Tensor:
    """The tensor on another device; itself when it is there already. Gradients flow back over the way.

    `stream` must be None: copies are ordered after the work that made the tensor.
    """
    if stream is not None:
        raise ValueError("to_device takes no stream: the copy is ordered after the work that made the tensor")
    target = open_device(device)
    if tensor.device == target:
        return tensor
    check_held(target, tensor.dtype_code)
    packed = contiguous(tensor)
    moved = _core.empty(target, packed.dtype_code, packed.shape)
    _core.copy_bytes(packed, moved)
    if tensor.requires_grad and _core.grad_enabled() and _move_hook is not None:
        _move_hook(tensor, moved)
    return moved


def asarray(
    obj: Any,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
) -> _core.Tensor:
    """A tensor of numbers, nested lists, a NumPy array or scalar, anything with `__array__`, or a tensor.

    Without `device`, a tensor stays where it is, and everything else goes to this thread's device. `copy`
    None copies where needed, True always; False raises `ValueError` when a copy is needed, which it is for
    everything but a tensor that already has the dtype and device. What has `__dlpack__` and not `__array__`
    counts as a tensor on the host's device, and as one that must be copied where it is read-only.
    """
    if isinstance(obj, _core.Tensor):
        return _of_tensor(obj, dtype, device, copy)
    if hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__"):
        shared, writable = host_tensor(obj)
        if not writable and copy is False:
            raise ValueError("read-only memory becomes a tensor by a copy only: leave copy out")
        return _of_tensor(shared, dtype, resolve(device), copy or (None if writable else True))
    if copy is False:
        raise ValueError("host data becomes a tensor by a copy only: leave copy out")
    target = resolve(device)
    array = as_array(obj, exact=dtype is not None)
    if dtype is None:
        return from_numpy(array, target)
    wanted = dtypes.from_code(dtypes.code(dtype))
    if array.dtype.kind in "fVc" and dtypes.code(wanted) in dtypes.INTEGER:
        # Out of range and NaN: only the op set says what these become.
        return to_device(F.copy(from_numpy(array, open_device("cpu")), dtype=wanted), target)
    return from_numpy(_converted(array, wanted), target)


def _of_tensor(
    tensor: _core.Tensor, dtype: npt.DTypeLike | None, device: DeviceLike | None, copy: bool | None
) -> _core.Tensor:
    target = tensor.device if device is None else open_device(device)
    code = tensor.dtype_code if dtype is None else dtypes.code(dtype)
    changes = code != tensor.dtype_code or target != tensor.device
    if copy is False and changes:
        raise ValueError("another dtype or device needs a copy: leave copy out")
    if code != tensor.dtype_code or (copy and not changes):
        tensor = F.copy(tensor, dtype=dtypes.from_code(code))
    return to_device(tensor, target)


def _converted(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """As `astype`, but what would silently lose the meaning is an error."""
    if array.dtype == dtype:
        return array
    code = dtypes.code(dtype)
    if array.dtype.kind in "iu" and code in dtypes.INTEGER and array.size:
        limits = np.iinfo(dtype)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            worst = low if low < limits.min else high
            raise OverflowError(f"{worst} does not fit {dtype}, which holds {limits.min} to {limits.max}")
    if array.dtype.kind == "c" and code not in dtypes.COMPLEX:
        array = array.real if code not in dtypes.BOOL else array != 0
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)
