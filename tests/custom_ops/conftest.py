"""The plugin acme.c, compiled on demand: one library for each fault and device type."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from device_api.cli import paths

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("acme.c")
FLAGS = "-std=c99 -O1 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden".split()

Build = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`built("TWICE", device_type="acme")` gives the path of the library with that fault."""
    done: dict[tuple[str, str], Path] = {}

    def build(fault: str = "NONE", *, device_type: str = "acme") -> Path:
        key = fault, device_type
        if key not in done:
            library = tmp_path_factory.mktemp("acme") / f"libdevice_api_{device_type}.so"
            command = ["cc", *FLAGS, f"-I{paths.include_dir()}", f"-DFAULT=FAULT_{fault}"]
            command += [f'-DACME_TYPE="{device_type}"', str(SOURCE), "-lm", "-o", str(library)]
            subprocess.run(command, check=True)
            done[key] = library
        return done[key]

    return build


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Runs a program in a process of its own, with the paths of libraries as its arguments."""

    def run(program: str, *arguments: object, check: bool = True, **variables: str) -> object:
        search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": search, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done

    return run  # type: ignore[return-value]
