"""Plugins for the suite to judge: the template's kernels, with a front that can add one fault."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "plugins" / "template"
INCLUDE = ROOT / "device_api" / "include"
COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=c99", "-O1", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}"]


def compile_c(*arguments: str | Path) -> None:
    subprocess.run([COMPILER, *FLAGS, *map(str, arguments)], check=True, timeout=120)


@pytest.fixture(scope="session")
def good_objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The template's sources as objects, its entry renamed so that a front can call it."""
    folder = tmp_path_factory.mktemp("good")
    objects = []
    for source in sorted(TEMPLATE.rglob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        rename = ["-Ddevice_api_plugin=good_plugin"] if source.name == "plugin.c" else []
        compile_c("-c", *rename, source, "-o", objects[-1])
    return objects


def _build(objects: list[Path], folder: Path, fault: str = "none") -> Path:
    library = folder / f"lib{fault}.so"
    if not library.exists():
        exports = folder / "exports.map"
        exports.write_text("{ global: device_api_plugin; local: *; };")
        source = Path(__file__).with_name("faulty.c")
        warnings = ("-Wall", "-Wextra", "-Werror", f"-DFAULT_{fault}")
        if fault == "exports_more":
            exports.write_text("{ global: device_api_plugin; good_plugin; local: *; };")
        link = ("-shared", f"-Wl,--version-script={exports}", "-lm")
        compile_c(*warnings, source, *objects, *link, "-o", library)
    return library


@pytest.fixture(scope="session")
def faulty(good_objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds the plugin with a named fault; gives the library's path."""
    return partial(_build, good_objects, tmp_path_factory.mktemp("faulty"))
