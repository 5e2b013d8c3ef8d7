"""`device-api new-plugin`: writes a vendor's project from the template.

The template is one complete C project, plugins/template in the source tree and a folder beside this module
in an installed package. Its names are replaced here; for C++ the same sources get another suffix, because
they are valid C++ as they stand.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from device_api.cli import paths
from device_api.cli.output import print_json

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
# Names that already mean something: shipped device types, and the words that CMake reserves for targets.
_TAKEN = frozenset({"cpu", "cuda", "template_device", "all", "clean", "help", "install", "test", "package"})

_CPP_BUILD = (
    ("LANGUAGES C)", "LANGUAGES CXX)"),
    (
        "C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF",
        "CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF",
    ),
    ("C_VISIBILITY_PRESET", "CXX_VISIBILITY_PRESET"),
)


def template_folder() -> Path:
    """The template: in the installed package, or in the source tree that the package is used from."""
    installed = Path(__file__).parent / "template"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "plugins" / "template"


def write_project(
    name: str, folder: Path, *, language: str = "c", vendor: str = "Example Inc."
) -> list[Path]:
    """Writes the project of plugin `name` into `folder`; returns the files written.

    Raises ValueError for a name that cannot be a device type or an unknown language, and FileExistsError
    when the folder already holds files.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name for a plugin: it becomes a device type and a C identifier, so it must be a"
            " lower-case letter followed by lower-case letters, digits or underscores, 63 at most"
        )
    if name in _TAKEN:
        raise ValueError(f"{name!r} is taken: choose a name that no shipped device or build target has")
    if language not in ("c", "cpp"):
        raise ValueError(f"{language!r} is no language of the template: use c or cpp")
    if '"' in vendor or "\\" in vendor or not vendor.isprintable():
        raise ValueError(
            f"{vendor!r} cannot stand in a C string: use a vendor name without quotes and backslashes"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is not an empty folder: choose another --dir")
    written = []
    source = template_folder()
    for file in sorted(path for path in source.rglob("*") if path.is_file() and "build" not in path.parts):
        target = folder / _rename(file.relative_to(source).as_posix(), name, language)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_rewrite(file, name, language, vendor), encoding="utf-8")
        written.append(target)
    hint = folder / "local.cmake"
    hint.write_text(
        "# Where the headers were when this project was written. True on this machine only: not for git.\n"
        f'set(device_api_local_hint "{paths.cmake_dir().as_posix()}")\n',
        encoding="utf-8",
    )
    return [*written, hint]


def _rename(path: str, name: str, language: str) -> str:
    path = path.replace("template_device", name)
    return re.sub(r"\.c$", ".cpp", path) if language == "cpp" else path


def _rewrite(file: Path, name: str, language: str, vendor: str) -> str:
    text = file.read_text(encoding="utf-8")
    for old, new in (
        ("template_device", name),
        ("TEMPLATE_DEVICE", name.upper()),
        ("Template device", name),
        ("Template Vendor", vendor),
    ):
        text = text.replace(old, new)
    if language == "cpp":
        text = re.sub(r"(?<=[\w*])\.c\b", ".cpp", text)
        if file.name == "CMakeLists.txt":
            for old, new in _CPP_BUILD:
                text = text.replace(old, new)
    return text


def command(
    name: Annotated[
        str, typer.Argument(help="Name of the plugin and of its device type, for example acme_npu.")
    ],
    folder: Annotated[Path, typer.Option("--dir", help="Folder to write into; must be new or empty.")],
    language: Annotated[str, typer.Option("--lang", help="c (C99) or cpp (C++17).")] = "c",
    vendor: Annotated[str, typer.Option(help="Vendor name in the plugin and its manifest.")] = "Example Inc.",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Write an out-of-tree plugin project that builds, and passes conformance, as it is."""
    try:
        written = write_project(name, folder, language=language, vendor=vendor)
    except (ValueError, FileExistsError) as error:
        raise typer.BadParameter(str(error)) from None
    if as_json:
        print_json({"name": name, "folder": str(folder), "files": [str(path) for path in written]})
        return
    print(f"{len(written)} files in {folder}. Next:")
    print(f"  cmake -S {folder} -B {folder / 'build'} && cmake --build {folder / 'build'}")
    print(f"  device-api conformance {folder / 'build' / f'lib{name}.so'}")
