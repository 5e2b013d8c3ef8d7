"""The hooks of the project "device_api", as pluggy specifications.

Both are called when plugins are searched for or loaded, never when the package is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import pluggy

from device_api.loading.records import PluginRecord

hookspec = pluggy.HookspecMarker("device_api")


@hookspec
def device_api_plugin_manifests() -> Iterable[str | os.PathLike[str]]:
    """Paths of further manifests or libraries, as if they were in DEVICE_API_PLUGIN_PATH."""
    raise NotImplementedError  # a specification has no body of its own


@hookspec(firstresult=True)
def device_api_plugin_veto(record: PluginRecord) -> str | None:
    """A reason not to load `record`, or None. The first reason counts."""
