"""Reading what the suite wrote: JSON taken strictly, and checked against the schema of the report.

Reports, journals and bundles come back from other machines and other people, so nothing in them is believed:
a key given twice, a number that JSON does not have, a value of another type is a UsageError that names the
file and the place, and nothing else leaves this module. The schema is one file, used here and published.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conformance.case import Result
from conformance.selection import UsageError
from conformance.waivers import Waiver

SCHEMA = "device_api.conformance.report"
SCHEMA_VERSION = 1
SCHEMA_PATH = Path(__file__).with_name("report.schema.json")


class Malformed(ValueError):
    """A text is not the document it should be; the message says where."""


def parse(text: str | bytes) -> Any:
    """A JSON value. Raises Malformed for all that a careless reader would let pass: duplicate keys, NaN and
    infinity, lone surrogates, nesting without end."""
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("it is nested too deep") from None
    except UnicodeEncodeError:
        raise Malformed("a text in it is no Unicode text") from None
    except ValueError as error:
        raise Malformed(f"it is not JSON: {error}") from None
    return value


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) != len(items):
        keys = [key for key, _ in items]
        raise Malformed(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return found


def _no_constant(text: str) -> Any:
    raise Malformed(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Malformed(f"{text} is larger than any number")
    return number


def schema() -> dict[str, Any]:
    """The JSON Schema of the report (draft 7)."""
    document: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return document


@cache
def _validator(definition: str) -> Callable[[Any], Any]:
    import fastjsonschema

    # A copy of its own, because compiling changes it; without the id, which references would build upon.
    part = schema()
    del part["$id"]
    if definition:
        part = {"$ref": f"#/definitions/{definition}", "definitions": part["definitions"]}
    check: Callable[[Any], Any] = fastjsonschema.compile(part, use_default=False)
    return check


def check(value: Any, definition: str = "") -> None:
    """Raises Malformed unless the value is a report, or the named part of one."""
    import fastjsonschema

    try:
        _validator(definition)(value)
    except fastjsonschema.JsonSchemaValueException as error:
        raise Malformed(error.message.replace("data.", "", 1)[:500]) from None


def read_result(record: Any) -> Result:
    """One result out of a journal or report. Raises Malformed."""
    check(record, "result")
    result = Result.from_json(record)
    if result.level != result.name.partition(".")[0]:
        raise Malformed(f"{result.name} stands under the level {result.level!r}")
    return result


def results_of(report: Mapping[str, Any]) -> list[Result]:
    """The results of a report that `check` has passed."""
    return [Result.from_json(record) for record in report["results"]]


def read_report(path: str | Path) -> dict[str, Any]:
    """The report in a file. Raises UsageError that names the file and what is wrong with it."""
    try:
        return parse_report(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"report {path}: {error.strerror or error}") from error
    except Malformed as error:
        raise UsageError(f"report {path}: {error}") from error


def parse_report(data: bytes) -> dict[str, Any]:
    """The report in a file's bytes. Raises Malformed."""
    report = parse(data)
    version = report.get("schema_version") if isinstance(report, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise Malformed(f"it has version {version} of the schema, this suite reads {SCHEMA_VERSION}")
    check(report)
    counts = Counter(result.name for result in map(read_result, report["results"]))
    name, times = next(iter(counts.most_common(1)), ("", 0))
    if times > 1:
        raise Malformed(f"it has {times} results of {name}")
    try:
        datetime.datetime.fromisoformat(report["started_at"])
        for waiver in report["waivers"]:
            Waiver.from_json(waiver)
    except ValueError as error:
        raise Malformed(f"a date in it is none: {error}") from None
    found: dict[str, Any] = report
    return found
