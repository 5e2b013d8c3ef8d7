"""The kernel interface of a prototype: Python functions of arrays as launches of C.

A function gets its inputs by position (None for an absent one) and the attributes by name. It returns an
array, or a tuple of them, that is assigned to the outputs; or it has a parameter `out` and writes there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from device_api import dtypes
from device_api.abi import constants
from device_api.abi._declarations import ffi
from device_api.ops._table import BY_NAME
from device_api.ops.array_kernels import has_out
from device_api.ops.attributes import offsets
from device_api.opset.spec import Attribute, OpSpec
from device_api.prototype.failures import Failures
from device_api.prototype.interfaces import DeviceTable
from device_api.prototype.tables import filled, guarded, text

DtypesLike = Iterable[Any] | Mapping[str, Iterable[Any]]
IN_PLACE = constants.DA_KERNEL_IN_PLACE | constants.DA_KERNEL_IN_PLACE_PAIRS
MAX_TYPE_VARIABLES = constants.DA_MAX_TYPE_VARIABLES


class KernelTable:
    """The functions of kernel.h and the kernels that were added."""

    def __init__(self, devices: DeviceTable, failures: Failures) -> None:
        self._devices = devices
        self._failures = failures
        self._kernels: list[Any] = []
        self._keep: list[Any] = []
        self._listed: Any = None

    @property
    def dtypes(self) -> int:
        """The set of all element types that some kernel claims."""
        return int(np.bitwise_or.reduce([mask for kernel in self._kernels for mask in kernel.dtypes] or [0]))

    def add(
        self, op: str, function: Callable[..., Any], wanted: DtypesLike, in_place: bool, priority: int
    ) -> None:
        """Adds a kernel. Raises `ValueError` for an unknown op, unknown dtypes, and after the host has been
        given the list, which never changes."""
        if self._listed is not None:
            raise ValueError(f"kernel of {op!r}: the host has read the list of kernels already")
        spec = BY_NAME.get(op)
        if spec is None:
            raise ValueError(f"kernel of {op!r}: there is no such op")
        writes = has_out(function)
        flags = (
            constants.DA_KERNEL_STRIDED_INPUTS
            | constants.DA_KERNEL_STRIDED_OUTPUTS
            | constants.DA_KERNEL_DETERMINISTIC
            # What is returned is complete before an output is touched.
            | (IN_PLACE if in_place or not writes else 0)
        )
        launch = guarded(self._failures, _Launch(self._devices, spec, function, writes))
        name = text(op)
        kernel, keep = filled("da_kernel", {"launch": launch}, op=name, flags=flags, priority=priority)
        kernel.dtypes = _masks(spec, wanted)
        self._kernels.append(kernel)
        self._keep += [name, *keep]

    def list(self, device: Any, out_list: Any) -> None:
        if self._listed is None:
            self._listed = ffi.new("da_kernel[]", len(self._kernels))
            for place, kernel in enumerate(self._kernels):
                self._listed[place] = kernel[0]
        out_list.first = self._listed
        out_list.count = len(self._kernels)
        out_list.stride = ffi.sizeof("da_kernel")


def _masks(spec: OpSpec, wanted: DtypesLike) -> list[int]:
    """A set of dtypes for each type variable: those wanted that the op takes there."""
    masks = []
    for name, allowed in spec.types:
        names = wanted.get(name, ()) if isinstance(wanted, Mapping) else wanted
        codes = frozenset(dtypes.code(each) for each in names) & allowed
        if not codes:
            raise ValueError(f"kernel of {spec.name!r}: no dtype for {name} that the op takes")
        masks.append(sum(1 << code for code in codes))
    return masks + [0] * (MAX_TYPE_VARIABLES - len(masks))


class _Launch:
    """One kernel's launch function."""

    def __init__(
        self, devices: DeviceTable, spec: OpSpec, function: Callable[..., Any], writes: bool
    ) -> None:
        self._devices, self._spec, self._function, self._writes = devices, spec, function, writes

    def __call__(
        self,
        state: Any,
        context: Any,
        inputs: Any,
        input_count: int,
        outputs: Any,
        output_count: int,
        attributes: Any,
    ) -> None:
        array = self._devices.of(context.device).array
        operands = [_array(array, inputs[i]) for i in range(input_count)]
        targets = tuple(_array(array, outputs[i]) for i in range(output_count))
        first = next((each for each in (*operands, *targets) if each is not None), None)
        options = _attributes(self._spec, attributes, np.dtype(np.float32) if first is None else first.dtype)
        with np.errstate(all="ignore"):
            if self._writes:
                self._function(*operands, **options, out=targets[0] if len(targets) == 1 else targets)
                return
            made = self._function(*operands, **options)
            results = made if isinstance(made, tuple) else (made,)
            # Writing one result must not change the next, which may be a view of what the first replaces.
            results = (results[0], *(_detached(each) for each in results[1:]))
            for result, target in zip(results, targets, strict=True):
                if result.shape != target.shape:
                    raise ValueError(f"{self._spec.name} gave shape {result.shape}, not {target.shape}")
                target[...] = result


def _detached(result: Any) -> Any:
    """An array whose memory is no operand's. A fresh array has no base; the operands have one."""
    return result if getattr(result, "base", None) is None else result.copy()


def _array(make: Callable[..., Any], tensor: Any) -> Any:
    if tensor == ffi.NULL:
        return None
    dl, dtype = tensor.dl, dtypes.from_code(tensor.dtype)
    rank, size = dl.ndim, dtype.itemsize
    strides = tuple(stride * size for stride in ffi.unpack(dl.strides, rank)) if rank else ()
    shape = tuple(ffi.unpack(dl.shape, rank)) if rank else ()
    return make(int(ffi.cast("uintptr_t", dl.data)), dl.byte_offset, shape, strides, dtype)


def _attributes(spec: OpSpec, pointer: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The attributes of a launch by name; those that are absent are None."""
    if not spec.kernel_attributes:
        return {}
    places, size = offsets(spec)
    data = bytes(ffi.buffer(ffi.cast("const char *", pointer), size))
    return {
        each.name: None
        if each.optional and data[places[each.name] - 8 : places[each.name]] == bytes(8)
        else _value(each, data, places[each.name], dtype)
        for each in spec.kernel_attributes
    }


def _value(attribute: Attribute, data: bytes, place: int, dtype: np.dtype[Any]) -> Any:
    kind = attribute.kind
    if kind == "float":
        return struct.unpack_from("=d", data, place)[0]
    if kind == "scalar":
        return np.frombuffer(data, dtype, 1, place)[0]
    first, second = struct.unpack_from("=q", data, place)[0], 0
    if kind in ("axes", "shape", "ints"):
        second = struct.unpack_from("=Q", data, place + 8)[0]
        return tuple(ffi.unpack(ffi.cast("int64_t *", second), first)) if first else ()
    if kind == "string":
        return ffi.string(ffi.cast("char *", first)).decode()
    if kind == "dtype":
        return dtypes.from_code(first)
    return bool(first) if kind == "bool" else first
