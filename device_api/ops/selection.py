"""Which kernel of a device runs an op for given dtypes.

A device lists its kernels as data: the op, a set of dtypes for each type variable of the op, flags and a
priority. Here that list becomes a table by op, and a call's dtypes pick from it, the greatest priority
first. Layouts come in only through the flags; the closer question `supports` is asked by the builder, which
has the operands. This module also answers what exists, for errors and capability reports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from device_api import _core, dtypes
from device_api.opset.spec import OpSpec

STRIDED_INPUTS = 1
STRIDED_OUTPUTS = 2
IN_PLACE = 4
IN_PLACE_PAIRS = 16

_tables: dict[int, dict[str, tuple[_core.Kernel, ...]]] = {}  # by the address of the plugin's device


def table(device: _core.Device) -> Mapping[str, tuple[_core.Kernel, ...]]:
    """The kernels of a device by op name, best first."""
    found = _tables.get(device.handle)
    if found is None:
        lists: dict[str, list[_core.Kernel]] = {}
        for kernel in device.kernels:
            lists.setdefault(kernel.op, []).append(kernel)
        found = {op: tuple(sorted(each, key=lambda k: -k.priority)) for op, each in lists.items()}
        _tables[device.handle] = found
    return found


def candidates(
    device: _core.Device, spec: OpSpec, bound: Mapping[str, int], declined: Collection[int] = ()
) -> Iterator[_core.Kernel]:
    """The kernels that claim an op for these dtypes (type variable -> code), best first, without those that
    have declined this call (by index)."""
    codes = [bound.get(variable) for variable, _ in spec.types]
    for kernel in table(device).get(spec.name, ()):
        if kernel.index not in declined and claims(kernel, codes):
            yield kernel


def claims(kernel: _core.Kernel, codes: Sequence[int | None]) -> bool:
    """Whether a kernel's dtype sets hold these codes, one per type variable; None leaves one open."""
    return all(code is None or kernel.dtypes[place] >> code & 1 for place, code in enumerate(codes))


def claimed_dtypes(device: _core.Device, op: str) -> frozenset[int]:
    """The dtypes for which a device has a native kernel of an op, by its first type variable."""
    found: frozenset[int] = frozenset()
    for kernel in table(device).get(op, ()):
        found |= dtypes.from_mask(kernel.dtypes[0])
    return found


def held_dtypes(device: _core.Device) -> frozenset[int]:
    """The dtypes that the memory of a device may hold; all of them when it does not say."""
    mask = int(device.properties.get("dtypes") or 0)
    return dtypes.from_mask(mask) if mask else dtypes.ALL


def max_rank(device: _core.Device) -> int:
    """The greatest rank that kernels of a device take."""
    return int(device.properties.get("max_rank") or 32)
