"""A small host table made of Python callbacks, for code that talks to a plugin without the native core.

Used in child processes that only look at a plugin, by conformance cases and by tests. It logs into a list
and keeps asynchronous errors in another. The table that real work uses belongs to the native core.
"""

from __future__ import annotations

from typing import Any

from device_api.abi import constants, versions


class HostServices:
    """Owns a `da_host`; it must live as long as the plugin that was given `address`.

    `lines` collects (level, message), `failures` collects (code, message) of asynchronous errors.
    """

    def __init__(self) -> None:
        from device_api.abi._declarations import ffi

        self.lines: list[tuple[int, str]] = []
        self.failures: list[tuple[int, str]] = []
        self._ffi: Any = ffi
        self._callbacks = (
            ffi.callback("void(void *, int32_t, const char *)", self._log),
            ffi.callback("void(void *, da_device *, da_stream *, int32_t, const char *)", self._report),
        )
        self.table: Any = ffi.new("da_host *")
        self.table.struct_size = ffi.sizeof("da_host")
        self.table.abi_major, self.table.abi_minor = versions.HOST
        self.table.log, self.table.report_async_error = self._callbacks

    @property
    def address(self) -> int:
        """Address of the `da_host`."""
        return int(self._ffi.cast("uintptr_t", self.table))

    def _log(self, context: Any, level: int, message: Any) -> None:
        self.lines.append((level, self._text(message)))

    def _report(self, context: Any, device: Any, stream: Any, code: int, message: Any) -> None:
        self.failures.append((code, self._text(message)))

    def _text(self, pointer: Any) -> str:
        return "" if pointer == self._ffi.NULL else str(self._ffi.string(pointer), "utf-8", "replace")


LEVELS = {
    constants.DA_LOG_DEBUG: "debug",
    constants.DA_LOG_INFO: "info",
    constants.DA_LOG_WARNING: "warning",
    constants.DA_LOG_ERROR: "error",
}
