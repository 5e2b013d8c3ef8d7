"""The program that `child` starts: looks at one plugin and says what it has done, one JSON line per step.

Run by path, with Python's isolated mode. It makes the package importable without running the package's own
`__init__`, because a child that only asks a library for its name should not load NumPy first.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path
from typing import Any


def _say(**news: Any) -> None:
    # Written at once and past Python's buffers: the next step may be the last.
    os.write(1, b"\ndevice_api: " + json.dumps(news).encode() + b"\n")


def _make_importable(backend: str) -> None:
    package = types.ModuleType("device_api")
    package.__path__ = [str(Path(__file__).resolve().parent.parent)]
    sys.modules["device_api"] = package
    sys.path.append(backend)


def query(path: Path) -> None:
    """Opens lazily and asks for the descriptor: enough to say who made the library, for which version."""
    from device_api.abi import constants, versions
    from device_api.abi._declarations import ffi
    from device_api.loading import python_library

    _say(step="open")
    library: Any
    if path.suffix == python_library.SUFFIX:
        library = python_library.open_module(path)
    else:
        library = ffi.dlopen(os.fspath(path), ffi.RTLD_LAZY | ffi.RTLD_LOCAL)
    _say(step="entry")
    request = ffi.new("da_plugin_request *")
    request.struct_size = ffi.sizeof("da_plugin_request")
    request.host_major, request.host_minor = versions.HOST
    descriptor = getattr(library, constants.DA_PLUGIN_ENTRY)(request)
    if descriptor == ffi.NULL or descriptor.magic != constants.DA_PLUGIN_MAGIC:
        raise ValueError("it is no plugin")
    facts: dict[str, Any] = {
        name: getattr(descriptor, name) for name in ("abi_major", "abi_minor", "min_host_minor")
    }
    if facts["abi_major"] == versions.HOST[0] or descriptor.struct_size >= ffi.sizeof("da_plugin"):
        for name in ("name", "vendor", "version", "device_type"):
            pointer = getattr(descriptor, name)
            facts[name] = "" if pointer == ffi.NULL else str(ffi.string(pointer, 256), "utf-8", "replace")
    _say(facts=facts)


def probe(path: Path) -> None:
    """Goes through the whole life of a plugin."""
    from device_api.loading.host import LEVELS, HostServices
    from device_api.loading.instances import open_library

    _say(step="open")
    plugin = open_library(path)
    facts = {
        name: getattr(plugin, name) for name in ("name", "vendor", "version", "device_type", "layout_digest")
    }
    _say(facts={**facts, "abi": list(plugin.abi), "features": plugin.features}, step="initialize")
    host = HostServices()
    plugin.initialize(host.address)
    _say(step="count")
    count = plugin.device_count()
    _say(facts={"count": count}, step="properties")
    devices = [plugin.properties(index) for index in range(min(count, 64))]
    _say(facts={"devices": devices}, step="shutdown")
    plugin.shutdown()
    _say(facts={"log": [[LEVELS.get(level, str(level)), text] for level, text in host.lines]})


def main() -> None:
    command, path, backend = sys.argv[1:4]
    _make_importable(backend)
    try:
        {"query": query, "probe": probe}[command](Path(path))
    except Exception as error:
        _say(error={"type": type(error).__name__, "text": str(error)})
    else:
        _say(step=None)


if __name__ == "__main__":
    main()
