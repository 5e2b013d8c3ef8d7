"""Stub plugins for the tests of loading: one C file, built on demand, each test with a file of its own.

A fresh copy has a fresh inode, so the process opens it anew; what is wrong with it is said in the
variable STUB.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import device_api

SOURCE = Path(__file__).resolve().parents[1] / "stubs" / "stub.c"
PACKAGE = Path(device_api.__file__).resolve().parent
INCLUDE = PACKAGE / "include"

Stub = Callable[..., Path]


@dataclass(frozen=True)
class Ran:
    """A finished Python child."""

    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the package or of the stub is set unless a test sets it."""
    for name in list(os.environ):
        if name.startswith(("DEVICE_API_", "STUB")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], Path]:
    """Compiles the stub with definitions and further arguments; each set once per session."""
    done: dict[tuple[str, ...], Path] = {}

    def build(arguments: Sequence[str]) -> Path:
        key = tuple(arguments)
        if key not in done:
            target = tmp_path_factory.mktemp("stub") / "libstub.so"
            flags = ["-std=gnu99", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
            files = [f"-I{INCLUDE}", str(SOURCE), "-o", str(target)]
            subprocess.run(["gcc", *flags, *files, *arguments], check=True)
            done[key] = target
        return done[key]

    return build


@pytest.fixture
def stub(tmp_path: Path, built: Callable[[Sequence[str]], Path]) -> Stub:
    """`stub("libacme.so", "-DSTUB_TYPE=...")` gives the path of a fresh copy in the test's own folder."""

    def make(name: str = "libstub.so", *arguments: str, folder: Path = tmp_path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)  # writing over an open library would change its code
        return Path(shutil.copy(built(arguments), folder / name))

    return make


@pytest.fixture
def python() -> Callable[..., Ran]:
    """Runs a program in a fresh interpreter with further variables set; two minutes at most."""

    def run(program: str, *arguments: object, options: Sequence[str] = (), **variables: str) -> Ran:
        done = subprocess.run(
            [sys.executable, *options, "-c", program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **variables},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def manifest_file() -> Callable[..., Path]:
    """`manifest_file(folder, "npu")` writes folder/npu.json, which describes libstub.so beside it."""

    def write(folder: Path, device_type: str, library: str = "libstub.so", **more: object) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{device_type}.json"
        content = {
            "file_format_version": "1",
            "name": f"{device_type}-plugin",
            "device_type": device_type,
            "library": library,
            "vendor": "Stub works",
            "version": "1.2.3",
        }
        file.write_text(json.dumps({**content, **more}))
        return file

    return write
