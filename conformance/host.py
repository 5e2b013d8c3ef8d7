"""The services that the suite, as a host, lends to the plugin under test.

Log lines and asynchronous errors are kept, so that cases can ask for them. It stands in for the real host's
table: conformance must not need the native core of the package it judges.
"""

from __future__ import annotations

from typing import Any

from device_api.abi import constants

MAX_LINES = 200


class HostServices:
    """A `da_host` made of cffi callbacks; keep the object alive as long as the plugin is initialised."""

    def __init__(self, ffi: Any) -> None:
        self.lines: list[tuple[int, str]] = []
        self.async_errors: list[tuple[int, str]] = []
        self._ffi = ffi
        log = ffi.callback("void(void *, int32_t, const char *)", self._log)
        begin = ffi.callback("uint64_t(void *, const char *)", lambda context, name: 0)
        end = ffi.callback("void(void *, uint64_t)", lambda context, span: None)
        report = ffi.callback(
            "void(void *, da_device *, da_stream *, int32_t, const char *)", self._report
        )
        self._callbacks = (log, begin, end, report)
        self.table = ffi.new("da_host *")
        self.table.struct_size = ffi.sizeof("da_host")
        self.table.abi_major = constants.DA_ABI_MAJOR
        self.table.abi_minor = constants.DA_ABI_MINOR
        self.table.log, self.table.trace_begin, self.table.trace_end = log, begin, end
        self.table.report_async_error = report

    @property
    def address(self) -> int:
        return int(self._ffi.cast("uintptr_t", self.table))

    def _text(self, pointer: Any) -> str:
        if pointer == self._ffi.NULL:
            return ""
        return bytes(self._ffi.string(pointer)).decode(errors="replace")

    def _log(self, context: Any, level: int, message: Any) -> None:
        if len(self.lines) < MAX_LINES:
            self.lines.append((level, self._text(message)))

    def _report(self, context: Any, device: Any, stream: Any, code: int, message: Any) -> None:
        if len(self.async_errors) < MAX_LINES:
            self.async_errors.append((code, self._text(message)))
