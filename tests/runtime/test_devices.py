"""Device strings, and the devices they name."""

from __future__ import annotations

import difflib
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import device_api as da
from device_api.runtime.devices import parse

ROOT = Path(da.__file__).parents[1]


@pytest.fixture(autouse=True)
def plain_defaults() -> Any:
    """Each test starts with no device chosen, and leaves none."""
    with da.default_device("cpu"):
        yield


def run(*lines: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python process of its own."""
    environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT)}
    program = "\n".join(("import device_api as da", *lines))
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("cpu", ("cpu", None)),
        ("cpu:0", ("cpu", 0)),
        ("a_1:12", ("a_1", 12)),
        ("my_cpu_gpu", ("my_cpu_gpu", None)),
    ],
)
def test_well_formed_strings(spec: str, parts: tuple[str, int | None]) -> None:
    assert parse(spec) == parts


@pytest.mark.parametrize(
    "spec",
    ["", " ", "CPU", "Cpu:0", "cpu:", ":0", "cpu:0:0", "cpu::0", "cpu:-1", "cpu:+1", "cpu: 1", "cpu:1 ",
     "cpu:01", "cpu:1.0", "cpu:0x0", "1cpu", "_cpu", "cpu-x", "cpü", "cpu:٣", "cpu\n", "cpu\x00",
     "c" * 5000 + ":", None, 0, 1.5, b"cpu", ("cpu", 0), "cpu:99999999999999999999"],
)  # fmt: skip
def test_malformed_strings_are_invalid_and_types_are_listed(spec: Any) -> None:
    for use in (da.device, da.set_device, da.device_count, da.is_available):
        with pytest.raises(da.InvalidDevice, match=r"(?s)not a device string.*cpu") as caught:
            use(spec)
        assert caught.value.spec == spec
        assert len(str(caught.value)) < 600
        assert isinstance(caught.value, ValueError)


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        kind, index = parse(text)
    except da.InvalidDevice:
        return
    assert text in (kind, f"{kind}:{index}")


def test_an_unknown_type_lists_what_exists_and_near_misses() -> None:
    with pytest.raises(da.PluginNotFound, match="cpu") as caught:
        da.device("cpuu:0")
    assert "cpu" in (caught.value.available or ())
    assert difflib.get_close_matches("cpuu", caught.value.available or ())
    with pytest.raises(da.PluginNotFound):
        da.set_device("quantum")
    assert da.get_device() == "cpu"


def test_an_index_out_of_range_says_how_many_there_are() -> None:
    count = da.device_count("cpu")
    with pytest.raises(da.InvalidDevice, match=rf"out of range: cpu:{count}.*{count} device.*cpu:0"):
        da.device(f"cpu:{count}")


def test_a_device_is_one_object_and_compares_with_its_names() -> None:
    cpu = da.device("cpu")
    assert da.device("cpu:0") is cpu
    assert da.device(cpu) is cpu
    assert cpu == "cpu"
    assert cpu == "cpu:0"
    assert cpu != "cpu:1"
    assert str(cpu) == "cpu:0"
    assert da.ones((1,)).device is cpu
    assert {cpu: 1}["cpu:0"] == 1


def test_lists_and_properties() -> None:
    assert "cpu" in da.device_types()
    assert da.device("cpu") in da.devices("cpu")
    assert da.device("cpu") in da.devices()
    properties = da.device_properties("cpu")
    assert properties["name"]
    assert properties["total_memory"] > 0
    assert properties["max_rank"] >= 3
    assert da.device_properties() == properties
    da.synchronize("cpu")


def test_is_available_never_raises_for_a_well_formed_string() -> None:
    assert da.is_available("cpu")
    assert da.is_available("cpu:0")
    assert not da.is_available("cpu:99")
    assert not da.is_available("quantum")


def test_set_device_decides_where_tensors_are_made_and_failures_change_nothing() -> None:
    assert da.set_device("cpu:0") == da.get_device()
    for wrong in ("cpu:99", "CPU", "quantum"):
        with pytest.raises((da.InvalidDevice, da.PluginNotFound)):
            da.set_device(wrong)
        with pytest.raises((da.InvalidDevice, da.PluginNotFound)), da.default_device(wrong):
            pass
        assert da.get_device() == "cpu:0"


def test_a_plugin_that_cannot_start_is_unavailable_with_its_reason_and_can_be_retried(tmp_path: Path) -> None:
    source = Path(__file__).with_name("broken_plugin.c")
    library = tmp_path / "libbroken_npu.so"
    flags = ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{da.get_include()}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    manifest = tmp_path / "broken_npu.json"
    manifest.write_text(
        '{"file_format_version": "1", "name": "broken_npu", "device_type": "broken_npu",'
        ' "library": "libbroken_npu.so", "vendor": "tests", "version": "1"}'
    )
    done = run(
        f"da.register_plugin({str(manifest)!r})",
        "assert not da.is_available('broken_npu')",
        "for _ in range(2):",
        "    try: da.device('broken_npu:0')",
        "    except (da.DeviceUnavailable, da.PluginFailed) as error: print(error)",
        "print('cpu' in [d.type for d in da.devices()], 'broken_npu' in [d.type for d in da.devices()])",
    )
    assert done.returncode == 0, done.stderr
    *messages, rest = done.stdout.splitlines()
    assert len(messages) == 2
    assert all("no driver was found" in message for message in messages)
    assert rest == "True False"


def test_a_fresh_thread_starts_at_the_default_and_keeps_its_own_choice() -> None:
    seen: dict[str, Any] = {}

    def work() -> None:
        seen["fresh"] = da.get_device()
        da.set_device("cpu:0")
        seen["made"] = da.ones((1,)).device

    with da.default_device("cpu:0"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen["fresh"] is da.get_default_device()
    assert seen["made"] == "cpu:0"


def test_the_first_use_from_many_threads_opens_one_device() -> None:
    done = run(
        "import threading",
        "gate, found, failed = threading.Barrier(16), [], []",
        "def work():",
        "    gate.wait()",
        "    try: found.append(id((da.asarray([1.0, 2.0]) + 1).device))",
        "    except BaseException as error: failed.append(error)",
        "threads = [threading.Thread(target=work) for _ in range(16)]",
        "[t.start() for t in threads]; [t.join() for t in threads]",
        "assert not failed, failed",
        "assert len(found) == 16 and len(set(found)) == 1",
    )
    assert done.returncode == 0, done.stderr


def _use_after_fork(queue: Any) -> None:
    for use in (lambda: da.device("cpu"), lambda: da.ones((1,)), lambda: _TENSOR[0] + 1):
        try:
            use()
            queue.put("no error")
        except da.ForkedProcess as error:
            queue.put(str(error))


_TENSOR: list[Any] = []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_use_in_a_forked_child_is_a_clear_error_and_the_parent_goes_on() -> None:
    _TENSOR.append(da.ones((1,)))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_use_after_fork, args=(queue,))
    child.start()
    messages = [queue.get() for _ in range(3)]
    child.join(30)
    assert child.exitcode == 0
    assert all("fork" in message and "spawn" in message for message in messages), messages
    assert (_TENSOR.pop() + 1).tolist() == [2]


def test_importing_maps_no_plugin_and_listing_opens_none() -> None:
    done = run(
        "def plugins(): return [l for l in open('/proc/self/maps') if 'libdevice_api' in l]",
        "import sys",
        "assert not plugins()",
        "assert 'device_api._core' not in sys.modules",
        "da.device_types(); da.plugin_records()",
        "assert not plugins()",
        "da.softmax, da.Tensor, da.no_grad",
        "assert not plugins()",
        "da.ones((1,))",
        "assert plugins()",
    )
    assert done.returncode == 0, done.stderr


def test_the_import_loads_few_modules() -> None:
    done = run("import sys; print(len([m for m in sys.modules if m.startswith('device_api')]))")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 2


def test_the_namespace_lists_its_names_and_knows_no_others() -> None:
    names = dir(da)
    for name in ("asarray", "softmax", "float32", "no_grad", "set_device", "ShapeError", "pi"):
        assert name in names
    for name in names:
        assert getattr(da, name, da) is not da, name
    for wrong in ("no_such_thing", "_hidden", "__wrapped__"):
        assert not hasattr(da, wrong)


def test_the_stub_names_what_the_namespace_has() -> None:
    from device_api._names import MODULES

    text = (Path(da.__file__).parent / "__init__.pyi").read_text()
    starred = {"device_api.runtime", "device_api.tensor.constants"}
    for name, module in MODULES.items():
        assert f"{name} as {name}" in text or module in starred, name


def test_vendors_are_told_where_headers_and_the_cmake_package_are() -> None:
    assert (Path(da.get_include()) / "device_api" / "device_api.h").is_file()
    assert (Path(da.get_cmake_dir()) / "device_api-config.cmake").is_file()
