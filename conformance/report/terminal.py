"""The verdict for a reader at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from conformance.case import BAD, Status

if TYPE_CHECKING:
    from conformance.execution import Outcome

SHOWN = 20


def printable(text: str) -> str:
    """The text without what would move a terminal's cursor or change its colours: plugins print anything."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def print_outcome(outcome: Outcome, console: Console | None = None) -> None:
    """Prints counts per level and status, the first failures with their commands, and problems of the run."""
    console = console or Console(soft_wrap=True)
    if outcome.message:
        console.print(printable(outcome.message), style="red", markup=False)
    if not outcome.report:
        return
    console.print(_counts(outcome))
    bad = [result for result in outcome.results if result.status in BAD]
    for result in bad[:SHOWN]:
        console.print(f"{result.status} {result.name}", style="red", markup=False)
        console.print(f"  {printable(result.message)}", markup=False, highlight=False)
        if result.shrunk:
            smallest = printable(result.shrunk["description"])
            console.print(f"  smallest input: {smallest}", markup=False, highlight=False)
        console.print(f"  {result.repro}", markup=False, highlight=False)
    if len(bad) > SHOWN:
        console.print(f"and {len(bad) - SHOWN} more, all in the report", style="red")
    for problem in outcome.problems:
        console.print(f"problem of the run: {printable(problem)}", style="red", markup=False)
    verdict = "good" if outcome.exit_code == 0 else "failed"
    summary = outcome.summary
    console.print(
        f"{verdict}: {summary['executed']} executed, {summary['pass']} passed, {len(bad)} bad, "
        f"{summary['not_supported']} not supported, {summary['waived']} waived, "
        f"{outcome.report['seconds']:.1f} s",
        style="green" if outcome.exit_code == 0 else "red",
        highlight=False,
    )


def _counts(outcome: Outcome) -> Table:
    table = Table(title=f"Conformance of {outcome.report['target']['target']}")
    table.add_column("level")
    shown = [status for status in Status if outcome.summary.get(status)]
    for status in shown:
        table.add_column(str(status), justify="right")
    for level in sorted({result.level for result in outcome.results}):
        statuses = [result.status for result in outcome.results if result.level == level]
        table.add_row(level, *(str(statuses.count(status)) for status in shown))
    return table
