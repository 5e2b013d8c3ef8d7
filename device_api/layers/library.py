"""The native layer library, and layers of vendors, opened through cffi.

A built-in layer is made by name with options; a vendor's layer is a library that exports `device_api_layer`,
which takes a descriptor and gives one. Either way a `const da_plugin *` goes in and another comes out. What
a stack of them is for is not known here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from device_api.errors import PluginError, PluginLoadError
from device_api.loading import elf, policy
from device_api.loading.records import PluginRecord

BUILT_IN = ("validate", "trace", "fault", "stats")
VENDOR_ENTRY = "device_api_layer"

_LIBRARY = Path(__file__).with_name("libdevice_api_layers.so")
_MESSAGE_SIZE = 1024
_open_layers: list[Any] = []  # cffi closes a library that nobody holds, and the tables of a layer lie in it


@cache
def native() -> tuple[Any, Any]:
    """(ffi, library). Raises PluginLoadError when the layer library is missing or damaged."""
    from device_api.layers._native import ffi

    return ffi, _open(ffi, _LIBRARY, "the layers were not built")


def _open(ffi: Any, path: Path, reason: str) -> Any:
    try:
        return ffi.dlopen(os.fspath(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    except OSError as error:
        why = f"{reason}: {error}" if not path.exists() else elf.unusable(path) or str(error)
        raise PluginLoadError(
            "cannot load layer",
            subject=path,
            why=why,
            remedy="Give the path of a layer's shared library, or build the package.",
            path=str(path),
            detail=str(error),
        ) from None


def wrap(descriptor: Any, name: str, options: Mapping[str, str]) -> Any:
    """The descriptor of a built-in layer over `descriptor`. Raises PluginError for a wrong name or option."""
    ffi, library = native()
    message = ffi.new("char[]", _MESSAGE_SIZE)
    shown = library.da_layers_wrap(descriptor, name.encode(), _text(options), message, _MESSAGE_SIZE)
    if shown == ffi.NULL:
        raise _refused(name, str(ffi.string(message), "utf-8", "replace"))
    return shown


def wrap_with(path: Path, descriptor: Any, options: Mapping[str, str]) -> Any:
    """The descriptor of a vendor's layer over `descriptor`.

    Raises PluginLoadError when the library cannot be opened or is no layer, PluginRefused when it is not
    trusted, PluginError when the layer declines.
    """
    policy.require_trust(PluginRecord(path.name, None, path, "path"))
    ffi, _ = native()
    library = _open(ffi, path, "there is no such file")
    try:
        entry = getattr(library, VENDOR_ENTRY)
    except (AttributeError, ffi.error) as error:
        raise PluginLoadError(
            "cannot load layer",
            subject=path,
            why=f"it does not export {VENDOR_ENTRY}, so it is no layer",
            remedy="Give the path of a layer, or export the function with DA_EXPORT.",
            path=str(path),
            detail=str(error),
        ) from None
    _open_layers.append(library)
    shown = entry(descriptor, _text(options))
    if shown == ffi.NULL:
        raise _refused(str(path), f"it declines the options {dict(options)!r} or the plugin")
    return shown


def configure(descriptor: Any, name: str, options: Mapping[str, str]) -> None:
    """Changes options of a built-in layer. Raises PluginError when they are wrong."""
    ffi, library = native()
    message = ffi.new("char[]", _MESSAGE_SIZE)
    if not library.da_layers_configure(descriptor, _text(options), message, _MESSAGE_SIZE):
        raise _refused(name, str(ffi.string(message), "utf-8", "replace"))


def report(descriptor: Any) -> Any:
    """What a built-in layer knows, as Python values; None for a layer that is none of the library's."""
    ffi, library = native()
    text = library.da_layers_report(descriptor)
    if text == ffi.NULL:
        return None
    try:
        return json.loads(ffi.string(text))
    finally:
        library.da_layers_free(text)


def reset(descriptor: Any) -> None:
    """Makes a built-in layer forget what `report` would give."""
    native()[1].da_layers_reset(descriptor)


def release(descriptor: Any) -> None:
    """Ends a built-in layer whose tables nobody uses any more."""
    native()[1].da_layers_release(descriptor)


def _text(options: Mapping[str, str]) -> bytes:
    return ";".join(f"{key}={value}" for key, value in options.items()).encode()


def _refused(name: str, why: str) -> PluginError:
    return PluginError(
        "cannot put a layer over the plugin",
        subject=name,
        why=why,
        remedy=f"Built-in layers are {', '.join(BUILT_IN)}; docs/vendors/layers.md lists their options.",
    )
