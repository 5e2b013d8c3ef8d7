"""Builds C arguments from recorded ones, and maps recorded handles to those of the plugin at hand.

Everything that is built lives as long as the `Values` object or, for one call, as long as `clear` is not
called. Malformed records end in KeyError, TypeError, ValueError or OverflowError, which `replay` turns into a
TraceError; which calls are made is decided there.
"""

from __future__ import annotations

from typing import Any

from device_api.layers.trace_file import payload_bytes

_MOST_RANK = 32


class Unknown(LookupError):
    """A recorded handle has no counterpart: the call that made it is missing, or failed in the replay."""


class Values:
    """Handles, buffers and conversions of one replay."""

    def __init__(self, ffi: Any) -> None:
        self.ffi = ffi
        self.handles: dict[tuple[str, str], Any] = {}  # (kind, recorded text) -> the handle now
        self.lists: dict[str, list[Any]] = {}  # recorded device -> its kernels
        self._call: list[Any] = []  # what one call must keep alive
        self._kept: list[Any] = []

    def clear(self) -> None:
        """Forgets what the last call needed."""
        self._call.clear()

    def keep(self, value: Any) -> Any:
        """Keeps something alive for the whole replay."""
        self._kept.append(value)
        return value

    def new(self, kind: str, *initial: Any) -> Any:
        """Memory that lives for one call."""
        value = self.ffi.new(kind, *initial)
        self._call.append(value)
        return value

    def buffer(self, data: bytes, size: int | None = None) -> Any:
        """Bytes that live for one call, as char *."""
        return self.new("char[]", data) if size is None else self.new("char[]", max(size, 1))

    def handle(self, kind: str, text: object) -> Any:
        """The handle that stands for a recorded one; NULL for null. Raises Unknown when none was made."""
        if text is None:
            return self.ffi.NULL
        if not isinstance(text, str):
            raise TypeError(f"a handle is text, not {text!r}")
        if (kind, text) not in self.handles:
            raise Unknown(f"no call before this one gave {kind} {text}")
        return self.handles[kind, text]

    def copy(self, recorded: Any, payload: Any, out: Any) -> Any:
        """A da_copy; `payload` are the bytes of a host source, `out` the buffer of a host destination."""
        copy = self.new("da_copy *")
        copy.struct_size = self.ffi.sizeof("da_copy")
        copy.kind = recorded["kind"]
        copy.bytes = recorded["bytes"]
        copy.peer = self.handle("device", recorded["peer"])
        if payload is not None:
            copy.source = payload
        elif recorded["kind"] != 1:
            copy.source = self.handle("memory", recorded["source"])
            copy.source_offset = recorded["source_offset"]
        if out is not None:
            copy.destination = out
        elif recorded["kind"] != 2:
            copy.destination = self.handle("memory", recorded["destination"])
            copy.destination_offset = recorded["destination_offset"]
        return copy

    def tensor(self, recorded: Any) -> Any:
        """A da_tensor *; NULL for null."""
        if recorded is None:
            return self.ffi.NULL
        shape, strides = recorded["shape"], recorded["strides"]
        if len(shape) != len(strides) or len(shape) > _MOST_RANK:
            raise ValueError("shape and strides do not fit")
        tensor = self.new("da_tensor *")
        tensor.struct_size = self.ffi.sizeof("da_tensor")
        tensor.dtype = recorded["dtype"]
        tensor.dl.data = self.handle("memory", recorded["data"])
        tensor.dl.byte_offset = recorded["byte_offset"]
        tensor.dl.ndim = len(shape)
        device_type, device_id, code, bits, lanes = recorded["dl"]
        tensor.dl.device.type, tensor.dl.device.id = device_type, device_id
        tensor.dl.dtype.code, tensor.dl.dtype.bits, tensor.dl.dtype.lanes = code, bits, lanes
        tensor.dl.shape = self.new("int64_t[]", shape or [0])
        tensor.dl.strides = self.new("int64_t[]", strides or [0])
        return tensor

    def tensors(self, recorded: Any) -> Any:
        """An array of const da_tensor *."""
        return self.new("const da_tensor *[]", [self.tensor(item) for item in recorded] or [self.ffi.NULL])

    def attributes(self, recorded: Any) -> Any:
        """The attribute struct of an op, with the pointers in it set anew."""
        if recorded is None:
            return self.ffi.NULL
        data = payload_bytes({"size": _base64_size(recorded["data"]), "data": recorded["data"]})
        assert data is not None
        words = self.new("uint64_t[]", (len(data) + 7) // 8 or 1)
        self.ffi.memmove(words, data, len(data))
        for pointer in recorded["pointers"]:
            at = pointer["at"]
            if at % 8 or not 0 <= at <= len(data) - 8:
                raise ValueError(f"there is no pointer at byte {at}")
            target = payload_bytes({"size": _base64_size(pointer["data"]), "data": pointer["data"]})
            place = self.new("uint64_t[]", (len(target or b"") + 7) // 8 or 1)
            self.ffi.memmove(place, target or b"", len(target or b""))
            words[at // 8] = int(self.ffi.cast("uintptr_t", place))
        return self.ffi.cast("const void *", words)


def _base64_size(text: str) -> int:
    """The number of bytes that base64 text stands for."""
    return len(text) // 4 * 3 - text[-2:].count("=")
