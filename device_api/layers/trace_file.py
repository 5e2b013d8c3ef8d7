"""Reads the JSON lines that the trace layer writes.

A trace may have been cut off by the end of its process, so an unfinished last line is dropped and said. All
else that is not as the layer writes it is a TraceError that names the line; no other exception leaves this
module. What the calls mean is for `replay` and `trace`.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from device_api.errors import DeviceApiError

FORMAT = "device_api trace"
VERSION = 1
MOST_BYTES = 1 << 40


class TraceError(DeviceApiError):
    """A file is no trace, or a line of it, number `line`, cannot be understood."""

    line: int | None = None


@dataclass(frozen=True)
class Record:
    """One call: number in the order of begin, line in the file, slot, arguments, results or error, times in
    nanoseconds since the trace began.
    """

    number: int
    line: int
    slot: str
    thread: int
    start_ns: int
    duration_ns: int
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    error: dict[str, Any] | None
    result: Any = None


@dataclass(frozen=True)
class Trace:
    """A whole trace. `head` tells of the plugin; `cut_off` is true when the last line was unfinished."""

    path: Path
    head: dict[str, Any]
    records: tuple[Record, ...]
    cut_off: bool = False
    later: dict[int, dict[str, Any]] = field(default_factory=dict)  # copy -> payload that came later


def read(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file, calls in the order in which they began. Raises TraceError."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise TraceError("cannot read trace", subject=file, why=str(error)) from None
    lines = data.split(b"\n")
    cut_off = lines.pop() != b""
    if not lines:
        raise _fault(file, 1, "it is empty")
    head = _object(file, 1, lines[0])
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise _fault(file, 1, f"it does not begin as a trace of version {VERSION} does")
    records, later = [], {}
    for number, text in enumerate(lines[1:], start=2):
        row = _object(file, number, text)
        if "later" in row and "slot" not in row:
            payload = row.get("payload", {})
            if not isinstance(payload, dict):
                raise _fault(file, number, "the payload is no object")
            later[_number(file, number, row, "later")] = payload
        else:
            records.append(_record(file, number, row))
    records.sort(key=lambda record: record.number)
    return Trace(file, head, tuple(records), cut_off, later)


def _record(file: Path, line: int, row: dict[str, Any]) -> Record:
    slot = row.get("slot")
    if not isinstance(slot, str):
        raise _fault(file, line, "it names no slot")
    error = row.get("error")
    inputs, outputs = row.get("in", {}), row.get("out", {})
    if not (isinstance(inputs, dict) and isinstance(outputs, dict) and isinstance(error, dict | None)):
        raise _fault(file, line, "in, out and error are objects")
    return Record(
        _number(file, line, row, "n"),
        line,
        slot,
        _number(file, line, row, "thread"),
        _number(file, line, row, "t"),
        _number(file, line, row, "d"),
        inputs,
        outputs,
        error,
        outputs.get("result"),
    )


def _object(file: Path, line: int, text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _fault(file, line, "it is no JSON") from None
    if not isinstance(value, dict):
        raise _fault(file, line, "it is no JSON object")
    return value


def _number(file: Path, line: int, row: dict[str, Any], key: str) -> int:
    value = row.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**64:
        raise _fault(file, line, f"{key} is no number")
    return value


def payload_bytes(payload: object) -> bytes | None:
    """The bytes of a payload; None when it holds only a hash or a size. Raises ValueError."""
    if not isinstance(payload, dict):
        raise ValueError("a payload is an object")
    size, data = payload.get("size"), payload.get("data")
    if not isinstance(size, int) or not 0 <= size < MOST_BYTES:
        raise ValueError("a payload has a size")
    if data is None:
        return None
    if not isinstance(data, str):
        raise ValueError("the data of a payload are base64")
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if len(raw) != size:
        raise ValueError(f"the payload has {len(raw)} bytes and says {size}")
    return raw


def hash_of(data: bytes) -> str:
    """The hash that the layer writes: FNV-1a of 64 bits, as hexadecimal text."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def _fault(file: Path, line: int, why: str) -> TraceError:
    return TraceError(
        "cannot read trace",
        subject=f"{file}:{line}",
        why=why,
        remedy="Give a file that the trace layer wrote.",
        line=line,
    )
