"""The journal: one JSON line per finished case, flushed at once, so that an interrupted run can go on.

The first line says what was run (target, library hash, suite version, seed); a run resumes only what it would
have run itself. A last line cut short by a crash is dropped. Knows nothing of how cases run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from conformance.case import Result
from conformance.selection import UsageError

FORMAT = "device_api.conformance.journal/1"


class Journal:
    """Writes results as they come."""

    def __init__(self, path: str | Path, header: Mapping[str, Any], resume: bool) -> None:
        self.path = Path(path)
        self.results: list[Result] = []
        keep = 0
        if resume and self.path.exists():
            self.results, keep = read_journal(self.path, header)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = self.path.open("r+" if keep else "w", encoding="utf-8")
        if keep:
            self._file.seek(keep)
            self._file.truncate()
        else:
            self._write({"format": FORMAT, **header})

    def _write(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record, default=str) + "\n")
        self._file.flush()

    def add(self, result: Result) -> None:
        self._write(result.to_json())

    def close(self) -> None:
        self._file.close()


def read_journal(path: Path, header: Mapping[str, Any]) -> tuple[list[Result], int]:
    """The results of an earlier run, and the length of the journal's sound part in bytes.

    Raises UsageError when the journal belongs to another run.
    """
    sound = 0
    results: list[Result] = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        try:
            record = json.loads(line)
            if not line.endswith(b"\n") or not isinstance(record, dict):
                break
            if number == 0:
                _check_header(path, record, header)
            else:
                results.append(Result.from_json(record))
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, UsageError):
                raise
            break
        sound += len(line)
    return results, sound


def _check_header(path: Path, found: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    for key, value in {"format": FORMAT, **header}.items():
        if found.get(key) != value:
            raise UsageError(
                f"journal {path} belongs to another run: {key} is {found.get(key)!r}, not {value!r}; "
                "remove the file or run without resume"
            )
