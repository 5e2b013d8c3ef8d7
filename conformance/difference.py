"""What changed between two reports: of one plugin on two days, or of two plugins.

Worse is what a vendor must look at before a release: a case that passed and is bad now, a claim that is gone,
an error that grew. Better and merely different are listed too. Knows reports as data only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.case import BAD

GOOD = frozenset({"pass", "quality_warning"})
# An error of 2.1 ulp where 2.0 was measured before is another input's luck, not another kernel.
ACCURACY_FACTOR = 1.25
ACCURACY_SLACK = 0.25


@dataclass(frozen=True, slots=True)
class Change:
    """One case or pair of op and dtype: what it was, what it is (a status or a number of ulps), and why."""

    name: str
    before: str
    now: str
    message: str = ""


@dataclass(slots=True)
class Difference:
    """Two reports compared."""

    new_failures: list[Change] = field(default_factory=list)
    lost: list[Change] = field(default_factory=list)
    less_accurate: list[Change] = field(default_factory=list)
    fixed: list[Change] = field(default_factory=list)
    gained: list[Change] = field(default_factory=list)
    more_accurate: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def worse(self) -> bool:
        return bool(self.new_failures or self.lost or self.less_accurate)

    def as_json(self) -> dict[str, Any]:
        """The parts by name, and the verdict."""
        parts: dict[str, Any] = {"worse": self.worse, "notes": self.notes}
        for name in self.__dataclass_fields__:
            if name != "notes":
                changes: list[Change] = getattr(self, name)
                parts[name] = [
                    {key: getattr(change, key) for key in Change.__dataclass_fields__} for change in changes
                ]
        return parts


def compare_reports(
    before: Mapping[str, Any], now: Mapping[str, Any], accuracy_factor: float = ACCURACY_FACTOR
) -> Difference:
    """Compares two reports that were read by `conformance.reading`.

    A case that was executed and is not supported or not there any more is lost; an error is worse from
    `accuracy_factor` times the old one on.
    """
    found = Difference(notes=list(_notes(before, now)))
    old = {result["name"]: result for result in before["results"]}
    new = {result["name"]: result for result in now["results"]}
    for name in sorted(old.keys() | new.keys()):
        was, is_now = old.get(name), new.get(name)
        _place(
            found,
            Change(
                name,
                "absent" if was is None else was["status"],
                "absent" if is_now is None else is_now["status"],
                "" if is_now is None else is_now.get("message", ""),
            ),
        )
    _accuracy(found, before, now, accuracy_factor)
    return found


def _place(found: Difference, change: Change) -> None:
    """Puts one case where it belongs; a case that stayed as it was, nowhere."""
    if change.before == change.now:
        return
    ran_before = change.before not in ("absent", "not_supported")
    runs_now = change.now not in ("absent", "not_supported")
    if change.now in BAD and change.before not in BAD:
        found.new_failures.append(change)
    elif change.before in BAD and change.now in GOOD:
        found.fixed.append(change)
    elif ran_before and not runs_now:
        found.lost.append(change)
    elif runs_now and not ran_before:
        found.gained.append(change)
    else:
        found.changed.append(change)


def _accuracy(
    found: Difference, before: Mapping[str, Any], now: Mapping[str, Any], accuracy_factor: float
) -> None:
    old = {(row["op"], row["dtype"]): row for row in before["accuracy"]}
    for row in now["accuracy"]:
        was = old.get((row["op"], row["dtype"]))
        if was is None:
            continue
        change = Change(
            f"{row['op']} {row['dtype']}",
            f"{was['max_ulp']:.4g} ulp",
            f"{row['max_ulp']:.4g} ulp",
            f"{row['tolerance']:g} allowed, worst in {row['case']}",
        )
        if row["max_ulp"] > was["max_ulp"] * accuracy_factor + ACCURACY_SLACK:
            found.less_accurate.append(change)
        elif was["max_ulp"] > row["max_ulp"] * accuracy_factor + ACCURACY_SLACK:
            found.more_accurate.append(change)


def _notes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What makes the two less comparable."""
    for what, old, new in (
        ("suite versions", before["suite_version"], now["suite_version"]),
        ("seeds", before["selection"]["seed"], now["selection"]["seed"]),
        ("deadlines", before["selection"]["deadline"], now["selection"]["deadline"]),
        ("variables", before["environment"]["variables"], now["environment"]["variables"]),
    ):
        if old != new:
            yield f"{what} differ: {old} and {new}"
    for key in ("levels", "include", "exclude", "quick", "shard"):
        if before["selection"][key] != now["selection"][key]:
            yield f"the runs chose their cases differently ({key}): {before['selection'][key]} and " + str(
                now["selection"][key]
            )
    if before["target"]["library_sha256"] == now["target"]["library_sha256"]:
        yield "both reports are about the same library file"
