"""Finding, judging and opening plugins. Nothing here opens a library before a device type is used."""

from __future__ import annotations

import os

from device_api.loading.child import ProbeResult, probe
from device_api.loading.instances import open_library, shutdown_all
from device_api.loading.plugin import Plugin
from device_api.loading.records import PluginRecord
from device_api.loading.registry import REGISTRY

__all__ = [
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


def register_plugin(path: str | os.PathLike[str], *, sha256: str | None = None) -> PluginRecord:
    """Adds a plugin by the path of its library or manifest; nothing is opened.

    `sha256` pins the library's digest (64 hexadecimal digits): another content is refused when it is loaded.
    Raises PluginLoadError, ManifestError.
    """
    return REGISTRY.register(path, sha256=sha256)


def plugin_records() -> tuple[PluginRecord, ...]:
    """Every plugin found, sorted by device type, with what is wrong with it; nothing is opened or imported."""
    return REGISTRY.records()


def find_record(device_type: str) -> PluginRecord:
    """The plugin of a device type. Raises PluginNotFound, DuplicateDeviceType, PluginRefused; opens
    nothing.
    """
    return REGISTRY.find(device_type)


def load_plugin(device_type: str) -> Plugin:
    """Opens the plugin of a device type at first use; later calls give the same object. It is not
    initialised.

    Raises what `find_record` raises, PluginLoadError and AbiMismatch.
    """
    return REGISTRY.load(device_type)
