"""The commands as their users meet them: text and JSON, exit codes, and errors without tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from device_api import errors
from device_api.cli.failures import exit_code

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def device_api(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "device_api.cli", *arguments],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_list_shows_the_built_in_plugin_as_text_and_as_json() -> None:
    assert "cpu" in device_api("list").stdout
    plugins = json.loads(device_api("list", "--json").stdout)["plugins"]
    cpu = next(plugin for plugin in plugins if plugin["device_type"] == "cpu")
    assert cpu["origin"] == "builtin"
    assert cpu["problem"] is None


def test_list_opens_no_library_and_imports_neither_numpy_nor_typer() -> None:
    program = (
        "import sys\n"
        "from device_api.cli import main\n"
        "try:\n    main(['list'])\nexcept SystemExit as end:\n    assert end.code in (0, None)\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libdevice_api_cpu' not in maps\n"
        "assert not {'numpy', 'typer', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_list_goes_on_beside_a_broken_manifest(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    done = device_api("list", "--json", DEVICE_API_PLUGIN_PATH=str(tmp_path))
    assert done.returncode == 0
    plugins = json.loads(done.stdout)["plugins"]
    assert any(plugin["problem"] for plugin in plugins)
    assert any(plugin["device_type"] == "cpu" and plugin["problem"] is None for plugin in plugins)


def test_info_says_how_each_op_runs() -> None:
    done = device_api("info", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["device"] == "cpu:0"
    assert facts["ops"]["add"]["implementation"]["float32"] == "native"
    assert "float32" in facts["ops"]["add"]["dtypes"]
    kinds = {kind for op in facts["ops"].values() for kind in op["implementation"].values()}
    assert kinds <= {"native", "python", "decomposed", "view", "unsupported"}
    assert "decomposed" in kinds


def test_info_of_the_cpu_leaves_no_op_unsupported() -> None:
    ops = json.loads(device_api("info", "cpu", "--json").stdout)["ops"]
    missing = {
        name: [dtype for dtype, kind in facts["implementation"].items() if kind == "unsupported"]
        for name, facts in ops.items()
        if "unsupported" in facts["implementation"].values()
    }
    assert missing == {}


def test_info_prints_tables_for_people() -> None:
    done = device_api("info", "cpu", "--ops")
    assert done.returncode == 0, done.stderr
    for word in ("library", "element types", "softmax"):
        assert word in done.stdout


@pytest.mark.parametrize("arguments", [("info", "nowhere"), ("info", "nowhere:0"), ("check", "nowhere")])
def test_a_device_that_is_not_there_is_unavailable(arguments: tuple[str, ...]) -> None:
    done = device_api(*arguments)
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert "nowhere" in done.stdout + done.stderr


@pytest.mark.parametrize("spec", ["CPU", "cpu:", "cpu:-1", "cpu 0", ""])
def test_a_malformed_device_string_is_wrong_usage(spec: str) -> None:
    done = device_api("info", spec)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_index_beyond_the_last_device_is_unavailable_and_names_the_devices() -> None:
    done = device_api("info", "cpu:7")
    assert done.returncode == 3
    assert "cpu:0" in done.stderr


def test_an_error_is_a_document_too_when_json_is_asked_for() -> None:
    done = device_api("info", "nowhere", "--json")
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    assert error["type"] == "PluginNotFound"
    assert "nowhere" in error["message"]


@pytest.mark.parametrize(
    "arguments", [(), ("nonsense",), ("info",), ("list", "--nonsense"), ("new-plugin", "acme")]
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...]) -> None:
    assert device_api(*arguments).returncode == 2


def test_new_plugin_refuses_a_bad_name_as_wrong_usage(tmp_path: Path) -> None:
    done = device_api("new-plugin", "Acme-NPU", "--dir", str(tmp_path / "new"))
    assert done.returncode == 2
    assert not (tmp_path / "new").exists()


def test_new_plugin_tells_what_it_wrote(tmp_path: Path) -> None:
    done = device_api("new-plugin", "acme_npu", "--dir", str(tmp_path / "new"), "--json")
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_file() for file in json.loads(done.stdout)["files"])
    assert "cmake" in device_api("new-plugin", "acme_npu", "--dir", str(tmp_path / "other")).stdout


def test_the_paths_lead_to_the_headers_and_the_cmake_package() -> None:
    assert (Path(device_api("include-dir").stdout.strip()) / "device_api" / "plugin.h").is_file()
    assert (Path(device_api("cmake-dir").stdout.strip()) / "device_api-config.cmake").is_file()


def test_conformance_with_a_filter_that_matches_nothing_fails(tmp_path: Path) -> None:
    reports = ["--json-path", str(tmp_path / "r.json"), "--html-path", str(tmp_path / "r.html")]
    done = device_api("conformance", "cpu", "--include", "ops.no_such_op*", *reports)
    assert done.returncode == 1, done.stdout + done.stderr


def test_conformance_of_a_file_that_is_no_library_is_no_success(tmp_path: Path) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("not a library")
    reports = ["--json-path", str(tmp_path / "r.json"), "--html-path", str(tmp_path / "r.html")]
    done = device_api("conformance", str(text), "--level", "abi", *reports)
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidDevice("x", spec="npu:9"), 3),
        (errors.InvalidDevice("x", spec="NPU:9"), 2),
        (errors.InvalidDevice("x", spec=None), 2),
        (errors.PluginNotFound("x"), 3),
        (errors.PluginLoadError("x"), 3),
        (errors.AbiMismatch("x"), 3),
        (errors.DeviceUnavailable("x"), 3),
        (errors.KernelFailed("x"), 1),
        (errors.ShapeError("x"), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: errors.DeviceApiError, code: int) -> None:
    assert exit_code(error) == code
