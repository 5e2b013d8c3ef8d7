"""The report as data: what every written form is made from, and the JSON form itself.

The schema has a version; fields are added, never renamed or given another meaning, within one version.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance import environment
from conformance.case import Result, Status

if TYPE_CHECKING:
    from conformance.execution import Outcome
    from conformance.runner.pool import Settings
    from conformance.selection import Selection
    from conformance.waivers import Waiver

SCHEMA = "device_api.conformance.report"
SCHEMA_VERSION = 1


def build_report(
    *,
    outcome: Outcome,
    target: dict[str, Any],
    selection: Selection,
    waivers: Iterable[Waiver],
    settings: Settings,
    started_at: datetime.datetime,
    seconds: float,
) -> dict[str, Any]:
    """Everything that is known about a run, as JSON values."""
    shard = selection.shard
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "suite_version": target["suite_version"],
        "target": target,
        "environment": environment.describe(),
        "selection": {
            "levels": list(selection.levels),
            "include": list(selection.include),
            "exclude": list(selection.exclude),
            "quick": selection.quick,
            "shard": None if shard is None else f"{shard.index}/{shard.count}",
            "seed": settings.seed,
            "jobs": settings.jobs,
            "deadline": settings.deadline,
        },
        "started_at": started_at.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "exit_code": outcome.exit_code,
        "summary": outcome.summary,
        "problems": outcome.problems,
        "waivers": [str(waiver) for waiver in waivers],
        "coverage": coverage(outcome.results),
        "accuracy": accuracy(outcome.results),
        "launches": launches(outcome.results),
        "results": [result.to_json() for result in outcome.results],
    }


def write_json(report: dict[str, Any], path: Path) -> None:
    """Writes the report; raises ValueError rather than write a number that JSON does not have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1, allow_nan=False, default=str) + "\n", encoding="utf-8")


def op_and_dtype(name: str) -> tuple[str, str] | None:
    """ "ops.add.float32.shapes" is about ("add", "float32")."""
    level, *rest = name.split(".")
    return (rest[0], rest[1]) if level == "ops" and len(rest) >= 2 else None


def coverage(results: Iterable[Result]) -> dict[str, dict[str, str]]:
    """op -> dtype -> the worst status of its cases; not_supported only when nothing was executed."""
    order = [
        Status.NOT_SUPPORTED,
        Status.PASS,
        Status.QUALITY_WARNING,
        Status.WAIVED,
        Status.FLAKY,
        Status.FAIL,
        Status.TIMEOUT,
        Status.CRASH,
        Status.HARNESS_ERROR,
    ]
    table: dict[str, dict[str, str]] = {}
    for result in results:
        key = op_and_dtype(result.name)
        if key is None:
            continue
        row = table.setdefault(key[0], {})
        known = Status(row.get(key[1], Status.NOT_SUPPORTED))
        row[key[1]] = str(max(known, result.status, key=order.index))
    return table


def launches(results: Iterable[Result]) -> dict[str, int]:
    """op -> how often its kernels really ran on the device."""
    table: dict[str, int] = {}
    for result in results:
        measure = result.measure or {}
        if count := measure.get("launches"):
            table[measure["op"]] = table.get(measure["op"], 0) + count
    return table


def accuracy(results: Iterable[Result]) -> list[dict[str, Any]]:
    """The greatest measured error per op and dtype, with the tolerance; of passing and failing cases."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        measure = result.measure or {}
        key = op_and_dtype(result.name)
        if key is None or measure.get("tolerance") is None:
            continue
        row = rows.setdefault(
            key, {"op": key[0], "dtype": key[1], "max_ulp": 0.0, "tolerance": 0.0, "elements": 0, "case": ""}
        )
        row["elements"] += measure.get("elements", 0)
        error = float(measure.get("max_ulp", 0.0))
        if error >= row["max_ulp"]:
            row |= {"max_ulp": error, "tolerance": measure["tolerance"], "case": result.name}
    return [rows[key] for key in sorted(rows)]
