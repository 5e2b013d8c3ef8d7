"""The dynamic symbols of an ELF library, read from the file: what it exports and what it wants."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_DYNSYM = 11
_GLOBAL, _WEAK, _UNIQUE = 1, 2, 10
# Symbols that linkers add of their own accord.
_LINKER = {"_init", "_fini", "__bss_start", "_edata", "_end"}


@dataclass(frozen=True, slots=True)
class Symbols:
    """Names of the dynamic symbol table."""

    exported: frozenset[str]
    undefined: frozenset[str]


def read_symbols(path: Path) -> Symbols | None:
    """None for a file that is not 64-bit little-endian ELF, or has no dynamic symbols."""
    data = path.read_bytes()
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
        return None
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + size * i) for i in range(count)]
    table = next((section for section in sections if section[1] == _DYNSYM), None)
    if table is None:
        return None
    names = sections[table[6]][4]
    exported, undefined = set(), set()
    for position in range(table[4], table[4] + table[5], 24):
        name_at, info, other, section = struct.unpack_from("<IBBH", data, position)
        start = names + name_at
        name = data[start : data.index(b"\0", start)].decode(errors="replace")
        if not name or info >> 4 not in (_GLOBAL, _WEAK, _UNIQUE):
            continue
        if section == 0:
            undefined.add(name)
        elif other & 3 == 0 and name not in _LINKER:
            exported.add(name)
    return Symbols(frozenset(exported), frozenset(undefined))
