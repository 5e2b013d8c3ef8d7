"""Layers: function tables over a plugin's function tables, to check, record, break or count its calls.

    DEVICE_API_LAYERS="validate,trace" python program.py

or, before a device type is first used, `layers.use("npu", ["validate"])`; `layers.wrap` puts layers over one
opened plugin. The first layer of a list is nearest to the host. Calls run in native code from end to end;
Python configures the layers and reads what they found.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device_api.layers.reports import Finding, SlotStatistics, findings, statistics, table
    from device_api.layers.selection import use
    from device_api.layers.stack import Layer, LayeredPlugin, parse, wrap

__all__ = [
    "Finding",
    "Layer",
    "LayeredPlugin",
    "SlotStatistics",
    "findings",
    "parse",
    "statistics",
    "table",
    "use",
    "wrap",
]

_MODULES = {
    "Finding": "reports",
    "SlotStatistics": "reports",
    "findings": "reports",
    "statistics": "reports",
    "table": "reports",
    "use": "selection",
    "Layer": "stack",
    "LayeredPlugin": "stack",
    "parse": "stack",
    "wrap": "stack",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
