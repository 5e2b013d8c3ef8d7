"""The template's plugin before the conformance suite: right as it is, found out when it is made wrong."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from device_api.cli import paths
from device_api.cli.new_plugin import write_project

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def build(project: Path) -> Path:
    """Compiles a project of the template; the library."""
    library = project / "libacme_npu.so"
    sources = sorted(str(path) for path in project.rglob("*.c"))
    flags = f"-std=c99 -O1 -fPIC -shared -fvisibility=hidden -I{paths.include_dir()}"
    subprocess.run(["gcc", *flags.split(), *sources, "-o", str(library), "-lm"], check=True)
    return library


def conformance(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `device-api conformance` with its reports in `folder`."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "device_api.cli", "conformance", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project("acme_npu", tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.slow
def test_it_passes_the_quick_run_as_it_is(project: Path, tmp_path: Path) -> None:
    done = conformance(tmp_path, str(build(project)), "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["summary"]["executed"] > 500
    assert report["summary"]["fail"] == 0
    assert (tmp_path / "report.html").stat().st_size > 10_000


FAULTS = {
    "add": ("kernels/binary.c", "y, x + y, x + y)", "y, x + y + 1, x + y)"),
    "negative": (
        "kernels/unary.c",
        "NUMBER_UNARY(negative, 0 - (uint64_t)x, -x)",
        "NUMBER_UNARY(negative, (uint64_t)x, -x)",
    ),
    "reduce_sum": (
        "kernels/reduce.c",
        "const int64_t half = count / 2;",
        "const int64_t half = --count / 2;",
    ),
    "reduce_max": ("kernels/reduce.c", "|| x[i] != x[i]", ""),
    "argsort_last": ("kernels/sort.c", "y < x ||", "y <= x ||"),
}


@pytest.mark.slow
@pytest.mark.parametrize("op", FAULTS)
def test_a_wrong_kernel_fails_with_a_command_that_repeats_it(op: str, project: Path, tmp_path: Path) -> None:
    file, right, wrong = FAULTS[op]
    text = (project / file).read_text()
    assert right in text
    (project / file).write_text(text.replace(right, wrong, 1))
    done = conformance(tmp_path, str(build(project)), "--level", "ops", "--include", f"ops.{op}*")
    assert done.returncode == 1, done.stdout + done.stderr
    failures = [
        r for r in json.loads((tmp_path / "report.json").read_text())["results"] if r["status"] == "fail"
    ]
    assert failures
    words = shlex.split(failures[0]["repro"])
    assert words[:2] == ["device-api", "conformance"]
    again = conformance(tmp_path, *words[2:])
    assert again.returncode == 1, again.stdout + again.stderr
    repeated = json.loads((tmp_path / "report.json").read_text())
    assert [r["name"] for r in repeated["results"] if r["status"] == "fail"] == [failures[0]["name"]]
