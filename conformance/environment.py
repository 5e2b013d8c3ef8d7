"""Facts about where a run took place, so that another engineer can check it: versions, machine, hashes."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
from pathlib import Path

# Worker processes get this policy: an op that the device lacks is never run by the CPU in its place.
FALLBACK = "error"
# Distributions whose versions can change a verdict.
_PACKAGES = ("device_api", "numpy", "scipy", "ml_dtypes", "cffi", "mpmath")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def sha256(path: Path) -> str:
    """The hash of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def suite_version() -> str:
    """The suite's version and the hash of its own sources, so that an edited suite is seen."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for source in sorted(root.rglob("*.py")):
        digest.update(source.relative_to(root).as_posix().encode() + b"\0" + source.read_bytes())
    return f"{_version('device_api')}+{digest.hexdigest()[:12]}"


def variables() -> dict[str, str]:
    """The variables that reach host and plugin. Those of the suite's own choice are not among them."""
    found = {key: value for key, value in os.environ.items() if key.startswith("DEVICE_API_")}
    found.pop("DEVICE_API_FALLBACK", None)
    return dict(sorted(found.items()))


def describe() -> dict[str, object]:
    """Machine and versions."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "byte_order": sys.byteorder,
        "packages": {package: _version(package) for package in _PACKAGES},
        "variables": variables(),
        "fallback": FALLBACK,
    }
