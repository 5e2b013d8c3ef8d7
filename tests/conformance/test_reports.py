"""Reports made without running anything: their schema, their written forms, comparison and merging."""

from __future__ import annotations

import copy
import datetime
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Status
from conformance.difference import compare_reports
from conformance.merging import merge
from conformance.reading import Malformed, parse, parse_report, read_report, schema
from conformance.report import write_html, write_json, write_junit
from conformance.report.badge import badge
from conformance.selection import Selection, Shard, UsageError
from conformance.waivers import Waiver

MakeReport = Callable[..., dict[str, Any]]

STATUSES = {
    "abi.open": "pass",
    "runtime.stream.order": "not_supported",
    "ops.add.float32.claim": "pass",
    "ops.add.float32.sizes": "pass",
    "ops.add.float16.claim": "not_supported",
    "ops.exp.float32.claim": "pass",
    "ops.exp.float32.values": "fail",
}
FUTURE = datetime.date(2999, 1, 1)


# --- the schema -------------------------------------------------------------------------------------


def test_what_is_written_is_what_the_schema_says(make_report: MakeReport, tmp_path: Path) -> None:
    report = make_report(STATUSES, waivers=[Waiver("ops.exp.*", "known", "example.com/1", FUTURE)])
    write_json(report, tmp_path / "r.json")
    fastjsonschema.compile(schema() | {"$id": ""})(json.loads((tmp_path / "r.json").read_text()))
    assert read_report(tmp_path / "r.json") == json.loads(json.dumps(report))


def test_the_schema_describes_every_field_of_a_report_and_of_a_result(make_report: MakeReport) -> None:
    described = schema()
    assert set(make_report(STATUSES)) <= set(described["properties"])
    fields = set(described["definitions"]["result"]["properties"])
    from conformance.case import Result

    assert fields == set(Result.__dataclass_fields__)
    assert set(described["definitions"]["status"]["enum"]) == {str(status) for status in Status}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r.pop("results"), "results"),
        (lambda r: r.update(schema_version=2), "version 2"),
        (lambda r: r["results"][0].update(status="great"), "status"),
        (lambda r: r["results"][0].update(level="ops"), "level"),
        (lambda r: r["results"].append(r["results"][0]), "2 results of abi.open"),
        (lambda r: r.update(exit_code=7), "exit_code"),
        (lambda r: r.update(started_at="2030-99-99T00:00:00+00:00"), "date"),
        (lambda r: r["target"].update(library_sha256="0"), "library_sha256"),
    ],
)
def test_a_malformed_report_is_refused_with_the_place(
    change: Callable[[dict[str, Any]], object], says: str, make_report: MakeReport, tmp_path: Path
) -> None:
    report = json.loads(json.dumps(make_report(STATUSES)))
    change(report)
    (tmp_path / "r.json").write_text(json.dumps(report))
    with pytest.raises(UsageError, match=says) as caught:
        read_report(tmp_path / "r.json")
    assert "r.json" in str(caught.value)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "[NaN]", "[1e999]", '["\\ud800"]', "[" * 9000, "", "{"])
def test_what_a_careless_reader_would_take_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_strict_reading_gives_back_what_was_written(value: Any) -> None:
    assert parse(json.dumps(value)) == value


@given(st.binary(max_size=300))
def test_bytes_that_are_no_report_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_report(data)


# --- written forms ----------------------------------------------------------------------------------


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str | None] = []
        self.titles: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href") or name.startswith("on")]
        self.titles += [value for name, value in attrs if name == "title"]


NASTY = '<script>alert("x")</script><img src=http://example.com/x>\u0007\u001b[31m</pre>'


def test_no_text_of_a_plugin_becomes_markup(make_report: MakeReport, tmp_path: Path) -> None:
    report = make_report(STATUSES)
    report["target"]["device"] = {NASTY: NASTY}
    report["target"]["target"] = NASTY
    report["problems"] = [NASTY]
    report["waivers"] = [
        {"cases": NASTY, "reason": NASTY, "issue": NASTY, "expires": "2030-01-01", "matches": 1}
    ]
    report["results"][-1] |= {
        "message": NASTY,
        "repro": NASTY,
        "output": NASTY,
        "artifact": NASTY,
        "facts": {NASTY: NASTY},
        "shrunk": {"description": NASTY, "message": NASTY, "inputs": [NASTY]},
    }
    write_html(report, tmp_path / "r.html")
    reader = _Reader()
    reader.feed((tmp_path / "r.html").read_text())
    assert not {"script", "img", "link", "iframe"} & set(reader.tags)
    assert reader.outside == []
    write_junit(report, tmp_path / "r.xml")
    failures = ElementTree.parse(tmp_path / "r.xml").getroot().iter("failure")
    assert all("<script>" in failure.attrib["message"] for failure in failures)


def test_the_matrix_counts_what_was_claimed_passed_failed_and_not_supported(
    make_report: MakeReport, tmp_path: Path
) -> None:
    write_html(make_report(STATUSES), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    reader = _Reader()
    reader.feed(text)
    assert "add float32: pass; 2 passed, 0 failed, 0 not supported" in reader.titles
    assert "exp float32: fail; 1 passed, 1 failed, 0 not supported" in reader.titles
    assert "Of 3 pairs of op and dtype the plugin claims 2: 1 pass, 1 fail;" in text


def test_the_page_shows_the_performance_of_a_run_that_has_it(make_report: MakeReport, tmp_path: Path) -> None:
    row = {
        "name": "add <b>",
        "latency": 1e-5,
        "latency_mad": 0,
        "seconds": 1e-6,
        "seconds_mad": 0,
        "ratio": {},
    }
    speed = {"device": "npu:0", "rows": [row], "failures": []}
    write_html(make_report(STATUSES, performance=speed), tmp_path / "r.html")
    reader = _Reader()
    reader.feed((tmp_path / "r.html").read_text())
    assert "svg" in reader.tags
    assert "b" not in reader.tags


def test_capabilities_tell_whether_claims_are_true(make_report: MakeReport) -> None:
    rows = {row["capability"]: row for row in make_report(STATUSES)["capabilities"]}
    assert rows["runtime: stream"] == {
        "capability": "runtime: stream",
        "passed": 0,
        "failed": 0,
        "not_claimed": 1,
    }
    assert (rows["the op and dtype"]["passed"], rows["the op and dtype"]["failed"]) == (3, 1)


@pytest.mark.parametrize(
    ("statuses", "known", "text"),
    [
        ({"abi.open": "pass", "abi.b": "pass"}, None, "2 passed"),
        ({"abi.open": "pass", "abi.b": "fail"}, None, "1 failing"),
        ({"abi.open": "pass"}, ["abi.open", "abi.b"], "1 passed, partial"),
        ({"abi.open": "not_supported"}, None, "failed"),
    ],
)
def test_a_badge_says_how_a_run_ended(
    statuses: dict[str, str], known: list[str] | None, text: str, make_report: MakeReport
) -> None:
    picture = badge(make_report(statuses, known=known))
    title = ElementTree.fromstring(picture).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == f"device_api conformance: {text}"


# --- comparison -------------------------------------------------------------------------------------


def _named(changes: list[Any]) -> list[str]:
    return [change.name for change in changes]


def test_a_report_compared_with_itself_has_not_changed(make_report: MakeReport) -> None:
    report = make_report(STATUSES)
    found = compare_reports(report, report)
    assert not found.worse
    assert not any((found.new_failures, found.fixed, found.changed, found.lost, found.gained))


def test_every_change_stands_where_it_belongs(make_report: MakeReport) -> None:
    before = make_report(
        {"ops.a.int8.x": "pass", "ops.b.int8.x": "fail", "ops.c.int8.x": "pass", "ops.d.int8.x": "pass",
         "ops.e.int8.x": "not_supported", "ops.f.int8.x": "fail", "ops.g.int8.x": "pass"}
    )  # fmt: skip
    now = make_report(
        {"ops.a.int8.x": "crash", "ops.b.int8.x": "pass", "ops.c.int8.x": "not_supported",
         "ops.e.int8.x": "pass", "ops.f.int8.x": "timeout", "ops.g.int8.x": "pass", "ops.h.int8.x": "fail"}
    )  # fmt: skip
    found = compare_reports(before, now)
    assert _named(found.new_failures) == ["ops.a.int8.x", "ops.h.int8.x"]
    assert _named(found.fixed) == ["ops.b.int8.x"]
    assert _named(found.lost) == ["ops.c.int8.x", "ops.d.int8.x"]
    assert _named(found.gained) == ["ops.e.int8.x"]
    assert [(change.before, change.now) for change in found.changed] == [("fail", "timeout")]
    assert found.worse
    assert found.as_json()["new_failures"][0]["now"] == "crash"


@pytest.mark.parametrize(("before", "now", "worse"), [(1.0, 1.1, False), (1.0, 3.0, True), (3.0, 1.0, False)])
def test_an_error_that_grew_is_worse(before: float, now: float, worse: bool, make_report: MakeReport) -> None:
    statuses = {"ops.exp.float32.values": "pass"}
    found = compare_reports(make_report(statuses, max_ulp=before), make_report(statuses, max_ulp=now))
    assert found.worse is worse
    assert bool(found.more_accurate) is (before > now)


def test_reports_that_are_hard_to_compare_say_so(make_report: MakeReport) -> None:
    before, now = make_report(STATUSES), make_report(STATUSES, selection=Selection(quick=True))
    now["selection"]["seed"] = 5
    notes = "\n".join(compare_reports(before, now).notes)
    assert "seeds differ: 0 and 5" in notes
    assert "quick" in notes


# --- merging ----------------------------------------------------------------------------------------


def _shards(make_report: MakeReport, count: int, **options: Any) -> list[dict[str, Any]]:
    return [
        make_report(STATUSES, selection=Selection(shard=Shard(index, count)), **options)
        for index in range(1, count + 1)
    ]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_merged_shards_are_the_whole_run(count: int, make_report: MakeReport) -> None:
    waivers = [Waiver("ops.exp.*", "known", "example.com/1", FUTURE)]
    whole, merged = (
        make_report(STATUSES, waivers=waivers),
        merge(_shards(make_report, count, waivers=waivers)),
    )
    for key in ("summary", "coverage", "accuracy", "capabilities", "launches", "exit_code", "problems"):
        assert merged[key] == whole[key]
    by_name = {result["name"]: result for result in whole["results"]}
    assert {result["name"]: result for result in merged["results"]} == by_name
    parse_report(json.dumps(merged).encode())


def test_a_shard_without_executed_cases_is_no_problem_of_the_whole(make_report: MakeReport) -> None:
    shards = _shards(make_report, 40)
    assert any("no case was executed" in shard["problems"] for shard in shards)
    assert merge(shards)["problems"] == []


def _without_last(shards: list[dict[str, Any]]) -> None:
    shards.pop()


def _twice(shards: list[dict[str, Any]]) -> None:
    shards[1] = copy.deepcopy(shards[0])


def _other_library(shards: list[dict[str, Any]]) -> None:
    shards[1]["target"]["library_sha256"] = "0" * 64


def _other_seed(shards: list[dict[str, Any]]) -> None:
    shards[1]["selection"]["seed"] = 9


def _other_suite(shards: list[dict[str, Any]]) -> None:
    shards[1]["suite_version"] = "x"


def _other_count(shards: list[dict[str, Any]]) -> None:
    shards[1]["selection"]["shard"] = "2/4"


def _whole_run(shards: list[dict[str, Any]]) -> None:
    shards[1]["selection"]["shard"] = None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_without_last, "shard 3 of 3 is missing"),
        (_twice, "shard 1 is there more than once"),
        (_other_library, "library differ"),
        (_other_seed, "seed differ"),
        (_other_suite, "suite version differ"),
        (_other_count, "3 and 4 shards"),
        (_whole_run, "whole run"),
        (lambda shards: shards.clear(), "no report"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_reports_that_do_not_belong_together_are_refused(
    change: Callable[[list[dict[str, Any]]], None], says: str, make_report: MakeReport
) -> None:
    shards = _shards(make_report, 3)
    change(shards)
    with pytest.raises(UsageError, match=says):
        merge(shards)


def test_a_result_missing_from_a_shard_fails_the_merged_run(make_report: MakeReport) -> None:
    shards = _shards(make_report, 2)
    next(shard for shard in shards if shard["results"])["results"].pop()
    merged = merge(shards)
    assert merged["exit_code"] == 1
    assert any("all selected cases" in problem for problem in merged["problems"])
