"""Attribute structs as a kernel of the op set finds them, written from the op's entry.

Each struct opens with its size and an extension pointer; then come the attributes in order, optional ones
behind a flag, lists as count and pointer. This is the suite's own reading of ops.h, so that a mistake of the
host's planner cannot hide a mistake of a plugin.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from device_api.opset.spec import Attribute, OpSpec

HEADER = 16


class AttributeBlock:
    """The bytes of one struct, with the lists it points at. Keep it alive during the call."""

    def __init__(self, ffi: Any, spec: OpSpec, values: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        self._ffi, self._kept = ffi, []  # type: ignore[var-annotated]
        attributes = spec.kernel_attributes
        body = b"".join(self._field(attribute, values[attribute.name], dtype) for attribute in attributes)
        self.pointer = ffi.NULL
        if attributes:
            data = struct.pack("=QQ", HEADER + len(body), 0) + body
            self._data = ffi.new("uint64_t[]", len(data) // 8)
            ffi.memmove(self._data, data, len(data))
            self.pointer = ffi.cast("const void *", self._data)

    def _field(self, attribute: Attribute, value: Any, dtype: np.dtype[Any]) -> bytes:
        flag = struct.pack("=q", value is not None) if attribute.optional else b""
        return flag + self._value(attribute.kind, value, dtype)

    def _value(self, kind: str, value: Any, dtype: np.dtype[Any]) -> bytes:
        if kind == "float":
            return struct.pack("=d", value or 0.0)
        if kind == "scalar":
            return (b"" if value is None else np.asarray(value).astype(dtype).tobytes()).ljust(16, b"\0")
        if kind in ("axes", "shape", "ints"):
            return struct.pack("=qQ", len(value or ()), self._keep("int64_t[]", list(value or ())))
        if kind == "string":
            return struct.pack("=Q", self._keep("char[]", (value or "").encode()))
        return struct.pack("=q", int(value or 0))

    def _keep(self, kind: str, value: Any) -> int:
        self._kept.append(self._ffi.new(kind, value))
        return int(self._ffi.cast("uintptr_t", self._kept[-1]))
