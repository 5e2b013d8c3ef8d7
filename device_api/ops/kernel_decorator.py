"""`device_api.kernel`: a Python function as a kernel of a device, for one op.

    @da.kernel("softmax", device="npu", dtypes=["float32"])
    def softmax(x, *, axis):
        shifted = numpy.exp(x - x.max(axis=axis, keepdims=True))
        return shifted / shifted.sum(axis=axis, keepdims=True)

What the function sees and may do stands in `array_kernels`. The registration lasts until `unregister`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar

from device_api import dtypes as _dtypes
from device_api import loading
from device_api.errors import AttributeValueError, DTypeError, InvalidDevice
from device_api.ops import python_kernels
from device_api.ops._table import BY_NAME
from device_api.ops.array_kernels import on_arrays
from device_api.opset.spec import OpSpec
from device_api.runtime.devices import parse

P = ParamSpec("P")
R = TypeVar("R")
DtypesLike = Iterable[Any] | Mapping[str, Iterable[Any]]

# They are part of every plan, where no step may be Python: a device has them or does not work at all.
_NATIVE_ONLY = frozenset({"copy", "fill"})


class PythonKernel(Generic[P, R]):
    """A registered function; calling it calls the function. `op` and `device_type` say what it serves."""

    def __init__(self, function: Callable[P, R], entry: python_kernels.Entry) -> None:
        self.function = function
        self.op = entry.op
        self.device_type = entry.device_type
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._entry = entry

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Python kernel of {self.op} on {self.device_type!r}>"

    def unregister(self) -> None:
        """Takes the kernel out of use; a call that is running ends with it. A second time does nothing."""
        python_kernels.unregister(self._entry)


def kernel(
    op: str, *, device: str, dtypes: DtypesLike | None = None, prefer: bool = False
) -> Callable[[Callable[P, R]], PythonKernel[P, R]]:
    """Registers the decorated function as the kernel of `op` on a device type.

    It serves where the device has no native kernel for the dtypes, before the op's composition; with `prefer`
    before the native kernel too. `dtypes` limits it: an iterable for all type variables of the op, or one per
    variable. Of several that fit, the newest serves.

    Raises `AttributeValueError` (no such op, or one that no kernel can serve), `InvalidDevice` (no device
    type, or one with an index), `PluginNotFound` (nobody offers the type) and `DTypeError` (dtypes that the
    op does not take).
    """
    spec = BY_NAME.get(op)
    if spec is None or spec.level == "view" or op in _NATIVE_ONLY:
        reason = "no op has this name"
        if spec is not None:
            reason = "it moves no elements" if spec.level == "view" else "it is part of every plan"
        raise AttributeValueError(
            "no Python kernel can serve this op", subject=repr(op), why=reason, op=op, argument="op", value=op
        )
    device_type, index = parse(device)
    if index is not None:
        raise InvalidDevice(
            "a kernel serves all devices of a type",
            subject=device,
            remedy=f"Register it for {device_type!r}.",
            spec=device,
        )
    loading.find_record(device_type)
    codes = None if dtypes is None else _codes(spec, dtypes)

    def decorate(function: Callable[P, R]) -> PythonKernel[P, R]:
        entry = python_kernels.register(
            op, device_type, on_arrays(op, function), dtypes=codes, preferred=prefer
        )
        return PythonKernel(function, entry)

    return decorate


def _codes(spec: OpSpec, wanted: DtypesLike) -> python_kernels.Dtypes:
    """Type variable -> codes, each a subset of what the op takes there."""
    allowed = dict(spec.types)
    if not isinstance(wanted, Mapping):
        codes = frozenset(_dtypes.code(each) for each in wanted)
        if codes - frozenset().union(*allowed.values()):
            raise _not_taken(spec, codes - frozenset().union(*allowed.values()))
        return {name: codes & taken for name, taken in allowed.items()}
    if unknown := sorted(set(wanted) - set(allowed)):
        raise DTypeError(
            f"{spec.name} has no type variable {unknown[0]}",
            remedy=f"It has {', '.join(allowed) or 'none'}.",
            op=spec.name,
            argument="dtypes",
        )
    by_name = {name: frozenset(_dtypes.code(each) for each in codes) for name, codes in wanted.items()}
    for name, codes in by_name.items():
        if codes - allowed[name]:
            raise _not_taken(spec, codes - allowed[name])
    return by_name


def _not_taken(spec: OpSpec, codes: frozenset[int]) -> DTypeError:
    return DTypeError(
        f"{spec.name} does not take these dtypes",
        subject=", ".join(_dtypes.names(codes)),
        remedy="The reference of ops lists the dtypes of each type variable.",
        op=spec.name,
        argument="dtypes",
        dtypes=tuple(_dtypes.names(codes)),
    )
