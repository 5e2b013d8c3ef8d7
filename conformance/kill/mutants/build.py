"""Compiles the switched sources into one plugin.

Optimisation is low, because nothing depends on it and the compiler has much text to read; what decides about
results (no fused products, no errno) is as in the real build. A switch that does not compile costs the
mutants of its line, not the build. The plugin is kept under the hash of all that went into it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_NATIVE = Path(__file__).parent / "native"
_FLAGS = (
    "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-pthread", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=off", "-w", "-Wno-narrowing",
    # One copy of each loop: the choice among copies for several processors is not what is tested.
    "-DREFERENCE_CPU_SANITIZED",
)  # fmt: skip
_ATTEMPTS = 4
_ERROR = re.compile(r"(?:^|\s)(?P<file>[^\s:]+\.[ch]pp):(?P<line>\d+)", re.MULTILINE)


class BuildFailure(RuntimeError):
    """The switched sources do not compile, for a reason that is not a mutant."""


@dataclass(frozen=True, slots=True)
class Built:
    """The plugin, and the lines (file, line) whose mutants do not compile and are not in it."""

    library: Path
    dropped: frozenset[tuple[str, int]]


# Gives the text of every file without the mutants of some lines.
Texts = Callable[[frozenset[tuple[str, int]]], Mapping[str, bytes]]


def compiler() -> str:
    """The C++ compiler: $CXX, else the first of the usual names. Raises BuildFailure."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise BuildFailure("no C++ compiler found: install one, or name it in the variable CXX")


def build(texts: Texts, count: int, headers: Path, folder: Path, jobs: int) -> Built:
    """Builds the plugin of `texts` below `folder`. `count` is one more than the greatest number of a mutant;
    `headers` holds the project's public headers. Raises BuildFailure."""
    dropped: frozenset[tuple[str, int]] = frozenset()
    for _ in range(_ATTEMPTS):
        given = dict(texts(dropped))
        attempt = _Attempt(given, count, headers, folder)
        errors = attempt.run(jobs)
        if not errors:
            return Built(attempt.library, dropped)
        found = {(match["file"], int(match["line"])) for match in _ERROR.finditer(errors)}
        root = str(attempt.sources) + os.sep
        more = {(name.removeprefix(root), line) for name, line in found if name.startswith(root)} - dropped
        if texts(dropped | more) == given:
            break
        dropped |= more
    raise BuildFailure(f"the mutated sources do not compile:\n{errors[-4000:]}")


class _Attempt:
    """One set of texts on its way to a library."""

    def __init__(self, texts: Mapping[str, bytes], count: int, headers: Path, folder: Path) -> None:
        digest = hashlib.sha256(f"{count} {compiler()} {_FLAGS}".encode())
        native = {path.name: path.read_bytes() for path in sorted(_NATIVE.iterdir())}
        public = {str(path): path.read_bytes() for path in sorted(headers.rglob("*.h"))}
        for name, text in (*sorted(texts.items()), *native.items(), *public.items()):
            digest.update(f"{name} {len(text)} ".encode() + text)
        self._folder = folder / digest.hexdigest()[:16]
        self.sources = self._folder / "sources"
        self.library = self._folder / "libdevice_api_mutants.so"
        self._texts, self._headers = texts, headers
        self._count = f"-DDA_MUTANT_COUNT={count}"

    def run(self, jobs: int) -> str:
        """Compiles and links; gives the compiler's errors, "" when there are none."""
        if self.library.exists():
            return ""
        for name, text in self._texts.items():
            path = self.sources / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        units = [self.sources / name for name in self._texts if name.endswith(".cpp")]
        # The largest first, so that no one waits for it at the end.
        units.sort(key=lambda path: -path.stat().st_size)
        with ThreadPoolExecutor(jobs) as pool:
            errors = [text for text in pool.map(self._compile, [*units, _NATIVE / "switch.cpp"]) if text]
        if errors:
            return "\n".join(errors)
        made = self.library.with_suffix(".new")
        objects = [str(self._object(unit)) for unit in [*units, _NATIVE / "switch.cpp"]]
        done = _command([compiler(), "-shared", "-pthread", "-o", str(made), *objects, "-ldl"])
        if done:
            raise BuildFailure(f"the mutated plugin does not link:\n{done[-4000:]}")
        made.rename(self.library)
        for name in objects:
            Path(name).unlink()
        return ""

    def _object(self, unit: Path) -> Path:
        return self._folder / (unit.parent.name + "." + unit.name + ".o")

    def _compile(self, unit: Path) -> str:
        flags = [*_FLAGS, self._count, f"-I{self._headers}", f"-I{self.sources}"]
        switch = str(_NATIVE / "switch.hpp")
        return _command(
            [compiler(), *flags, "-include", switch, "-c", str(unit), "-o", str(self._object(unit))]
        )


def _command(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"{command[0]} ended with status {done.returncode}"
