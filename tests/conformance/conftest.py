"""Plugins for the suite to judge: the template's kernels, with a front that can add one fault. And reports
that are made without running anything."""

from __future__ import annotations

import datetime
import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance import environment
from conformance.case import Result, Status
from conformance.report import build_report
from conformance.runner.pool import Settings
from conformance.selection import Selection
from conformance.waivers import Waiver

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "plugins" / "template"
INCLUDE = ROOT / "device_api" / "include"
COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=c99", "-O1", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}"]


def compile_c(*arguments: str | Path) -> None:
    subprocess.run([COMPILER, *FLAGS, *map(str, arguments)], check=True, timeout=120)


@pytest.fixture(scope="session")
def good_objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The template's sources as objects, its entry renamed so that a front can call it."""
    folder = tmp_path_factory.mktemp("good")
    objects = []
    for source in sorted(TEMPLATE.rglob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        rename = ["-Ddevice_api_plugin=good_plugin"] if source.name == "plugin.c" else []
        compile_c("-c", *rename, source, "-o", objects[-1])
    return objects


def _build(objects: list[Path], folder: Path, fault: str = "none") -> Path:
    library = folder / f"lib{fault}.so"
    if not library.exists():
        exports = folder / "exports.map"
        exports.write_text("{ global: device_api_plugin; local: *; };")
        source = Path(__file__).with_name("faulty.c")
        warnings = ("-Wall", "-Wextra", "-Werror", f"-DFAULT_{fault}")
        if fault == "exports_more":
            exports.write_text("{ global: device_api_plugin; good_plugin; local: *; };")
        link = ("-shared", f"-Wl,--version-script={exports}", "-lm")
        compile_c(*warnings, source, *objects, *link, "-o", library)
    return library


@pytest.fixture(scope="session")
def faulty(good_objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds the plugin with a named fault; gives the library's path."""
    return partial(_build, good_objects, tmp_path_factory.mktemp("faulty"))


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
