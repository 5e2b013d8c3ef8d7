"""Whatever a plugin does to the process it runs in, it costs the case that made it do so, and no other; and a
failure is shrunk to the smallest input that still fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import run, shrink
from conformance.case import Case, Status
from conformance.report.terminal import printable
from conformance.runner import worker
from conformance.trial import Operand, Trial, TrialFailure
from device_api.ops._table import BY_NAME

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "plugins" / "template"
HURT, UNHURT = (
    "ops.sqrt.float32.claim",
    ("ops.exp.float32.claim", "ops.add.int32.claim", "abi.descriptor.texts"),
)


def _compile(compiler: str, *arguments: str | Path) -> None:
    flags = ["-O1", "-fPIC", "-fvisibility=hidden", f"-I{ROOT / 'device_api' / 'include'}"]
    subprocess.run([*compiler.split(), *flags, *map(str, arguments)], check=True, timeout=120)


@pytest.fixture(scope="module")
def rough(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin template behind a front that can be told to misbehave."""
    folder = tmp_path_factory.mktemp("rough")
    objects = []
    for source in sorted(TEMPLATE.rglob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        rename = ["-Ddevice_api_plugin=good_plugin"] if source.name == "plugin.c" else []
        _compile(os.environ.get("CC", "cc"), "-std=c99", "-c", *rename, source, "-o", objects[-1])
    exports, library = folder / "exports.map", folder / "librough.so"
    exports.write_text("{ global: device_api_plugin; local: *; };")
    front = Path(__file__).with_name("rough.cpp")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", f"-Wl,--version-script={exports}"]
    _compile(os.environ.get("CXX", "c++"), *flags, front, *objects, "-lm", "-o", library)
    return library


@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("segfault", "crash", "SIGSEGV"),
        ("hang", "timeout", "no answer within 4 s"),
        ("exit", "crash", "exited with status 0"),
        ("throw", "crash", "SIGABRT"),
        ("heap", "crash", "SIG"),
        ("log", "timeout", "no answer within 4 s"),
        ("answers", "harness_error", "the worker answered"),
    ],
)
def test_a_plugin_that_hurts_its_process_costs_one_case(
    how: str, status: str, says: str, rough: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUGH", how)
    outcome = run(
        str(rough),
        include=[HURT, *UNHURT],
        jobs=1,
        deadline=4,
        progress=False,
        artifacts=tmp_path,
        json_path=tmp_path / "r.json",
        html_path=tmp_path / "r.html",
    )
    found = {result.name: result for result in outcome.results}
    assert {name: str(result.status) for name, result in found.items()} == {
        HURT: status,
        **dict.fromkeys(UNHURT, "pass"),
    }
    assert says in found[HURT].message
    assert len(found[HURT].output) < 20_000
    assert len(json.loads((tmp_path / "r.json").read_text())["results"]) == 1 + len(UNHURT)
    assert HURT in (tmp_path / "r.html").read_text()
    assert (tmp_path / "r.json").stat().st_size < 100_000


def test_a_plugin_that_fills_the_disk_is_stopped_at_a_limit(rough: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", str(rough), "--include", HURT, "--include", UNHURT[0]]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    # The limit of files is in blocks of 1024 bytes; the suite's own is far above it.
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 20000; exec "$@"', "-", *command, "--jobs", "1", "--json", "r.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "ROUGH": "disk", "ROUGH_FOLDER": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    found = {result["name"]: result for result in json.loads((tmp_path / "r.json").read_text())["results"]}
    assert (found[HURT]["status"], found[UNHURT[0]]["status"]) == ("crash", "pass")
    assert "SIGXFSZ" in found[HURT]["message"]
    assert (tmp_path / "endless.log").stat().st_size <= 20_000 * 1024


def test_a_crash_that_another_case_may_have_caused_names_that_case(
    rough: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first crash of a worker's second case, and none when it runs alone."""
    monkeypatch.setenv("ROUGH", "once")
    monkeypatch.setenv("ROUGH_FOLDER", str(tmp_path))
    outcome = run(str(rough), include=[HURT, UNHURT[2]], jobs=1, progress=False, artifacts=tmp_path)
    (hurt,) = [result for result in outcome.results if result.name == HURT]
    assert hurt.status is not Status.PASS
    assert f"the process had run {UNHURT[2]} before" in hurt.message


# --- what a worker answers --------------------------------------------------------------------------


def test_facts_that_json_does_not_have_become_texts() -> None:
    facts = {
        "nan": float("nan"),
        "inf": [float("-inf")],
        "path": Path("/x"),
        "number": np.float32(1.5),
        3: True,
    }
    plain = worker._plain(facts)
    assert json.loads(json.dumps(plain, allow_nan=False)) == {
        "nan": "nan",
        "inf": ["-inf"],
        "path": "/x",
        "number": "1.5",
        "3": True,
    }


def test_a_case_that_measures_nan_is_no_pass() -> None:
    from conformance.case import Measure

    measured = Case("ops.a.int8.x", lambda target, rng: Measure(max_ulp=float("nan")))
    result, failure = worker.execute(measured, None, 0)  # type: ignore[arg-type]
    assert (result.status, failure) == (Status.HARNESS_ERROR, None)


def test_what_a_plugin_prints_cannot_move_a_terminals_cursor() -> None:
    assert printable("a\x1b[2Jb\r\x07c\nd") == "a\ufffd[2Jb\ufffd\ufffdc\nd"


# --- shrinking --------------------------------------------------------------------------------------


def _failing(operand: int, value: float, calls: list[Trial]) -> Any:
    """A kernel that is wrong wherever an operand has a value, in tensors of four axes."""

    def run_trial(target: object, trial: Trial) -> None:
        calls.append(trial)
        values = trial.inputs[operand].values
        if values.ndim == 4 and (values == value).any():
            raise TrialFailure(trial, "wrong", {})

    return run_trial


@pytest.mark.parametrize("operand", [0, 1])
def test_a_failure_at_one_element_of_four_axes_ends_in_the_minimal_shape(
    operand: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(0)
    arrays = [generator.uniform(2, 3, (3, 4, 5, 6)).astype(np.float32) for _ in range(2)]
    arrays[operand][1, 2, 3, 4] = 7
    operands = (Operand(arrays[0], "transposed"), Operand(arrays[1], "stepped"))
    trial = Trial(BY_NAME["add"], None, operands)  # type: ignore[arg-type]
    calls: list[Trial] = []
    monkeypatch.setattr(shrink, "run_trial", _failing(operand, 7, calls))
    found = shrink.shrink(None, TrialFailure(trial, "wrong", {}))  # type: ignore[arg-type]
    assert found is not None
    assert [each["shape"] for each in found["inputs"]] == [[1, 1, 1, 1], [1, 1, 1, 1]]
    assert found["inputs"][operand]["values"] == ["7.0"]
    assert found["inputs"][1 - operand]["values"] == ["1.0"]
    assert "transposed" not in found["description"]
    assert len(calls) < 200


def test_shrinking_ends_in_time_when_nothing_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(BY_NAME["exp"], None, (Operand(np.ones(4, np.float32)),))  # type: ignore[arg-type]
    clock = iter(range(10_000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(shrink, "run_trial", lambda target, trial: None)
    found = shrink.shrink(None, TrialFailure(trial, "wrong", {}))  # type: ignore[arg-type]
    assert found is not None
    assert found["inputs"][0]["shape"] == [4]
