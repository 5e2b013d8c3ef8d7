"""Opens a library with every symbol bound at once, and explains it when that fails.

Immediate binding turns an undefined symbol into an error that names it; with lazy binding the first call of
the missing function would end the process. Only after a failure is the library opened lazily, in a child
process, to ask for its version, so that the error can say which versions do not fit. Opening is all that
happens here: what the library answers is judged in `negotiate`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from device_api.abi import versions
from device_api.errors import AbiMismatch, PluginLoadError
from device_api.loading import elf, python_library

QUERY_SECONDS = 10.0

_MISSING_LIBRARY = re.compile(r"(?:^|: )([^\s:/]+): cannot open shared object file")
_UNDEFINED = re.compile(r"undefined symbol: (\w+)")
_VERSION = re.compile(r"version [`']([^']+)' not found")


def open_now(path: Path) -> Any:
    """Opens `path` (absolute) locally with immediate binding; returns cffi's library object, or the module
    of a plugin that is a Python file.

    Raises PluginLoadError with the linker's text, or AbiMismatch when the plugin's version explains the
    failure.
    """
    if path.suffix == python_library.SUFFIX and path.is_file():
        return python_library.open_module(path)
    if why := elf.unusable(path):
        raise PluginLoadError(
            "cannot load plugin",
            subject=path,
            why=why,
            remedy="Give the path of the plugin's shared library.",
            path=str(path),
            detail=why,
        )
    from device_api.abi._declarations import ffi

    try:
        return ffi.dlopen(os.fspath(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    except OSError as error:
        raise _explained(path, _linker_text(path, error)) from None


def close(library: Any) -> None:
    """Closes a library whose plugin was refused before anything of it ran but the query."""
    if isinstance(library, python_library.PluginModule):
        python_library.close_module(library)
        return
    from device_api.abi._declarations import ffi

    ffi.dlclose(library)


def _linker_text(path: Path, error: OSError) -> str:
    """The linker's words; cffi puts "cannot load library '<path>': " before them."""
    text = str(error)
    head = f"cannot load library '{os.fspath(path)}': "
    return text.partition(head)[2] or text


def _explained(path: Path, detail: str) -> PluginLoadError:
    if why := elf.mismatch(path):
        return PluginLoadError(
            "cannot load plugin",
            subject=path,
            why=f"{why} (linker: {detail})",
            remedy="Install the build of the plugin for this machine."
            if "built for" in why
            else "Give the path of the plugin's shared library.",
            path=str(path),
            detail=detail,
        )
    answer = _ask_lazily(path)
    plugin = (int(answer["abi_major"]), int(answer["abi_minor"])) if "abi_major" in answer else None
    if plugin is not None:
        refusal = versions.refusal(plugin, int(answer["min_host_minor"]))
        if refusal is not None or plugin > versions.HOST:
            who = f"{answer['name']} {answer['version']} by {answer['vendor']}"
            reason = (
                refusal
                or f"built for ABI {versions.text(plugin)}, this host is {versions.text(versions.HOST)}"
            )
            return AbiMismatch(
                "cannot load plugin",
                subject=path,
                why=f"{who} is {reason} (linker: {detail})",
                remedy=versions.remedy(plugin),
                path=str(path),
                detail=detail,
                plugin_version=plugin,
                host_version=versions.HOST,
            )
    return PluginLoadError(
        "cannot load plugin",
        subject=path,
        why=detail,
        remedy=_remedy(path, detail),
        path=str(path),
        detail=detail,
    )


def _ask_lazily(path: Path) -> dict[str, Any]:
    """What a child process that opens the library lazily learns of it; empty when it learns nothing."""
    from device_api.loading import child

    result = child.run("query", path, deadline=QUERY_SECONDS)
    return result.facts if result.outcome == "ok" else {}


def _remedy(path: Path, detail: str) -> str:
    if match := _MISSING_LIBRARY.search(detail):
        return (
            f"Install what provides {match[1]}, or add its folder to the search path of libraries "
            "(LD_LIBRARY_PATH, ldconfig)."
        )
    if match := _VERSION.search(detail):
        return f"This system is older than the one the plugin was built on: it lacks {match[1]}."
    if match := _UNDEFINED.search(detail):
        return f"The plugin, or a library it was linked with, must define {match[1]}; ask its vendor."
    return "Ask the plugin's vendor, and quote this text."
