"""Which layers stand over which device type: DEVICE_API_LAYERS, and what the program asked for.

Loading calls `interpose` for each library that it opens, when the variable is set or this module is in use;
nothing of the layers is imported otherwise. At the end of the process, after the plugins have ended, what
the layers found is said once.
"""

from __future__ import annotations

import atexit
import sys
from threading import Lock

from device_api.errors import PluginError
from device_api.layers import reports
from device_api.layers.stack import Layer, Layers, parse, wrap
from device_api.loading import environment, instances
from device_api.loading.plugin import Plugin

ALL = "*"

_lock = Lock()
_chosen: dict[str, tuple[Layer, ...]] = {}
_summary_at_exit = False


def use(device_type: str, layers: Layers) -> None:
    """Has a device type (or "*": every one) opened under these layers, instead of those of the environment.

    An empty list means none. Raises PluginError when a plugin of that type is open already, or the layers
    cannot be read.
    """
    wanted = parse(layers)
    for plugin in instances.opened():
        if device_type in (ALL, plugin.device_type):
            raise PluginError(
                "cannot choose layers",
                subject=repr(device_type),
                why=f"{plugin.path} is open, and layers must see every call from the first on",
                remedy="Call layers.use() before the first use of the device type.",
                path=str(plugin.path),
            )
    with _lock:
        _chosen[device_type] = wanted


def layers_of(device_type: str) -> tuple[Layer, ...]:
    """The layers that a plugin of this type would get now."""
    with _lock:
        for key in (device_type, ALL):
            if key in _chosen:
                return _chosen[key]
    return parse(environment.read("DEVICE_API_LAYERS") or "")


def interpose(plugin: Plugin) -> Plugin:
    """The plugin under the layers chosen for its type; itself when there are none."""
    global _summary_at_exit
    layers = layers_of(plugin.device_type)
    if not layers:
        return plugin
    layered = wrap(plugin, layers)
    with _lock:
        if not _summary_at_exit:
            # Registered before any plugin starts, hence run after all of them have ended.
            atexit.register(_summary)
            _summary_at_exit = True
    return layered


def _summary() -> None:
    for text in reports.summaries():
        print(text, file=sys.stderr)
