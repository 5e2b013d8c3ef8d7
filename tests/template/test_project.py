"""The project that `device-api new-plugin` writes: its files, its build, and what its library exports."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from device_api.cli import paths
from device_api.cli.new_plugin import template_folder, write_project

COMPILERS = {
    "c": ("gcc -std=c99", "clang -std=c99"),
    "cpp": ("g++ -std=c++17", "clang++ -std=c++17"),
}


def compile_library(project: Path, language: str, compiler: str, library: Path) -> None:
    """Builds the project without CMake, with the headers as its only dependency."""
    sources = sorted(str(path) for path in project.rglob(f"*.{language}"))
    command = [
        *compiler.split(),
        *"-O1 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror -Wl,--no-undefined".split(),
        f"-I{paths.include_dir()}",
        *sources,
        "-o",
        str(library),
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def symbols(library: Path, *options: str) -> set[str]:
    """The dynamic symbols of a library that `nm` lists with these options."""
    listing = subprocess.run(
        ["nm", "-D", *options, str(library)], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].partition("@")[0] for line in listing.splitlines()}


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("number", [0, 1])
def test_it_compiles_without_a_warning_and_exports_one_symbol(
    language: str, number: int, tmp_path: Path
) -> None:
    compiler = COMPILERS[language][number]
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} is not installed")
    write_project("acme_npu", tmp_path / "project", language=language)
    library = tmp_path / "lib.so"
    compile_library(tmp_path / "project", language, compiler, library)
    assert symbols(library, "--defined-only") == {"device_api_plugin"}
    assert not {name for name in symbols(library, "--undefined-only") if name.startswith(("da_", "Py"))}


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_no_name_of_the_template_is_left(language: str, tmp_path: Path) -> None:
    files = write_project("acme_npu", tmp_path, language=language, vendor="Acme & Sons")
    for file in files:
        assert "template" not in file.name
        assert not re.search("template", file.read_text(), re.IGNORECASE), file
    assert "Acme & Sons" in (tmp_path / f"plugin.{language}").read_text()


def test_both_languages_hold_the_same_files(tmp_path: Path) -> None:
    c = {path.relative_to(tmp_path / "c") for path in write_project("one", tmp_path / "c")}
    cpp = {
        path.relative_to(tmp_path / "cpp") for path in write_project("one", tmp_path / "cpp", language="cpp")
    }
    assert {path.with_suffix(".cpp") if path.suffix == ".c" else path for path in c} == cpp


def test_the_manifest_names_the_plugin_and_a_library_beside_it(tmp_path: Path) -> None:
    write_project("acme_npu", tmp_path, vendor="Acme Inc.")
    manifest = json.loads((tmp_path / "acme_npu.json").read_text())
    assert manifest["name"] == manifest["device_type"] == "acme_npu"
    assert manifest["vendor"] == "Acme Inc."
    assert manifest["library"] == "libacme_npu.so"


@pytest.mark.parametrize(
    "name",
    ["", "Acme", "1acme", "_acme", "acme-npu", "acme npu", "acme/npu", "../up", "a" * 64, "cpu", "npü"],
)
def test_a_name_that_cannot_be_a_device_type_is_refused_and_nothing_written(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="name"):
        write_project(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("vendor", ['Acme "Best"', "back\\slash", "new\nline"])
def test_a_vendor_that_would_break_the_sources_is_refused(vendor: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="vendor"):
        write_project("acme", tmp_path / "new", vendor=vendor)


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="empty"):
        write_project("acme", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="use c or cpp"):
        write_project("acme", tmp_path / "new", language="rust")


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_cmake_builds_it_without_device_api_on_the_path(language: str, tmp_path: Path) -> None:
    write_project("acme_npu", tmp_path / "project", language=language)
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in (
        "cmake",
        "ninja",
        "make",
        "cc",
        "c++",
        "gcc",
        "g++",
        "ld",
        "ar",
        "ranlib",
        "as",
        "nm",
        "uname",
    ):
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path)}
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", str(tmp_path / "project"), "-B", str(build)],
        ["cmake", "--build", str(build)],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert symbols(build / "libacme_npu.so", "--defined-only") == {"device_api_plugin"}
    assert (build / "acme_npu.json").exists()


def test_a_header_that_is_too_old_is_an_error_of_cmake(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(one LANGUAGES C)\n"
        "find_package(device_api 0.99 REQUIRED)\n"
    )
    done = subprocess.run(
        ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b"), f"-Ddevice_api_DIR={paths.cmake_dir()}"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode != 0
    assert "0.99" in done.stderr


def test_the_template_lists_its_sources_in_its_build() -> None:
    folder = template_folder()
    build = (folder / "CMakeLists.txt").read_text()
    sources = {path.relative_to(folder).as_posix() for path in folder.rglob("*.c")}
    assert sources == set(re.findall(r"^  (\S+\.c)\)?$", build, re.MULTILINE))
