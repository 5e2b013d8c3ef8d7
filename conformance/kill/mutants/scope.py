"""Which sources of the reference plugin are mutated, which are not, and why not.

Every C++ source of the folder is in, new ones too, unless it is named here: the ops level judges what kernels
compute, so what computes nothing is left to the other levels.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

# Glob of a path inside the folder -> why its mutants say nothing about the ops level.
LEFT_OUT = {
    "plugin.cpp": "the descriptor: the abi level's subject",
    "version.hpp": "a version number",
    "device.?pp": "the device interface: the runtime level's subject",
    "memory.?pp": "the memory interface: the runtime level's subject",
    "stream.?pp": "the stream interface: the runtime level's subject",
    "random.?pp": "the random interface: the runtime level's subject",
    "error.?pp": "the errors' words and their way across the border: the abi level's subject",
    "blas.?pp": "finds and opens the BLAS library; a failure there only means the plugin's own loops",
    "pool.?pp": "threads: which of them does a piece decides nothing, and its mutants differ from run to run",
}
SUFFIXES = (".cpp", ".hpp")


class NoSources(FileNotFoundError):
    """The folder holds no C++ source: an installed package has none, a checkout has."""


def sources(folder: Path) -> list[Path]:
    """Every C++ source below the folder, mutated or not, in order of path. Raises NoSources."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    if not found:
        raise NoSources(
            f"{folder} holds no C++ sources to mutate; run from a checkout of the project, since the "
            "installed package leaves them out"
        )
    return found


def is_mutated(name: str) -> bool:
    """Whether the file of this path inside the folder is mutated."""
    return not any(fnmatchcase(name, glob) for glob in LEFT_OUT)
