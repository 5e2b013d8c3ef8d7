"""Whole runs: what they refuse, what they write, how they resume, and how a failure is repeated."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import Outcome, run
from conformance.case import Status

Faulty = Callable[..., Path]
FEW = ("abi.descriptor.*", "runtime.device.*", "ops.add.float32.*")


def judge(library: Path, **options: Any) -> Outcome:
    settings = {"include": FEW, "jobs": 1, "progress": False, "artifacts": "failures"}
    return run(str(library), **{**settings, **options})


# --- a run that proves nothing is not good --------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"include": ["ops.nonsense.*"]}, "no case was executed"),
        ({"include": ["ops.nonsense.*", "abi.descriptor.texts"]}, "filter 'ops.nonsense.*' matches no case"),
        ({"include": ["abi.descriptor.texts"], "exclude": ["typo"]}, "filter 'typo' matches no case"),
        ({"include": ["abi.*"], "levels": ["runtime"]}, "no case was executed"),
    ],
)
def test_an_empty_or_mistyped_run_fails(options: dict[str, Any], problem: str, faulty: Faulty) -> None:
    outcome = judge(faulty(), **options)
    assert outcome.exit_code == 1
    assert any(problem in text for text in outcome.problems)


def test_a_run_of_nothing_but_skips_fails(without_streams: Path) -> None:
    outcome = judge(without_streams, include=["runtime.stream.*"])
    assert outcome.exit_code == 1
    assert "no case was executed" in outcome.problems


@pytest.mark.parametrize(
    ("target", "options", "code", "says"),
    [
        ("cpu", {"shard": "3/2"}, 2, "shard"),
        ("cpu", {"levels": ["speed"]}, 2, "unknown level"),
        ("cpu", {"resume": True}, 2, "journal"),
        ("cpu", {"jobs": 0}, 2, "jobs"),
        ("cpu", {"deadline": -1.0}, 2, "deadline"),
        ("cpu", {"seed": -1}, 2, "seed"),
        ("cpu", {"waivers": "/nowhere/waivers.toml"}, 2, "waivers"),
        ("/nowhere/libx.so", {}, 2, "no such file"),
        ("CPU!", {}, 2, "neither a device string"),
        ("npu_that_nobody_sells", {}, 3, "npu_that_nobody_sells"),
    ],
)
def test_a_bad_request_is_explained_and_runs_nothing(
    target: str, options: dict[str, Any], code: int, says: str
) -> None:
    outcome = run(target, progress=False, **options)
    assert (outcome.exit_code, outcome.results) == (code, [])
    assert says in outcome.message


@pytest.mark.parametrize("content", ["not a library", ""])
def test_a_file_that_is_no_library_fails_with_the_reason(content: str, tmp_path: Path) -> None:
    path = tmp_path / "libtext.so"
    path.write_text(content)
    outcome = run(str(path), include=["abi.entry.loads"], jobs=1, progress=False, artifacts=tmp_path)
    assert outcome.exit_code == 1
    assert {str(result.status) for result in outcome.results} == {"fail"}


# --- waivers --------------------------------------------------------------------------------------------


def _waivers(path: Path, cases: str, expires: str = "2999-01-01") -> Path:
    path.write_text(
        f'[[waiver]]\ncases = "{cases}"\nreason = "known"\nissue = "example.com/1"\nexpires = {expires}\n'
    )
    return path


def test_a_waived_failure_still_runs_and_leaves_the_run_good(faulty: Faulty, tmp_path: Path) -> None:
    waivers = _waivers(tmp_path / "w.toml", "ops.exp.float32.values")
    outcome = judge(faulty("exp_of_six_digits"), include=["ops.exp.float32.values"], waivers=waivers)
    (result,) = outcome.results
    assert (result.status, outcome.exit_code) == (Status.WAIVED, 0)
    assert "ulp" in result.message


def test_an_unexpected_pass_fails_the_run(faulty: Faulty, tmp_path: Path) -> None:
    waivers = _waivers(tmp_path / "w.toml", "ops.exp.float32.values")
    outcome = judge(faulty(), include=["ops.exp.float32.values"], waivers=waivers)
    assert outcome.exit_code == 1
    assert "remove the waiver" in outcome.problems[0]


# --- shards, resume ---------------------------------------------------------------------------------------


def test_the_shards_of_a_run_are_the_run(faulty: Faulty) -> None:
    whole = {result.name for result in judge(faulty()).results}
    parts = [{result.name for result in judge(faulty(), shard=f"{i}/3").results} for i in (1, 2, 3)]
    assert set.union(*parts) == whole
    assert sum(map(len, parts)) == len(whole)


def test_an_interrupted_run_goes_on_where_it_stopped(faulty: Faulty, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    first = judge(faulty(), journal=journal)
    lines = journal.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + len(first.results)
    marked = json.loads(lines[3])
    marked["message"] = "from the journal"
    journal.write_text("".join([*lines[:3], json.dumps(marked) + "\n", lines[4][:20]]))
    second = judge(faulty(), journal=journal, resume=True)
    assert [result.name for result in second.results] == [result.name for result in first.results]
    kept = next(result for result in second.results if result.name == marked["name"])
    assert kept.message == "from the journal"
    assert second.exit_code == 0


def test_a_journal_of_another_library_is_refused(faulty: Faulty, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    judge(faulty(), journal=journal)
    other = tmp_path / "another.so"
    other.write_bytes(faulty().read_bytes() + b"x")
    outcome = judge(other, journal=journal, resume=True)
    assert outcome.exit_code == 2
    assert "another run" in outcome.message


# --- a failure can be repeated, and is small ----------------------------------------------------------------


def test_the_command_of_a_failure_repeats_it(faulty: Faulty, tmp_path: Path) -> None:
    (result,) = judge(faulty("reads_inputs_as_dense"), include=["ops.add.float32.layouts"], seed=11).results
    program, *arguments = shlex.split(result.repro)
    assert program == "device-api"
    assert arguments[0] == "conformance"
    child = subprocess.run(
        [sys.executable, "-m", "conformance", *arguments[1:], "--json", "r.json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=_environment(),
        timeout=60,
        check=False,
    )
    assert child.returncode == 1
    (again,) = json.loads((tmp_path / "r.json").read_text())["results"]
    assert again["message"] == result.message
    assert result.message in child.stdout.replace("\n", "")


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}


def test_the_inputs_of_a_failure_are_saved(faulty: Faulty) -> None:
    (result,) = judge(faulty("exp_of_six_digits"), include=["ops.exp.float32.values"]).results
    with np.load(result.artifact) as saved:
        assert saved["input0"].shape == (65_537,)


def test_a_failure_is_shrunk_to_a_minimal_shape(faulty: Faulty) -> None:
    (result,) = judge(faulty("maximum_loses_nan"), include=["ops.maximum.float32.special"]).results
    assert result.shrunk is not None
    assert [one["shape"] for one in result.shrunk["inputs"]] == [[1], [1]]
    assert "nan" in [one["values"][0] for one in result.shrunk["inputs"]]


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others(faulty: Faulty) -> None:
    def message(seed: int) -> str:
        (result,) = judge(faulty("exp_of_six_digits"), include=["ops.exp.float32.sizes"], seed=seed).results
        return result.message

    assert message(1) == message(1) != message(2)


# --- reports ------------------------------------------------------------------------------------------------


class _Reader(HTMLParser):
    """Collects links that leave the file, and the nesting of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_written_reports_agree(faulty: Faulty, tmp_path: Path) -> None:
    paths = {name: tmp_path / "deep" / f"r.{name}" for name in ("json", "html", "xml")}
    outcome = judge(
        faulty("crashes"),
        include=["ops.sqrt.float32.s*", "ops.sqrt.float32.claim", "ops.add.*.claim", "abi.descriptor.*"],
        json_path=paths["json"],
        html_path=paths["html"],
        junit_path=paths["xml"],
    )
    report = json.loads(paths["json"].read_text())
    summary = report["summary"]
    assert report["schema_version"] == 1
    assert summary == outcome.summary
    assert sum(summary[status] for status in Status) == len(report["results"])
    assert summary["executed"] == len(report["results"]) - summary["not_supported"] > 0
    assert summary["crash"] > 0
    assert len(report["target"]["library_sha256"]) == 64
    assert report["coverage"]["sqrt"]["float32"] == "crash"
    claimed = {dtype for dtype, status in report["coverage"]["add"].items() if status == "pass"}
    assert {"float32", "float64", "int32", "int64"} <= claimed
    assert set(report["coverage"]["add"].values()) <= {"pass", "not_supported"}
    assert all(result["repro"] for result in report["results"] if result["status"] == "crash")

    suites = ElementTree.parse(paths["xml"]).getroot()
    assert sum(int(suite.attrib["tests"]) for suite in suites) == len(report["results"])
    assert sum(int(suite.attrib["errors"]) for suite in suites) == summary["crash"]
    assert sum(int(suite.attrib["skipped"]) for suite in suites) == summary["not_supported"]

    reader = _Reader()
    reader.feed(paths["html"].read_text())
    assert (reader.open, reader.outside) == ([], [])
    assert "ops.sqrt.float32.claim" in paths["html"].read_text()


def test_the_accuracy_table_is_written_for_passing_cases_too(faulty: Faulty) -> None:
    outcome = judge(faulty(), include=["ops.exp.float32.values"])
    (row,) = outcome.report["accuracy"]
    assert (row["op"], row["dtype"]) == ("exp", "float32")
    assert 0 < row["max_ulp"] <= row["tolerance"]


# --- pytest -----------------------------------------------------------------------------------------


def _pytest(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # Installed, pytest finds the plugin by its entry point, and loading it twice is an error.
    installed = importlib.metadata.entry_points(group="pytest11", name="device_api_conformance")
    load = [] if installed else ["-p", "conformance.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", *load, "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "--pyargs", "conformance", "-q", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=_environment(),
        timeout=120,
        check=False,
    )


def test_pytest_runs_the_same_cases(faulty: Faulty, tmp_path: Path) -> None:
    child = _pytest(
        "--device", str(faulty("crashes")), "-k", "ops.sqrt.float32.claim or ops.add.float32", cwd=tmp_path
    )
    assert child.returncode == 1
    assert re.search("1 failed, [0-9]+ passed", child.stdout)
    assert "SIGSEGV" in child.stdout
    assert "--include ops.sqrt.float32.claim --seed 0" in child.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--device TARGET"),
        (["--device", "npu_that_nobody_sells"], "npu_that_nobody_sells"),
        (["--device", "cpu!"], "neither a device string"),
    ],
)
def test_pytest_without_a_device_explains_itself(arguments: list[str], says: str, tmp_path: Path) -> None:
    child = _pytest(*arguments, cwd=tmp_path)
    assert child.returncode not in (0, 5)
    assert says in child.stdout + child.stderr


def test_pytest_with_nothing_but_skips_fails(without_streams: Path, tmp_path: Path) -> None:
    child = _pytest("--device", str(without_streams), "-k", "runtime.stream.query", cwd=tmp_path)
    assert child.returncode == 1
    assert "0 executed" in child.stdout
