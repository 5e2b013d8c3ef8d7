"""Waivers: failures that a vendor knows, explains, and promises to end.

A waiver names cases by a glob and must give a reason, an issue and an expiry date. A waived case still runs;
one that passes, or a waiver that has expired or matches nothing, fails the run, so that the list can only
shrink. The file is TOML:

    [[waiver]]
    cases = "ops.sin.float16.*"
    reason = "argument reduction is done in half precision"
    issue = "https://example.com/issues/7"
    expires = 2030-01-31
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.case import BAD, Result, Status
from conformance.selection import UsageError

FIELDS = ("cases", "reason", "issue", "expires")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One entry of the file."""

    cases: str
    reason: str
    issue: str
    expires: datetime.date

    def __str__(self) -> str:
        return f"{self.cases}: {self.reason} ({self.issue}, until {self.expires.isoformat()})"


def read_waivers(path: str | Path) -> tuple[Waiver, ...]:
    """Reads a waiver file; raises UsageError that names the file, the entry and the field."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"waivers {path}: {error}") from error
    entries = document.pop("waiver", [])
    if document or not isinstance(entries, list):
        raise UsageError(f"waivers {path}: only [[waiver]] entries are known, found {', '.join(document)}")
    return tuple(_read_entry(path, number, entry) for number, entry in enumerate(entries, 1))


def _read_entry(path: str | Path, number: int, entry: object) -> Waiver:
    where = f"waivers {path}, entry {number}"
    if not isinstance(entry, dict) or sorted(entry) != sorted(FIELDS):
        raise UsageError(f"{where}: must have exactly the fields {', '.join(FIELDS)}")
    for name in ("cases", "reason", "issue"):
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise UsageError(f"{where}: {name} must be a text that is not empty")
    expires = entry["expires"]
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        raise UsageError(f"{where}: expires must be a date, for example 2030-01-31")
    return Waiver(entry["cases"], entry["reason"], entry["issue"], expires)


def apply_waivers(
    results: Iterable[Result], waivers: Iterable[Waiver], all_names: Iterable[str], today: datetime.date
) -> list[str]:
    """Marks waived results in place; returns the problems of the waivers themselves."""
    results, names = list(results), list(all_names)
    problems = []
    for waiver in waivers:
        if waiver.expires < today:
            problems.append(f"waiver has expired: {waiver}")
            continue
        if not any(fnmatchcase(name, waiver.cases) for name in names):
            problems.append(f"waiver matches no case: {waiver}")
            continue
        covered = [result for result in results if fnmatchcase(result.name, waiver.cases)]
        failing = [result for result in covered if result.status in BAD]
        for result in failing:
            result.message = f"waived {result.status}: {result.message}"
            result.status, result.waiver = Status.WAIVED, str(waiver)
        if covered and not failing and not any(result.status is Status.WAIVED for result in covered):
            problems.append(f"waived cases pass; remove the waiver: {waiver}")
    return problems
