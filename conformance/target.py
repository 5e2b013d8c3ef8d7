"""The plugin under test, opened through device_api.loading and used through its C tables.

A target is a device string ("cpu", "npu:1") or a path of a library or manifest. Nothing is opened before a
case asks for it, because opening is itself something a bad plugin gets wrong. The host's planner, allocator
and tensors are not involved: what is measured is the plugin and nothing else.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import device_api.loading as loading
from conformance.case import Failure, NotSupported
from conformance.selection import UsageError
from device_api.abi import constants
from device_api.errors import DeviceApiError, DeviceUnavailable, InvalidDevice, ManifestError, PluginNotFound
from device_api.loading.host import HostServices
from device_api.loading.manifest import read_manifest

_DEVICE = re.compile(r"(?P<type>[a-z][a-z0-9_]*)(:(?P<index>\d{1,9}))?")
_MANIFEST_SUFFIXES = (".json", ".manifest")
_LIBRARY_SUFFIXES = (".so", ".dylib", ".dll", ".py", *_MANIFEST_SUFFIXES)


class Unavailable(Exception):
    """There is no device to test: no such plugin, no driver, no device with that number."""


class CallFailed(Exception):
    """A slot of the plugin returned an error."""

    def __init__(self, entry: str, code: int, message: str) -> None:
        super().__init__(f"{entry} failed with {status_name(code)}: {message}")
        self.entry, self.code, self.message = entry, code, message


def status_name(code: int) -> str:
    """The name of a status code, for example OUT_OF_MEMORY."""
    for name, value in vars(constants).items():
        if name.startswith("DA_STATUS_") and value == code and code < constants.DA_STATUS_VENDOR:
            return name.removeprefix("DA_STATUS_")
    return f"vendor status {code:#x}" if code >= constants.DA_STATUS_VENDOR else f"status {code}"


@dataclass(frozen=True, slots=True)
class Location:
    """What a target's text stands for, found without opening anything."""

    spec: str
    library: Path
    index: int
    device_type: str | None = None
    manifest: Path | None = None

    @property
    def is_path(self) -> bool:
        return self.device_type is None


def locate(spec: str) -> Location:
    """Raises UsageError for a text that is neither a device string nor an existing file, Unavailable when no
    plugin offers the device type."""
    path, _, number = spec.rpartition(":")
    if path and number.isdecimal() and Path(path).is_file():
        return _of_file(spec, Path(path), int(number))
    if Path(spec).is_file():
        return _of_file(spec, Path(spec), 0)
    if os.sep in spec or spec.endswith(_LIBRARY_SUFFIXES):
        kind = "a directory" if Path(spec).is_dir() else "no such file"
        raise UsageError(f"target {spec!r}: {kind}; give a device string, a library or a manifest")
    match = _DEVICE.fullmatch(spec)
    if match is None:
        raise UsageError(f"target {spec!r} is neither a device string such as npu:0 nor a file")
    try:
        record = loading.find_record(match["type"])
    except PluginNotFound as error:
        raise Unavailable(str(error)) from error
    except InvalidDevice as error:
        raise UsageError(str(error)) from error
    except DeviceApiError as error:
        raise Unavailable(str(error)) from error
    return Location(spec, record.library, int(match["index"] or 0), match["type"], record.manifest)


def _of_file(spec: str, path: Path, index: int) -> Location:
    if path.suffix not in _MANIFEST_SUFFIXES:
        return Location(spec, path, index)
    try:
        return Location(spec, read_manifest(path).library, index, manifest=path)
    except ManifestError:
        return Location(spec, path, index, manifest=path)  # what is wrong with it is for a case to say


@dataclass(frozen=True, slots=True)
class Claim:
    """One kernel of the plugin's list, copied out of C. `pointer` is the `const da_kernel *`."""

    index: int
    op: str
    dtypes: tuple[int, ...]
    flags: int
    priority: int
    pointer: Any

    def has(self, flag: int) -> bool:
        return bool(self.flags & flag)

    @property
    def prepares(self) -> bool:
        """Whether the kernel offers to prepare its launches."""
        return bool(self.pointer.prepare)


class Target:
    """The lazily opened plugin and one of its devices."""

    def __init__(self, spec: str) -> None:
        self.location = locate(spec)
        self._lock = threading.RLock()

    @cached_property
    def library_path(self) -> Path:
        """The library file; of a manifest, the one that it names. Opens nothing."""
        location = self.location
        if location.is_path and location.manifest is not None:
            try:
                return loading.register_plugin(location.manifest).library
            except DeviceApiError as error:
                raise Failure(f"the manifest cannot be used: {error}") from error
        return location.library

    @cached_property
    def plugin(self) -> loading.Plugin:
        """The plugin: negotiated and validated, not yet initialised."""
        try:
            return self._open()
        except DeviceUnavailable as error:
            raise Unavailable(str(error)) from error
        except DeviceApiError as error:
            raise Failure(f"the plugin cannot be loaded: {error}") from error

    def _open(self) -> loading.Plugin:
        if self.location.device_type is not None:
            return loading.load_plugin(self.location.device_type)
        return loading.open_library(self.library_path)

    @cached_property
    def host(self) -> HostServices:
        return HostServices()

    @cached_property
    def started(self) -> loading.Plugin:
        """The plugin, initialised."""
        try:
            self.plugin.initialize(self.host.address)
        except DeviceUnavailable as error:
            raise Unavailable(str(error)) from error
        except DeviceApiError as error:
            raise Failure(f"initialize failed: {error}") from error
        self._declare()
        return self.plugin

    def _declare(self) -> None:
        """The plugin's custom ops become ops of this process."""
        from conformance.declared import prepare

        try:
            prepare(self)
        except DeviceApiError as error:
            raise Failure(f"the plugin's custom ops cannot be used: {error}") from error

    @property
    def ffi(self) -> Any:
        return self.plugin.ffi

    # --- calls -------------------------------------------------------------------------------------

    def check(self, error: Any, entry: str) -> None:
        """NULL passes; an error is read, destroyed and raised as CallFailed."""
        if error == self.ffi.NULL:
            return
        errors = self.plugin.descriptor.errors
        code = int(errors.code(error))
        text = errors.message(error)
        message = "" if text == self.ffi.NULL else self.ffi.string(text).decode(errors="replace")
        errors.destroy(error)
        raise CallFailed(entry, code, message)

    def expect(self, error: Any, entry: str) -> None:
        """Like `check`, for calls that must succeed: raises Failure."""
        try:
            self.check(error, entry)
        except CallFailed as failed:
            raise Failure(str(failed), {"code": failed.code, "entry": entry}) from failed

    # --- interfaces ----------------------------------------------------------------------------------

    def interface(self, name: str) -> Any:
        """The table of an interface; NotSupported when the plugin has none."""
        table = self.optional_interface(name)
        if table is None:
            raise NotSupported(f"the {name} interface is not implemented")
        return table

    def optional_interface(self, name: str) -> Any | None:
        try:
            return self.started.interface(name)
        except DeviceApiError as error:
            raise Failure(f"the {name} interface is malformed: {error}") from error

    @cached_property
    def devices(self) -> Any:
        return self.interface("device")

    @cached_property
    def memory(self) -> Any:
        return self.interface("memory")

    @cached_property
    def kernels(self) -> Any:
        return self.interface("kernel")

    @property
    def streams(self) -> Any:
        return self.interface("stream")

    # --- the device -----------------------------------------------------------------------------------

    @cached_property
    def count(self) -> int:
        out = self.ffi.new("uint32_t *")
        self.expect(self.devices.count(out), "device.count")
        return int(out[0])

    @cached_property
    def device(self) -> Any:
        """The handle of the device under test."""
        index = self.location.index
        if index >= self.count:
            raise Unavailable(
                f"{self.plugin.device_type}:{index} does not exist: the plugin has {self.count} devices"
            )
        out = self.ffi.new("da_device **")
        try:
            self.check(self.devices.open(index, out), "device.open")
        except CallFailed as failed:
            if failed.code == constants.DA_STATUS_UNAVAILABLE:
                raise Unavailable(str(failed)) from failed
            raise Failure(str(failed)) from failed
        if out[0] == self.ffi.NULL:
            raise Failure("device.open succeeded and gave no device")
        return out[0]

    @cached_property
    def properties(self) -> Any:
        """`da_device_properties` of the device."""
        out = self.ffi.new("da_device_properties *")
        out.struct_size = self.ffi.sizeof("da_device_properties")
        self.expect(self.devices.properties(self.device, out), "device.properties")
        return out

    def synchronize(self) -> None:
        if self.devices.synchronize != self.ffi.NULL:
            self.expect(self.devices.synchronize(self.device), "device.synchronize")

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Every kernel of the device, in the order of the plugin's list."""
        return tuple(self._claims())

    def _claims(self) -> Iterator[Claim]:
        ffi = self.ffi
        out = ffi.new("da_kernel_list *")
        out.struct_size = ffi.sizeof("da_kernel_list")
        self.expect(self.kernels.list(self.device, out), "kernel.list")
        if out.count and (out.first == ffi.NULL or out.stride < 104):
            raise Failure(
                f"kernel.list gives {out.count} kernels, first {out.first}, stride {out.stride}: not a list"
            )
        first = ffi.cast("char *", out.first)
        for index in range(out.count):
            kernel = ffi.cast("const da_kernel *", first + index * out.stride)
            if kernel.op == ffi.NULL or kernel.launch == ffi.NULL:
                raise Failure(f"kernel {index} of the list has no op name or no launch function")
            op = ffi.string(kernel.op).decode(errors="replace")
            masks = tuple(int(mask) for mask in kernel.dtypes)
            yield Claim(index, op, masks, int(kernel.flags), int(kernel.priority), kernel)

    def facts(self) -> dict[str, Any]:
        """What the report says about plugin and device; opens the device."""
        properties, plugin = self.properties, self.plugin

        def text(pointer: Any) -> str:
            return "" if pointer == self.ffi.NULL else self.ffi.string(pointer).decode(errors="replace")

        return {
            "plugin": plugin.name,
            "vendor": plugin.vendor,
            "version": plugin.version,
            "device_type": plugin.device_type,
            "abi": list(plugin.abi),
            "library": str(plugin.path),
            "device": text(properties.name),
            "driver_version": text(properties.driver_version),
            "runtime_version": text(properties.runtime_version),
            "total_memory": int(properties.total_memory),
            "max_rank": int(properties.max_rank),
            "kernels": len(self.claims),
        }
