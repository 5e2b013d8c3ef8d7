"""What is known of a plugin before its library is opened.

A record comes from a manifest, an entry point or a bare path, and carries what was wrong with it, so that
one bad plugin can be listed beside its neighbours instead of hiding them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from device_api.errors import PluginError

Origin = Literal["builtin", "entry point", "path", "registered"]
Identity = tuple[int, int]


@dataclass(frozen=True)
class PluginRecord:
    """One plugin as found. `device_type` is None when only a library's path is known.

    `error` says why it cannot be used; it is raised when somebody asks for this plugin by name.
    """

    name: str
    device_type: str | None
    library: Path
    origin: Origin
    manifest: Path | None = None
    vendor: str | None = None
    version: str | None = None
    sha256: str | None = None
    error: PluginError | None = field(default=None, compare=False)

    @property
    def problem(self) -> str | None:
        """Why the plugin cannot be used, in words; None when nothing is known against it."""
        return None if self.error is None else str(self.error)


def identity_of(path: str | os.PathLike[str]) -> Identity | None:
    """(device, inode) of the real file, the same for every spelling of its path; None when there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino)
