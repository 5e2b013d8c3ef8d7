"""A plugin that has been opened and negotiated: starting it, its tables, its devices, its errors, ending it.

One object stands for one library in one process. Calls that start or end something are serialised;
everything else may come from any thread. A plugin that was initialised before a fork refuses to work in the
child, because drivers do not survive it. Which library belongs to which device type is not known here.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from device_api.abi import _tables, constants
from device_api.errors import DeviceUnavailable, ForkedProcess, InvalidDevice, PluginError, PluginFailed
from device_api.loading.negotiate import Negotiated

MAX_MESSAGE = 16 * 1024

_log = logging.getLogger("device_api.loading")
_STATUS = {
    value: name.removeprefix("DA_STATUS_")
    for name, value in vars(constants).items()
    if name.startswith("DA_STATUS_")
}


class Plugin:
    """One opened plugin.

    `ffi` and `descriptor` (const da_plugin *) give tests and layers access to everything; `library` is
    cffi's handle. `abi` is the version of the headers it was built with, `layout_digest` what its
    compiler made of them.
    """

    def __init__(self, negotiated: Negotiated) -> None:
        self.path = negotiated.path
        self.name = negotiated.name
        self.vendor = negotiated.vendor
        self.version = negotiated.version
        self.device_type = negotiated.device_type
        self.abi = negotiated.abi
        self.features = negotiated.features
        self.layout_digest = negotiated.layout_digest
        self.ffi: Any = negotiated.ffi
        self.library: Any = negotiated.library
        self.descriptor: Any = negotiated.descriptor
        self.errors: Any = negotiated.errors
        self._keep = negotiated
        self._tables: dict[str, Any] = dict(negotiated.tables)
        self._lock = threading.RLock()
        self._devices: dict[int, Any] = {}
        self._owner_pid: int | None = None
        self._ended = False
        self._before_shutdown: list[Callable[[], None]] = []
        # Called with this plugin when it has started, and when starting it has failed.
        self.on_started: Callable[[Plugin], None] | None = None
        self.on_start_failed: Callable[[Plugin], None] | None = None

    def __repr__(self) -> str:
        return f"<Plugin {self.name} {self.version} for {self.device_type!r} at {self.path}>"

    # --- life -----------------------------------------------------------------------------------

    @property
    def initialized(self) -> bool:
        """Whether `initialize` has succeeded and `shutdown` has not been called."""
        return self._owner_pid is not None and not self._ended

    def initialize(self, host_address: int) -> None:
        """Starts the plugin with the host table at `host_address` (a `da_host`, which must outlive it);
        idempotent.

        Raises DeviceUnavailable when the plugin says so, PluginFailed for any other error. It may be
        tried again.
        """
        with self._lock:
            if self.initialized:
                self._require_owner()
                return
            if self._ended:
                raise PluginError(
                    f"plugin {self.name!r} was shut down",
                    subject=self.path,
                    why="a plugin is started once per process",
                    remedy="Start a new process.",
                    path=str(self.path),
                )
            host = self.ffi.cast("const da_host *", host_address)
            try:
                self.check(self.descriptor.initialize(host), "initialize")
            except Exception:
                if self.on_start_failed is not None:
                    self.on_start_failed(self)
                raise
            self._owner_pid = os.getpid()
            if self.on_started is not None:
                self.on_started(self)

    def shutdown(self) -> None:
        """Closes the devices and ends the plugin; a second call does nothing, nor does one in a forked child.

        Raises PluginFailed when the plugin reports an error; it counts as ended all the same.
        """
        with self._lock:
            if not self.initialized or self._owner_pid != os.getpid():
                return
            while self._before_shutdown:
                callback = self._before_shutdown.pop()
                try:
                    callback()
                except Exception as problem:
                    _log.warning("%s: a callback before the end failed: %s", self.path, problem)
            self._ended = True
            close = self._tables["device"].close
            devices, self._devices = self._devices, {}
            for index in sorted(devices, reverse=True):
                if error := self.take_error(close(devices[index])):
                    _log.warning("%s: closing device %d failed: %s", self.path, index, error[1])
            self.check(self.descriptor.shutdown(), "shutdown")

    def before_shutdown(self, callback: Callable[[], None]) -> None:
        """Has `callback` called when the plugin is about to end, while its devices are still open; last one
        first.

        Whoever holds handles of the plugin gives them up there: afterwards no call may reach it. An
        exception is logged and stops nothing.
        """
        with self._lock:
            self._before_shutdown.append(callback)

    def leave_memory(self, handles: Sequence[int]) -> None:
        """Says, right before the end, which memory stays allocated on purpose: others may look at it by its
        address. The plugin is not told; layers that look for leaks are.
        """

    def after_fork(self) -> None:
        """Gives the child a lock that no thread of the parent holds."""
        self._lock = threading.RLock()

    def _require_owner(self) -> None:
        if self._owner_pid is not None and self._owner_pid != os.getpid():
            raise ForkedProcess(
                f"cannot use {self.device_type!r} in a forked process",
                subject=self.path,
                why=f"process {self._owner_pid} initialised the plugin before it forked",
                remedy="Start workers with the 'spawn' method, or use devices only after the fork.",
                device=self.device_type,
                owner_pid=self._owner_pid,
            )

    def _require_ready(self) -> None:
        self._require_owner()
        if not self.initialized:
            raise PluginError(
                f"plugin {self.name!r} is not running",
                subject=self.path,
                why="it was shut down" if self._ended else "it has not been initialised",
                remedy="Use it before the end of the process." if self._ended else "Initialise it first.",
                path=str(self.path),
            )

    # --- tables ---------------------------------------------------------------------------------

    def interface(self, name: str, min_version: int = 1) -> Any | None:
        """The table of an interface ("memory" -> da_memory_interface *) in at least `min_version`, else
        None.

        Mandatory slots are filled; an optional slot that is missing is NULL. Raises KeyError for an
        unknown name.
        """
        if name not in _tables.INTERFACES:
            raise KeyError(f"no interface is called {name!r}; there are {', '.join(_tables.INTERFACES)}")
        table = self._tables.get(name)
        return table if table is not None and table.version >= min_version else None

    def table_address(self, name: str) -> int:
        """Address of the table of an interface, of the full size this host knows; 0 when it is missing."""
        table = self.interface(name)
        return 0 if table is None else int(self.ffi.cast("uintptr_t", table))

    @property
    def errors_address(self) -> int:
        """Address of the plugin's da_error_interface, of the full size this host knows."""
        return int(self.ffi.cast("uintptr_t", self.errors))

    def slot(self, interface: str, function: str) -> Any | None:
        """One function of an interface; None when the interface or the slot is not implemented."""
        table = self.interface(interface)
        if table is None:
            return None
        pointer = getattr(table, function)
        return None if pointer == self.ffi.NULL else pointer

    # --- devices --------------------------------------------------------------------------------

    def device_count(self) -> int:
        """Number of devices, 0 included. Raises DeviceUnavailable, PluginFailed."""
        self._require_ready()
        out = self.ffi.new("uint32_t *")
        self.check(self._tables["device"].count(out), "device.count")
        return int(out[0])

    def open_device(self, index: int) -> Any:
        """The da_device * of device `index`, opened once. Raises InvalidDevice, DeviceUnavailable,
        PluginFailed.
        """
        self._require_ready()
        with self._lock:
            if index in self._devices:
                return self._devices[index]
            count = self.device_count()
            if not 0 <= index < count:
                raise InvalidDevice(
                    "no such device",
                    subject=f"{self.device_type}:{index}",
                    why=f"the plugin has {count} device{'' if count == 1 else 's'}",
                    remedy=f"Use {self.device_type}:0 to {self.device_type}:{count - 1}." if count else None,
                    device=f"{self.device_type}:{index}",
                    spec=f"{self.device_type}:{index}",
                )
            out = self.ffi.new("da_device **")
            self.check(self._tables["device"].open(index, out), "device.open")
            if out[0] == self.ffi.NULL:
                raise self.failure(
                    "device.open", 0, f"it reported success for device {index} and gave no handle"
                )
            self._devices[index] = out[0]
            return out[0]

    def properties(self, index: int) -> dict[str, Any]:
        """The facts of device `index`, named as in da_device_properties; texts as str ("" when NULL)."""
        handle = self.open_device(index)
        out = self.ffi.new("da_device_properties *")
        out.struct_size = self.ffi.sizeof("da_device_properties")
        self.check(self._tables["device"].properties(handle, out), "device.properties")
        facts: dict[str, Any] = {}
        for name, item in self.ffi.typeof("da_device_properties").fields:
            if name in ("struct_size", "extension", "reserved"):
                continue
            value = getattr(out, name)
            facts[name] = self._string(value) if item.type.kind == "pointer" else int(value)
        return facts

    # --- errors ---------------------------------------------------------------------------------

    def take_error(self, error: Any) -> tuple[int, str] | None:
        """(code, message) of a plugin's error, which is destroyed; None for NULL, which means success."""
        if error == self.ffi.NULL:
            return None
        try:
            return int(self.errors.code(error)), self._string(self.errors.message(error))
        finally:
            self.errors.destroy(error)

    def check(self, error: Any, entry: str) -> None:
        """Raises what `error` says; NULL passes. Raises DeviceUnavailable for UNAVAILABLE, else
        PluginFailed.
        """
        taken = self.take_error(error)
        if taken is None:
            return
        code, message = taken
        if code == constants.DA_STATUS_UNAVAILABLE:
            raise DeviceUnavailable(
                f"device type {self.device_type!r} cannot be used",
                subject=f"{entry} of {self.path}",
                why=message or "the plugin gives no reason",
                remedy="Correct that, then try again.",
                device=self.device_type,
                spec=self.device_type,
                reason=message,
            )
        raise self.failure(entry, code, message)

    def failure(self, entry: str, code: int, message: str) -> PluginFailed:
        status = _STATUS.get(
            code, f"vendor code {code}" if code > constants.DA_STATUS_VENDOR else f"code {code}"
        )
        return PluginFailed(
            f"plugin {self.name!r} failed in {entry}",
            subject=self.path,
            why=f"{status}: {message or 'the plugin gives no message'}",
            path=str(self.path),
            entry=entry,
            code=code,
            message=message,
        )

    def _string(self, pointer: Any) -> str:
        if pointer == self.ffi.NULL:
            return ""
        return str(self.ffi.string(pointer, MAX_MESSAGE), "utf-8", "replace")
