"""The report as data: what every written form is made from, and the JSON form itself.

The schema has a version; fields are added, never renamed or given another meaning, within one version. Every
table of the report is a function of its results (`derived`), so a merge makes them again and a verification
compares them.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance import environment
from conformance.case import BAD, Result, Status
from conformance.reading import SCHEMA, SCHEMA_VERSION
from conformance.verdict import exit_code, judge, names_hash, summarise
from conformance.waivers import Waiver

if TYPE_CHECKING:
    from conformance.runner.pool import Settings
    from conformance.selection import Selection


def build_report(
    *,
    results: Sequence[Result],
    run_problems: Sequence[str],
    waivers: Sequence[Waiver],
    target: dict[str, Any],
    selection: Selection,
    settings: Settings,
    known: Sequence[str],
    selected: Sequence[str],
    started_at: datetime.datetime,
    seconds: float,
    peak_memory: int,
) -> dict[str, Any]:
    """Everything that is known about a run, as JSON values. Applies the waivers to the results.

    `known` names all cases of the target, `selected` those that the run chose before sharding; `peak_memory`
    is the most bytes that one worker held.
    """
    shard = selection.shard
    head = {
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
        "cases": {
            "known": len(known),
            "known_sha256": names_hash(known),
            "selected": len(selected),
            "selected_sha256": names_hash(selected),
        },
        "started_at": started_at.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "worker_peak_bytes": peak_memory,
    }
    return head | judged(results, run_problems, waivers, len(known), started_at.date())


def judged(
    results: Sequence[Result],
    run_problems: Sequence[str],
    waivers: Sequence[Waiver],
    known: int,
    today: datetime.date,
) -> dict[str, Any]:
    """The part of a report that follows from the results: verdict, tables, and the results themselves.
    Applies the waivers to the results."""
    problems = [*run_problems, *judge(results, waivers, today)]
    return {
        "exit_code": exit_code(results, problems),
        "summary": summarise(results, known),
        "problems": problems,
        "run_problems": list(run_problems),
        "waivers": [waiver.to_json() for waiver in waivers],
        "coverage": coverage(results),
        "accuracy": accuracy(results),
        "capabilities": capabilities(results),
        "launches": launches(results),
        "results": [result.to_json() for result in results],
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


def capabilities(results: Iterable[Result]) -> list[dict[str, Any]]:
    """What the plugin may claim, and how many of the cases about it passed, failed, or found no claim."""
    table: dict[str, dict[str, Any]] = {}
    for result in results:
        names = result.capabilities or ["the op and dtype"] * (op_and_dtype(result.name) is not None)
        subject = f"runtime: {result.name.split('.')[1]}"
        for name in names or [subject] * (result.level == "runtime"):
            row = table.setdefault(name, {"capability": name, "passed": 0, "failed": 0, "not_claimed": 0})
            bad = result.status in BAD or result.status is Status.WAIVED
            missing = result.status is Status.NOT_SUPPORTED
            row["failed" if bad else "not_claimed" if missing else "passed"] += 1
    return [table[name] for name in sorted(table)]


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
