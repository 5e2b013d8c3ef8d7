"""The test device of the core: compiled once per run, opened fresh for each test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import core_harness as harness  # noqa: E402

from device_api import _core  # noqa: E402


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled plugin."""
    out = tmp_path_factory.mktemp("toy") / "libtoy.so"
    include = Path(_core.__file__).parent.parent / "include"
    command = ["cc", "-std=c99", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, f"-I{include}", str(HERE / "plugin.c"), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="session")
def loaded(library: Path) -> harness.TestDevice:
    return harness.TestDevice(library)


@pytest.fixture
def toy(loaded: harness.TestDevice) -> Any:
    """The plugin with all counters at zero, no faults, and the small planner installed."""
    loaded.control.reset()
    restore = harness.install()
    yield loaded
    loaded.control.reset()
    restore()


@pytest.fixture
def device(toy: harness.TestDevice) -> _core.Device:
    return toy.open()


@pytest.fixture
def run_python(library: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a script in a fresh interpreter, with `toy`, `device` and the harness's names at hand."""

    def run(script: str) -> subprocess.CompletedProcess[str]:
        start = (
            "import os, sys\nfrom core_harness import *\nfrom device_api import _core\ntoy, device = main()\n"
        )
        return subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", start + script, str(library)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        )

    return run
