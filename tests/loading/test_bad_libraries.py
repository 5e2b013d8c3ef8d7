"""Files that are no working plugin: each gives an error that says what, where, why and what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from device_api.abi import versions
from device_api.errors import AbiMismatch, PluginLoadError
from device_api.loading import open_library


def _refused(path: Path) -> PluginLoadError:
    """Opens `path`, which must fail, with an error that names the file and a remedy."""
    with pytest.raises(PluginLoadError) as caught:
        open_library(path)
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_an_undefined_symbol_is_an_error_that_names_it(stub):
    error = _refused(stub("libstub.so", "-DSTUB_UNDEFINED"))
    assert "stub_function_that_nobody_defines" in str(error)
    assert "undefined symbol: stub_function_that_nobody_defines" in error.detail
    assert not isinstance(error, AbiMismatch)


def test_an_undefined_symbol_of_a_newer_plugin_is_explained_by_both_versions(stub, monkeypatch):
    monkeypatch.setenv("STUB", "poke=plugin:28:4:99")
    with pytest.raises(AbiMismatch) as caught:
        open_library(stub("libstub.so", "-DSTUB_UNDEFINED"))
    error = caught.value
    assert (error.plugin_version, error.host_version) == ((0, 99), versions.HOST)
    assert "0.99" in str(error)
    assert versions.text(versions.HOST) in str(error)
    assert "Stub works" in str(error)
    assert "stub_function_that_nobody_defines" in error.detail


def test_a_library_that_crashes_when_asked_lazily_still_gives_the_linkers_error(stub, monkeypatch):
    monkeypatch.setenv("STUB", "query=crash")
    error = _refused(stub("libstub.so", "-DSTUB_UNDEFINED"))
    assert "undefined symbol" in error.detail


def test_a_missing_needed_library_is_named_with_a_remedy(stub, tmp_path):
    helper = tmp_path / "libstubhelper.so.3"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(helper), "-Wl,-soname,libstubhelper.so.3"],
        input="int stub_helper(void) { return 1; }",
        text=True,
        check=True,
    )
    library = stub("libstub.so", "-DSTUB_NEEDS_HELPER", str(helper))
    helper.unlink()
    error = _refused(library)
    assert "libstubhelper.so.3" in error.detail
    assert "Install what provides libstubhelper.so.3" in error.remedy


def test_a_library_of_another_architecture_says_which(stub):
    library = stub()
    data = bytearray(library.read_bytes())
    data[18:20] = (0xF3).to_bytes(2, "little")  # e_machine: RISC-V
    library.write_bytes(data)
    error = _refused(library)
    assert "RISC-V" in str(error)
    assert "Install the build of the plugin for this machine" in error.remedy


def test_a_32_bit_library_is_refused(stub):
    library = stub()
    data = bytearray(library.read_bytes())
    data[4] = 1
    data[18:20] = (3).to_bytes(2, "little")
    library.write_bytes(data)
    assert "32-bit" in str(_refused(library))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"this is not a library", "text file"),
        (b"", "empty"),
        (b"MZ\x90\x00", "Windows"),
        (b"!<arch>\n", "static archive"),
        (b"\x00\x01\x02\x03", "no ELF file"),
        (b"\x7fELF\x02\x01", "cut off"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(tmp_path, content, words):
    file = tmp_path / "libstub.so"
    file.write_bytes(content)
    assert words in str(_refused(file))


def test_a_truncated_library_is_an_error(stub):
    library = stub()
    library.write_bytes(library.read_bytes()[:2000])
    _refused(library)


def test_an_object_file_says_that_it_is_not_linked(stub):
    library = stub()
    data = bytearray(library.read_bytes())
    data[16:18] = (1).to_bytes(2, "little")
    library.write_bytes(data)
    assert "object file" in str(_refused(library))


def test_a_directory_is_an_error(tmp_path):
    assert "directory" in str(_refused(tmp_path))


def test_a_pipe_is_an_error_and_is_not_waited_for(tmp_path):
    import os

    pipe = tmp_path / "libstub.so"
    os.mkfifo(pipe)
    assert "regular file" in str(_refused(pipe))


def test_a_missing_file_is_an_error(tmp_path):
    assert "No such file" in str(_refused(tmp_path / "libnothing.so"))


def test_a_dangling_link_is_an_error(tmp_path):
    link = tmp_path / "libstub.so"
    link.symlink_to(tmp_path / "gone.so")
    assert "No such file" in str(_refused(link))


def test_an_unreadable_file_is_an_error(stub, monkeypatch):
    library = stub()
    library.chmod(0)
    # Root may read everything, so the answer of the system is replaced, not the check.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "may not read" in str(_refused(library))


def test_a_library_without_the_entry_symbol_is_no_plugin(stub):
    error = _refused(stub("libstub.so", "-DSTUB_NO_ENTRY"))
    assert "does not export device_api_plugin" in str(error)


def test_a_bad_library_can_be_corrected_and_opened_in_the_same_process(stub):
    library = stub("libstub.so", "-DSTUB_NO_ENTRY")
    _refused(library)
    library.unlink()
    assert open_library(stub()).name == "stub"


def test_an_undefined_symbol_found_too_late_would_end_the_process(stub, python):
    """Why binding is immediate: opened lazily, the first call of the missing function is not an exception."""
    program = """
import sys
from device_api.abi._declarations import ffi
library = ffi.dlopen(sys.argv[1], ffi.RTLD_LAZY)
try:
    library.device_api_plugin(ffi.NULL)
except BaseException:
    pass
print("survived")
"""
    ran = python(program, stub("libstub.so", "-DSTUB_UNDEFINED"), STUB="call-it")
    assert ran.status != 0
    assert "survived" not in ran.out
