"""The naughty plugin, compiled once per run, and a fresh interpreter for what needs one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from bench import Bench  # noqa: E402

import device_api  # noqa: E402

INCLUDE = Path(device_api.__file__).parent / "include"


def compile_c(source: Path, out: Path) -> Path:
    """Compiles a library of one C file, with every warning an error."""
    flags = ["-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, f"-I{INCLUDE}", str(source), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="session")
def naughty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled plugin."""
    return compile_c(HERE / "naughty.c", tmp_path_factory.mktemp("naughty") / "libnaughty.so")


@pytest.fixture
def bench(naughty: Path) -> Iterator[Callable[..., Bench]]:
    """`bench("validate(errors=1)", mode="bad_code")` gives the plugin under layers; ended after the test."""
    made: list[Bench] = []

    def make(layers: str, mode: str = "") -> Bench:
        made.append(Bench(naughty, layers, mode))
        return made[-1]

    yield make
    for item in made:
        item.end()


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a fresh interpreter, with further variables set."""

    def run(program: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        )

    return run
