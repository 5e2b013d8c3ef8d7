"""Device strings and the devices behind them.

"npu:0" names device 0 of the plugin that offers the type "npu"; "npu" alone means index 0. The first use of a
string opens the plugin's library and the device; both stay open. Each thread has a current device, which
starts at the default of the process ("cpu"). A device never silently becomes another: what cannot be had is
an error that lists what can. This module joins loading and the native core; it knows no ops.
"""

from __future__ import annotations

import difflib
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from device_api import _core, loading
from device_api.errors import DeviceApiError, DeviceUnavailable, ForkedProcess, InvalidDevice

if TYPE_CHECKING:
    from device_api.loading import Plugin

DeviceLike = str | _core.Device
DEFAULT_DEVICE = "cpu"
INTERFACES = ("device", "memory", "kernel", "stream", "random", "capture")

_FORM = re.compile(r"([a-z][a-z0-9_]*)(?::(0|[1-9][0-9]{0,9}))?", re.ASCII)
_LONGEST_SPEC = 80

_lock = threading.RLock()
# Called with a plugin that has been initialised, before a device of it is used; each does its work once.
_when_ready: list[Callable[[Plugin], None]] = []
_opened: dict[tuple[str, int], _core.Device] = {}
_owner_pid: int | None = None
_process_default: _core.Device | None = None


class _Current(threading.local):
    device: _core.Device | None = None


_current = _Current()


def parse(spec: object) -> tuple[str, int | None]:
    """Splits a device string into type and index; no plugin is looked at.

    Raises `InvalidDevice` for anything but a lower-case name, alone or with one colon and an index.
    """
    found = _FORM.fullmatch(spec) if isinstance(spec, str) else None
    if found is None:
        shown = repr(spec)
        raise InvalidDevice(
            "not a device string",
            subject=shown if len(shown) <= _LONGEST_SPEC else f"{shown[:_LONGEST_SPEC]}…",
            why="a device is a lower-case type, alone or with an index, such as 'cpu' or 'npu:0'",
            remedy=_suggestion(spec),
            spec=spec,
        )
    return found[1], None if found[2] is None else int(found[2])


def _suggestion(spec: object) -> str:
    types = device_types()
    if isinstance(spec, str):
        near = difflib.get_close_matches(spec.strip().lower().partition(":")[0][:_LONGEST_SPEC], types, n=1)
        if near:
            return f"Did you mean {near[0]!r}?"
    return f"Device types are {', '.join(types)}."


def device_types() -> tuple[str, ...]:
    """The device types of all known plugins, sorted. Opens no library."""
    known = {record.device_type for record in loading.plugin_records() if record.device_type is not None}
    return tuple(sorted(known))


def device(spec: DeviceLike) -> _core.Device:
    """The device a string names, opened at its first use; a device is given back as it is.

    Raises `InvalidDevice` (malformed, or an index out of range), `PluginNotFound` (no plugin offers the
    type), `DeviceUnavailable` (the plugin is there, the device is not usable), `ForkedProcess`, and what
    opening a library can raise.
    """
    if isinstance(spec, _core.Device):
        return spec
    kind, number = parse(spec)
    index = number or 0
    found = _opened.get((kind, index))
    if found is not None and _owner_pid == os.getpid():
        return found
    with _lock:
        _check_process(spec)
        found = _opened.get((kind, index))
        if found is None:
            found = _open(kind, index, spec)
            _opened[kind, index] = found
        return found


def _check_process(spec: object) -> None:
    global _owner_pid
    if _opened and _owner_pid != os.getpid():
        raise ForkedProcess(
            "devices were opened before this process was forked",
            subject=spec,
            why="drivers and threads of the parent do not survive a fork",
            remedy='Start workers with multiprocessing.get_context("spawn"), or fork before the first use.',
            device=str(spec),
            owner_pid=_owner_pid,
        )
    _owner_pid = os.getpid()


def when_ready(callback: Callable[[Plugin], None]) -> None:
    """Has boxes above look at each plugin that has been initialised. What the callback raises, opening the
    device raises; it is called again at the next attempt."""
    _when_ready.append(callback)


def _ready(kind: str) -> Plugin:
    plugin = loading.load_plugin(kind)
    plugin.initialize(_core.host_table_address())
    for callback in _when_ready:
        callback(plugin)
    return plugin


def _open(kind: str, index: int, spec: str) -> _core.Device:
    plugin = _ready(kind)
    count = plugin.device_count()
    if count == 0:
        raise DeviceUnavailable(
            f"the plugin {plugin.name} has no device",
            subject=spec,
            why="it was initialised without an error and counts 0 devices",
            remedy="Check that the hardware is present and visible to this process.",
            device=spec,
            spec=spec,
            reason="no devices",
        )
    if index >= count:
        names = ", ".join(f"{kind}:{i}" for i in range(min(count, 8))) + (", …" if count > 8 else "")
        raise InvalidDevice(
            "device index out of range",
            subject=spec,
            why=f"the plugin {plugin.name} has {count} device{'s' if count > 1 else ''}: {names}",
            device=spec,
            spec=spec,
        )
    return open_on(plugin, index)


def open_on(plugin: Plugin, index: int) -> _core.Device:
    """Opens a device of a plugin that has been initialised, whether or not a device string leads to it. Each
    call gives a device of its own, with its own allocator."""
    handle = plugin.open_device(index)
    tables = {name: address for name in INTERFACES if (address := plugin.table_address(name))}
    properties = dict(plugin.properties(index))
    properties["interfaces"] = tuple(tables)
    kind = plugin.device_type
    opened = _core.Device(kind, index, _address(plugin, handle), tables, plugin.errors_address, properties)
    # Tensors may outlive the plugin at exit; from its end on they must not call into it.
    plugin.before_shutdown(lambda: plugin.leave_memory(opened.retire()))
    return opened


def _address(plugin: Plugin, pointer: Any) -> int:
    return int(plugin.ffi.cast("uintptr_t", pointer))


def device_count(kind: str) -> int:
    """How many devices a type has; opens its plugin. Raises as `device` does, but never for zero."""
    name, _ = parse(kind)
    return _ready(name).device_count()


def is_available(kind: str) -> bool:
    """Whether a type has at least one usable device. Opens its plugin; any failure of that counts as no.

    Raises only for text that is no device string.
    """
    name, index = parse(kind)
    try:
        return device_count(name) > (index or 0)
    except DeviceApiError:
        return False


def devices(kind: str | None = None) -> tuple[_core.Device, ...]:
    """All devices of a type, opened; without a type, of every plugin that is usable here."""
    if kind is not None:
        name, _ = parse(kind)
        return tuple(device(f"{name}:{index}") for index in range(device_count(name)))
    usable = [name for name in device_types() if is_available(name)]
    return tuple(device(f"{name}:{index}") for name in usable for index in range(device_count(name)))


def opened_devices() -> tuple[_core.Device, ...]:
    """The devices in use so far, in the order of their names."""
    return tuple(_opened[key] for key in sorted(_opened))


def get_device() -> _core.Device:
    """The device of this thread: what `set_device` or `default_device` chose, else the process default."""
    return _current.device or get_default_device()


def set_device(spec: DeviceLike) -> _core.Device:
    """Chooses the device on which this thread makes new tensors; raises as `device` does, and then changes
    nothing. Other threads keep theirs."""
    _current.device = device(spec)
    return _current.device


@contextmanager
def default_device(spec: DeviceLike) -> Iterator[_core.Device]:
    """A block in which this thread has another device."""
    before = _current.device
    chosen = set_device(spec)
    try:
        yield chosen
    finally:
        _current.device = before


def get_default_device() -> _core.Device:
    """The device with which threads start."""
    return _process_default or device(DEFAULT_DEVICE)


def set_default_device(spec: DeviceLike) -> _core.Device:
    """Chooses the device with which threads start that have chosen none of their own."""
    global _process_default
    _process_default = device(spec)
    return _process_default


def resolve(spec: DeviceLike | None) -> _core.Device:
    """A device argument: None means the device of this thread."""
    return get_device() if spec is None else device(spec)


def device_properties(spec: DeviceLike | None = None) -> dict[str, Any]:
    """Facts about a device: name, total_memory in bytes, dtypes as a bit set, max_rank and more."""
    return dict(resolve(spec).properties)


def synchronize(spec: DeviceLike | None = None) -> None:
    """Waits until a device has done all its work, and raises what failed in it."""
    resolve(spec).synchronize()
