"""Finds plugins: built in, by entry points whose value is data, in DEVICE_API_PLUGIN_PATH, by hooks, by
registration.

Searching reads directories, package metadata and manifests. It opens no library and imports nothing of a
vendor: the package named by an entry point is located, not imported. Whatever is wrong with one plugin
becomes the `error` of its record. The same library found twice, under any spelling, is one record; the
first place in the order above wins, except that what the user named comes first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from device_api.errors import DeviceApiError, ManifestError, PluginError, PluginLoadError
from device_api.loading import environment, hooks
from device_api.loading.manifest import read_manifest
from device_api.loading.records import Identity, Origin, PluginRecord, identity_of

ENTRY_POINT_GROUP = "device_api.plugins"
BUILTIN = ("reference_cpu", "cpu.json")
LIBRARY_SUFFIXES = (".dll",) if sys.platform == "win32" else (".so", ".dylib")


def find(registered: Iterable[PluginRecord] = ()) -> list[PluginRecord]:
    """All plugins, each once, in the order of precedence; faults stand in the records."""
    found: dict[object, PluginRecord] = {}
    for record in (*registered, *_on_path(), *_from_hooks(), *_from_entry_points(), *_builtin()):
        key: Identity | Path = identity_of(record.library) or record.library
        known = found.get(key)
        # A manifest says more than a bare path to the same library.
        if known is None or (known.device_type is None and record.device_type is not None):
            digest = None if known is None else known.sha256
            found[key] = replace(record, sha256=digest or record.sha256)
    return list(found.values())


def record_of(path: str | os.PathLike[str], origin: Origin, *, sha256: str | None = None) -> PluginRecord:
    """The record of one file, a manifest (.json) or a library; a fault is kept in it, not raised."""
    file = Path(os.path.abspath(path))
    if file.suffix == ".json":
        try:
            manifest = read_manifest(file)
        except ManifestError as error:
            return PluginRecord(file.stem, None, file, origin, manifest=file, error=error)
        record = PluginRecord(
            manifest.name,
            manifest.device_type,
            manifest.library,
            origin,
            manifest=file,
            vendor=manifest.vendor,
            version=manifest.version,
            sha256=sha256 or manifest.sha256,
        )
    else:
        record = PluginRecord(file.stem.removeprefix("lib"), None, file, origin, sha256=sha256)
    return replace(record, error=_missing(record))


def _missing(record: PluginRecord) -> PluginError | None:
    if record.library.exists():
        return None
    return PluginLoadError(
        "cannot load plugin",
        subject=record.library,
        why=f"no such file, named by {record.manifest}" if record.manifest else "no such file",
        remedy="Install the plugin again, or correct the path.",
        path=str(record.library),
    )


def _on_path() -> Iterator[PluginRecord]:
    for entry in environment.paths("DEVICE_API_PLUGIN_PATH"):
        place = Path(os.path.abspath(entry))
        if place.is_dir():
            yield from _in_folder(place)
        else:
            yield record_of(place, "path")


def _in_folder(folder: Path) -> Iterator[PluginRecord]:
    try:
        files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    except OSError as error:
        fault = PluginLoadError(
            "cannot read plugin folder",
            subject=folder,
            why=error.strerror or str(error),
            remedy="Correct its rights, or remove it from DEVICE_API_PLUGIN_PATH.",
            path=str(folder),
        )
        yield PluginRecord(folder.name, None, folder, "path", error=fault)
        return
    # Manifests first: a library that one of them describes is not listed a second time.
    yield from (record_of(file, "path") for file in files if file.suffix == ".json")
    yield from (record_of(file, "path") for file in files if file.suffix in LIBRARY_SUFFIXES)


def _from_hooks() -> Iterator[PluginRecord]:
    manager = hooks.active()
    if manager is None:
        return
    for paths in manager.hook.device_api_plugin_manifests():
        yield from (record_of(path, "registered") for path in paths)


def _from_entry_points() -> Iterator[PluginRecord]:
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda item: (item.name, item.value)):
        place = _resource(point.value)
        if isinstance(place, str):
            fault = ManifestError(
                "cannot find the manifest of an installed plugin",
                subject=f"entry point {point.name} = {point.value}",
                why=place,
                remedy="Install the plugin again, or remove it.",
                path=point.value,
            )
            yield PluginRecord(point.name, point.name, Path(point.value), "entry point", error=fault)
            continue
        record = record_of(place, "entry point")
        if record.device_type not in (None, point.name):
            fault = ManifestError(
                "entry point and manifest disagree",
                subject=place,
                why=f"the entry point says {point.name!r}, the manifest {record.device_type!r}",
                remedy="Ask the vendor for a corrected package.",
                path=str(place),
                field="device_type",
            )
            record = replace(record, error=fault)
        yield record if record.device_type else replace(record, device_type=point.name)


def _resource(value: str) -> Path | str:
    """The file that "package.sub:manifest.json" names, without importing; a text says why there is none."""
    package, _, name = value.partition(":")
    top, *rest = package.strip().split(".")
    resource = PurePosixPath(name.strip())
    if not name.strip() or resource.is_absolute() or ".." in resource.parts:
        return "its value must read 'package:manifest.json'"
    folders = _package_folders(top)
    if not folders:
        return f"there is no package {top!r}"
    for folder in folders:
        file = folder.joinpath(*rest, *resource.parts)
        if file.is_file():
            return file
    return f"there is no {resource} in package {package!r}"


def _package_folders(top: str) -> list[Path]:
    """Folders of a top-level package. Its finder is asked; nothing of the package runs."""
    from importlib.util import find_spec

    if not top.isidentifier():
        return []
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return []
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def _builtin() -> Iterator[PluginRecord]:
    package, manifest = BUILTIN
    for folder in _package_folders(package):
        file = folder / manifest
        if file.exists():
            record = record_of(file, "builtin")
            yield record if record.device_type else replace(record, device_type="cpu")
            return


def near_misses(device_type: str, available: Iterable[str]) -> list[str]:
    """Names that somebody who typed `device_type` may have meant."""
    from difflib import get_close_matches

    return get_close_matches(device_type.lower(), list(available), n=3, cutoff=0.6)


def fault_of(record: PluginRecord) -> DeviceApiError | None:
    """A fresh copy of a record's error, so that raising it twice does not join two tracebacks."""
    if record.error is None:
        return None
    copy = type(record.error).__new__(type(record.error), *record.error.args)
    copy.args = record.error.args
    copy.__dict__.update(record.error.__dict__)
    return copy
