"""The conformance suite on custom ops that a plugin declares in C: what it proves alone, what a case adds,
what it finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Build = Callable[..., Path]
CASE = """
import numpy as np
from conformance import custom

custom.case(
    "acme.swish",
    reference=lambda x, *, beta: x / (1 + np.exp(-beta * x)),
    samples=lambda draw: [custom.Sample((draw.normal(*shape),), {"beta": beta})
                          for shape in [(3, 4), (), (5,)] for beta in (1.0, 0.5)],
)
"""


@pytest.fixture
def prove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, dict[str, Any]]]:
    """The results of a run on some cases, by name."""
    monkeypatch.chdir(tmp_path)
    search = [str(ROOT), str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, search)))
    (tmp_path / "acme_case.py").write_text(CASE)

    def run(library: Path, include: str, *options: str, code: int = 0) -> dict[str, dict[str, Any]]:
        command = [sys.executable, "-m", "device_api.cli", "conformance", str(library), "--jobs", "1"]
        done = subprocess.run(
            [*command, "--include", include, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == code, done.stdout + done.stderr
        results = json.loads((tmp_path / "report.json").read_text())["results"]
        return {result["name"]: result for result in results}

    return run


Prove = Callable[..., dict[str, dict[str, Any]]]


def test_kernels_are_judged_by_themselves_and_gradients_by_differences(built: Build, prove: Prove) -> None:
    results = prove(built(), "ops.acme.*")
    assert {result["status"] for result in results.values()} == {"pass", "not_supported", "quality_warning"}
    passed = {name for name, result in results.items() if result["status"] == "pass"}
    ops = ("swish", "swish_gradient", "outer", "outer_gradient", "stacked")
    assert {f"ops.acme.{op}.float64.samples" for op in ops} <= passed
    assert {f"ops.acme.{op}.declared" for op in ops} <= passed
    assert {"ops.acme.swish.gradient", "ops.acme.outer.gradient"} <= passed
    reference = results["ops.acme.outer.float32.reference"]
    assert reference["status"] == "quality_warning"
    assert "nobody says" in reference["message"]


def test_a_case_by_name_judges_values(built: Build, prove: Prove) -> None:
    results = prove(built(), "ops.acme.swish.float32.*", "--import", "acme_case")
    assert results["ops.acme.swish.float32.samples"]["measure"]["max_ulp"] <= 2
    assert "ops.acme.swish.float32.reference" not in results


@pytest.mark.parametrize(
    ("fault", "include", "words"),
    [
        ("UNWRITTEN", "ops.acme.swish.float64.samples", "acme.swish"),
        ("OVERRUN", "ops.acme.swish.float64.samples", "output 0"),
        ("SLOPE", "ops.acme.swish.gradient", "the gradient of acme.swish"),
        ("INFER_FAILS", "ops.acme.outer.declared", "acme is out of order"),
    ],
)
def test_a_fault_is_found(fault: str, include: str, words: str, built: Build, prove: Prove) -> None:
    result = prove(built(fault), include, code=1)[include]
    assert result["status"] == "fail"
    assert words in result["message"]


def test_a_bad_declaration_fails_the_run_with_its_reason(built: Build, prove: Prove) -> None:
    results = prove(built("TWICE"), "abi.open", code=1)
    assert "acme.swish is declared twice" in results["abi.open"]["message"]
