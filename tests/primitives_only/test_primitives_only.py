"""The primitives suffice: a plugin with them and nothing else passes conformance, and serves every op.

It is built here as a vendor builds it: with a C compiler, the folder of headers, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from device_api.cli import paths
from device_api.loading import open_library
from device_api.ops._table import OPS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "plugins" / "primitives_only"
FLAGS = "-std=c99 -O2 -Wall -Wextra -Werror -pedantic -fPIC -shared -fvisibility=hidden -Wl,--no-undefined"
PRIMITIVES = {spec.name: spec for spec in OPS if spec.level == "primitive"}
MAY_FALL_BACK = "factorisation,fourier"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, with its manifest beside it."""
    folder = tmp_path_factory.mktemp("primitives_only")
    library = folder / "libdevice_api_primitives_only.so"
    sources = [str(path) for path in sorted(SOURCE.rglob("*.c"))]
    command = ["gcc", *FLAGS.split(), f"-I{paths.include_dir()}", *sources, "-lm", "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.copy(SOURCE / "primitives_only.json", folder)
    return library


@pytest.fixture
def run(library: Path, tmp_path: Path) -> Run:
    """Runs Python with arguments in a process of its own, where the device "primitives" can be found."""

    def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        search = [str(ROOT), str(ROOT / "tests" / "external"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, search)),
            "DEVICE_API_PLUGIN_PATH": str(library.parent),
            **variables,
        }
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return python


def claims(library: Path) -> dict[str, list[int]]:
    """The kernels of the plugin: op name -> sets of dtypes."""
    plugin = open_library(library)
    kernels = plugin.ffi.new("da_kernel_list *")
    kernels.struct_size = plugin.ffi.sizeof("da_kernel_list")
    interface = plugin.interface("kernel")
    assert interface is not None
    plugin.check(interface.list(plugin.ffi.NULL, kernels), "kernel.list")
    listed = plugin.ffi.unpack(kernels.first, kernels.count)
    return {plugin.ffi.string(each.op).decode(): list(each.dtypes) for each in listed}


def test_it_has_a_kernel_for_every_primitive_and_each_of_its_dtypes_and_no_other(library: Path) -> None:
    expected = {
        name: [sum(1 << code for code in codes) for _, codes in spec.types]
        for name, spec in PRIMITIVES.items()
    }
    assert {op: [mask for mask in masks if mask] for op, masks in claims(library).items()} == expected


def test_it_exports_one_symbol_and_needs_nothing_of_the_host(library: Path) -> None:
    listing = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-2:] for line in listing.splitlines()]
    assert [name for kind, name in symbols if kind not in "Uw"] == ["device_api_plugin"]
    assert not [name for kind, name in symbols if kind == "U" and name.startswith(("da_", "Py"))]


def test_it_stays_small() -> None:
    files = [path for path in SOURCE.rglob("*") if path.suffix in (".c", ".h", ".txt", ".json")]
    assert sum(len(path.read_text().splitlines()) for path in files) <= 2500


def test_its_build_lists_all_its_sources() -> None:
    listed = (SOURCE / "CMakeLists.txt").read_text()
    for path in SOURCE.rglob("*.c"):
        assert f"  {path.relative_to(SOURCE).as_posix()}" in listed


SPECIAL_VALUES = """
import itertools, sys
import numpy as np
import device_api as da

parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
z = np.array([complex(x, y) for x, y in itertools.product(parts, parts)])

def parts_and_signs(values):
    values = values.astype(np.complex128)
    return [(str(np.sign(part)), bool(np.isfinite(part)), bool(np.signbit(part)) or part != part)
            for each in values for part in (each.real, each.imag)]

for name in sys.argv[1:]:
    function = getattr(da, name)
    here, there = (function(da.asarray(z, device=each)).numpy() for each in ("primitives", "cpu"))
    assert parts_and_signs(here) == parts_and_signs(there), (name, list(zip(z, here, there)))
"""


def test_complex_functions_have_the_zeros_infinities_and_nans_of_the_reference(run: Run) -> None:
    functions = (
        "sqrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
    )
    done = run("-c", SPECIAL_VALUES, *functions.split(), DEVICE_API_FALLBACK="error")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_it_passes_the_quick_conformance_run(run: Run, library: Path, tmp_path: Path) -> None:
    done = run("-P", "-m", "device_api.cli", "conformance", str(library), "--quick", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "report.json").read_text())["summary"]
    assert summary["fail"] == 0
    assert summary["executed"] > 5000


@pytest.mark.slow
def test_networks_train_on_it_and_nothing_runs_elsewhere(run: Run) -> None:
    done = run(str(ROOT / "examples" / "digits.py"), "--device", "primitives", "--fallback", "error")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 runs on the CPU" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["tests/autograd/test_gradients.py", "tests/opset/test_examples.py"])
def test_ops_and_gradients_are_right_on_it_with_fallback_for_factorisations_and_transforms_alone(
    tests: str, run: Run
) -> None:
    options = ["-q", "-p", "device_under_test", "-p", "no:cacheprovider", "-n", "0"]
    done = run(
        *["-m", "pytest", *options, str(ROOT / tests)],
        DEVICE_UNDER_TEST="primitives",
        MAY_FALL_BACK=MAY_FALL_BACK,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "ran on the CPU instead" in done.stdout
