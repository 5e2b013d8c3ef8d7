"""Hosts of other versions, as data: which minor they are of, and how large the structs are that they pass.

Everything comes from the kept snapshots of the headers (device_api/abi/layout_*.json): a host of each minor
that there has been, one older than all, whose structs have the sizes of their first release, and one newer
than all, whose structs have grown by fields that nobody knows yet. A new snapshot brings a new host.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from device_api.abi import snapshot, versions
from device_api.abi._declarations import ffi

# What lies in fields that a plugin does not know, and behind the end of a struct.
UNKNOWN, BEHIND = 0xA5, 0x5A
GUARD = 64


@dataclass(frozen=True, slots=True)
class Host:
    """A host of minor `minor`. `sizes` are those of its structs; `grown` bytes more stand in each growable
    one."""

    name: str
    minor: int
    sizes: tuple[tuple[str, int], ...]
    grown: int = 0

    def size(self, struct: str) -> int:
        """What this host writes into `struct_size`."""
        return dict(self.sizes)[struct] + self.grown

    def make(self, struct: str) -> Struct:
        """A struct of this host, zeroed, its size filled in."""
        return Struct(struct, self.size(struct), dict(self.sizes)[struct])


class Struct:
    """One struct in memory of the size that its host knows, between bytes that nobody may change."""

    def __init__(self, name: str, size: int, known: int) -> None:
        self._size, self._known = size, known
        self.storage = ffi.new("uint64_t[]", (max(size, ffi.sizeof(name)) + GUARD) // 8)
        self._bytes = ffi.buffer(self.storage)
        self._bytes[:] = bytes(known) + bytes([UNKNOWN]) * (size - known) + bytes([BEHIND]) * self._behind
        self.pointer = ffi.cast(f"{name} *", self.storage)
        self.pointer.struct_size = size

    @property
    def _behind(self) -> int:
        return len(self._bytes) - self._size

    def overrun(self) -> int:
        """How many bytes behind the end of the struct were changed."""
        return sum(byte != BEHIND for byte in bytes(self._bytes[self._size :]))


def _sizes(found: dict[str, Any], key: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(struct[key])) for name, struct in found["structs"].items())


@cache
def hosts() -> tuple[Host, ...]:
    """All hosts of this major, oldest first."""
    kept = snapshot.released(versions.HOST[0])
    first, last = kept[0], kept[-1]
    made = []
    if first["version"][1] > 0:
        made.append(Host("one_minor_older", first["version"][1] - 1, _sizes(first, "minimum_size")))
    for each in kept:
        minor = each["version"][1]
        made.append(Host(f"minor_{minor}", minor, _sizes(each, "size")))
        made.append(Host(f"minor_{minor}_first_sizes", minor, _sizes(each, "minimum_size")))
    newest = last["version"][1]
    made += [Host(f"newer_by_{grown}", newest + 1, _sizes(last, "size"), grown) for grown in (8, 64, 512)]
    return tuple(made)
