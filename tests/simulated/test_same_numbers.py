"""Random numbers are a function of seed and position, not of the device: those of the reference CPU on each.

The devices differ in all that may show: the reference CPU and the simulated accelerator draw in kernels, the
simulated one in the order of streams; one plugin has the primitives alone, one is NumPy, and both compose.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated_driver import ROOT

from conformance import compare
from conformance.false_fail import Row, built
from device_api import dtypes
from device_api.ops._table import BY_NAME

# Each with the dtypes that its memory does not hold.
DEVICES: dict[str, tuple[str, ...]] = {
    "sim:0": (), "sim:1": (), "primitives:0": (), "numpy:0": ("float16", "bfloat16")
}  # fmt: skip
PROGRAM = Path(__file__).with_name("random_numbers.py")

Numbers = Mapping[str, Any]


@pytest.fixture(scope="module")
def plugins(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the libraries and manifests of all devices."""
    folder = tmp_path_factory.mktemp("plugins")
    shutil.copy(library, folder / "libdevice_api_simulated.so")
    shutil.copy(ROOT / "plugins" / "simulated" / "sim.json", folder)
    small = built(Row("device_api_primitives_only", sources=ROOT / "plugins" / "primitives_only"), folder)
    assert Path(small).name == "libdevice_api_primitives_only.so"
    shutil.copy(ROOT / "plugins" / "primitives_only" / "primitives_only.json", folder)
    for path in (ROOT / "plugins" / "python_only").glob("python_only.*"):
        shutil.copy(path, folder)
    return folder


def drawn_on(device: str, plugins: Path, *absent: str) -> Numbers:
    path = plugins / f"{device}.npz"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    subprocess.run(
        [sys.executable, str(PROGRAM), device, str(path), *absent],
        env={**clean, "DEVICE_API_PLUGIN_PATH": str(plugins)},
        check=True,
        timeout=300,
    )
    with np.load(path) as numbers:
        return dict(numbers)


@pytest.fixture(scope="module")
def reference(plugins: Path) -> Numbers:
    return drawn_on("cpu", plugins)


@pytest.mark.parametrize("device", DEVICES)
def test_a_seed_gives_the_same_numbers_on_every_device(
    device: str, plugins: Path, reference: Numbers
) -> None:
    numbers = drawn_on(device, plugins, *DEVICES[device])
    assert {name for name in reference if not any(f".{d}." in name for d in DEVICES[device])} == set(numbers)
    differing = []
    for name, expected in ((name, reference[name]) for name in numbers):
        kind, dtype = name.split(".")[:2]
        if kind in ("normal", "exponential") and not name.endswith("next"):
            # Logarithms and cosines: within the op set's bound of numbers whose unit is the deviation's.
            bound, exact = BY_NAME[kind].ulp[dtype], dtypes.from_code(dtypes.code(dtype))
            found = compare.compare(
                numbers[name].astype(exact),
                expected,
                compare.Rule(2 * bound),
                np.maximum(np.abs(expected), 1),
            )
            differing += [] if found.good else [f"{name}: {found.message()}"]
        elif not np.array_equal(numbers[name], expected):
            differing.append(name)
    assert differing == []


def test_the_numbers_differ_from_seed_to_seed(reference: Numbers) -> None:
    """The comparison above would also pass for devices that know one number."""
    assert not np.array_equal(reference["uniform.float32.0"], reference[f"uniform.float32.{2**64 - 1}"])
    assert len(np.unique(reference["uniform.float64.0"])) == reference["uniform.float64.0"].size
