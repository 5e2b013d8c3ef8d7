"""Exceptions on their way to C: each becomes a status and a text, and none crosses the border.

The texts live here until the host destroys the error that names them.
"""

from __future__ import annotations

import itertools
import threading
import traceback
from typing import Any

from device_api.abi import constants
from device_api.abi._declarations import ffi


class Failure(Exception):
    """A failure with a status of its own: `Failure(constants.DA_STATUS_UNAVAILABLE, "no card")`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


# What an exception means where it says no more; the first class that fits counts.
_STATUS: tuple[tuple[type[BaseException], int], ...] = (
    (MemoryError, constants.DA_STATUS_OUT_OF_MEMORY),
    (IndexError, constants.DA_STATUS_OUT_OF_RANGE),
    (NotImplementedError, constants.DA_STATUS_UNIMPLEMENTED),
    (TimeoutError, constants.DA_STATUS_TIMEOUT),
    (BaseException, constants.DA_STATUS_INTERNAL),
)


class Failures:
    """The errors of one plugin that the host has not destroyed yet, and the functions that read them."""

    def __init__(self) -> None:
        self._living: dict[int, tuple[int, Any]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def of(self, error: BaseException) -> Any:
        """A `da_error *` for an exception. An unexpected one brings its traceback along."""
        code = next(code for kind, code in _STATUS if isinstance(error, kind))
        text = str(error)
        if isinstance(error, Failure):
            code = error.code
        elif code == constants.DA_STATUS_INTERNAL:
            text = "".join(traceback.format_exception(error)).strip()
        with self._lock:
            number = next(self._numbers)
            self._living[number] = (code, ffi.new("char[]", text.encode("utf-8", "replace")))
        return ffi.cast("da_error *", number)

    def code(self, error: Any) -> int:
        return self._living[int(ffi.cast("uintptr_t", error))][0]

    def message(self, error: Any) -> Any:
        return self._living[int(ffi.cast("uintptr_t", error))][1]

    def destroy(self, error: Any) -> None:
        with self._lock:
            self._living.pop(int(ffi.cast("uintptr_t", error)), None)
