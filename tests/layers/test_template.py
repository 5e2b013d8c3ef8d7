"""The layer template builds as its README says, and does what it promises under and over other layers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(__file__).parents[2] / "plugins" / "layer_template"


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built template."""
    build = tmp_path_factory.mktemp("layer")
    for command in (["cmake", "-S", str(TEMPLATE), "-B", str(build)], ["cmake", "--build", str(build)]):
        done = subprocess.run(command, capture_output=True, text=True, cwd=TEMPLATE.parents[1])
        assert done.returncode == 0, done.stdout + done.stderr
    return build / "libexample_layer.so"


PROGRAM = """
import device_api as da
x = da.ones((1000, 1000)) + 1
print(float(x.sum().item()))
try:
    da.zeros((1 << 30,), dtype="uint8")
except da.errors.DeviceOutOfMemory as error:
    print("limit" in str(error))
"""


def test_the_template_limits_memory_and_reports_the_greatest_amount(layer: Path, python: Any) -> None:
    done = python(
        PROGRAM,
        DEVICE_API_LAYERS=f"validate,{layer}(limit=200000000),validate,stats",
        DEVICE_API_LOG="info",
    )
    assert done.stdout.split() == ["2000000.0", "True"], done.stderr
    assert "example layer: at most " in done.stderr
    rules = {line.split()[0] for line in done.stderr.splitlines() if line.lstrip().startswith("VAL-")}
    assert rules <= {"VAL-MEMORY-15", "VAL-STREAM-07", "VAL-KERNEL-16"}, done.stderr


def test_options_that_the_layer_does_not_know_are_refused(layer: Path, python: Any) -> None:
    done = python("import device_api as da; da.ones(2)", DEVICE_API_LAYERS=f"{layer}(speed=9)")
    assert "PluginError: cannot put a layer over the plugin" in done.stderr
    assert "declines" in done.stderr


def test_a_conforming_plugin_conforms_under_the_template_and_the_built_in_layers(
    layer: Path, python: Any, tmp_path: Path
) -> None:
    program = """
import conformance
include = ["abi.*", "runtime.*", "ops.add.*", "ops.reduce_sum.*"]
outcome = conformance.run("cpu", include=include, quick=True, jobs=1, progress=False)
bad = [result.name for result in outcome.results if result.status in ("fail", "crash", "harness_error")]
print(outcome.exit_code, outcome.problems + bad)
"""
    stack = f"validate,trace(file={tmp_path / 't.%p'}),{layer},stats"
    done = python(program, DEVICE_API_LAYERS=stack)
    assert done.stdout.splitlines()[-1:] == ["0 []"], done.stdout + done.stderr[-2000:]
