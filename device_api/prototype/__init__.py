"""A whole plugin in Python, behind the same C tables as any other: for prototypes, tests and teaching.

    plugin = prototype.Plugin(
        "acme", vendor="Acme Inc.", version="0.1", device_type="npu", devices=[prototype.HostDevice()]
    )

    @plugin.kernel("exp", dtypes=["float32"])
    def exp(x):
        return numpy.exp(x)

    device_api_plugin = plugin.entry

A manifest that names the Python file as its library makes it a plugin like others.
"""

from __future__ import annotations

from device_api.prototype.device import Device, HostDevice
from device_api.prototype.failures import Failure
from device_api.prototype.plugin import Plugin

__all__ = ["Device", "Failure", "HostDevice", "Plugin"]
