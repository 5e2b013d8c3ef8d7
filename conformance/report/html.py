"""The report as one HTML file that needs no server and no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import device_api.dtypes as dtypes


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
    seen = {dtype for row in report["coverage"].values() for dtype in row}
    columns = [name for name in dtypes.NAMES.values() if name in seen]
    bad = ("fail", "crash", "timeout", "flaky", "harness_error", "waived", "quality_warning")
    text = templates.get_template("report.html").render(
        report=report,
        dtypes=columns + sorted(seen.difference(columns)),
        failures=[result for result in report["results"] if result["status"] in bad],
        levels=_levels(report),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _levels(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    """level -> status -> count."""
    table: dict[str, dict[str, int]] = {}
    for result in report["results"]:
        row = table.setdefault(result["level"], {})
        row[result["status"]] = row.get(result["status"], 0) + 1
    return table
