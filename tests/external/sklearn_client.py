"""A pytest plugin: scikit-learn's own array-API checks, of estimators and metrics, with device_api's arrays.

scikit-learn's tests ask one generator for namespaces, devices and dtypes. Here it gives device_api with the
device of the run, before any test module asks. Nothing else of the tests is changed, and no test of another
namespace runs.

    SCIPY_ARRAY_API=1 pytest -p sklearn_client --pyargs sklearn.metrics      # with this folder on PYTHONPATH
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from client_report import ClientRun
from sklearn.utils import _array_api

import device_api as da

DEVICE = os.environ.get("CLIENT_DEVICE", "cpu")
NAMESPACE = "device_api"


def namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
    yield NAMESPACE


def combinations(include_numpy_namespaces: bool = True) -> Iterator[tuple[str, str, str]]:
    for dtype in ("float64", "float32"):
        yield NAMESPACE, DEVICE, dtype


def mixtures() -> Iterator[tuple[object, object, str]]:
    ours = _array_api.NamespaceAndDevice(NAMESPACE, DEVICE)
    host = _array_api.NamespaceAndDevice("numpy", None)
    yield host, ours, f"numpy to device_api {DEVICE}"
    yield ours, host, f"device_api {DEVICE} to numpy"


_array_api.yield_namespaces = namespaces
_array_api.yield_namespace_device_dtype_combinations = combinations
_array_api.yield_mixed_namespace_input_permutations = mixtures


def pytest_configure(config: pytest.Config) -> None:
    da.set_default_device(DEVICE)
    config.pluginmanager.register(ClientRun("scikit-learn", "sklearn"), "client_run")
