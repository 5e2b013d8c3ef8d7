"""How the project's own build compiles each source of the reference plugin.

CMake is asked, so that the plugin with mutants has the same clones for levels of processors, the same rules
for fused products and the same definitions, whatever the build comes to say. Only what cannot change a result
is left out: optimisation is low, because the compiler has much text to read, and warnings are off.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LEVEL = "-O1"
# Of sources that no build describes, and of the switch itself.
PLAIN = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-pthread")
_OWN = (LEVEL, "-w", "-Wno-narrowing")
_WITH_VALUE = {"-o", "-MF", "-MT", "-MQ"}


class BuildFailure(RuntimeError):
    """The switched sources do not compile, for a reason that is not a mutant."""


def compiler() -> str:
    """The C++ compiler: $CXX, else the first of the usual names. Raises BuildFailure."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise BuildFailure("no C++ compiler found: install one, or name it in the variable CXX")


def flags(folder: Path, work: Path) -> dict[str, tuple[str, ...]]:
    """The compiler's arguments for each source of a folder, by name: those of the build of the project around
    it, and plain ones where there is no build. `work` keeps what CMake writes. Raises BuildFailure."""
    units = {path.relative_to(folder).as_posix() for path in folder.rglob("*.cpp")}
    if not (folder / "CMakeLists.txt").exists():
        return dict.fromkeys(units, (*PLAIN, *_OWN))
    stated = _stated(folder, _configured(folder.parent, work))
    missing = sorted(units - set(stated))
    if missing:
        raise BuildFailure(f"{folder / 'CMakeLists.txt'} does not build {', '.join(missing)}")
    return stated


def _configured(project: Path, work: Path) -> Path:
    """Configures the project; the file of its compile commands."""
    cmake, ninja = _tool("cmake"), _tool("ninja")
    if cmake is None:
        raise BuildFailure("no cmake found: it knows how the reference plugin is compiled; install it")
    build = work / "cmake"
    command = [
        cmake, "-S", str(project), "-B", str(build), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DCMAKE_CXX_COMPILER={compiler()}", f"-DPython_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    if ninja is not None:
        command += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailure(f"{project} cannot be configured: {done.stderr[-4000:]}")
    return build / "compile_commands.json"


def _tool(name: str) -> str | None:
    """A program of this Python's environment, which may not be on the path, else one of the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def _stated(folder: Path, commands: Path) -> dict[str, tuple[str, ...]]:
    stated = {}
    for record in json.loads(commands.read_text(encoding="utf-8")):
        path = Path(record["directory"], record["file"]).resolve()
        if path.is_relative_to(folder.resolve()):
            name = path.relative_to(folder.resolve()).as_posix()
            stated[name] = (*kept(shlex.split(record["command"])[1:]), *_OWN)
    return stated


def kept(arguments: Sequence[str]) -> tuple[str, ...]:
    """What decides about the code that is made: no files, no folders, no warnings, no level."""
    made, given = [], iter(arguments)
    for argument in given:
        if argument in _WITH_VALUE:
            next(given, None)
        elif argument.startswith(("-std", "-f", "-D", "-m", "-pthread")):
            made.append(argument)
    return tuple(made)
