"""A plugin that is a Python file: run once, and asked like a library for the symbol it offers.

What the file does when it runs is its own affair, as with a library's constructors; whatever it raises is a
`PluginLoadError` with the traceback.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import traceback
from pathlib import Path
from types import ModuleType

from device_api.errors import PluginLoadError

SUFFIX = ".py"

_lock = threading.RLock()


class PluginModule(ModuleType):
    """The module of a plugin's file. A class of its own, because cffi's libraries pass for modules."""


def open_module(path: Path) -> PluginModule:
    """The module of a plugin's file; the same one for the same path. Raises PluginLoadError."""
    name = _name(path)
    with _lock:
        known = sys.modules.get(name)
        if isinstance(known, PluginModule):
            return known
        module = PluginModule(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:
            exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
        except Exception as error:
            del sys.modules[name]
            raise PluginLoadError(
                "cannot load plugin",
                subject=path,
                why=f"running it raised {type(error).__name__}: {error}",
                remedy="Correct the file, or install what it needs.",
                path=str(path),
                detail="".join(traceback.format_exception(error)),
            ) from error
        return module


def close_module(module: PluginModule) -> None:
    """Forgets a module, so that a corrected file runs anew."""
    with _lock:
        sys.modules.pop(module.__name__, None)


def _name(path: Path) -> str:
    """A name that no other module has: two plugins may have files of one name."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return f"device_api_plugin_{path.stem}_{digest}"
