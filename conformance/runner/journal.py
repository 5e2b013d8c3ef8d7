"""The journal: one JSON line per finished case, flushed at once, so that an interrupted run can go on.

The first line says what was run (target, library hash, suite version, seed, variables); a run resumes only
what it would have run itself. Whatever follows the first line that cannot be read is dropped: a process that
dies while it writes leaves half a line. Knows nothing of how cases run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from conformance.case import Result
from conformance.reading import Malformed, parse, read_result
from conformance.selection import UsageError

FORMAT = "device_api.conformance.journal/1"


class Journal:
    """Writes results as they come. Raises UsageError for a file that cannot be used or belongs to another
    run."""

    def __init__(self, path: str | Path, header: Mapping[str, Any], resume: bool) -> None:
        self.path = Path(path)
        self.results: list[Result] = []
        keep = 0
        try:
            if resume and self.path.exists():
                self.results, keep = read_journal(self.path, header)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = self.path.open("r+b" if keep else "wb")
        except OSError as error:
            raise UsageError(f"journal {path}: {error.strerror or error}") from error
        if keep:
            self._file.seek(keep)
            self._file.truncate()
        else:
            self._file.write(_first_line(header))
            self._file.flush()

    def add(self, result: Result) -> None:
        self._file.write(_line(result.to_json()))
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, default=str).encode() + b"\n"


def _first_line(header: Mapping[str, Any]) -> bytes:
    return _line({"format": FORMAT, **header})


def read_journal(path: Path, header: Mapping[str, Any]) -> tuple[list[Result], int]:
    """The results of an earlier run, and the length of the journal's sound part in bytes.

    Raises UsageError when the journal belongs to another run, or the file is no journal at all: it would be
    overwritten.
    """
    first, *lines = path.read_bytes().splitlines(keepends=True) or [b""]
    if not first.endswith(b"\n"):
        if not _first_line(header).startswith(first):
            raise UsageError(f"journal {path} is no journal; remove the file or name another")
        return [], 0
    _check_header(path, first, header)
    sound = len(first)
    results: list[Result] = []
    for line in lines:
        if not line.endswith(b"\n"):
            break
        try:
            results.append(read_result(parse(line)))
        except Malformed:
            break
        sound += len(line)
    return results, sound


def _check_header(path: Path, line: bytes, header: Mapping[str, Any]) -> None:
    try:
        found = parse(line)
    except Malformed:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f"journal {path} is no journal; remove the file or name another")
    for key, value in header.items():
        if found.get(key) != value:
            raise UsageError(
                f"journal {path} belongs to another run: {key} is {found.get(key)!r}, not {value!r}; "
                "remove the file or run without resume"
            )
