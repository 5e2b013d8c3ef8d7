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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.case import BAD, Result, Status
from conformance.selection import UsageError

FIELDS = ("cases", "reason", "issue", "expires")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One entry of the file. `matches` is the number of cases of the target that it names."""

    cases: str
    reason: str
    issue: str
    expires: datetime.date
    matches: int = 0

    def __str__(self) -> str:
        return f"{self.cases}: {self.reason} ({self.issue}, until {self.expires.isoformat()})"

    def takes(self, name: str) -> bool:
        return fnmatchcase(name, self.cases)

    def counted(self, names: Iterable[str]) -> Waiver:
        """The waiver with the number of these names that it takes."""
        return replace(self, matches=sum(map(self.takes, names)))

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "expires": self.expires.isoformat()
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Waiver:
        """Reads what `to_json` wrote; raises ValueError when `expires` is no date."""
        known = {name: record[name] for name in cls.__dataclass_fields__}
        return cls(**{**known, "expires": datetime.date.fromisoformat(record["expires"])})


def read_waivers(path: str | Path) -> tuple[Waiver, ...]:
    """Reads a waiver file; raises UsageError that names the file, the entry and the field."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"waivers {path}: {error}") from error
    except RecursionError:
        raise UsageError(f"waivers {path}: it is nested too deep") from None
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


def apply_waivers(results: Sequence[Result], waivers: Iterable[Waiver], today: datetime.date) -> list[str]:
    """Marks waived results in place; returns the problems of the waivers themselves.

    A waiver counts as unused only when all cases that it names have run: a shard or a filtered run may hold
    none of those that fail.
    """
    problems = []
    for waiver in waivers:
        if waiver.expires < today:
            problems.append(f"waiver has expired: {waiver}")
            continue
        if not waiver.matches:
            problems.append(f"waiver matches no case: {waiver}")
            continue
        covered = [result for result in results if waiver.takes(result.name)]
        failing = [result for result in covered if result.status in BAD]
        for result in failing:
            result.waived, result.status, result.waiver = str(result.status), Status.WAIVED, str(waiver)
        used = any(result.status is Status.WAIVED for result in covered)
        if not used and len(covered) >= waiver.matches:
            problems.append(f"waived cases pass; remove the waiver: {waiver}")
    return problems


def without_waivers(results: Iterable[Result]) -> None:
    """Gives waived results back the status that they would have, in place."""
    for result in results:
        if result.waived:
            result.status, result.waived, result.waiver = Status(result.waived), "", ""
