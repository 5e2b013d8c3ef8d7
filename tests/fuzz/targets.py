"""What is fuzzed: each reader of files that come from elsewhere, and all that is done with what it read.

A target takes the bytes of a file. It returns when they were read or refused with the documented error;
whatever else leaves it is a finding.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from conformance.case import Result, Status
from conformance.claim import read_bundle, verify, write_bundle
from conformance.difference import compare_reports
from conformance.merging import merge
from conformance.reading import Malformed, parse_report, results_of
from conformance.report import write_html, write_json, write_junit
from conformance.report.badge import badge
from conformance.report.model import judged
from conformance.runner.journal import Journal
from conformance.selection import UsageError
from conformance.waivers import Waiver, apply_waivers, read_waivers
from device_api.errors import ManifestError
from device_api.layers.trace import chrome, summary
from device_api.layers.trace_file import TraceError, payload_bytes, read
from device_api.loading.manifest import read_manifest

HEADER = {"target": "cpu", "seed": 0}
_folder = tempfile.TemporaryDirectory(prefix="device_api-fuzz-")


def _file(data: bytes, name: str) -> Path:
    path = Path(_folder.name) / name
    path.write_bytes(data)
    return path


def manifest(data: bytes) -> None:
    path = _file(data, "manifest.json")
    try:
        found = read_manifest(path)
    except ManifestError:
        return
    assert found.library.is_absolute()
    assert found.name.isascii()


def report(data: bytes) -> None:
    try:
        found = parse_report(data)
    except Malformed:
        return
    results = results_of(found)
    waivers = [Waiver.from_json(each) for each in found["waivers"]]
    today = datetime.date(2030, 1, 1)
    found |= judged(results, found["run_problems"], waivers, found["cases"]["known"], today)
    compare_reports(found, found).as_json()
    badge(found)
    with contextlib.suppress(UsageError):
        merge([found])
    folder = Path(_folder.name)
    for write, name in ((write_json, "r.json"), (write_html, "r.html"), (write_junit, "r.xml")):
        write(found, folder / name)
    parse_report((folder / "r.json").read_bytes())


def claim(data: bytes) -> None:
    """Of an archive, and of a report that its author has put into one as it should be."""
    path = _file(data, "claim.zip")
    with contextlib.suppress(UsageError):
        verify(read_bundle(path))
    try:
        found = parse_report(data)
    except Malformed:
        return
    library = _file(b"library", "lib.so")
    found["target"]["library_sha256"] = hashlib.sha256(b"library").hexdigest()
    try:
        write_bundle(found, path, library=library)
    except UsageError:
        return
    assert not read_bundle(path).damage
    verify(read_bundle(path))


def journal(data: bytes) -> None:
    path = _file(data, "journal.jsonl")
    try:
        opened = Journal(path, HEADER, resume=True)
    except UsageError:
        return
    kept = list(opened.results)
    opened.close()
    again = Journal(path, HEADER, resume=True)
    again.close()
    assert again.results == kept


def waivers(data: bytes) -> None:
    path = _file(data, "waivers.toml")
    try:
        found = read_waivers(path)
    except UsageError:
        return
    results = [Result(name, "ops", Status.FAIL, "x") for name in ("ops.a", "ops.b.float32", "a")]
    counted = [each.counted(result.name for result in results) for each in found]
    assert [Waiver.from_json(json.loads(json.dumps(each.to_json()))) for each in counted] == counted
    for text in apply_waivers(results, counted, datetime.date(2030, 1, 1)):
        assert "waive" in text


def trace(data: bytes) -> None:
    path = _file(data, "trace.jsonl")
    try:
        found = read(path)
    except TraceError:
        return
    json.dumps(chrome(found))
    summary(found)
    for record in found.records:
        for value in (*record.inputs.values(), *record.outputs.values(), *found.later.values()):
            try:
                payload_bytes(value)
            except ValueError:
                continue


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (manifest, report, claim, journal, waivers, trace)
}
