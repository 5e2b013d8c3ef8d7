"""Asks a freshly opened library who it is, and checks every answer before the first real call.

The order is: entry symbol, descriptor, magic, versions, sizes, texts, layout table, error interface, then
each interface the plugin offers. A fault is a `PluginLoadError` or an `AbiMismatch` that names the place as
"da_stream_interface.create". Tables that are shorter than this host knows are copied into full-size ones
filled with zero, so that everything above may treat NULL as "not implemented" and never reads past an end.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from device_api.abi import _tables, constants, versions
from device_api.errors import AbiMismatch, PluginLoadError
from device_api.loading.manifest import DEVICE_TYPE, MAX_TEXT, NAME

MANDATORY_INTERFACES = ("device", "memory", "kernel")
MAX_STRUCTS = 4096
MAX_FIELDS = 1024

_REMEDY = "The plugin is faulty: ask its vendor for a corrected build."

Layout = Mapping[str, tuple[int, tuple[int, ...]]]  # struct -> (size, offsets)


@dataclass(frozen=True)
class Negotiated:
    """A plugin's checked answers. Tables are of full size; `keep` holds the copies that some of them are."""

    path: Path
    ffi: Any
    library: Any
    descriptor: Any
    name: str
    vendor: str
    version: str
    device_type: str
    abi: tuple[int, int]
    features: int
    layout_digest: str
    errors: Any
    tables: dict[str, Any]
    keep: list[Any] = field(default_factory=list, repr=False)


def negotiate(path: Path, library: Any) -> Negotiated:
    """Checks everything that can be checked without initialising. Raises PluginLoadError, AbiMismatch."""
    from device_api.abi._declarations import ffi

    return _Negotiation(path, library, ffi).run()


class _Negotiation:
    def __init__(self, path: Path, library: Any, ffi: Any) -> None:
        self._path = path
        self._library = library
        self._ffi = ffi
        self._keep: list[Any] = []

    def run(self) -> Negotiated:
        descriptor = self._descriptor()
        abi = self._versions(descriptor)
        descriptor = self._full("da_plugin", descriptor, "the descriptor")
        texts = {key: self._text(descriptor, key) for key in ("name", "vendor", "version", "device_type")}
        for key, pattern in (("name", NAME), ("device_type", DEVICE_TYPE)):
            self._matches(key, texts[key], pattern)
        digest = self._layout(descriptor.layout, abi)
        errors = self._table("da_error_interface", descriptor.errors, "descriptor.errors")
        for slot in _tables.SLOTS["da_plugin"]:
            if getattr(descriptor, slot) == self._ffi.NULL:
                raise self._fault(f"its mandatory function da_plugin.{slot} is NULL")
        return Negotiated(
            path=self._path,
            ffi=self._ffi,
            library=self._library,
            descriptor=descriptor,
            abi=abi,
            features=int(descriptor.features),
            layout_digest=digest,
            errors=errors,
            tables=self._interfaces(descriptor),
            keep=self._keep,
            **texts,
        )

    def _descriptor(self) -> Any:
        entry_name = constants.DA_PLUGIN_ENTRY
        try:
            entry = getattr(self._library, entry_name)
        except (AttributeError, self._ffi.error) as error:
            raise self._fault(
                f"it does not export {entry_name}, so it is no plugin of device_api",
                remedy="Give the path of a plugin, or export the symbol with DA_EXPORT.",
                detail=str(error),
            ) from None
        request = self._ffi.new("da_plugin_request *")
        request.struct_size = self._ffi.sizeof("da_plugin_request")
        request.host_major, request.host_minor = versions.HOST
        descriptor = entry(request)
        if descriptor == self._ffi.NULL:
            raise AbiMismatch(
                "plugin refuses this host",
                subject=self._path,
                why=f"{entry_name} returned NULL to a host of ABI {versions.text(versions.HOST)}",
                remedy="Install a version of the plugin that supports this host.",
                path=str(self._path),
                host_version=versions.HOST,
            )
        if int(self._ffi.cast("uintptr_t", descriptor)) % self._ffi.alignof("da_plugin"):
            raise self._fault(f"{entry_name} returned a misaligned address")
        return descriptor

    def _versions(self, descriptor: Any) -> tuple[int, int]:
        if descriptor.magic != constants.DA_PLUGIN_MAGIC:
            raise self._fault(
                f"the descriptor's magic number is {descriptor.magic:#x}, not {constants.DA_PLUGIN_MAGIC:#x}"
            )
        abi = (int(descriptor.abi_major), int(descriptor.abi_minor))
        if refusal := versions.refusal(abi, int(descriptor.min_host_minor)):
            raise AbiMismatch(
                "plugin and host do not fit",
                subject=self._path,
                why=refusal,
                remedy=versions.remedy(abi),
                path=str(self._path),
                plugin_version=abi,
                host_version=versions.HOST,
            )
        return abi

    def _full(self, struct: str, pointer: Any, place: str) -> Any:
        """The struct in full size: the plugin's own, or a zero-filled copy when it is an older, shorter
        one.
        """
        size = int(pointer.struct_size)
        if not versions.accepts_size(struct, size):
            why = (
                "left at zero" if size == 0 else f"{size}, at least {_tables.MINIMUM_SIZES[struct]} is needed"
            )
            raise self._fault(f"{struct}.struct_size of {place} is {why}")
        if size >= self._ffi.sizeof(struct):
            return pointer
        copy = self._ffi.new(f"{struct} *")
        self._ffi.memmove(copy, pointer, size)
        self._keep.append(copy)
        return copy

    def _table(self, struct: str, pointer: Any, place: str) -> Any:
        """A function table in full size, with every mandatory slot filled."""
        if pointer == self._ffi.NULL:
            raise self._fault(f"{place} is NULL")
        table = self._full(struct, pointer, place)
        for slot, mandatory in _tables.SLOTS[struct].items():
            if mandatory and getattr(table, slot) == self._ffi.NULL:
                raise self._fault(f"its mandatory function {struct}.{slot} is NULL")
        return table

    def _interfaces(self, descriptor: Any) -> dict[str, Any]:
        tables: dict[str, Any] = {}
        for name, (identifier, _, struct) in _tables.INTERFACES.items():
            pointer = descriptor.get_interface(identifier.encode(), 1)
            if pointer != self._ffi.NULL:
                tables[name] = self._table(struct, self._ffi.cast(f"const {struct} *", pointer), identifier)
                if tables[name].version == 0:
                    raise self._fault(f"{struct}.version is left at zero")
            elif name in MANDATORY_INTERFACES:
                raise self._fault(f"it does not offer the mandatory interface {identifier}")
        return tables

    def _text(self, descriptor: Any, key: str) -> str:
        pointer = getattr(descriptor, key)
        if pointer == self._ffi.NULL:
            raise self._fault(f"da_plugin.{key} is NULL")
        data = self._ffi.string(pointer, MAX_TEXT + 1)
        try:
            text = str(data, "utf-8")
        except UnicodeDecodeError:
            raise self._fault(f"da_plugin.{key} is not UTF-8 text") from None
        if not text or len(data) > MAX_TEXT:
            raise self._fault(f"da_plugin.{key} must have 1 to {MAX_TEXT} bytes")
        return text

    def _matches(self, key: str, text: str, pattern: re.Pattern[str]) -> None:
        if not pattern.fullmatch(text):
            raise self._fault(f"da_plugin.{key} is {text!r}, which does not match {pattern.pattern}")

    def _layout(self, table: Any, abi: tuple[int, int]) -> str:
        if table == self._ffi.NULL:
            raise self._fault("da_plugin.layout is NULL", remedy="Set it to &da_layout of layout.h.")
        table = self._full("da_layout_table", table, "da_plugin.layout")
        plugin = self._read_layout(table)
        for problem in compare_layouts(plugin, host_layout(), older=abi < versions.HOST):
            raise self._fault(
                f"plugin and host lay out data differently, {problem}",
                remedy="Build the plugin with the headers of this package and the default structure packing.",
            )
        return digest(plugin)

    def _read_layout(self, table: Any) -> Layout:
        if not 0 < table.struct_count <= MAX_STRUCTS or table.structs == self._ffi.NULL:
            raise self._fault(f"da_plugin.layout lists {table.struct_count} structs")
        layout: dict[str, tuple[int, tuple[int, ...]]] = {}
        for i in range(table.struct_count):
            entry = table.structs[i]
            if (
                entry.name == self._ffi.NULL
                or entry.offsets == self._ffi.NULL
                or entry.field_count > MAX_FIELDS
            ):
                raise self._fault(f"entry {i} of da_plugin.layout is not filled in")
            name = self._ffi.string(entry.name, MAX_TEXT).decode("utf-8", "replace")
            layout[name] = (entry.size, tuple(self._ffi.unpack(entry.offsets, entry.field_count)))
        return layout

    def _fault(self, why: str, *, remedy: str = _REMEDY, detail: str | None = None) -> PluginLoadError:
        return PluginLoadError(
            "cannot use plugin",
            subject=self._path,
            why=why,
            remedy=remedy,
            path=str(self._path),
            detail=detail,
        )


@cache
def host_layout() -> Layout:
    """Sizes and offsets as cffi computed them from the declarations."""
    from device_api.abi._declarations import ffi

    layout: dict[str, tuple[int, tuple[int, ...]]] = {}
    for struct in _tables.MINIMUM_SIZES:
        kind = ffi.typeof(struct)
        layout[struct] = (ffi.sizeof(kind), tuple(item.offset for _, item in kind.fields))
    return layout


def compare_layouts(plugin: Layout, host: Layout, *, older: bool) -> Iterable[str]:
    """What differs between two layouts beyond appended fields; an older plugin may lack whole structs."""
    for name, (size, offsets) in host.items():
        if name not in plugin:
            if not older:
                yield f"the plugin's table does not list {name}"
            continue
        other_size, other = plugin[name]
        common = min(len(offsets), len(other))
        for i in range(common):
            if offsets[i] != other[i]:
                yield f"field {i} of {name} is at byte {other[i]} in the plugin, {offsets[i]} in the host"
        if other_size < _tables.MINIMUM_SIZES[name] or (len(offsets) == len(other) and size != other_size):
            yield f"{name} has {other_size} bytes in the plugin, {size} in the host"


def digest(layout: Layout) -> str:
    """SHA-256 over names, sizes and offsets: equal digests mean equal layouts."""
    lines = (
        f"{name} {size} {' '.join(map(str, offsets))}" for name, (size, offsets) in sorted(layout.items())
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
