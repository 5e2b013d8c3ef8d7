"""Kernels of custom ops before the suite: judged by the cases that the op brings, unproved without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
OP = """
import numpy as np
import device_api as da

swish = da.custom_op("acme.swish(x: T, *, beta: float = 1.0) -> out: T", types={"T": "float32 float64"},
                     ulp={"float32": 2, "float64": 8})
"""
CASE = """
from conformance import custom

custom.case(
    swish,
    reference=lambda x, *, beta: x / (1 + np.exp(-beta * x)),
    samples=lambda draw: [custom.Sample((draw.normal(*shape),), {"beta": beta})
                          for shape in [(3, 4), (), (5,)] for beta in (1.0, 0.5)],
)
"""
PLUGIN = """
import numpy as np
import acme_ops
from device_api import prototype

plugin = prototype.Plugin("acme", vendor="tests", version="1", device_type="acme",
                          devices=[prototype.HostDevice()])
device_api_plugin = plugin.entry

@plugin.kernel("acme.swish", dtypes=["float32", "float64"])
def swish(x, *, beta):
    wide = x.astype(np.longdouble)
    return wide / (1 + np.exp(-beta * wide)) + {error}
"""


def prove(folder: Path, *, case: str = CASE, error: float = 0, module: str = "acme_ops") -> dict[str, Any]:
    """The report of a run on the kernels of acme.swish, and how it ended."""
    (folder / "acme_ops.py").write_text(OP + case)
    (folder / "acme.py").write_text(PLUGIN.format(error=error))
    facts = {"file_format_version": "1", "name": "acme", "device_type": "acme", "library": "acme.py"}
    (folder / "acme.json").write_text(json.dumps({**facts, "vendor": "tests", "version": "1"}))
    search = [str(ROOT), str(folder), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-P", "-m", "device_api.cli", "conformance", "acme.json", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--import", module, "--include", "ops.acme.swish.*"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    report = folder / "report.json"
    results = json.loads(report.read_text())["results"] if report.exists() else []
    return {"code": done.returncode, "results": results, "text": done.stdout + done.stderr}


def test_a_right_kernel_with_a_case_passes_in_every_layout(tmp_path: Path) -> None:
    outcome = prove(tmp_path)
    assert outcome["code"] == 0, outcome["text"]
    passed = {result["name"] for result in outcome["results"] if result["status"] == "pass"}
    assert {f"ops.acme.swish.{dtype}.layouts" for dtype in ("float32", "float64")} <= passed


def test_a_wrong_kernel_fails_with_a_command_that_imports_the_module(tmp_path: Path) -> None:
    outcome = prove(tmp_path, error=0.001)
    assert outcome["code"] == 1, outcome["text"]
    failed = [result for result in outcome["results"] if result["status"] == "fail"]
    assert "ulp" in failed[0]["message"]
    assert failed[0]["repro"].endswith("--import acme_ops")


def test_an_op_without_a_case_is_unproved_and_never_passes(tmp_path: Path) -> None:
    outcome = prove(tmp_path, case="")
    assert outcome["code"] == 1, outcome["text"]
    assert {result["status"] for result in outcome["results"]} == {"fail"}
    assert all("unproved" in result["message"] for result in outcome["results"])


@pytest.mark.parametrize(("module", "text"), [("acme_opz", "acme_opz"), ("json.nothing", "json.nothing")])
def test_a_module_that_cannot_be_imported_is_a_usage_error(module: str, text: str, tmp_path: Path) -> None:
    outcome = prove(tmp_path, module=module)
    assert outcome["code"] == 2
    assert text in outcome["text"]
