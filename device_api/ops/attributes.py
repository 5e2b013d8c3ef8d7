"""Attribute tuples as the bytes of the C structs in ops.h.

Every struct opens with its size and an extension pointer; then come the attributes that a kernel sees, in
the order of the op's entry, each in fields of eight bytes; one that may be absent follows a flag. Lists and
texts live outside the struct: their field is a pointer, written here as a relocation, a place in the struct
and the bytes that it shall point at. The layout follows from the op set alone; this module knows no device
and no tensor.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from device_api import dtypes
from device_api.errors import AttributeValueError
from device_api.ops.views import normalize_axes, normalize_axis
from device_api.opset.spec import Attribute, OpSpec

HEADER_BYTES = 16
_WHOLE = {"int", "bool", "dtype", "axis"}
_LISTS = {"axes", "shape", "ints"}

Packed = tuple[bytes, tuple[tuple[int, bytes], ...]]


def offsets(spec: OpSpec) -> tuple[dict[str, int], int]:
    """Where each kernel attribute begins in the op's struct, and the size of the struct."""
    return _offsets(spec.kernel_attributes)


@cache
def _offsets(attributes: tuple[Attribute, ...]) -> tuple[dict[str, int], int]:
    places: dict[str, int] = {}
    position = HEADER_BYTES
    for attribute in attributes:
        position += 8 if attribute.optional else 0
        places[attribute.name] = position
        position += 16 if attribute.kind in _LISTS or attribute.kind == "scalar" else 8
    return places, position


def pack(spec: OpSpec, values: Mapping[str, Any], code: int) -> Packed:
    """The struct of one call. `values` holds each attribute, normalised; `code` is the dtype that scalar
    attributes are converted to. Gives the bytes and the relocations (offset, target bytes); an op without
    kernel attributes gives no bytes, and its kernel gets NULL."""
    attributes = spec.kernel_attributes
    if not attributes:
        return b"", ()
    _, size = offsets(spec)
    fields = [struct.pack("=QQ", size, 0)]
    relocations: list[tuple[int, bytes]] = []
    position = HEADER_BYTES
    for attribute in attributes:
        value = values[attribute.name]
        if attribute.optional:
            fields.append(struct.pack("=q", value is not None))
            position += 8
        fields.append(_field(attribute.kind, value, code, position, relocations))
        position += len(fields[-1])
    return b"".join(fields), tuple(relocations)


def counted_axes(spec: OpSpec, values: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """The attributes with axes counted from the front of a tensor of this rank, as kernels get them. Raises
    `AxisError`."""
    counted = dict(values)
    for each in spec.kernel_attributes:
        value = counted[each.name]
        if value is not None and each.kind == "axis":
            counted[each.name] = normalize_axis(value, rank, spec.name)
        elif value is not None and each.kind == "axes":
            counted[each.name] = normalize_axes(value, rank, spec.name)
    return counted


def _field(kind: str, value: Any, code: int, position: int, relocations: list[tuple[int, bytes]]) -> bytes:
    if kind in _WHOLE:
        return struct.pack("=q", 0 if value is None else int(value))
    if kind == "float":
        return struct.pack("=d", 0.0 if value is None else float(value))
    if kind == "scalar":
        return bytes(16) if value is None else scalar_bytes(value, code).ljust(16, b"\0")
    if kind in _LISTS:
        numbers = tuple(value or ())
        relocations.append((position + 8, struct.pack(f"={len(numbers)}q", *numbers)))
        return struct.pack("=qQ", len(numbers), 0)
    relocations.append((position, str(value or "").encode() + b"\0"))
    return struct.pack("=Q", 0)


def scalar_bytes(value: Any, code: int) -> bytes:
    """One element as raw bytes. `OverflowError` for an integer that does not fit; `AttributeValueError`
    where a conversion would lose the imaginary part."""
    dtype = dtypes.from_code(code)
    if isinstance(value, complex) and code not in dtypes.COMPLEX:
        raise AttributeValueError(
            "a complex number does not fit", subject=f"{value} as {dtype.name}", value=value
        )
    if isinstance(value, int) and code in dtypes.INTEGER:
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(
                f"{value} does not fit {dtype.name}, which holds {limits.min} to {limits.max}"
            )
    if isinstance(value, float) and code in dtypes.INTEGER and not value.is_integer():
        raise AttributeValueError("a fraction does not fit", subject=f"{value} as {dtype.name}", value=value)
    with np.errstate(over="ignore"):
        return np.array(value).astype(dtype).tobytes()
