"""Plugins for the suite to judge: the one with named faults, and the smallest complete one. And reports that
are made without running anything."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance import environment
from conformance.case import Result, Status
from conformance.report import build_report
from conformance.runner.pool import Settings
from conformance.selection import Selection
from conformance.waivers import Waiver

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Switches a fault on, for this process and its children, and gives the library's path. Runs of a test
    leave what they save in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def switch(fault: str = "none_cpu") -> Path:
        monkeypatch.setenv("DEVICE_API_FAULT", fault)
        return PLUGINS / "faulty" / "libdevice_api_faulty.so"

    return switch


@pytest.fixture(scope="session")
def without_streams() -> Path:
    """A good plugin that has the mandatory interfaces and nothing else."""
    return PLUGINS / "primitives_only" / "libdevice_api_primitives_only.so"


MakeReport = Callable[..., dict[str, Any]]


@pytest.fixture
def make_report() -> MakeReport:
    """Builds a report out of results, as a run would: `statuses` is {name: status}; a name that begins with
    `ops.` is measured where it passes."""
    return _report


def _report(
    statuses: dict[str, str],
    *,
    waivers: Sequence[Waiver] = (),
    selection: Selection | None = None,
    known: Sequence[str] | None = None,
    max_ulp: float = 1.0,
    **changes: Any,
) -> dict[str, Any]:
    selection = selection or Selection()
    known = list(statuses) if known is None else known
    results = [_result(name, Status(status), max_ulp) for name, status in statuses.items()]
    target = {
        "target": "npu:0",
        "library": "/opt/libnpu.so",
        "library_sha256": hashlib.sha256(b"library").hexdigest(),
        "suite_version": environment.suite_version(),
        "seed": 0,
        "device": {"plugin": "npu"},
    }
    report = build_report(
        results=[result for result in results if selection.in_shard(result.name)],
        run_problems=[],
        waivers=[waiver.counted(known) for waiver in waivers],
        target=target,
        selection=selection,
        settings=Settings("npu:0", jobs=1, seed=0, deadline=30.0),
        known=known,
        selected=list(statuses),
        started_at=datetime.datetime.now(datetime.UTC),
        seconds=1.0,
        peak_memory=1 << 20,
    )
    report["environment"]["variables"] = {}
    return report | changes


def _result(name: str, status: Status, max_ulp: float) -> Result:
    result = Result(name, name.partition(".")[0], status, seconds=0.5)
    if status is not Status.PASS:
        result.message = f"<why> {name}"
    elif name.startswith("ops.") and name.count(".") > 1:
        op, dtype = name.split(".")[1:3]
        result.measure = {
            "op": op,
            "dtype": dtype,
            "launches": 3,
            "elements": 5,
            "max_ulp": max_ulp,
            "tolerance": 4.0,
        }
    return result
