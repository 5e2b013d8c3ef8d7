"""Runs of clients' tests fail when they prove nothing: no test, no reason, an exclusion without use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

TESTS = "import pytest\n@pytest.mark.parametrize('xp', ['{name}'])\ndef test_sum(xp): assert 1 + 1 == 2\n"
PROBE = """
import client_report
client_report.exclusions = lambda kind: {exclusions!r}
def pytest_configure(config):
    config.pluginmanager.register(client_report.ClientRun("Probe", "probe"), "client_run")
"""


def _run(folder: Path, name: str, exclusions: dict[str, str]) -> tuple[int, str]:
    (folder / "test_probe.py").write_text(TESTS.format(name=name))
    (folder / "probe_client.py").write_text(PROBE.format(exclusions=exclusions))
    options = ["-q", "-p", "probe_client", "-p", "no:cacheprovider", "test_probe.py"]
    code = f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(folder)!r}]; import pytest; "
    code += f"raise SystemExit(pytest.main({options}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("name", "exclusions", "code", "said"),
    [
        ("device_api", {}, 0, "Probe's own tests on device_api: 1 passed; 0 left out"),
        ("torch", {}, 1, "none ran"),
        ("device_api", {"test_sum": "it sums"}, 1, "left out    1  test_sum: it sums"),
        ("device_api", {"test_gone": "it was wrong"}, 1, "test_gone leaves out nothing"),
    ],
)
def test_a_run_is_good_only_when_tests_passed_and_every_exclusion_was_needed(
    tmp_path: Path, name: str, exclusions: dict[str, str], code: int, said: str
) -> None:
    got, output = _run(tmp_path, name, exclusions)
    assert said in output
    assert got == code, output


@pytest.mark.parametrize("kind", ["scipy", "sklearn"])
def test_every_exclusion_has_a_reason(kind: str) -> None:
    lines = (HERE / "clients" / f"{kind}.txt").read_text().splitlines()
    assert all(line.partition(" # ")[2].strip() for line in lines if line and not line.startswith("#"))
