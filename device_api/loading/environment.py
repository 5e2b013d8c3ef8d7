"""Every environment variable of the package, in one registry, and the only way to read one.

Each variable is tagged: `path` variables name files that would be loaded, so they are ignored, with a
warning, in a process with elevated rights; `select` variables choose among what is there; `debug` variables
change what is said. Python's own `-E` and `-I` switch all of them off. What a value means is decided by its
reader, not here.
"""

from __future__ import annotations

import os
import struct
import sys
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal["path", "select", "debug"]


@dataclass(frozen=True)
class Variable:
    """One variable: its name, how far it is trusted, and what it does, for `device-api info` and the docs."""

    name: str
    kind: Kind
    summary: str


VARIABLES: dict[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable("DEVICE_API_PLUGIN_PATH", "path", "folders, manifests and libraries to look for plugins in"),
        Variable("DEVICE_API_PLUGINS", "select", "globs: only plugins with such a name or device type"),
        Variable("DEVICE_API_PLUGINS_DENY", "select", "globs: no plugin with such a name or device type"),
        Variable("DEVICE_API_SAFE_MODE", "select", "1: only the built-in CPU plugin"),
        Variable("DEVICE_API_FALLBACK", "select", "error, warn or allow: running an op on the CPU instead"),
        Variable("DEVICE_API_FALLBACK_DENY", "select", "ops that run on the CPU though the device has them"),
        Variable("DEVICE_API_TRUST", "select", "strict, warn or off: checks of owner and mode of libraries"),
        Variable("DEVICE_API_CPU_THREADS", "select", "number of threads of the built-in CPU plugin"),
        Variable("DEVICE_API_CPU_BLAS", "path", "the library for large matrix products on the CPU"),
        Variable("DEVICE_API_LAYERS", "path", "layers over every plugin, such as validate,trace"),
        Variable("DEVICE_API_FAULT", "debug", "what the fault layer does, as slot:number:action"),
        Variable("DEVICE_API_ALLOCATOR", "debug", "caching, or direct: each tensor has memory of its own"),
        Variable("DEVICE_API_LOG", "debug", "debug, info, warning or error: what the package logs"),
    )
}

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"", "0", "false", "no", "off"})
_AT_SECURE = 23


@cache
def elevated() -> bool:
    """Whether this process has more rights than the user who started it (set-user-id, file capabilities)."""
    if hasattr(os, "getuid") and (os.getuid() != os.geteuid() or os.getgid() != os.getegid()):
        return True
    try:
        with open("/proc/self/auxv", "rb") as file:
            words = file.read()
    except OSError:
        return False
    pairs = struct.iter_unpack("@NN", words[: len(words) // 16 * 16]) if struct.calcsize("N") == 8 else ()
    return any(key == _AT_SECURE and value for key, value in pairs)


def read(name: str) -> str | None:
    """The value of a registered variable; None when it is unset or must be ignored."""
    variable = VARIABLES[name]
    if sys.flags.ignore_environment or sys.flags.isolated:
        return None
    value = os.environ.get(name)
    if value is not None and variable.kind == "path" and elevated():
        warnings.warn(
            f"{name} is ignored: this process has elevated rights, and the variable names files to load",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return value


def globs(name: str) -> tuple[str, ...]:
    """The comma-separated patterns of a variable, lower case, without blanks."""
    return tuple(item for part in (read(name) or "").split(",") if (item := part.strip().lower()))


def paths(name: str) -> tuple[str, ...]:
    """The entries of a path variable, in order, without empty ones."""
    return tuple(item for part in (read(name) or "").split(os.pathsep) if (item := part.strip()))


def flag(name: str) -> bool:
    """A switch; a value that is neither on nor off counts as on, with a warning."""
    value = (read(name) or "").strip().lower()
    if value not in _ON and value not in _OFF:
        warnings.warn(f"{name}={value!r} is read as 1: use 1 or 0", RuntimeWarning, stacklevel=2)
    return value not in _OFF


def choice(name: str, allowed: Collection[str], default: str) -> str:
    """One of `allowed`; anything else counts as `default`, with a warning."""
    value = (read(name) or "").strip().lower()
    if not value:
        return default
    if value not in allowed:
        warnings.warn(
            f"{name}={value!r} is read as {default!r}: use one of {', '.join(sorted(allowed))}",
            RuntimeWarning,
            stacklevel=2,
        )
        return default
    return value


def apply_log_level() -> None:
    """Makes the package log to standard error from the level of DEVICE_API_LOG on, when that is set."""
    level = choice("DEVICE_API_LOG", ("debug", "info", "warning", "error"), "")
    if not level:
        return
    import logging

    logger = logging.getLogger("device_api")
    logger.setLevel(level.upper())
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(levelname)s: %(message)s"))
        logger.addHandler(handler)
