"""The report as one HTML file that needs no server, no script and no network; its own policy forbids them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import device_api.dtypes as dtypes
from conformance.case import BAD, Result, Status
from conformance.reading import results_of
from conformance.report.model import op_and_dtype
from device_api.bench.plot import bars

SHOWN = (*BAD, Status.WAIVED, Status.QUALITY_WARNING)
MARKS = {"pass": "●", "not_supported": "–", "quality_warning": "▲", "waived": "▲"}


@dataclass(slots=True)
class Cell:
    """One op and dtype in the matrix: its worst status, and how many of its cases ended how."""

    op: str
    dtype: str
    status: str
    passed: int = 0
    failed: int = 0
    not_supported: int = 0

    @property
    def mark(self) -> str:
        return MARKS.get(self.status, "✕")

    @property
    def title(self) -> str:
        counts = f"{self.passed} passed, {self.failed} failed, {self.not_supported} not supported"
        return f"{self.op} {self.dtype}: {self.status}; {counts}"


def write_html(report: dict[str, Any], path: Path) -> None:
    """Renders the template; every text of the plugin is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("conformance.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    results = results_of(report)
    cells = _cells(report["coverage"], results)
    seen = {dtype for row in cells.values() for dtype in row}
    columns = [name for name in dtypes.NAMES.values() if name in seen]
    text = templates.get_template("report.html").render(
        report=report,
        dtypes=columns + sorted(seen.difference(columns)),
        cells=cells,
        totals=_totals(cells),
        failures=[result for result in results if result.status in SHOWN],
        levels=_levels(results),
        statuses=[str(status) for status in Status],
        plot=bars(report["performance"]) if "performance" in report else "",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _levels(results: Iterable[Result]) -> dict[str, dict[str, int]]:
    """level -> status -> count."""
    table: dict[str, dict[str, int]] = {}
    for result in results:
        row = table.setdefault(result.level, {})
        row[result.status] = row.get(result.status, 0) + 1
    return table


def _cells(coverage: dict[str, dict[str, str]], results: Iterable[Result]) -> dict[str, dict[str, Cell]]:
    """op -> dtype -> cell."""
    table = {
        op: {dtype: Cell(op, dtype, status) for dtype, status in row.items()}
        for op, row in sorted(coverage.items())
    }
    for result in results:
        key = op_and_dtype(result.name)
        if key is None:
            continue
        cell = table[key[0]][key[1]]
        if result.status is Status.NOT_SUPPORTED:
            cell.not_supported += 1
        elif result.status in (Status.PASS, Status.QUALITY_WARNING):
            cell.passed += 1
        else:
            cell.failed += 1
    return table


def _totals(cells: dict[str, dict[str, Cell]]) -> dict[str, int]:
    """How many pairs of op and dtype are claimed, and how they ended."""
    every = [cell for row in cells.values() for cell in row.values()]
    claimed = [cell for cell in every if cell.status != Status.NOT_SUPPORTED]
    failed = sum(cell.failed > 0 for cell in claimed)
    return {
        "pairs": len(every),
        "claimed": len(claimed),
        "passed": len(claimed) - failed,
        "failed": failed,
        "not_claimed": len(every) - len(claimed),
    }
