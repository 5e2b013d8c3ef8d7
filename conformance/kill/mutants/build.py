"""Compiles the switched sources into one plugin.

A switch that does not compile costs the mutants of its line, not the build. The plugin is kept under the hash
of all that went into it.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.kill.mutants.flags import LEVEL, PLAIN, BuildFailure, compiler

_NATIVE = Path(__file__).parent / "native"
_ATTEMPTS = 4
_ERROR = re.compile(r"(?:^|\s)(?P<file>[^\s:]+\.[ch]pp):(?P<line>\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Built:
    """The plugin, and the lines (file, line) whose mutants do not compile and are not in it."""

    library: Path
    dropped: frozenset[tuple[str, int]]


# Gives the text of every file without the mutants of some lines.
Texts = Callable[[frozenset[tuple[str, int]]], Mapping[str, bytes]]


def build(
    texts: Texts, count: int, headers: Path, folder: Path, jobs: int, flags: Mapping[str, Sequence[str]]
) -> Built:
    """Builds the plugin of `texts` below `folder`, each source with its `flags`. `count` is one more than the
    greatest number of a mutant; `headers` holds the project's public headers. Raises BuildFailure."""
    dropped: frozenset[tuple[str, int]] = frozenset()
    for _ in range(_ATTEMPTS):
        given = dict(texts(dropped))
        attempt = _Attempt(given, count, headers, folder, flags)
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

    def __init__(
        self,
        texts: Mapping[str, bytes],
        count: int,
        headers: Path,
        folder: Path,
        flags: Mapping[str, Sequence[str]],
    ) -> None:
        native = {path.name: path.read_bytes() for path in sorted(_NATIVE.iterdir())}
        public = {str(path): path.read_bytes() for path in sorted(headers.rglob("*.h"))}
        included = {name: text for name, text in sorted(texts.items()) if not name.endswith(".cpp")}
        # What goes into every object file.
        self._common = _digest({"": compiler().encode(), **included, **native, **public})
        self._objects = folder / "objects"
        self._folder = folder / _digest(
            {"": f"{count} {self._common} {sorted(flags.items())}".encode(), **texts}
        )
        self.sources = self._folder / "sources"
        self.library = self._folder / "libdevice_api_mutants.so"
        self._texts, self._headers, self._flags = texts, headers, flags
        self._count = f"-DDA_MUTANT_COUNT={count}"

    def run(self, jobs: int) -> str:
        """Compiles and links; gives the compiler's errors, "" when there are none."""
        if self.library.exists():
            return ""
        self._objects.mkdir(parents=True, exist_ok=True)
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

    def _own(self, unit: Path) -> tuple[str, ...]:
        """The arguments for one unit beyond its folders."""
        name = unit.relative_to(self.sources).as_posix() if unit.is_relative_to(self.sources) else ""
        return (*self._flags[name],) if name in self._flags else (*PLAIN, LEVEL, self._count)

    def _object(self, unit: Path) -> Path:
        """Kept under the hash of what goes into it: a line that does not compile costs its unit only."""
        content = {self._common: unit.read_bytes(), "flags": repr(self._own(unit)).encode()}
        return self._objects / f"{unit.stem}.{_digest(content)}.o"

    def _compile(self, unit: Path) -> str:
        made = self._object(unit)
        if made.exists():
            return ""
        folders = (f"-I{self._headers}", f"-I{self.sources}")
        switch = str(_NATIVE / "switch.hpp")
        new = made.with_suffix(".new")
        failed = _command(
            [compiler(), *self._own(unit), *folders, "-include", switch, "-c", str(unit), "-o", str(new)]
        )
        if not failed:
            new.rename(made)
        return failed


def _digest(content: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, text in sorted(content.items()):
        digest.update(f"{name} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


def _command(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"{command[0]} ended with status {done.returncode}"
