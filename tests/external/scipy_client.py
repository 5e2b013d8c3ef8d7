"""A pytest plugin: SciPy's own tests of array-API dispatch, with device_api as the one backend.

SciPy's `xp` fixture has a fixed list of backends. This plugin tells pytest that `xp` has another parameter,
which is the public way to do so, and enters the name where SciPy keeps those that its marks may talk of.
Nothing of SciPy's tests is changed, and no test of another backend runs.

    SCIPY_ARRAY_API=1 pytest -p scipy_client --pyargs scipy.fft      # with this folder on PYTHONPATH
"""

from __future__ import annotations

import os

import pytest
from client_report import ClientRun

import device_api as da

DEVICE = os.environ.get("CLIENT_DEVICE", "cpu")


def pytest_configure(config: pytest.Config) -> None:
    da.set_default_device(DEVICE)
    # SciPy's expectations are in double precision, its PyTorch backend is put to the same.
    da.set_default_dtype(da.float64)
    config.pluginmanager.register(ClientRun("SciPy", "scipy"), "client_run")


def pytest_plugin_registered(plugin: object) -> None:
    known = getattr(plugin, "xp_known_backends", None)
    if known is not None:
        known.add("device_api")
        if da.get_default_device().type != "cpu":
            plugin.xp_skip_cpu_only_backends.add("device_api")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "xp" in metafunc.fixturenames:
        backend = pytest.param(da, id="device_api", marks=pytest.mark.device_api)
        metafunc.definition.add_marker(pytest.mark.parametrize("xp", [backend], indirect=True))
    if "devices" in metafunc.fixturenames:
        # SciPy adds None to the list of devices, which is a tuple since version 2025.12 of the standard.
        places = [[*da.__array_namespace_info__().devices(), None]]
        metafunc.definition.add_marker(pytest.mark.parametrize("devices", places, ids=["devices"]))
