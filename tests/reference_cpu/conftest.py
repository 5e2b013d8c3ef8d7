"""The loaded plugin, once for all tests of this folder, and the folder itself on the path for the driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cpu_driver import LIBRARY, Plugin


@pytest.fixture(scope="session")
def plugin() -> Plugin:
    assert LIBRARY.exists(), f"{LIBRARY} is not built; build the CMake target device_api_cpu"
    return Plugin()
