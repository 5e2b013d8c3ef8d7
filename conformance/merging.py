"""One report out of the reports of all shards of a run.

The parts must be of one run: the same library, suite, seed, filters and waivers, and every shard exactly
once. The verdict is made anew from all results, so a waiver whose cases were spread over shards is judged
whole.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.case import Result
from conformance.reading import results_of
from conformance.report.model import judged
from conformance.selection import Shard, UsageError
from conformance.verdict import names_hash
from conformance.waivers import Waiver, without_waivers

# What must be equal in all parts, and how it is called in a message.
_SAME = (
    (("target", "library_sha256"), "library"),
    (("target", "target"), "target"),
    (("suite_version",), "suite version"),
    (("target", "device"), "device"),
    (("selection", "seed"), "seed"),
    (("selection", "levels"), "levels"),
    (("selection", "include"), "included cases"),
    (("selection", "exclude"), "excluded cases"),
    (("selection", "quick"), "choice of the quick run"),
    (("selection", "deadline"), "deadline"),
    (("environment", "variables"), "variables"),
    (("cases",), "list of cases"),
    (("waivers",), "waivers"),
)


def merge(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The merged report. Raises UsageError when a shard is missing or double, or the parts do not belong
    together."""
    if not reports:
        raise UsageError("no report to merge")
    first = reports[0]
    for keys, words in _SAME:
        values = [_at(report, keys) for report in reports]
        if any(value != values[0] for value in values):
            raise UsageError(f"the reports do not belong together, their {words} differ")
    _check_shards(reports)
    results = [result for report in reports for result in results_of(report)]
    problems = list(dict.fromkeys(text for report in reports for text in report["run_problems"]))
    problems += _incomplete(first, results)
    without_waivers(results)
    waivers = [Waiver.from_json(record) for record in first["waivers"]]
    merged = {
        **first,
        "selection": {**first["selection"], "shard": None},
        "started_at": min(report["started_at"] for report in reports),
        "seconds": round(sum(report["seconds"] for report in reports), 3),
        "worker_peak_bytes": max(report.get("worker_peak_bytes", 0) for report in reports),
        "shards": len(reports),
    }
    known = first["cases"]["known"]
    return merged | judged(results, problems, waivers, known, datetime.datetime.now(datetime.UTC).date())


def _at(report: Mapping[str, Any], keys: Sequence[str]) -> Any:
    value: Any = report
    for key in keys:
        value = value[key]
    return value


def _check_shards(reports: Sequence[Mapping[str, Any]]) -> None:
    texts = [report["selection"]["shard"] for report in reports]
    if None in texts:
        raise UsageError("a report is of a whole run, not of a shard")
    shards = [Shard.parse(text) for text in texts]
    counts = {shard.count for shard in shards}
    if len(counts) > 1:
        raise UsageError(f"the reports are of {' and '.join(map(str, sorted(counts)))} shards")
    present = Counter(shard.index for shard in shards)
    twice = [str(index) for index, times in sorted(present.items()) if times > 1]
    if twice:
        raise UsageError(f"shard {', '.join(twice)} is there more than once")
    missing = [str(index) for index in range(1, shards[0].count + 1) if index not in present]
    if missing:
        raise UsageError(f"shard {', '.join(missing)} of {shards[0].count} is missing")


def _incomplete(first: Mapping[str, Any], results: Sequence[Result]) -> list[str]:
    """A device that could not be opened puts a result of its own in each shard; only cases of the list
    count."""
    names = Counter(result.name for result in results)
    twice = [name for name, times in names.items() if times > 1]
    found = [f"case {name} has a result in more than one shard" for name in sorted(twice)]
    if names_hash(names) != first["cases"]["selected_sha256"]:
        found.append("the shards together do not have the results of all selected cases")
    return found
