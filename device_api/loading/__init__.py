"""Finding, judging and opening plugins. Nothing here opens a library before a device type is used.

The names below are imported when they are first asked for: a program that only computes on the CPU at
hand should not pay for JSON, hashing and child processes when it imports the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device_api.loading.child import ProbeResult, probe
    from device_api.loading.host import HostServices
    from device_api.loading.instances import open_library, shutdown_all
    from device_api.loading.plugin import Plugin
    from device_api.loading.records import PluginRecord
    from device_api.loading.registry import find_record, load_plugin, plugin_records, register_plugin

__all__ = [
    "HostServices",
    "Plugin",
    "PluginRecord",
    "ProbeResult",
    "find_record",
    "load_plugin",
    "open_library",
    "plugin_records",
    "probe",
    "register_plugin",
    "shutdown_all",
]

_MODULES = {
    "HostServices": "host",
    "Plugin": "plugin",
    "PluginRecord": "records",
    "ProbeResult": "child",
    "find_record": "registry",
    "load_plugin": "registry",
    "open_library": "instances",
    "plugin_records": "registry",
    "probe": "child",
    "register_plugin": "registry",
    "shutdown_all": "instances",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
