"""Device types and the plugins that serve them, for this process.

The registry joins what `search` finds with what the program registered, applies the policy, and hands out
one plugin per device type. It publishes a type only when everything has worked: a failed load changes
nothing, its first error is the one that is raised, and the next attempt starts afresh.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

from device_api.errors import (
    DuplicateDeviceType,
    ManifestError,
    PluginNotFound,
    PluginRefused,
)
from device_api.loading import child, environment, instances, policy, search
from device_api.loading.plugin import Plugin
from device_api.loading.records import Identity, PluginRecord, identity_of

QUERY_SECONDS = 10.0


class Registry:
    """See the module; one object serves the process, tests make their own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._registered: dict[Identity | Path, PluginRecord] = {}
        self._learned: dict[tuple[Identity, int], dict[str, str]] = {}
        self._plugins: dict[str, Plugin] = {}

    def register(self, path: str | os.PathLike[str], *, sha256: str | None = None) -> PluginRecord:
        """Adds a manifest or a library by hand, before everything found elsewhere. Opens nothing.

        Raises PluginLoadError or ManifestError when the file is missing or the manifest is bad.
        """
        record = search.record_of(path, "registered", sha256=sha256)
        if error := search.fault_of(record):
            raise error
        with self._lock:
            self._registered[identity_of(record.library) or record.library] = record
        return self._told(record)

    def records(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, sorted by device type, those that may not be used with their reason."""
        with self._lock:
            registered = tuple(self._registered.values())
        found = [self._told(record) for record in search.find(registered)]
        found = [
            replace(record, error=policy.selection(record)) if record.error is None else record
            for record in found
        ]
        return tuple(
            sorted(found, key=lambda r: (r.device_type is None, r.device_type or "", str(r.library)))
        )

    def find(self, device_type: str) -> PluginRecord:
        """The one usable record for a device type. Opens nothing.

        Raises PluginNotFound with what exists, DuplicateDeviceType, PluginRefused, or the fault of the only
        plugin that offers the type.
        """
        records = self.records()
        claims = [record for record in records if record.device_type == device_type]
        usable = [record for record in claims if record.error is None]
        if len(usable) > 1:
            raise self._duplicate(device_type, [str(record.library) for record in usable])
        if usable:
            return usable[0]
        for record in claims:
            if error := search.fault_of(record):
                raise error
        available = sorted({r.device_type for r in records if r.device_type is not None and r.error is None})
        near = search.near_misses(device_type, available)
        broken = [
            f"{r.library} ({r.problem})" for r in records if r.device_type is None and r.error is not None
        ]
        raise PluginNotFound(
            "no plugin offers device type",
            subject=repr(device_type),
            why="; ".join([f"available: {', '.join(available) or 'none'}", *broken[:3]]),
            remedy=f"Did you mean {' or '.join(map(repr, near))}?"
            if near
            else "Install its plugin, or name its file in DEVICE_API_PLUGIN_PATH or register_plugin().",
            device_type=device_type,
            available=tuple(available),
        )

    def load(self, device_type: str) -> Plugin:
        """The opened plugin of a device type, the same object each time; it is not initialised yet.

        Raises what `find` raises, PluginRefused, PluginLoadError, AbiMismatch, DuplicateDeviceType.
        """
        known = self._plugins.get(device_type)
        if known is not None:
            return known
        record = self._find_or_ask(device_type)
        policy.require_trust(record)
        plugin = instances.open_library(record.library)
        if plugin.device_type != device_type:
            raise ManifestError(
                "manifest and library disagree",
                subject=record.library,
                why=f"the manifest says device type {device_type!r}, the library {plugin.device_type!r}",
                remedy="Correct the manifest.",
                path=str(record.manifest or record.library),
                field="device_type",
            )
        with self._lock:
            other = self._plugins.setdefault(device_type, plugin)
            if other is not plugin:
                raise self._duplicate(device_type, [str(other.path), str(plugin.path)])
            plugin.on_start_failed = self._forget
        return plugin

    def loaded(self) -> dict[str, Plugin]:
        """Device type -> plugin, for the types in use."""
        with self._lock:
            return dict(self._plugins)

    def snapshot(self) -> tuple[object, ...]:
        """Everything the registry holds, for comparison."""
        with self._lock:
            return (tuple(self._registered.items()), tuple(self._plugins.items()))

    def after_fork(self) -> None:
        """Gives the child a lock that no thread of the parent holds."""
        self._lock = threading.RLock()

    def _forget(self, plugin: Plugin) -> None:
        with self._lock:
            if self._plugins.get(plugin.device_type) is plugin:
                del self._plugins[plugin.device_type]

    def _find_or_ask(self, device_type: str) -> PluginRecord:
        """Like `find`, after asking libraries without a manifest, in child processes, what they are."""
        try:
            return self.find(device_type)
        except PluginNotFound:
            asked = [self._ask(record) for record in self.records() if self._is_open_question(record)]
            if not any(asked):
                raise
            return self.find(device_type)

    @staticmethod
    def _is_open_question(record: PluginRecord) -> bool:
        """Whether only the library itself can say what it is; a select list may name what it will answer."""
        refused = isinstance(record.error, PluginRefused) and record.error.rule == "select list"
        return record.device_type is None and (record.error is None or refused)

    def _ask(self, record: PluginRecord) -> bool:
        key = self._key(record)
        if key is None:
            return False
        try:
            policy.require_trust(record)
        except PluginRefused:
            return False
        answer = child.run("query", record.library, deadline=QUERY_SECONDS)
        if answer.outcome != "ok":
            return False
        facts = {name: str(answer.facts[name]) for name in ("name", "device_type", "vendor", "version")}
        with self._lock:
            self._learned[key] = facts
        return True

    def _told(self, record: PluginRecord) -> PluginRecord:
        """The record, completed with what its library has answered before."""
        if record.device_type is not None:
            return record
        key = self._key(record)
        facts = None if key is None else self._learned.get(key)
        return record if facts is None else replace(record, **facts)  # type: ignore[arg-type]

    @staticmethod
    def _key(record: PluginRecord) -> tuple[Identity, int] | None:
        """Identity and time of change: an answer counts until the file is written anew."""
        try:
            status = os.stat(record.library)
        except OSError:
            return None
        return ((status.st_dev, status.st_ino), status.st_mtime_ns)

    @staticmethod
    def _duplicate(device_type: str, paths: list[str]) -> DuplicateDeviceType:
        return DuplicateDeviceType(
            f"several plugins offer device type {device_type!r}",
            subject=" and ".join(paths),
            why="one type belongs to one plugin",
            remedy="Remove one, or deny it by the name of its plugin or file in DEVICE_API_PLUGINS_DENY.",
            path=paths[0],
            device_type=device_type,
            paths=tuple(paths),
        )


REGISTRY = Registry()
environment.apply_log_level()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=REGISTRY.after_fork)


def register_plugin(path: str | os.PathLike[str], *, sha256: str | None = None) -> PluginRecord:
    """Adds a plugin by the path of its library or manifest; nothing is opened.

    `sha256` pins the library's digest (64 hexadecimal digits): another content is refused when it is loaded.
    Raises PluginLoadError, ManifestError.
    """
    return REGISTRY.register(path, sha256=sha256)


def plugin_records() -> tuple[PluginRecord, ...]:
    """Every plugin found, sorted by device type, with what is wrong with it; opens and imports nothing."""
    return REGISTRY.records()


def find_record(device_type: str) -> PluginRecord:
    """The plugin of a device type. Opens nothing.

    Raises PluginNotFound, DuplicateDeviceType, PluginRefused, or the fault of the only plugin of that type.
    """
    return REGISTRY.find(device_type)


def load_plugin(device_type: str) -> Plugin:
    """Opens the plugin of a device type at first use; later calls give the same object, not initialised.

    Raises what `find_record` raises, PluginLoadError and AbiMismatch.
    """
    return REGISTRY.load(device_type)
