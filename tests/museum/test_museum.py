"""Plugins built from every header version that there was: the newest host loads and drives them, or refuses
them with the typed error of versions. They are binaries: a rebuilt plugin proves nothing about those in
use."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from device_api.abi import versions
from device_api.errors import AbiMismatch
from device_api.loading import open_library

MUSEUM = Path(__file__).parent
ROOT = MUSEUM.parents[1]
EXHIBITS = sorted(path.parent for path in MUSEUM.glob("*/exhibit.json"))

# In a process of its own: an old binary that the host misreads crashes.
DRIVE = """
import sys
import numpy as np
import device_api as da
da.register_plugin(sys.argv[1])
device = da.device("museum:0")
with da.fallback("error"):
    a = da.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
    b = da.asarray(np.full((2, 3), 0.5, np.float32), device=device)
    assert device.memory_stats()["allocated"] > 0
    c = a + b
    assert device.kernel_runs() == {"add": 1}, device.kernel_runs()
    assert np.array_equal(c.numpy(), np.arange(6, dtype=np.float32).reshape(2, 3) + 0.5)
    try:
        da.exp(a)
    except da.errors.UnsupportedOp as error:
        print(error)
    else:
        raise SystemExit("an op that the exhibit lacks was run")
del a, b, c
device.synchronize()
print("driven")
"""

on_x86_64 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason=f"the exhibits are x86-64 binaries, this is {platform.machine()}"
)


def facts(exhibit: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((exhibit / "exhibit.json").read_text())
    return found


def understood(exhibit: Path) -> bool:
    return versions.refusal(tuple(facts(exhibit)["abi"]), 0) is None


def test_the_museum_has_the_drafts_that_led_to_0_9() -> None:
    assert len(EXHIBITS) >= 5
    assert len({facts(exhibit)["headers_sha256"] for exhibit in EXHIBITS}) == len(EXHIBITS)


def test_the_present_minor_has_an_exhibit() -> None:
    assert any(tuple(facts(exhibit)["abi"]) == versions.HOST for exhibit in EXHIBITS)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda path: path.name)
def test_an_exhibit_is_the_binary_that_was_put_there(exhibit: Path) -> None:
    digest = hashlib.sha256((exhibit / "libmuseum.so").read_bytes()).hexdigest()
    assert digest == facts(exhibit)["library_sha256"]


@on_x86_64
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda path: path.name)
def test_an_exhibit_is_driven_by_this_host_or_refused_by_its_version(exhibit: Path, tmp_path: Path) -> None:
    if not understood(exhibit):
        with pytest.raises(AbiMismatch) as caught:
            open_library(exhibit / "libmuseum.so")
        assert caught.value.plugin_version == tuple(facts(exhibit)["abi"])
        return
    done = subprocess.run(
        [sys.executable, "-P", "-c", DRIVE, str(exhibit / "libmuseum.so")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("driven\n")


@on_x86_64
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda path: path.name)
def test_a_host_of_a_draft_that_broke_refuses_an_older_exhibit_by_its_version(
    exhibit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if facts(exhibit)["abi"][0] != 0:
        pytest.skip("a released version never breaks")
    minor = facts(exhibit)["abi"][1]
    refusal = versions.refusal
    monkeypatch.setattr(
        versions, "refusal", lambda plugin, least: refusal(plugin, least, (0, minor + 1), minor + 1)
    )
    with pytest.raises(AbiMismatch, match=f"drafts broke with 0.{minor + 1}"):
        open_library(exhibit / "libmuseum.so")


@on_x86_64
def test_a_new_exhibit_is_built_from_the_headers_of_today(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    spec = importlib.util.spec_from_file_location("museum_add", MUSEUM / "add.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exhibit = module.add("new", ROOT / "device_api" / "include", museum=tmp_path)
    assert tuple(facts(exhibit)["abi"]) == versions.HOST
    assert open_library(exhibit / "libmuseum.so").name == "museum"
    with pytest.raises(FileExistsError):
        module.add("new", ROOT / "device_api" / "include", museum=tmp_path)
