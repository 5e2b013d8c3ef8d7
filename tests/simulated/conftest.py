"""The simulated accelerator for tests: the library, built once if need be, and initialised as a test asks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from simulated_driver import IN_PLACE, ROOT, Accelerator, Host, Make


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that the variable SIMULATED_LIBRARY names (one built with sanitizers, say), else the one
    in place, else one built for this run.
    """
    if named := os.environ.get("SIMULATED_LIBRARY"):
        return Path(named)
    if IN_PLACE.exists():
        return IN_PLACE
    build = tmp_path_factory.mktemp("simulated")
    options = ["-DDEVICE_API_TEST_PLUGINS=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", *options], check=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "device_api_simulated"], check=True)
    return build / "plugins" / "simulated" / "libdevice_api_simulated.so"


@pytest.fixture
def make(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """`make(MODE="eager", SEED=3)` initialises the plugin with SIM_MODE and SIM_SEED set; the end of the test
    shuts it down.
    """
    for name in list(os.environ):
        if name.startswith("SIM_"):
            monkeypatch.delenv(name)
    made: list[Accelerator] = []

    def build(**settings: object) -> Accelerator:
        while made:
            made.pop().close()
        for name, value in settings.items():
            monkeypatch.setenv(f"SIM_{name}", str(value))
        made.append(Accelerator(library))
        return made[-1]

    yield build
    while made:
        made.pop().close()


@pytest.fixture
def sim(make: Make) -> Accelerator:
    """The accelerator as it is without any variable: two devices, lazy."""
    return make()


@pytest.fixture
def child(library: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python text that may end the process; `sim` is there, an Accelerator."""

    def run(body: str, **settings: object) -> subprocess.CompletedProcess[str]:
        text = (
            "import faulthandler, sys\n"
            f"sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]\n"
            "import numpy as np\n"
            "from pathlib import Path\n"
            "from simulated_driver import *\n"
            f"sim = Accelerator(Path({str(library)!r}))\n" + body
        )
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
        environment |= {f"SIM_{name}": str(value) for name, value in settings.items()}
        return subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, env=environment
        )

    return run


@pytest.fixture
def host() -> Host:
    """Runs Python text in a process of its own, with the package as `da`, the plugin registered, and NumPy as
    `np`. Settings are SIM_ variables, and ALLOCATOR the host's.
    """
    if not IN_PLACE.exists() or not (ROOT / "reference_cpu" / "libdevice_api_cpu.so").exists():
        pytest.skip("the host finds plugins and its core in the source tree, and they are not built in place")

    def run(body: str, **settings: object) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIM_", "DEVICE_API_"))}
        for name, value in settings.items():
            environment["DEVICE_API_ALLOCATOR" if name == "ALLOCATOR" else f"SIM_{name}"] = str(value)
        environment["PYTHONPATH"] = str(ROOT)
        head = "import sys\nimport numpy as np\nimport device_api as da\n"
        head += f"da.register_plugin({str(ROOT / 'plugins' / 'simulated' / 'sim.json')!r})\n"
        return subprocess.run(
            [sys.executable, "-c", head + body], capture_output=True, text=True, timeout=300, env=environment
        )

    return run
