"""Reads a plugin's manifest: a small JSON file that says who the plugin is without opening it.

Manifests come from anywhere, so everything is checked: kind and size of the file, depth, duplicate keys,
types, patterns, and that the library lies beside the manifest or is named by an absolute path. A fault is a
`ManifestError` that names the file and the field; nothing else leaves this module, so a bad manifest cannot
hurt its neighbours.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from device_api.errors import ManifestError

FORMAT_VERSION = "1"
MAX_BYTES = 64 * 1024
MAX_DEPTH = 16
MAX_TEXT = 256

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
DEVICE_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = ("file_format_version", "name", "device_type", "library", "vendor", "version", "sha256")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)


@dataclass(frozen=True)
class Manifest:
    """A valid manifest. `library` is absolute; `unknown` names keys that this version does not know."""

    path: Path
    name: str
    device_type: str
    library: Path
    vendor: str
    version: str
    sha256: str | None
    unknown: tuple[str, ...]


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Reads and validates one manifest. Raises ManifestError and nothing else."""
    file = Path(os.path.abspath(path))
    content = _parse(file, _load(file))
    if not isinstance(content, dict):
        raise _error(file, None, f"it holds {_kind(content)}, not an object")
    version = content.get("file_format_version")
    if version != FORMAT_VERSION:
        raise _error(
            file, "file_format_version", f'it is {_shown(version)}, this host reads "{FORMAT_VERSION}"'
        )
    digest = content.get("sha256")
    if digest is not None and not (isinstance(digest, str) and _SHA256.fullmatch(digest.lower())):
        raise _error(file, "sha256", "it must be 64 hexadecimal digits")
    return Manifest(
        path=file,
        name=_text(file, content, "name", NAME),
        device_type=_text(file, content, "device_type", DEVICE_TYPE),
        library=_library(file, _text(file, content, "library")),
        vendor=_text(file, content, "vendor"),
        version=_text(file, content, "version"),
        sha256=digest.lower() if isinstance(digest, str) else None,
        unknown=tuple(str(key) for key in content if key not in _KEYS),
    )


def _load(file: Path) -> str:
    try:
        # Not blocking: a named pipe in a plugin folder must not stop the scan.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise _error(file, None, "it is no regular file")
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _error(file, None, getattr(error, "strerror", None) or str(error)) from error
    if len(data) > MAX_BYTES:
        raise _error(file, None, f"it is larger than {MAX_BYTES} bytes")
    if not data.strip():
        raise _error(file, None, "it is empty")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error(file, None, f"it is not UTF-8 text ({error.reason} at byte {error.start})") from error


def _parse(file: Path, text: str) -> object:
    depth = deepest = 0
    for mark in _STRING.sub("", text):
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise _error(file, None, f"it is nested {deepest} deep, at most {MAX_DEPTH} is read")

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(items)
        if len(result) != len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise _error(file, twice, "the key is given twice")
        return result

    try:
        content: object = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise _error(file, None, f"it is not JSON ({error})") from error
    return content


def _text(file: Path, content: dict[str, object], key: str, pattern: re.Pattern[str] | None = None) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _error(
            file, key, "it is missing" if key not in content else f"it is {_shown(value)}, not a text"
        )
    if len(value) > MAX_TEXT or not value.isprintable():
        raise _error(file, key, f"it must be at most {MAX_TEXT} printable characters")
    if pattern is not None and not pattern.fullmatch(value):
        raise _error(file, key, f"{value!r} does not match {pattern.pattern}")
    return value


def _library(file: Path, value: str) -> Path:
    """The library's absolute path. A name is never searched for: it lies beside the manifest."""
    if os.path.isabs(value):
        return Path(value)
    library = Path(os.path.normpath(file.parent / value))
    if file.parent not in library.parents:
        raise _error(file, "library", f"{value!r} leaves the manifest's folder")
    return library


def _error(file: Path, field: str | None, why: str) -> ManifestError:
    where = f"{file}, key {field!r}" if field else str(file)
    return ManifestError(
        "cannot read plugin manifest",
        subject=where,
        why=why,
        remedy="Correct the file, or remove it from the plugin path.",
        path=str(file),
        field=field,
    )


def _kind(value: object) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


def _shown(value: object) -> str:
    return repr(value)[:60]
