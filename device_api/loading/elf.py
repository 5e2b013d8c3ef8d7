"""Says in words what kind of file somebody offered as a library, from its first bytes.

Used to explain: before opening, for files no linker should see (a directory, a pipe, an empty file), and
after the linker has refused one, because its own words ("invalid ELF header") do not say what was found
instead.
"""

from __future__ import annotations

import os
import platform
import stat
import struct
import sys
from pathlib import Path

_PT_LOAD = 1
_MACHINES = {
    3: "x86 (32-bit)",
    8: "MIPS",
    20: "PowerPC",
    21: "PowerPC 64-bit",
    22: "s390",
    40: "Arm (32-bit)",
    62: "x86_64",
    183: "aarch64",
    243: "RISC-V",
    258: "LoongArch",
}
_HOST = {"x86_64": 62, "AMD64": 62, "aarch64": 183, "arm64": 183, "riscv64": 243, "ppc64le": 21, "i686": 3}
_OTHER_FORMATS = {
    b"MZ": "a Windows library",
    b"\xcf\xfa\xed\xfe": "a macOS library",
    b"\xca\xfe\xba\xbe": "a macOS library",
    b"!<ar": "a static archive (.a), not a shared library",
    b"PK": "a zip archive or a wheel, not a library",
}


def unusable(path: Path) -> str | None:
    """Why `path` cannot be a library at all; None when the linker should have a look."""
    try:
        status = os.stat(path)
    except OSError as error:
        return error.strerror or str(error)
    if stat.S_ISDIR(status.st_mode):
        return "it is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size == 0:
        return "the file is empty"
    if not os.access(path, os.R_OK):
        return "this process may not read it"
    return "the file is cut off" if _is_cut_off(path, status.st_size) else None


def _is_cut_off(path: Path, size: int) -> bool:
    """Whether a segment lies beyond the end of the file: mapped by the linker, touching it is fatal."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF":
            return False
        if len(head) < 64:
            return True
        if head[4] != 2 or head[5] != (1 if sys.byteorder == "little" else 2):
            return False  # of another kind, which the linker refuses by itself
        offset, entry, count = struct.unpack("=Q", head[32:40])[0], *struct.unpack("=HH", head[54:58])
        file.seek(offset)
        table = file.read(entry * count)
    if len(table) < entry * count or entry < 56:
        return True
    for at in range(0, len(table), entry):
        kind, start, length = struct.unpack_from("=I4xQ16xQ", table, at)
        if kind == _PT_LOAD and start + length > size:
            return True
    return False


def mismatch(path: Path) -> str | None:
    """What the file is instead of a library for this process; None when nothing is wrong or known."""
    if sys.platform in ("win32", "darwin"):
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if head[:4] != b"\x7fELF":
        for magic, words in _OTHER_FORMATS.items():
            if head.startswith(magic):
                return f"it is {words}"
        return "it is a text file" if head.isascii() and head.decode().isprintable() else "it is no ELF file"
    order = "<" if head[5] == 1 else ">"
    kind, machine = struct.unpack(order + "HH", head[16:20])
    host = _HOST.get(platform.machine())
    bits = {1: 32, 2: 64}.get(head[4])
    if host is not None and (machine != host or bits != 8 * struct.calcsize("P")):
        found = _MACHINES.get(machine, f"machine {machine}")
        return f"it is built for {found}, {bits}-bit; this process is {platform.machine()}"
    if kind != 3:
        return {1: "it is an object file (.o), not linked yet", 2: "it is a program, not a library"}.get(kind)
    return None
