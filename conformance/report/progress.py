"""The progress of a run on stderr: done, bad, and the time that is left.

A bar on a terminal, and a line now and then elsewhere, where logs are read. Nothing goes to stdout, which may
carry a report.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.case import BAD, Result
from conformance.report.terminal import printable

EVERY = 30.0  # seconds between two lines of a log

Advance = Callable[[Result], None]


@contextmanager
def make_progress(
    wanted: bool | None, total: int, done: Sequence[Result], clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Gives a function to call with each result. Draws nothing when `wanted` is False; a bar when it is True
    or stderr is a terminal; else a line each half minute. `clock` gives seconds.
    """
    if wanted is False:
        yield lambda result: None
    elif wanted or sys.stderr.isatty():
        with _bar(total, done) as advance:
            yield advance
    else:
        yield _lines(total, done, clock)


def _bad(done: Sequence[Result]) -> int:
    return sum(result.status in BAD for result in done)


def _lines(total: int, done: Sequence[Result], clock: Callable[[], float]) -> Advance:
    before = len(done)  # results of an earlier run, which say nothing about the speed of this one
    finished, bad = before, _bad(done)
    start = said = clock()

    def advance(result: Result) -> None:
        nonlocal finished, bad, said
        finished += 1
        bad += result.status in BAD
        now = clock()
        if now - said < EVERY or finished >= total:
            return
        said = now
        left = (now - start) / (finished - before) * (total - finished)
        print(
            f"conformance: {finished} of {total} cases, {bad} bad, about {_duration(left)} left",
            file=sys.stderr,
            flush=True,
        )

    return advance


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@contextmanager
def _bar(total: int, done: Sequence[Result]) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[red]{task.fields[bad]} bad"),
        TimeRemainingColumn(),
    )
    bad = _bad(done)
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
