"""What a kill run says, whatever it is made of: the parts, the JSON document, and the words at a terminal.

Knows nothing of how a part finds its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from conformance import environment

SCHEMA = "device_api.conformance.kill"
SCHEMA_VERSION = 1

# progress(what, how many) is a context manager; call what it gives once for each step that is done.
Advance = Callable[[], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]


class Part(Protocol):
    """One half of a kill run: the named faults, or the mutants of the reference kernels."""

    @property
    def good(self) -> bool:
        """Whether enough was caught, and the good plugin passed."""

    def to_json(self) -> dict[str, Any]:
        """Everything that is known, as JSON values."""

    def lines(self) -> Iterable[str]:
        """The verdict and what survived, for a reader at a terminal."""


def build_report(parts: Mapping[str, Part], *, quick: bool, seconds: float) -> dict[str, Any]:
    """The JSON document of a run. Fields are added, never renamed or given another meaning, within one
    version."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "suite_version": environment.suite_version(),
        "environment": environment.describe(),
        "quick": quick,
        "seconds": round(seconds, 3),
        "good": all(part.good for part in parts.values()),
        **{name: part.to_json() for name, part in parts.items()},
    }


def bar_on(console: Console) -> Progress:
    """Progress as a bar on a console, which draws nothing where that is no terminal."""

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Advance]:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)

    return progress
