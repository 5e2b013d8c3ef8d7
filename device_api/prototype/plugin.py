"""The plugin itself: the descriptor and its tables, built once from Python objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from device_api.abi import _tables, constants, versions
from device_api.abi._declarations import ffi
from device_api.loading.negotiate import host_layout
from device_api.prototype.device import Device
from device_api.prototype.failures import Failures
from device_api.prototype.interfaces import DeviceTable, Functions, MemoryTable, StreamTable
from device_api.prototype.kernels import DtypesLike, KernelTable
from device_api.prototype.tables import filled, guarded, text

F = TypeVar("F", bound=Callable[..., Any])


class Plugin:
    """A plugin of one device type. `devices` are its devices in order; `initialize` and `shutdown`, where
    given, are called when the host starts and ends it. `entry` is what the file must offer under the name
    device_api_plugin.
    """

    def __init__(
        self,
        name: str,
        *,
        vendor: str,
        version: str,
        device_type: str,
        devices: Sequence[Device],
        initialize: Callable[[], None] | None = None,
        shutdown: Callable[[], None] | None = None,
    ) -> None:
        self._failures = Failures()
        self._keep: list[Any] = []
        devices_table = DeviceTable(devices, lambda: self._kernels.dtypes)
        self._kernels = KernelTable(devices_table, self._failures)
        self._interfaces = {
            "device": self._table("device", devices_table.functions()),
            "memory": self._table("memory", MemoryTable(devices_table).functions()),
            "kernel": self._table("kernel", {"list": self._kernels.list}),
            "stream": self._table("stream", StreamTable().functions()),
        }
        self._hooks = (initialize, shutdown)
        texts = {"name": name, "vendor": vendor, "version": version, "device_type": device_type}
        self._descriptor = self._described(texts)

    def kernel(
        self, op: str, *, dtypes: DtypesLike = (), in_place: bool = False, priority: int = 0
    ) -> Callable[[F], F]:
        """Makes the decorated function the kernel of an op for `dtypes`: those of all type variables that
        the op takes, or an iterable for each variable. What functions look like stands in `kernels`;
        `in_place` says that one with `out` may get an input there: any for an op of one output, for others
        those that the op set pairs with the outputs."""

        def add(function: F) -> F:
            self._kernels.add(op, function, dtypes, in_place, priority)
            return function

        return add

    def entry(self, request: Any) -> Any:
        """What C calls `device_api_plugin`."""
        return self._descriptor

    def _table(self, name: str, functions: Functions) -> Any:
        struct = _tables.INTERFACES[name][2]
        calls = {slot: guarded(self._failures, function) for slot, function in functions.items()}
        return self._kept(filled(struct, calls, version=_tables.INTERFACES[name][1]))

    def _kept(self, made: tuple[Any, list[Any]]) -> Any:
        self._keep += made[1]
        return made[0]

    def _described(self, texts: dict[str, str]) -> Any:
        errors = self._kept(
            filled(
                "da_error_interface",
                {
                    "code": self._failures.code,
                    "message": self._failures.message,
                    "destroy": self._failures.destroy,
                },
            )
        )
        values = {key: text(value) for key, value in texts.items()}
        self._keep += values.values()
        major, minor = versions.HOST
        return self._kept(
            filled(
                "da_plugin",
                {
                    "initialize": guarded(self._failures, lambda host: self._call(0)),
                    "shutdown": guarded(self._failures, lambda: self._call(1)),
                    "get_interface": self._get_interface,
                },
                magic=constants.DA_PLUGIN_MAGIC,
                abi_major=major,
                abi_minor=minor,
                min_host_minor=minor,
                features=constants.DA_FEATURE_ASYNCHRONOUS,
                layout=self._layout(),
                errors=errors,
                **values,
            )
        )

    def _call(self, which: int) -> None:
        hook = self._hooks[which]
        if hook is not None:
            hook()

    def _get_interface(self, identifier: Any, min_version: int) -> Any:
        wanted = ffi.string(identifier).decode("utf-8", "replace")
        for name, table in self._interfaces.items():
            if _tables.INTERFACES[name][0] == wanted and min_version <= table.version:
                return ffi.cast("const void *", table)
        return ffi.NULL

    def _layout(self) -> Any:
        """What the host's declarations say of every struct: a prototype is made of nothing else."""
        structs = host_layout()
        array = ffi.new("da_struct_layout[]", len(structs))
        for place, (struct, (size, offsets)) in enumerate(structs.items()):
            name, numbers = text(struct), ffi.new("uint32_t[]", offsets or 1)
            entry = array[place]
            entry.name, entry.size, entry.field_count, entry.offsets = name, size, len(offsets), numbers
            self._keep += [name, numbers]
        table, keep = filled("da_layout_table", {}, structs=array, struct_count=len(structs))
        self._keep += [array, *keep]
        return table
