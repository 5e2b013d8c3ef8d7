"""The entry symbol of a library, called directly.

Cases about the entry itself must see what the plugin answers before the loader has judged it, so they open
the library here, with the system's linker, and ask as hosts of other versions would.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from conformance.case import Failure
from conformance.target import Target
from device_api.abi import constants, versions
from device_api.abi._declarations import ffi
from device_api.errors import DeviceApiError
from device_api.loading import python_library


def entry(target: Target) -> Any:
    """The `device_api_plugin` function of the target's library."""
    path = target.library_path
    if path.suffix == python_library.SUFFIX:
        return _python_entry(path)
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise Failure(f"the linker cannot open the library: {error}") from error
    try:
        function = getattr(library, constants.DA_PLUGIN_ENTRY)
    except AttributeError as error:
        raise Failure(f"the library does not export {constants.DA_PLUGIN_ENTRY}") from error
    address = ctypes.cast(function, ctypes.c_void_p).value
    return ffi.cast("da_plugin_entry", address)


def _python_entry(path: Path) -> Any:
    """That of a plugin written in Python, which is a callable and no symbol."""
    try:
        return getattr(python_library.open_module(path), constants.DA_PLUGIN_ENTRY)
    except (DeviceApiError, AttributeError) as error:
        raise Failure(f"the file has no {constants.DA_PLUGIN_ENTRY}: {error}") from error


def ask(
    target: Target, version: tuple[int, int] = versions.HOST, size: int | None = None, tail: int = 0
) -> Any:
    """The descriptor that the plugin gives to a host of `version`; ffi.NULL when it refuses.

    `tail` adds that many bytes of a later version's fields behind the request, filled with a pattern.
    """
    known = ffi.sizeof("da_plugin_request")
    storage = ffi.new("uint64_t[]", (known + tail + 7) // 8)
    ffi.memmove(storage, b"\xa5" * (known + tail), known + tail)
    request = ffi.cast("da_plugin_request *", storage)
    request.struct_size = known + tail if size is None else size
    request.extension = ffi.NULL
    request.host_major, request.host_minor = version
    return entry(target)(request)


def descriptor(target: Target) -> Any:
    """The descriptor for this host; Failure when there is none."""
    answer = ask(target)
    if answer == ffi.NULL:
        raise Failure(f"the plugin refuses a host of ABI {versions.text(versions.HOST)}")
    if answer.magic != constants.DA_PLUGIN_MAGIC:
        raise Failure(f"the descriptor's magic number is {answer.magic:#x}")
    return answer


def text(pointer: Any) -> str | None:
    """A C text, None for NULL; Failure when it is not UTF-8."""
    if pointer == ffi.NULL:
        return None
    try:
        return bytes(ffi.string(pointer)).decode()
    except UnicodeDecodeError as error:
        raise Failure(f"a text of the plugin is not UTF-8: {error}") from error
