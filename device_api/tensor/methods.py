"""The methods of tensors, special ones too: one table from names to functions, put on the native type.

The native core gives a tensor its facts and its operators. What needs the op set or the host's memory is
written in the modules beside this one, and listed here. A method does what the function of its name does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import DTypeError
from device_api.interop.cuda_array import cuda_array_interface
from device_api.interop.dlpack import dlpack, dlpack_device
from device_api.ops import _functions as F
from device_api.ops.host_arrays import is_host_visible
from device_api.tensor.complex_parts import imag, real
from device_api.tensor.conversion import contiguous, item, to_device, to_numpy, tolist
from device_api.tensor.indexing import getitem, setitem
from device_api.tensor.printing import tensor_repr, tensor_str

Tensor = _core.Tensor


def reshape(x: Tensor, *shape: Any) -> Tensor:
    """The same elements under another shape: `x.reshape(2, 3)` or `x.reshape((2, 3))`."""
    return F.reshape(x, shape[0] if len(shape) == 1 else shape)


def to(x: Tensor, target: Any, /) -> Tensor:
    """The tensor on a device, or of a dtype, whichever `target` is."""
    if isinstance(target, _core.Device):
        return to_device(x, target)
    try:
        code = dtypes.code(target)
    except TypeError:
        return to_device(x, target)
    return F.astype(x, dtypes.from_code(code), copy=False)


def astype(x: Tensor, dtype: npt.DTypeLike, /, *, copy: bool = True) -> Tensor:
    """The tensor with another dtype."""
    return F.astype(x, dtype, copy=copy)


def transposed(x: Tensor) -> Tensor:
    """All axes in reverse order; a view."""
    return F.permute_dims(x, tuple(reversed(range(x.ndim))))


def detach(x: Tensor) -> Tensor:
    """The same memory, cut off from what made it: gradients do not flow through."""
    return _core.view(x, x.dtype_code, x.shape, x.strides, x.byte_offset)


def to_bool(x: Tensor) -> bool:
    """Whether the one element is not zero; `ShapeError` when there is not exactly one."""
    return bool(item(x))


def to_int(x: Tensor) -> int:
    """The one element, truncated."""
    value = item(x)
    if isinstance(value, complex):
        raise TypeError("a complex element is no integer: take its real part first")
    return int(value)


def to_float(x: Tensor) -> float:
    """The one element as a float."""
    value = item(x)
    if isinstance(value, complex):
        raise TypeError("a complex element is no float: take its real part first")
    return float(value)


def to_index(x: Tensor) -> int:
    """The one element, which must be an integer."""
    value = item(x)
    if x.ndim or isinstance(value, bool) or not isinstance(value, int):
        raise DTypeError(
            "only a 0-d tensor of integers is an index",
            subject=f"{x.dtype.name}{x.shape}",
            dtypes=(x.dtype.name,),
        )
    return value


def to_complex(x: Tensor) -> complex:
    """The one element as a complex number."""
    return complex(item(x))


def iterate(x: Tensor) -> Iterator[Tensor]:
    """The parts along the first axis."""
    if x.ndim == 0:
        raise TypeError("a 0-d tensor has no parts to iterate over")
    return (getitem(x, place) for place in range(x.shape[0]))


def contains(x: Tensor, value: Any) -> bool:
    """Whether some element equals a value."""
    return bool(item(F.any(F.equal(x, value))))


def to_array(x: Tensor, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
    """NumPy's protocol: the elements as an array, from devices whose memory the host can see.

    Elsewhere a transfer would happen without being asked for: that raises `TypeError`. So does copy=False.
    """
    if not is_host_visible(x.device):
        raise TypeError(f"{x.device.name} memory is not the host's: ask for the transfer with .numpy()")
    if copy is False:
        raise ValueError("an array of a tensor is always a copy")
    array = to_numpy(x)
    return array if dtype is None else array.astype(dtype, copy=False)


def namespace(x: Tensor, *, api_version: str | None = None) -> Any:
    """The array-API namespace, which is the package."""
    import device_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"the array API has no version {api_version!r}")
    return device_api


def reduced(x: Tensor, protocol: Any) -> tuple[Any, ...]:
    """Pickling: dtype, elements and the device's name travel; a gradient does not."""
    return _restored, (to_numpy(x), x.device.name, x.requires_grad)


def _restored(array: npt.NDArray[Any], device: str, requires_grad: bool) -> Tensor:
    from device_api.tensor.conversion import asarray

    tensor = asarray(array, device=device)
    tensor.requires_grad = requires_grad
    return tensor


_REDUCTIONS: tuple[Callable[..., Tensor], ...] = (
    F.sum, F.prod, F.mean, F.var, F.std, F.max, F.min, F.argmax, F.argmin, F.any, F.all,
)  # fmt: skip


def _reduction(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A method as NumPy has it, for which NumPy's own functions call it: axis may be positional, and what is
    left open is None."""

    def method(x: Tensor, axis: Any = None, **options: Any) -> Tensor:
        given = {name: value for name, value in options.items() if value is not None}
        return function(x, axis=axis, **given)

    method.__name__ = function.__name__
    method.__doc__ = function.__doc__
    return method


SURFACE: dict[str, Any] = {
    **{function.__name__: _reduction(function) for function in _REDUCTIONS},
    "T": property(transposed),
    "mT": property(F.matrix_transpose),
    "real": property(real),
    "imag": property(imag),
    "reshape": reshape,
    "astype": astype,
    "detach": detach,
    "contiguous": contiguous,
    "item": item,
    "tolist": tolist,
    "numpy": to_numpy,
    "to": to,
    "to_device": to_device,
    "__array__": to_array,
    "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device,
    "__cuda_array_interface__": property(cuda_array_interface),
    "__array_namespace__": namespace,
    "__bool__": to_bool,
    "__int__": to_int,
    "__float__": to_float,
    "__index__": to_index,
    "__complex__": to_complex,
    "__iter__": iterate,
    "__contains__": contains,
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__repr__": tensor_repr,
    "__str__": tensor_str,
    "__reduce_ex__": reduced,
}
