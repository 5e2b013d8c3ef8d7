"""The kill run: the table and the plugin are of one mind, and what nobody catches survives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.kill import faults
from conformance.kill.__main__ import main
from conformance.kill.forks import ForkServer
from conformance.kill.table import LIBRARY, TABLE, TableError, read_table

ROOT = Path(__file__).resolve().parents[2]
KILL_TABLE = ROOT / "docs" / "reference" / "kill-table.md"


def run_kill(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance.kill", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


def write_table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["[crash]", 'title = "Crashes"', "[crash.crashes]", 'defect = "x"', *lines]))
    return path


def test_the_table_names_the_faults_of_the_plugin() -> None:
    server = ForkServer()
    (result,) = server.run(TABLE.parent / LIBRARY, "abi.open", 20, {faults.VARIABLE: "no_such_fault"})
    server.close()
    assert "DEVICE_API_FAULT=no_such_fault is no fault" in result.message
    offered = set(re.findall(r"(?:cpu|simulated):\w+", result.message))
    declared = {f"{fault.base}:{fault.name}" for fault in read_table()}
    helpers = {"cpu:none_cpu", "simulated:none_simulated", "cpu:flushes_subnormal_results"}
    assert offered - helpers == declared
    assert len(declared) >= 150


def test_the_published_table_has_the_faults_and_cases_of_the_declaration() -> None:
    published = KILL_TABLE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", published, re.MULTILINE))
    assert list(rows) == [fault.name for fault in read_table()]
    for fault in read_table():
        defect, cases = rows[fault.name].split(" | ")
        assert defect == fault.defect
        assert re.findall("`([^`]+)`: (?:fail|crash|timeout)", cases) == list(fault.cases)


def test_a_kill_run_says_what_was_caught_and_by_which_case() -> None:
    child = run_kill("--json", "--fault", "c*_in_chunks_with_a_gap")
    assert child.returncode == 0, child.stderr
    report = json.loads(child.stdout)
    assert (report["schema"], report["schema_version"]) == ("device_api.conformance.kill", 1)
    (fault,) = report["faults"]["faults"]
    assert (fault["killed"], report["good"]) == (True, True)
    (attempt,) = fault["cases"]
    assert attempt["status"] == "fail"
    assert "4097 bytes did not come back" in attempt["message"]
    assert report["faults"]["unfaulted"] == {"cases": 1, "not_passed": []}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['cases = ["ops.add.float32.claim"]'], "survives: crashes"),
        (['cases = ["ops.sqrt.float32.claim", "ops.add.float32.claim"]'], "survives: crashes"),
        (['cases = ["ops.sqrt.float32.clam"]'], "no case of the plugin matches"),
    ],
)
def test_a_fault_that_one_of_its_cases_does_not_catch_survives(
    lines: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = write_table(tmp_path / "faults.toml", *lines)
    monkeypatch.setattr("conformance.kill.faults.read_table", lambda: read_table(table))
    assert main(["--fault", "*"]) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['cases = "ops.sqrt.float32.claim"'], "cases is a list"),
        (["cases = []"], "cases is a list"),
        (['cases = ["abi.open"]', 'base = "gpu"'], "base is one of"),
        (['cases = ["abi.open"]', "speed = 3"], "unknown fields speed"),
        (["cases = ["], "faults.toml"),
    ],
)
def test_a_malformed_table_is_an_error_that_names_the_place(
    lines: list[str], says: str, tmp_path: Path
) -> None:
    with pytest.raises(TableError, match=says):
        read_table(write_table(tmp_path / "faults.toml", *lines))


def test_a_name_that_matches_no_fault_and_a_folder_without_a_plugin_are_told(tmp_path: Path) -> None:
    nothing = run_kill("--fault", "no_such_*")
    assert (nothing.returncode, "no fault matches" in nothing.stderr) == (2, True)
    nowhere = run_kill("--folder", str(tmp_path))
    assert (nowhere.returncode, "DEVICE_API_TEST_PLUGINS" in nowhere.stderr) == (3, True)
