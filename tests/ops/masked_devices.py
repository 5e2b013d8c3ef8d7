"""Devices that lack something: the reference CPU behind a plugin that leaves kernels out or sets limits.

Each is compiled on demand from masked_plugin.c with its own device type, and registered in this process.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import device_api as da
from device_api.loading import find_record
from device_api.ops._table import OPS

SOURCE = Path(__file__).with_name("masked_plugin.c")
# Kernels that a composition can stand in for, whatever the dtype.
REPLACEABLE = ("square", "reciprocal", "exp2", "isnan", "isinf", "isfinite", "logaddexp")
PRIMITIVES = tuple(s.name for s in OPS if s.level == "primitive" and s.name not in REPLACEABLE)


@dataclass(frozen=True)
class Mask:
    """What a device is left with."""

    only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    contiguous: bool = False
    without_flags: int = 0
    max_rank: int = 32
    without_dtypes: tuple[int, ...] = ()
    unheld_dtypes: tuple[int, ...] = ()
    random: bool = True

    def definitions(self) -> list[str]:
        """The macros of masked_plugin.c."""
        return [
            f'-DMASK_ONLY="{_listed(self.only) if self.only else ""}"',
            f'-DMASK_HIDDEN="{_listed(self.hidden)}"',
            f'-DMASK_REFUSED="{_listed(self.refused)}"',
            f'-DMASK_DECLINED="{_listed(self.declined)}"',
            f"-DMASK_CONTIGUOUS={int(self.contiguous)}",
            f"-DMASK_WITHOUT_FLAGS={self.without_flags}",
            f"-DMASK_MAX_RANK={self.max_rank}",
            f"-DMASK_WITHOUT_DTYPES={_bits(self.without_dtypes)}",
            f"-DMASK_UNHELD_DTYPES={_bits(self.unheld_dtypes)}",
            f"-DMASK_RANDOM={int(self.random)}",
        ]


def _listed(names: Sequence[str]) -> str:
    return "".join(f",{name}" for name in names) + ","


def _bits(codes: Sequence[int]) -> str:
    return f"UINT64_C({sum(1 << code for code in codes)})"


@dataclass
class Folder:
    """Where the libraries of this process lie; gone with it."""

    path: tempfile.TemporaryDirectory[str] = field(default_factory=lambda: tempfile.TemporaryDirectory())
    count: int = 0


_folder = Folder()


@cache
def masked(mask: Mask) -> str:
    """The device string of a masked device; the same mask gives the same device."""
    _folder.count += 1
    kind = f"masked{_folder.count}"
    folder = Path(_folder.path.name)
    base = folder / f"lib{kind}_base.so"
    shutil.copyfile(find_record("cpu").library, base)
    library = folder / f"lib{kind}.so"
    command = [
        "cc", "-std=gnu99", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
        f"-I{da.get_include()}", f'-DMASK_DEVICE_TYPE="{kind}"', f'-DMASK_BASE_LIBRARY="{base}"',
        *mask.definitions(), str(SOURCE), "-o", str(library), "-ldl",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    manifest = folder / f"{kind}.json"
    facts = {"file_format_version": "1", "name": kind, "device_type": kind, "library": library.name}
    manifest.write_text(json.dumps({**facts, "vendor": "tests", "version": "1"}))
    da.register_plugin(manifest)
    return f"{kind}:0"
