"""The digits example: real data, every operation on the device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from masked_devices import PRIMITIVES, Mask, masked

import device_api as da
from device_api.loading import find_record

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "digits.py"


def run(*arguments: str, **variables: str) -> str:
    environment = {**os.environ, **variables, "PYTHONPATH": str(Path(da.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def accuracy(text: str) -> float:
    found = re.search(r"test accuracy on \S+: ([0-9.]+)", text)
    assert found
    return float(found[1])


def test_training_on_the_cpu_reaches_96_percent_without_any_fallback() -> None:
    text = run("--device", "cpu")
    assert accuracy(text) >= 0.96
    assert re.search(r"batch_matmul +\d+", text)
    assert "fallback (policy error): 0 runs" in text


@pytest.mark.parametrize(
    ("mask", "fallbacks"),
    [(Mask(only=PRIMITIVES, random=False), False), (Mask(hidden=("take", "gather_rows")), True)],
    ids=["primitives only", "two kernels missing"],
)
def test_the_same_script_trains_on_other_devices_to_the_same_accuracy(mask: Mask, fallbacks: bool) -> None:
    device = masked(mask)
    folder = find_record(device.partition(":")[0]).library.parent
    text = run("--device", device, DEVICE_API_PLUGIN_PATH=str(folder))
    assert accuracy(text) >= 0.96
    counted = re.search(r"fallback \(policy warn\): (\d+) runs", text)
    assert counted
    assert (int(counted[1]) > 0) == fallbacks
