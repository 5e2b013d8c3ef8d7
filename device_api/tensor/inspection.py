"""What a program may ask about the namespace, its element types and their promotion.

Answers only: nothing is computed on a device, and no library is opened but where devices are listed. Which
dtypes there are and what joins them is decided by the modules below; this one puts it in the words of the
array API.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from device_api import _core, dtypes
from device_api.errors import AttributeValueError, DTypeError
from device_api.ops.promotion import result_dtype
from device_api.ops.selection import held_dtypes
from device_api.ops.shape_support import MAX_RANK, TensorSpec, real_dtype
from device_api.runtime.devices import DeviceLike, get_device, resolve
from device_api.runtime.devices import devices as all_devices

_KINDS = {
    "bool": dtypes.BOOL,
    "signed integer": dtypes.SIGNED,
    "unsigned integer": dtypes.UNSIGNED,
    "integral": dtypes.INTEGER,
    "real floating": dtypes.FLOATING,
    "complex floating": dtypes.COMPLEX,
    "numeric": dtypes.NUMERIC,
}
# The element types of the standard; the others are this package's own.
_STANDARD = dtypes.ALL - dtypes.FLOAT8 - {dtypes.FLOAT16, dtypes.BFLOAT16}


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """Facts about a floating dtype; of a complex one, about its parts."""

    dtype: np.dtype[Any]
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """Facts about an integer dtype."""

    dtype: np.dtype[Any]
    bits: int
    max: int
    min: int


def _code(kind: Any) -> int:
    return kind.dtype_code if isinstance(kind, _core.Tensor) else dtypes.code(kind)


def finfo(type: npt.DTypeLike | _core.Tensor, /) -> FloatInfo:
    """Limits of a floating or complex dtype, given itself or as a tensor of it; `DTypeError` for others."""
    code = real_dtype(_code(type))
    if code not in dtypes.FLOATING | dtypes.FLOAT8:
        raise DTypeError(
            "finfo is about floating dtypes", subject=dtypes.NAMES[code], dtypes=(dtypes.NAMES[code],)
        )
    dtype = dtypes.from_code(code)
    facts: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return FloatInfo(
        dtype=dtype,
        bits=int(facts.bits),
        eps=float(facts.eps),
        max=float(facts.max),
        min=float(facts.min),
        smallest_normal=float(facts.smallest_normal),
    )


def iinfo(type: npt.DTypeLike | _core.Tensor, /) -> IntegerInfo:
    """Limits of an integer dtype, given itself or as a tensor of it; `DTypeError` for others."""
    code = _code(type)
    if code not in dtypes.INTEGER:
        raise DTypeError(
            "iinfo is about integer dtypes", subject=dtypes.NAMES[code], dtypes=(dtypes.NAMES[code],)
        )
    facts = np.iinfo(dtypes.from_code(code))
    return IntegerInfo(dtype=dtypes.from_code(code), bits=facts.bits, max=int(facts.max), min=int(facts.min))


def isdtype(dtype: npt.DTypeLike, kind: Any) -> bool:
    """Whether a dtype is another, is of a kind ("bool", "signed integer", "unsigned integer", "integral",
    "real floating", "complex floating", "numeric"), or is one of a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    code = dtypes.code(dtype)
    if isinstance(kind, str) and kind in _KINDS:
        return code in _KINDS[kind]
    try:
        return code == dtypes.code(kind)
    except TypeError as error:
        raise AttributeValueError(
            "neither a dtype nor a kind of dtypes",
            subject=repr(kind),
            why=f"kinds are {', '.join(_KINDS)}",
            op="isdtype",
            argument="kind",
            value=kind,
        ) from error


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype that tensors, dtypes and Python numbers have in common; numbers alone have none."""
    if not arrays_and_dtypes:
        raise TypeError("result_type needs a tensor or a dtype")
    operands: list[Any] = []
    for each in arrays_and_dtypes:
        if isinstance(each, bool | int | float | complex) and not isinstance(each, np.generic):
            operands.append(each)
        else:
            operands.append(TensorSpec((), _code(each.dtype if isinstance(each, np.generic) else each)))
    return dtypes.from_code(result_dtype(operands, "result_type"))


def can_cast(from_: npt.DTypeLike | _core.Tensor, to: npt.DTypeLike, /) -> bool:
    """Whether promotion turns one dtype into the other, so that a conversion is safe."""
    source, target = _code(from_), dtypes.code(to)
    if source == target:
        return True
    try:
        return result_dtype([TensorSpec((), source), TensorSpec((), target)]) == target
    except DTypeError:
        return False


def get_default_dtype() -> np.dtype[Any]:
    """The dtype of Python floats, of integers in floating ops, and of tensors made without one."""
    return dtypes.from_code(dtypes.default_code(float))


def set_default_dtype(dtype: npt.DTypeLike) -> None:
    """Makes float32 (so at the start) or float64 the default of the process, and with it complex64 or
    complex128; `DTypeError` for others. Not meant to change while other threads compute."""
    code = dtypes.code(dtype)
    try:
        dtypes.set_default_floating(code)
    except TypeError as error:
        raise DTypeError(
            "no default dtype", subject=dtypes.NAMES[code], why=str(error), dtypes=(dtypes.NAMES[code],)
        ) from error
    _core.clear_plans()


class Inspection:
    """The array API's inspection namespace: what this namespace and its devices can do."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks and shapes that depend on values work; tensors have 32 dimensions at most."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_RANK}

    def default_device(self) -> _core.Device:
        """The device of this thread."""
        return get_device()

    def devices(self) -> tuple[_core.Device, ...]:
        """Every device that is usable here; opens the plugins of all of them."""
        return all_devices()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, npt.DTypeLike]:
        """The dtypes of what is made without one, by kind."""
        resolve(device)
        return {
            "real floating": dtypes.from_code(dtypes.default_code(float)),
            "complex floating": dtypes.from_code(dtypes.default_code(complex)),
            "integral": np.dtype(np.int64),
            "indexing": np.dtype(np.int64),
        }

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, npt.DTypeLike]:
        """The dtypes of the standard that a device holds, by name; of some kinds only, where asked."""
        wanted = _STANDARD & held_dtypes(resolve(device))
        if kind is not None:
            kinds = kind if isinstance(kind, tuple) else (kind,)
            for each in kinds:
                if each not in _KINDS:
                    raise AttributeValueError(
                        "no such kind of dtypes",
                        subject=repr(each),
                        why=f"kinds are {', '.join(_KINDS)}",
                        op="dtypes",
                        argument="kind",
                        value=each,
                    )
            wanted = frozenset(code for code in wanted if any(code in _KINDS[each] for each in kinds))
        return {dtypes.NAMES[code]: dtypes.from_code(code) for code in sorted(wanted)}


def __array_namespace_info__() -> Inspection:
    """The array API's inspection namespace."""
    return Inspection()
