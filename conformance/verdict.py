"""What a set of results amounts to: counts, ways in which a run proves nothing, and the exit code.

A run, a merge of shards and a verification judge by these same rules, so a report can be recomputed from its
results by anybody who doubts it.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Sequence

from conformance.case import BAD, Result, Status
from conformance.waivers import Waiver, apply_waivers

EXIT_GOOD, EXIT_FAILED, EXIT_USAGE, EXIT_UNAVAILABLE = 0, 1, 2, 3


def names_hash(names: Iterable[str]) -> str:
    """The hash of a list of cases: of its sorted names, one a line."""
    return hashlib.sha256("".join(f"{name}\n" for name in sorted(names)).encode()).hexdigest()


def summarise(results: Sequence[Result], known: int) -> dict[str, int]:
    """A count for each status; `executed` of those that did not stop at a missing claim."""
    statuses = [result.status for result in results]
    summary = {str(status): statuses.count(status) for status in Status}
    executed = len(results) - summary[Status.NOT_SUPPORTED]
    return summary | {"executed": executed, "selected": len(results), "known": known}


def judge(results: Sequence[Result], waivers: Iterable[Waiver], today: datetime.date) -> list[str]:
    """Applies the waivers to the results, in place, and returns the problems of the run as a whole."""
    problems = apply_waivers(results, waivers, today)
    if not any(result.status is not Status.NOT_SUPPORTED for result in results):
        problems.append("no case was executed")
    problems += [
        f"case {result.name} was skipped without a reason"
        for result in results
        if result.status is Status.NOT_SUPPORTED and not result.message
    ]
    return problems


def exit_code(results: Iterable[Result], problems: Sequence[str]) -> int:
    """0 when nothing is bad, 1 otherwise."""
    return EXIT_FAILED if problems or any(result.status in BAD for result in results) else EXIT_GOOD
