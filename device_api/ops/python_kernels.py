"""Kernels written in Python: the registry that planning asks beside the device's native kernels.

A Python kernel serves an op on a device type, for all dtypes or for some. It gets contiguous tensors of the
device, the outputs already allocated, and the attributes by name; it writes the outputs and returns nothing.
A plugin's kernels may live in a package of their own, which is named with `provide` and imported when one of
them is first needed. The registry only remembers; choosing and running are the planner's and the program's,
and what a kernel of arrays looks like is `array_kernels`'.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from device_api import _core
from device_api.errors import AttributeValueError
from device_api.ops._table import BY_NAME
from device_api.ops.array_kernels import on_arrays

Kernel = Callable[[Sequence[_core.Tensor | None], Sequence[_core.Tensor], Mapping[str, Any]], None]
Dtypes = Mapping[str, frozenset[int]]


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """A kernel that was registered. `dtypes` has the codes it takes by type variable, None for all. A
    `preferred` one goes before the device's native kernel, the others after it."""

    op: str
    device_type: str
    kernel: Kernel
    dtypes: Dtypes | None = None
    preferred: bool = False

    def takes(self, bound: Mapping[str, int]) -> bool:
        return self.dtypes is None or all(
            name not in bound or bound[name] in codes for name, codes in self.dtypes.items()
        )


_entries: dict[tuple[str, str], tuple[Entry, ...]] = {}  # the newest first
_providers: dict[str, str] = {}
_lock = threading.Lock()


def register(
    op: str, device_type: str, kernel: Kernel, *, dtypes: Dtypes | None = None, preferred: bool = False
) -> Entry:
    """Makes `kernel` serve an op on a device type, before kernels that were registered earlier; plans made
    before are dropped.

    Raises `AttributeValueError` for a name that is no op.
    """
    if op not in BY_NAME:
        raise AttributeValueError("no such op", subject=repr(op), op=op, argument="op", value=op)
    entry = Entry(op, device_type, kernel, dtypes, preferred)
    with _lock:
        _entries[op, device_type] = (entry, *_entries.get((op, device_type), ()))
    _core.clear_plans()
    return entry


def unregister(entry: Entry) -> None:
    """Forgets a kernel, and the plans that use it; nothing happens when it is forgotten already."""
    place = (entry.op, entry.device_type)
    with _lock:
        left = tuple(each for each in _entries.get(place, ()) if each is not entry)
        if left:
            _entries[place] = left
        else:
            _entries.pop(place, None)
    _core.clear_plans()


def forget(op: str) -> None:
    """Forgets all kernels of an op, on every device type."""
    with _lock:
        for place in [place for place in _entries if place[0] == op]:
            del _entries[place]
    _core.clear_plans()


def provide(device_type: str, package: str) -> None:
    """Names the package that holds a device type's kernels: its `KERNELS` says which module of it has the
    function of an op, under the op's name. Nothing is imported yet."""
    with _lock:
        _providers[device_type] = package


def find(
    op: str, device_type: str, bound: Mapping[str, int] = {}, *, preferred: bool = False
) -> Kernel | None:
    """The kernel of an op on a device type for these dtypes (type variable -> code), if one was registered
    or is provided; with `preferred` only one that goes before native kernels."""
    for entry in _entries.get((op, device_type), ()):
        if entry.takes(bound) and (entry.preferred or not preferred):
            return entry.kernel
    return None if preferred else _provided(op, device_type)


def _provided(op: str, device_type: str) -> Kernel | None:
    package = _providers.get(device_type)
    module = None if package is None else import_module(package).KERNELS.get(op)
    if package is None or module is None:
        return None
    function = on_arrays(op, getattr(import_module(f"{package}.{module}"), op))
    entry = Entry(op, device_type, function)
    with _lock:
        # Behind all others: what a program registers goes before what comes with a plugin.
        _entries[op, device_type] = (*_entries.get((op, device_type), ()), entry)
    return function


def registered(device_type: str) -> tuple[str, ...]:
    """The ops that have a Python kernel on a device type, sorted."""
    return tuple(sorted(op for op, kind in _entries if kind == device_type))
