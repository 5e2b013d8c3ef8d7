"""Plugins written in Python: loaded like others, right by the suite, and harmless when they raise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from device_api import prototype
from device_api.abi import constants

ROOT = Path(__file__).parents[2]
PYTHON_ONLY = ROOT / "plugins" / "python_only"
Ran = subprocess.CompletedProcess[str]


def start(*arguments: str, folder: Path, plugins: Path = PYTHON_ONLY, **variables: str) -> Ran:
    """A Python process in `folder` that finds the plugins in `plugins`."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "DEVICE_API_PLUGIN_PATH": str(plugins),
        "DEVICE_API_FALLBACK": "error",
        **variables,
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
def test_python_only_passes_the_quick_conformance_run(tmp_path: Path) -> None:
    command = ["-P", "-m", "device_api.cli", "conformance", "numpy", "--quick", "--jobs", "1"]
    done = start(*command, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "report.json").read_text())["summary"]
    assert summary["fail"] == 0
    assert summary["executed"] > 4000


@pytest.mark.slow
@pytest.mark.parametrize("layers", ["", "validate"])
def test_networks_train_on_python_only_with_nothing_elsewhere(layers: str, tmp_path: Path) -> None:
    program = """
        import numpy as np
        import device_api as da
        da.set_device("numpy")
        da.manual_seed(3)
        x = da.normal((64, 8)); target = (da.sum(x, axis=1) > 0).astype(da.int64)
        w = da.zeros((8, 2)); w.requires_grad = True
        for _ in range(30):
            loss = da.cross_entropy(x @ w, target)
            (slope,) = da.grad(loss, [w])
            w = (w - slope).detach(); w.requires_grad = True
        assert loss.item() < 0.2, loss
        assert w.device == "numpy:0" and da.fallback_report() == ()
        with da.Stream() as stream:
            begin, end = da.Event(timing=True), da.Event(timing=True)
            begin.record(); y = w * 2; end.record()
        stream.synchronize()
        assert begin.elapsed_time(end) >= 0
    """
    variables = {"DEVICE_API_LAYERS": layers} if layers else {}
    done = start("-c", textwrap.dedent(program), folder=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert "[plugin]" not in done.stderr


def test_listing_plugins_runs_nothing_of_them(tmp_path: Path) -> None:
    done = start(
        "-c",
        "import sys, device_api as da\n"
        "assert 'numpy' in da.device_types()\n"
        "assert not [m for m in sys.modules if 'python_only' in m or m == 'device_api.prototype']",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr


# --- small plugins of the tests' own ----------------------------------------------------------------------

HEAD = """
import numpy as np
from device_api import prototype
from device_api.abi import constants

{before}
plugin = prototype.Plugin("small", vendor="tests", version="1", device_type="small", devices=[{devices}],
                          initialize={initialize})
device_api_plugin = plugin.entry

@plugin.kernel("copy", dtypes=["float32", "int64"])
def copy(x, out):
    out[...] = x

@plugin.kernel("fill", dtypes=["float32", "int64"])
def fill(value, out):
    out[...] = value
"""

Small = Callable[..., Ran]


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Writes a plugin with `kernels` and runs `program` with it, as `da` and `device` "small"."""

    def run(
        kernels: str,
        program: str,
        *,
        before: str = "",
        devices: str = "prototype.HostDevice()",
        initialize: str = "None",
    ) -> Ran:
        head = HEAD.format(before=textwrap.dedent(before), devices=devices, initialize=initialize)
        (tmp_path / "small.py").write_text(head + textwrap.dedent(kernels))
        facts = {"file_format_version": "1", "name": "small", "device_type": "small", "library": "small.py"}
        (tmp_path / "small.json").write_text(json.dumps({**facts, "vendor": "tests", "version": "1"}))
        text = "import numpy as np\nimport pytest\nimport device_api as da\n" + textwrap.dedent(program)
        return start("-c", text, folder=tmp_path, plugins=tmp_path)

    return run


@pytest.mark.parametrize(
    ("raised", "error", "text"),
    [
        ("ZeroDivisionError('inside')", "KernelFailed", "line .*in negative(.|\n)*ZeroDivisionError: inside"),
        ("IndexError('row 7')", "IndexOutOfRange", "row 7"),
        ("MemoryError('full')", "DeviceOutOfMemory", "full"),
        ("prototype.Failure(constants.DA_STATUS_DEVICE_LOST, 'gone')", "DeviceLost", "gone"),
        ("KeyboardInterrupt()", "KernelFailed", "KeyboardInterrupt"),
    ],
)
def test_what_a_kernel_raises_becomes_a_status_and_a_text(
    raised: str, error: str, text: str, small: Small
) -> None:
    done = small(
        f"""
        @plugin.kernel("negative", dtypes=["float32"])
        def negative(x):
            raise {raised}
        """,
        f"""
        x = da.asarray([1.0], device="small")
        with pytest.raises(da.{error}, match={text!r}):
            -x
        if {error!r} != "DeviceLost":
            assert x.tolist() == [1]
        """,
    )
    assert done.returncode == 0, done.stderr


def test_a_plugin_that_cannot_start_says_why(small: Small) -> None:
    done = small(
        "",
        """
        for _ in range(2):
            with pytest.raises(da.DeviceUnavailable, match="no card in slot 3"):
                da.zeros((1,), device="small")
        """,
        before="""
        def begin():
            raise prototype.Failure(constants.DA_STATUS_UNAVAILABLE, "no card in slot 3")
        """,
        initialize="begin",
    )
    assert done.returncode == 0, done.stderr


def test_results_of_another_shape_are_errors(small: Small) -> None:
    done = small(
        """
        plugin.kernel("negative", dtypes=["float32"])(lambda x: -x[:1])
        """,
        """
        with pytest.raises(da.KernelFailed, match=r"negative gave shape \\(1,\\), not \\(2,\\)"):
            -da.asarray([1.0, 2.0], device="small")
        """,
    )
    assert done.returncode == 0, done.stderr


def test_a_file_that_raises_is_a_load_error_with_its_traceback_and_may_be_corrected(small: Small) -> None:
    done = small(
        "raise KeyError('what is missing')",
        """
        from pathlib import Path
        with pytest.raises(da.PluginLoadError, match="KeyError: 'what is missing'") as caught:
            da.zeros((1,), device="small")
        assert "small.py" in caught.value.detail and "raise KeyError" in caught.value.detail
        file = Path("small.py")
        file.write_text(file.read_text().replace("raise KeyError('what is missing')", ""))
        assert da.zeros((1,), device="small").tolist() == [0]
        """,
    )
    assert done.returncode == 0, done.stderr


def test_a_file_that_offers_no_plugin_is_a_load_error(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    done = start(
        "-c",
        "import pytest\n"
        "from device_api.errors import PluginLoadError\n"
        "from device_api.loading import open_library\n"
        "with pytest.raises(PluginLoadError, match='device_api_plugin'): open_library('empty.py')",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_a_file_without_a_manifest_is_asked_in_a_process_of_its_own(small: Small, tmp_path: Path) -> None:
    done = small(
        "",
        """
        import os
        os.remove("small.json")
        record = da.register_plugin("small.py")
        assert record.device_type is None
        assert da.ones((2,), device="small").tolist() == [1, 1]
        """,
    )
    assert done.returncode == 0, done.stderr


HIDDEN = """
class Card(prototype.HostDevice):
    flags = constants.DA_DEVICE_DETERMINISTIC
    dl_device_type = 2
"""


def test_kernels_of_memory_that_the_host_does_not_see_get_tensors_and_cuda_arrays(small: Small) -> None:
    done = small(
        """
        plugin.kernel("add", dtypes=["float32"])(np.add)
        """,
        """
        x = da.asarray([1.0, 2.0, 3.0], device="small")
        facts = x[::2].__cuda_array_interface__
        assert (facts["shape"], facts["strides"], facts["typestr"]) == ((2,), (8,), "<f4")
        assert not hasattr(da.ones((1,), device="cpu"), "__cuda_array_interface__")
        seen = []

        @da.kernel("negative", device="small")
        def negative(x):
            seen.append((type(x), x.__cuda_array_interface__["data"][0]))
            return 0 - x.numpy()

        assert (-x).tolist() == [-1, -2, -3]
        assert seen == [(da.Tensor, x.__cuda_array_interface__["data"][0])]

        @da.kernel("exp", device="small")
        def exp(x, out):
            da.add(x, x, out=out)

        assert da.exp(x).tolist() == [2, 4, 6]
        """,
        before=HIDDEN,
        devices="Card()",
    )
    assert done.returncode == 0, done.stderr


# --- registration -----------------------------------------------------------------------------------------


def made() -> prototype.Plugin:
    device = prototype.HostDevice()
    return prototype.Plugin("one", vendor="tests", version="1", device_type="one", devices=[device])


def test_kernels_of_unknown_ops_and_dtypes_are_refused() -> None:
    plugin = made()
    with pytest.raises(ValueError, match="no such op"):
        plugin.kernel("negatife", dtypes=["float32"])(abs)
    with pytest.raises(ValueError, match="no dtype for T"):
        plugin.kernel("sqrt", dtypes=["int32"])(abs)
    with pytest.raises(ValueError, match="no dtype for U"):
        plugin.kernel("copy", dtypes={"T": ["int32"]})(abs)


def test_memory_that_a_kernel_reaches_beyond_is_an_error_of_the_device() -> None:
    device = prototype.HostDevice()
    handle = device.allocate(16)
    assert handle % device.allocation_alignment == 0
    with pytest.raises(ValueError, match="size of buffer"):
        device.array(handle, 8, (3,), (4,), np.dtype("f4"))
    device.free(handle)
    with pytest.raises(KeyError):
        device.free(handle)


def test_a_failure_keeps_its_status() -> None:
    assert prototype.Failure(constants.DA_STATUS_ABORTED, "text").code == constants.DA_STATUS_ABORTED


def test_a_kernel_of_several_outputs_works_in_place_whether_it_returns_views_or_writes(small: Small) -> None:
    kernels = """
        @plugin.kernel("momentum_step", dtypes=["float32"])
        def returned(parameter, gradient, velocity, rate, *, momentum, weight_decay, nesterov):
            return velocity * 2, parameter[...]  # each result is made of the other's place

        @plugin.kernel("lion_step", dtypes=["float32"], in_place=True)
        def written(parameter, gradient, mean, rate, *, beta1, beta2, weight_decay, out):
            out[0][...] = parameter + mean
            out[1][...] = mean * 2
    """
    program = """
        for step, want in ((da.momentum_step, ([8.0], [1.0])), (da.lion_step, ([5.0], [8.0]))):
            p, g, v = (da.asarray([x], dtype="float32", device="small") for x in (1.0, 2.0, 4.0))
            rate = da.asarray(0.5, dtype="float32", device="small")
            step(p, g, v, rate, out=(p, v))
            assert (p.tolist(), v.tolist()) == want
            runs = da.device("small:0").kernel_runs()
            assert runs.get("copy", 0) == 0, runs
        print("in place")
    """
    done = small(kernels, program)
    assert done.stdout == "in place\n", done.stderr
