"""A claim holds only when it is whole, agrees with itself, and is about the library at hand."""

from __future__ import annotations

import copy
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import run
from conformance.cases import registered_entries
from conformance.claim import Finding, read_bundle, verify, write_bundle
from conformance.claim.verify import _compulsory
from conformance.selection import Selection, Shard, UsageError
from conformance.waivers import Waiver

MakeReport = Callable[..., dict[str, Any]]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "libnpu.so"
    path.write_bytes(b"library")
    return path


@pytest.fixture
def whole(make_report: MakeReport) -> dict[str, Any]:
    """The report of a run of every case that the suite has for any plugin."""
    statuses = {entry.name: "pass" for entry in registered_entries()}
    statuses |= {f"{prefix}.claim": "pass" for prefix in _compulsory()}
    return make_report(statuses)


def bad(findings: list[Finding]) -> dict[str, str]:
    return {finding.check: finding.text for finding in findings if not finding.good}


def check(report: dict[str, Any], library: Path, at_hand: Path | None = None) -> dict[str, str]:
    path = library.parent / "claim.zip"
    write_bundle(report, path, library=library)
    return bad(verify(read_bundle(path), library=at_hand))


def test_a_whole_good_run_is_a_claim_that_holds(whole: dict[str, Any], library: Path) -> None:
    assert check(whole, library) == {}


def test_equal_claims_are_equal_files(whole: dict[str, Any], library: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_bundle(whole, tmp_path / name, library=library)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# --- a report that does not carry a claim -------------------------------------------------------------


def _edit_status(report: dict[str, Any]) -> None:
    """As somebody would who wants a pass: the status of a failure is overwritten."""
    report["results"][0] |= {"status": "fail", "message": "wrong", "repro": "device-api ..."}
    report["results"][0]["status"] = "pass"


def _fail(report: dict[str, Any]) -> None:
    report["results"][0]["status"] = "fail"


def _omit(report: dict[str, Any]) -> None:
    report["results"].pop()


def _invent(report: dict[str, Any]) -> None:
    report["results"].append({**report["results"][0], "name": "abi.invented", "level": "abi"})


def _unlaunched(report: dict[str, Any]) -> None:
    result = next(result for result in report["results"] if result["name"] == "ops.exp.float32.claim")
    del result["measure"]["launches"]


def _filter(report: dict[str, Any]) -> None:
    report["selection"]["exclude"] = ["ops.sin.*"]


def _quick(report: dict[str, Any]) -> None:
    report["selection"]["quick"] = True


def _level(report: dict[str, Any]) -> None:
    report["selection"]["levels"] = ["abi"]


def _fallback(report: dict[str, Any]) -> None:
    report["environment"]["fallback"] = "allow"


def _layer(report: dict[str, Any]) -> None:
    report["environment"]["variables"] = {"DEVICE_API_LAYERS": "validate(errors=1),fault(spec=a)"}


def _suite(report: dict[str, Any]) -> None:
    report["suite_version"] = report["target"]["suite_version"] = "0.0.1+0123456789ab"


def _seed(report: dict[str, Any]) -> None:
    report["results"][3]["seed"] = 12


def _accuracy(report: dict[str, Any]) -> None:
    report["accuracy"][0]["max_ulp"] = 0.0


def _error(report: dict[str, Any]) -> None:
    result = next(result for result in report["results"] if result["name"] == "ops.exp.float32.claim")
    result["measure"]["max_ulp"] = 900.0


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_edit_status, "results"),
        (_fail, "verdict"),
        (_omit, "cases"),
        (_invent, "cases"),
        (_unlaunched, "results"),
        (_filter, "selection"),
        (_quick, "selection"),
        (_level, "selection"),
        (_fallback, "environment"),
        (_layer, "environment"),
        (_suite, "suite"),
        (_seed, "results"),
        (_accuracy, "verdict"),
        (_error, "results"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_report_that_was_edited_or_is_not_whole_is_found(
    change: Callable[[dict[str, Any]], None], where: str, whole: dict[str, Any], library: Path
) -> None:
    change(whole)
    assert where in check(whole, library)


def test_a_case_left_out_consistently_is_missed_in_the_suites_own_list(
    make_report: MakeReport, library: Path
) -> None:
    names = [entry.name for entry in registered_entries()]
    report = make_report(dict.fromkeys(names[1:], "pass"))
    assert names[0] in check(report, library)["cases"]


def test_a_run_that_failed_is_no_claim(make_report: MakeReport, library: Path) -> None:
    assert "the run failed" in check(make_report({"abi.open": "fail"}), library)["verdict"]


def test_a_waiver_that_has_expired_since_is_told(
    whole: dict[str, Any], library: Path, make_report: MakeReport
) -> None:
    import datetime

    statuses = {result["name"]: result["status"] for result in whole["results"]}
    statuses["ops.exp.float32.claim"] = "fail"
    waiver = Waiver("ops.exp.float32.*", "known", "example.com/1", datetime.datetime.now(datetime.UTC).date())
    report = make_report(statuses, waivers=[waiver])
    assert check(report, library) == {}
    # The day before yesterday both run and waiver were good.
    text = json.dumps(report)
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    then = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=2)).date().isoformat()
    assert "expired since" in check(json.loads(text.replace(day, then)), library)["waivers"]


# --- an archive that was changed -----------------------------------------------------------------------


def _rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m.update({"cases.txt": m["cases.txt"] + b"abi.x\n"}), "cases.txt was changed"),
        (lambda m: m.update({"report.json": m["report.json"] + b" "}), "report.json was changed"),
        (lambda m: m.update({"waivers.toml": b""}), "waivers.toml was added"),
        (lambda m: m.pop("manifest.json"), "manifest.json is missing"),
    ],
)
def test_a_member_changed_added_or_removed_is_seen(
    change: Callable[[dict[str, bytes]], None],
    says: str,
    make_report: MakeReport,
    library: Path,
    tmp_path: Path,
) -> None:
    path = tmp_path / "claim.zip"
    manifest = tmp_path / "npu.json"
    manifest.write_text("{}")
    write_bundle(make_report({"abi.open": "pass"}), path, library=library, manifest=manifest)
    assert "integrity" not in bad(verify(read_bundle(path)))
    assert says in bad(verify(read_bundle(_rewritten(path, change))))["integrity"]


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update({"../../outside": b""}),
        lambda m: m.pop("report.json"),
        lambda m: m.pop("contents.json"),
        lambda m: m.update({"report.json": b"{}"}),
        lambda m: m.update({"contents.json": b'{"format": "device_api.conformance.claim", "version": 1}'}),
        lambda m: m.update({"cases.txt": b"\xff"}),
    ],
)
def test_an_archive_that_is_no_claim_is_refused_by_name(
    change: Callable[[dict[str, bytes]], None], make_report: MakeReport, library: Path, tmp_path: Path
) -> None:
    path = tmp_path / "claim.zip"
    write_bundle(make_report({"abi.open": "pass"}), path, library=library)
    with pytest.raises(UsageError, match=r"claim\.zip"):
        read_bundle(_rewritten(path, change))


@pytest.fixture
def archive(make_report: MakeReport, library: Path) -> bytes:
    path = library.parent / "sound.zip"
    write_bundle(make_report({"abi.open": "pass"}), path, library=library)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_a_byte_changed_anywhere_is_refused_or_seen(
    data: st.DataObject, archive: bytes, tmp_path: Path
) -> None:
    path, sound = tmp_path / "claim.zip", tmp_path / "sound.zip"
    good = read_bundle(sound)
    changed = bytearray(archive)
    changed[data.draw(st.integers(0, len(archive) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    try:
        found = read_bundle(path)
    except UsageError:
        return
    # Bytes that carry no content (times, attributes) may differ; what is read may not.
    assert found.damage or (found.report, found.cases) == (good.report, good.cases)


# --- the library ------------------------------------------------------------------------------------


def test_a_report_of_another_library_or_of_a_shard_is_not_bundled(
    make_report: MakeReport, library: Path, tmp_path: Path
) -> None:
    report = make_report({"abi.open": "pass"}, selection=Selection(shard=Shard(1, 2)))
    with pytest.raises(UsageError, match="merge the shards"):
        write_bundle(report, tmp_path / "c.zip", library=library)
    library.write_bytes(b"another")
    with pytest.raises(UsageError, match="not the library"):
        write_bundle(make_report({"abi.open": "pass"}), tmp_path / "c.zip", library=library)


def test_a_claim_about_another_library_is_found(
    make_report: MakeReport, library: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.so"
    other.write_bytes(b"other")
    digest = hashlib.sha256(b"other").hexdigest()
    assert digest in check(make_report({"abi.open": "pass"}), library, other)["library"]


def test_a_library_that_behaves_otherwise_than_claimed_is_found_by_running_cases_again(
    faulty: Callable[..., Path], tmp_path: Path
) -> None:
    path, library = tmp_path / "claim.zip", faulty("exp_of_six_digits")
    cases = ["ops.exp.float32.values", "abi.descriptor.texts"]
    outcome = run(str(library), include=cases, jobs=1, progress=False, artifacts=tmp_path, bundle_path=path)
    assert outcome.exit_code == 1
    found = bad(verify(read_bundle(path), library=library, rerun=9))
    assert "spot check" not in found
    assert "other cases" in found["library"]
    edited = copy.deepcopy(outcome.report)
    for result in edited["results"]:
        result["status"] = "pass"
    write_bundle(json.loads(json.dumps(edited)), path, library=library)
    found = bad(verify(read_bundle(path), library=library, rerun=9))
    assert found["spot check"] == "ops.exp.float32.values is fail here, claimed was pass"
