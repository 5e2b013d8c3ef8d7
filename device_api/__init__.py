"""device_api: arrays, and a framework's operations on them, on the devices of any vendor.

    import device_api as da

    x = da.asarray([1.0, 2.0, 3.0], device="cpu")
    y = da.softmax(x * 2 + 1)

A device string chooses the vendor's plugin; nothing of a vendor is opened before it is used. The namespace
follows the Python array API. Names are imported when they are first asked for, so that importing the package
costs little; for readers and type checkers they are listed in __init__.pyi.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"
__array_api_version__ = "2025.12"


def get_include() -> str:
    """The folder to give a compiler with -I, so that `#include "device_api/device_api.h"` is found."""
    return str(Path(__file__).parent / "include")


def get_cmake_dir() -> str:
    """The folder of the CMake package: `-Ddevice_api_DIR=...` lets find_package(device_api) succeed."""
    return str(Path(__file__).parent / "cmake")


def __getattr__(name: str) -> object:
    if name.startswith("_") and name != "__array_namespace_info__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from device_api._names import MODULES, OPS_MODULE, SUBMODULES

    if name in SUBMODULES:
        return import_module(f"{__name__}.{name}")

    module = MODULES.get(name, OPS_MODULE)
    if module not in _PLAIN:
        import_module("device_api._activation")
    found = import_module(module)
    if module == OPS_MODULE and name not in found.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from device_api._names import MODULES, OPS_MODULE

    return sorted({*globals(), *MODULES, *import_module(OPS_MODULE).__all__})


# Modules whose names work without the native core.
_PLAIN = frozenset({"device_api.errors", "device_api.loading", "device_api.tensor.constants"})
