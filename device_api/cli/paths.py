"""`device-api include-dir` and `device-api cmake-dir`: where a vendor's build finds the headers."""

from __future__ import annotations

from pathlib import Path

import device_api


def include_dir() -> Path:
    """The folder to add to the include path; the headers are in its folder `device_api`."""
    return Path(device_api.__file__).parent / "include"


def cmake_dir() -> Path:
    """The folder of the CMake package, for `device_api_DIR`."""
    return Path(device_api.__file__).parent / "cmake"


def include_dir_command() -> None:
    """Print the folder of the C headers, for a compiler's -I."""
    print(include_dir())


def cmake_dir_command() -> None:
    """Print the folder of the CMake package, for -Ddevice_api_DIR."""
    print(cmake_dir())
