"""The document of a measurement: what it holds, how it is read back, and what got slower since another.

A row of one document belongs to the row of the same name in the other. It counts as slower when the median
grew by more than the threshold and by more than the rounds of both scatter: a busy machine shows in the
scatter, a worse kernel does not.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_api.bench.measure import Failure
from device_api.errors import DeviceApiError

FORMAT = "device_api.bench"
VERSION = 1
# A difference below this many median deviations is scatter.
SCATTER = 3.0


class BenchError(DeviceApiError):
    """A file is no document of a measurement."""


@dataclass(frozen=True)
class Change:
    """A case measured twice: seconds per call before and now."""

    name: str
    before: float
    now: float

    @property
    def ratio(self) -> float:
        return self.now / self.before


@dataclass(frozen=True)
class Comparison:
    """What changed: rows that got slower, faster, stayed, or are in one document only."""

    slower: list[Change]
    faster: list[Change]
    same: list[Change]
    missing: list[str]
    new: list[str]

    def as_json(self) -> dict[str, Any]:
        def changes(these: list[Change]) -> list[dict[str, Any]]:
            return [vars(change) | {"ratio": change.ratio} for change in these]

        return {
            "slower": changes(self.slower),
            "faster": changes(self.faster),
            "same": len(self.same),
            "missing": self.missing,
            "new": self.new,
        }


def document(
    device: str, measured: Iterable[dict[str, Any] | Failure], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The whole as JSON values."""
    everything = list(measured)
    rows = [each for each in everything if not isinstance(each, Failure)]
    failures = [vars(each) for each in everything if isinstance(each, Failure)]
    peers = sorted({peer for row in rows for peer in row["ratio"]})
    return {
        "format": FORMAT,
        "version": VERSION,
        "device": device,
        "machine": platform.machine(),
        "rows": rows,
        "failures": failures,
        "summary": {"device": device, "rows": len(rows), "failures": len(failures), "peers": peers, **facts},
    }


def read(path: Path) -> dict[str, Any]:
    """A document from a file: of a measurement, or the part of a conformance report that is one. Raises
    BenchError."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(path, str(error)) from None
    if isinstance(found, dict) and isinstance(found.get("performance"), dict):
        found = found["performance"]
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
        raise _bad(path, f"it is no {FORMAT} document of version {VERSION}")
    rows = found.get("rows")
    if not isinstance(rows, list) or not all(_sound(row) for row in rows):
        raise _bad(path, "a row lacks its name or its times")
    return found


def _sound(row: object) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("name"), str)
        and all(_time(row.get(key)) for key in ("latency", "latency_mad", "seconds", "seconds_mad"))
        and row["seconds"] > 0
    )


def _time(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _bad(path: Path, why: str) -> BenchError:
    return BenchError(
        "cannot compare with report",
        subject=str(path),
        why=why,
        remedy="Give a file written by `device-api bench DEVICE --json`.",
    )


def compare(before: Mapping[str, Any], now: Mapping[str, Any], threshold: float) -> Comparison:
    """What changed from one document to another; `threshold` 0.2 means 20 % slower."""
    old = {row["name"]: row for row in before["rows"]}
    new = {row["name"]: row for row in now["rows"]}
    result = Comparison([], [], [], sorted(set(old) - set(new)), sorted(set(new) - set(old)))
    for name in (name for name in new if name in old):
        change = Change(name, old[name]["seconds"], new[name]["seconds"])
        scatter = SCATTER * (old[name]["seconds_mad"] + new[name]["seconds_mad"])
        if abs(change.now - change.before) <= scatter:
            result.same.append(change)
        elif change.ratio > 1 + threshold:
            result.slower.append(change)
        elif change.ratio < 1 / (1 + threshold):
            result.faster.append(change)
        else:
            result.same.append(change)
    result.slower.sort(key=lambda change: -change.ratio)
    return result


def slower_than(rows: Sequence[Mapping[str, Any]], peer: str, threshold: float) -> list[str]:
    """Names of rows that take longer than on another device of the same run, by more than the threshold."""
    return [row["name"] for row in rows if row["ratio"].get(peer, 0.0) > 1 + threshold]
