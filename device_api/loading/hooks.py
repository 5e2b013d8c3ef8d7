"""The hook manager of the project "device_api": how Python code takes part in finding and allowing plugins.

Nothing is imported from vendors here. A program that wants hooks registers its own object with `manager()`;
as long as nobody has, `active()` is None and pluggy is not even imported. The specifications stand in
`hookspecs`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pluggy

PROJECT = "device_api"

_lock = threading.Lock()
_manager: pluggy.PluginManager | None = None


def manager() -> pluggy.PluginManager:
    """The manager, made at the first call. Implementations are marked with
    `pluggy.HookimplMarker("device_api")`.
    """
    global _manager
    with _lock:
        if _manager is None:
            import pluggy

            from device_api.loading import hookspecs

            made = pluggy.PluginManager(PROJECT)
            made.add_hookspecs(hookspecs)
            _manager = made
        return _manager


def active() -> pluggy.PluginManager | None:
    """The manager if somebody has asked for it, else None."""
    return _manager
