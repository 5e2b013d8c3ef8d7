"""`device-api check` on devices that are healthy, broken, crashing and hanging."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from device_api.abi import constants
from device_api.cli import paths

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def check(*arguments: str, **variables: str) -> tuple[int, dict[str, object], str]:
    """Exit code, JSON document and standard error of `device-api check --json`."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "device_api.cli", "check", "--json", *arguments],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the plugin that can be made wrong by the variable STUB."""
    folder = tmp_path_factory.mktemp("stub")
    source = ROOT / "tests" / "stubs" / "stub.c"
    subprocess.run(
        [
            "gcc",
            "-shared",
            "-fPIC",
            f"-I{paths.include_dir()}",
            str(source),
            "-o",
            str(folder / "libstub.so"),
        ],
        check=True,
    )
    manifest = {"file_format_version": "1", "name": "stub", "device_type": "stub", "library": "libstub.so"}
    (folder / "stub.json").write_text(json.dumps({**manifest, "vendor": "Stub works", "version": "1"}))
    return str(folder)


def test_the_cpu_is_healthy_and_did_real_work() -> None:
    code, document, _ = check("cpu")
    (finding,) = document["devices"]
    assert code == 0, finding
    assert [stage["stage"] for stage in finding["stages"]] == [
        "manifest",
        "library",
        "device",
        "memory",
        "kernels",
    ]
    assert "matmul" in finding["facts"]["passed"]
    assert finding["facts"]["abi"] == f"{constants.DA_ABI_MAJOR}.{constants.DA_ABI_MINOR}"


def test_without_a_device_every_plugin_is_checked(stub: str) -> None:
    code, document, _ = check(DEVICE_API_PLUGIN_PATH=stub, STUB="initialize=crash")
    statuses = {finding["device"]: finding["status"] for finding in document["devices"]}
    assert statuses == {"cpu": "ok", "stub": "failed"}
    assert document["summary"] == {"ok": 1, "failed": 1, "unavailable": 0}
    assert code == 1


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("initialize=crash", "Crash", "SIG"),
        ("initialize=exit", "Exit", "status"),
        ("initialize=fail", "PluginFailed", "told to fail"),
    ],
)
def test_a_plugin_that_fails_in_initialize_is_blamed_in_that_stage(
    fault: str, error: str, words: str, stub: str
) -> None:
    code, document, _ = check("stub", DEVICE_API_PLUGIN_PATH=stub, STUB=fault)
    (finding,) = document["devices"]
    assert code == 1
    assert finding["error"] == error
    assert words in finding["detail"]
    assert finding["stages"][-1] == {"stage": "device", "status": "failed"}
    assert finding["remedy"]


def test_a_plugin_that_hangs_is_ended_at_the_deadline(stub: str) -> None:
    code, document, _ = check("stub", "--timeout", "3", DEVICE_API_PLUGIN_PATH=stub, STUB="initialize=hang")
    (finding,) = document["devices"]
    assert code == 1
    assert finding["error"] == "Timeout"
    assert "device" in finding["detail"]


def test_a_driver_that_is_missing_makes_the_device_unavailable(stub: str) -> None:
    code, document, _ = check("stub", DEVICE_API_PLUGIN_PATH=stub, STUB="initialize=unavailable")
    (finding,) = document["devices"]
    assert code == 3
    assert finding["status"] == "unavailable"
    assert "no stub driver" in finding["detail"]


def test_a_plugin_without_the_kernels_it_needs_fails_with_the_suites_name_as_remedy(stub: str) -> None:
    code, document, _ = check("stub", DEVICE_API_PLUGIN_PATH=stub, STUB="hide=stream")
    (finding,) = document["devices"]
    assert code == 1
    assert finding["stages"][-1]["stage"] in ("memory", "kernels")
    assert finding["remedy"]


def test_the_text_for_people_says_what_to_do(stub: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "device_api.cli", "check", "stub"],
        env={**ENVIRONMENT, "DEVICE_API_PLUGIN_PATH": stub, "STUB": "initialize=crash"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert "what to do" in done.stdout
