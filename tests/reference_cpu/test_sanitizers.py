"""The plugin built with the address and undefined-behaviour sanitizers passes the tests of its kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITES = [
    "unary",
    "binary",
    "copy_and_creation",
    "reductions",
    "matmul",
    "rows_and_sorting",
    "memory_and_random",
]


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    return done.stdout


# The sanitizer wraps exceptions, so the C++ library must be there before it starts.
RUNTIMES = ["libasan.so", "libstdc++.so.6"]


@pytest.mark.slow
def test_kernels_are_clean_under_sanitizers(tmp_path: Path) -> None:
    run(
        "cmake",
        *("-S", ROOT, "-B", tmp_path, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"),
        *("-DCMAKE_BUILD_TYPE=Debug", "-DDEVICE_API_SANITIZE=address,undefined"),
    )
    run("cmake", "--build", tmp_path, "--target", "device_api_cpu", "--parallel", "2")
    (library,) = tmp_path.glob("**/libdevice_api_cpu.so")
    said = run(
        *(sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", ROOT),
        *(ROOT / "tests" / "reference_cpu" / f"test_{suite}.py" for suite in SUITES),
        REFERENCE_CPU_LIBRARY=str(library),
        LD_PRELOAD=" ".join(run("gcc", f"-print-file-name={name}").strip() for name in RUNTIMES),
        ASAN_OPTIONS="detect_leaks=0",  # the interpreter's own
        UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
        DEVICE_API_CPU_THREADS="3",
    )
    assert " passed" in said
