"""`da.kernel`: Python functions that serve ops of a device, on arrays over the device's memory."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da
from device_api.cli.capabilities import implementations

DEVICE = Mask(hidden=("tanh",))
Made = list[da.PythonKernel[..., Any]]


@pytest.fixture
def kind() -> str:
    return masked(DEVICE).partition(":")[0]


@pytest.fixture
def keep() -> Iterator[Callable[[Any], Any]]:
    """Unregisters, at the end of the test, the kernels that it is given."""
    made: Made = []

    def kept(kernel: Any) -> Any:
        made.append(kernel)
        return kernel

    yield kept
    for kernel in made:
        kernel.unregister()


def test_a_function_of_arrays_serves_an_op_and_stays_callable(kind: str, keep: Any) -> None:
    @da.kernel("tanh", device=kind)
    def tanh(x):
        """tanh by NumPy."""
        return np.tanh(x)

    keep(tanh)
    x = da.asarray([[0.5, -1.0]], device=kind)
    np.testing.assert_allclose(da.tanh(x).numpy(), np.tanh(x.numpy()))
    assert tanh(0.0) == 0.0
    assert (tanh.op, tanh.device_type, tanh.__doc__) == ("tanh", kind, "tanh by NumPy.")
    assert da.fallback_report() == ()


def test_inputs_are_the_devices_own_memory_and_may_not_be_written(kind: str, keep: Any) -> None:
    seen = []

    def tanh(x):
        seen.append((x.__array_interface__["data"][0], x.flags.writeable))
        return np.tanh(x)

    keep(da.kernel("tanh", device=kind)(tanh))
    x = da.asarray([0.5, -1.0], device=kind)
    da.tanh(x)
    assert seen == [(_address(x), False)]


def _address(x: da.Tensor) -> int:
    from device_api import _core

    return _core.data_handle(x) + _core.data_start(x)


def test_a_function_with_out_writes_the_result_in_place(kind: str, keep: Any) -> None:
    addresses = []

    def tanh(x, *, out):
        addresses.append(out.ctypes.data)
        np.tanh(x, out=out)

    keep(da.kernel("tanh", device=kind)(tanh))
    x = da.asarray([0.5, -1.0], device=kind)
    y = da.tanh(x)
    assert addresses == [_address(y)]
    np.testing.assert_allclose(y.numpy(), np.tanh(x.numpy()))


def test_dtypes_limit_it_and_native_and_python_kernels_mix_by_dtype(kind: str, keep: Any) -> None:
    calls = []

    def negative(x):
        calls.append(x.dtype.name)
        return -x

    keep(da.kernel("negative", device=kind, dtypes=[np.float64], prefer=True)(negative))
    for dtype in (da.float32, da.float64):
        assert (-da.ones((2,), dtype=dtype, device=kind)).tolist() == [-1, -1]
    assert calls == ["float64"]
    how = implementations(da.device(kind))["negative"]
    assert (how["float32"], how["float64"]) == ("native", "python")


def test_a_native_kernel_goes_first_unless_the_python_one_is_preferred(kind: str, keep: Any) -> None:
    keep(da.kernel("negative", device=kind)(lambda x: x * 100))
    x = da.ones((1,), device=kind)
    assert (-x).tolist() == [-1]
    preferred = keep(da.kernel("negative", device=kind, prefer=True)(lambda x: x * 100))
    assert (-x).tolist() == [100]
    preferred.unregister()
    preferred.unregister()
    assert (-x).tolist() == [-1]


def test_the_newest_of_several_serves_and_the_older_one_returns(kind: str, keep: Any) -> None:
    x = da.ones((1,), device=kind)
    keep(da.kernel("tanh", device=kind)(lambda x: x * 2))
    newer = keep(da.kernel("tanh", device=kind)(lambda x: x * 3))
    assert da.tanh(x).tolist() == [3]
    newer.unregister()
    assert da.tanh(x).tolist() == [2]


def test_attributes_come_by_name_and_several_results_as_a_tuple(kind: str, keep: Any) -> None:
    seen = {}

    def top_k(x, *, k, axis, largest):
        seen.update(k=k, axis=axis, largest=largest)
        order = np.argsort(-x, axis=axis)[..., :k]
        return np.take_along_axis(x, order, axis), order

    keep(da.kernel("top_k", device=kind, prefer=True)(top_k))
    values, indices = da.top_k(da.asarray([3.0, 1.0, 2.0], device=kind), 2)
    assert values.tolist() == [3, 2]
    assert indices.tolist() == [0, 2]
    assert seen == {"k": 2, "axis": -1, "largest": True}


def test_an_exception_becomes_kernel_failed_with_the_functions_traceback(kind: str, keep: Any) -> None:
    def tanh(x):
        raise ZeroDivisionError("inside")

    keep(da.kernel("tanh", device=kind)(tanh))
    x = da.ones((2, 3), device=kind)
    with pytest.raises(
        da.KernelFailed, match=r"tanh failed.*float32\[2, 3\].*ZeroDivisionError: inside"
    ) as caught:
        da.tanh(x)
    assert caught.value.op == "tanh"
    assert 'raise ZeroDivisionError("inside")' in (caught.value.detail or "")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (x + x).tolist() == [[2] * 3] * 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (x, x), "returned 2 results"),
        (lambda x: x[:1], "another shape"),
        (lambda x: None, "another shape"),
        (lambda x, out: 1, "returns something as well"),
    ],
)
def test_results_that_are_not_the_ops_are_errors(function: Any, message: str, kind: str, keep: Any) -> None:
    keep(da.kernel("tanh", device=kind)(function))
    with pytest.raises(da.DeviceApiError, match=message):
        da.tanh(da.ones((2,), device=kind))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"op": "tanj"}, da.AttributeValueError),
        ({"op": "transpose"}, da.AttributeValueError),
        ({"op": "copy"}, da.AttributeValueError),
        ({"op": "tanh", "device": "nosuch"}, da.PluginNotFound),
        ({"op": "tanh", "device": "cpu:0"}, da.InvalidDevice),
        ({"op": "tanh", "dtypes": [np.int32]}, da.DTypeError),
        ({"op": "tanh", "dtypes": {"V": [np.float32]}}, da.DTypeError),
        ({"op": "tanh", "dtypes": {"T": [np.int32]}}, da.DTypeError),
    ],
)
def test_what_cannot_be_registered_is_refused_and_nothing_changes(options: Any, error: Any) -> None:
    with pytest.raises(error):
        da.kernel(**{"device": "cpu", **options})(np.tanh)
    assert da.tanh(da.zeros((1,), device="cpu")).tolist() == [0]


def test_gradients_flow_through_an_op_with_a_python_kernel(kind: str, keep: Any) -> None:
    keep(da.kernel("tanh", device=kind)(np.tanh))
    x = da.asarray(np.array([0.3, -0.2]), device=kind)
    x.requires_grad = True
    da.gradcheck(da.tanh, [x])


def test_threads_may_call_it_at_once(kind: str, keep: Any) -> None:
    keep(da.kernel("tanh", device=kind)(np.tanh))
    wrong = []

    def work(seed: int) -> None:
        values = np.full(500, seed, np.float32)
        for _ in range(50):
            if not np.allclose(da.tanh(da.asarray(values, device=kind)).numpy(), np.tanh(values)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_arrays_that_a_kernel_keeps_stay_valid(kind: str, keep: Any) -> None:
    kept = []

    def tanh(x):
        kept.append(x)
        return np.tanh(x)

    keep(da.kernel("tanh", device=kind)(tanh))
    da.tanh(da.full((1000,), 0.5, device=kind))
    for _ in range(20):
        da.full((1000,), 7.0, device=kind)
    assert (kept[0] == 0.5).all()


def test_a_ufunc_is_a_kernel_as_it_is(kind: str, keep: Any) -> None:
    keep(da.kernel("tanh", device=kind)(np.tanh))
    np.testing.assert_allclose(da.tanh(da.ones((2,), device=kind)).numpy(), np.tanh([1, 1]), rtol=1e-6)


def test_info_shows_kernels_of_an_imported_module(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy, device_api as da\n"
        "@da.kernel('tanh', device='cpu', prefer=True)\n"
        "def tanh(x): return numpy.tanh(x)\n"
    )
    root = Path(da.__file__).parents[1]
    command = [sys.executable, "-m", "device_api.cli", "info", "cpu", "--json", "--import", "mine"]
    environment = {"PYTHONPATH": f"{root}:{tmp_path}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    how = json.loads(done.stdout)["ops"]["tanh"]["implementation"]
    assert set(how.values()) == {"python"}
