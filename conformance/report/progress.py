"""The progress bar of a run: done, failed, and the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.case import BAD, Result
from conformance.report.terminal import printable


@contextmanager
def make_progress(
    wanted: bool | None, total: int, done: Sequence[Result]
) -> Iterator[Callable[[Result], None]]:
    """Gives a function to call with each result. Draws nothing when `wanted` is False, or None and stderr is
    no terminal."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda result: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[red]{task.fields[bad]} bad"),
        TimeRemainingColumn(),
    )
    bad = sum(result.status in BAD for result in done)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("conformance", total=total, completed=len(done), bad=bad)

        def advance(result: Result) -> None:
            nonlocal bad
            bad += result.status in BAD
            bar.update(task, advance=1, bad=bad)
            if result.status in BAD:
                bar.console.print(
                    printable(f"{result.status} {result.name}: {result.message}"), markup=False, style="red"
                )

        yield advance
