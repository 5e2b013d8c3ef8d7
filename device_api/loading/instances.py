"""The libraries that this process has open, each once, by the identity of the file.

A library that fails negotiation is closed and forgotten, so that a corrected file can be tried at once. One
that has passed stays open for ever: its code may have threads, and unloading it has crashed more programs
than it has helped. Plugins that have started are ended at exit, the last one first, each within a time
limit. After a fork the child gets fresh locks; whether it may use a plugin is for the plugin to say.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from importlib import import_module
from pathlib import Path

from device_api.errors import PluginLoadError
from device_api.loading import environment
from device_api.loading import library as libraries
from device_api.loading.negotiate import negotiate
from device_api.loading.plugin import Plugin
from device_api.loading.records import Identity, identity_of

SHUTDOWN_SECONDS = 5.0
_LAYERS = "device_api.layers.selection"

_log = logging.getLogger("device_api.loading")
_lock = threading.Lock()  # guards the dictionaries; never held while a plugin's code runs
_opening: dict[Identity, threading.Lock] = {}
_plugins: dict[Identity, Plugin] = {}
_started: list[_Ending] = []


class _Ending:
    """The end of one plugin, on a thread of its own so that it can be given up.

    The thread waits from the start of the plugin, because Python starts none while it exits.
    """

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self._begin = threading.Event()
        self._done = threading.Event()
        threading.Thread(target=self._work, name=f"end of {plugin.name}", daemon=True).start()

    def run(self, seconds: float) -> bool:
        """Ends the plugin; False when that takes longer than `seconds`."""
        self._begin.set()
        return self._done.wait(seconds)

    def _work(self) -> None:
        self._begin.wait()
        try:
            self.plugin.shutdown()
        except Exception as error:
            _log.warning("%s", error)
        self._done.set()


def open_library(path: str | os.PathLike[str]) -> Plugin:
    """Opens, negotiates and validates one file; the same file gives the same plugin. It is not initialised.

    Raises PluginLoadError, AbiMismatch. Threads that open one library at once wait for the first of them.
    """
    file = Path(os.path.abspath(path))
    identity = identity_of(file)
    if identity is None:
        # Says "no such file" and the like; with no identity there is nothing to share.
        libraries.open_now(file)
        raise PluginLoadError("cannot load plugin", subject=file, why="it disappeared", path=str(file))
    with _lock:
        opening = _opening.setdefault(identity, threading.Lock())
    with opening:
        known = _plugins.get(identity)
        if known is not None:
            return known
        handle = libraries.open_now(file)
        try:
            plugin = _interposed(Plugin(negotiate(file, handle)))
        except BaseException:
            libraries.close(handle)
            raise
        plugin.on_started = _note_started
        with _lock:
            _plugins[identity] = plugin
        return plugin


def _interposed(plugin: Plugin) -> Plugin:
    """The plugin under the layers that the environment or the program asks for.

    Layers stand above loading. They are imported here, by name, only when they are asked for.
    """
    if environment.read("DEVICE_API_LAYERS") is None and _LAYERS not in sys.modules:
        return plugin
    layered: Plugin = import_module(_LAYERS).interpose(plugin)
    return layered


def opened() -> tuple[Plugin, ...]:
    """The plugins that are open, in the order of opening."""
    with _lock:
        return tuple(_plugins.values())


def _note_started(plugin: Plugin) -> None:
    ending = _Ending(plugin)
    with _lock:
        if not _started:
            atexit.register(shutdown_all)
        _started.append(ending)


def shutdown_all(seconds: float = SHUTDOWN_SECONDS) -> None:
    """Ends every started plugin, the last one first; one that takes longer than `seconds` is left behind."""
    while True:
        with _lock:
            if not _started:
                return
            ending = _started.pop()
        if not ending.run(seconds):
            path = ending.plugin.path
            _log.warning("%s did not end within %g seconds and is left behind", path, seconds)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _opening.clear()
    _started.clear()  # what the parent started is the parent's to end
    for plugin in _plugins.values():
        plugin.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
