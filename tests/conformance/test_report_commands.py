"""The commands on reports: what they print, and how they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.claim import write_bundle
from conformance.report import write_json
from conformance.selection import Selection, Shard
from device_api.cli.app import app

MakeReport = Callable[..., dict[str, Any]]
GOOD = {"abi.open": "pass", "ops.add.int8.claim": "pass"}


def device_api(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["conformance", *map(str, arguments)])


def written(report: dict[str, Any], path: Path) -> Path:
    write_json(report, path)
    return path


def test_compare_ends_with_1_when_something_got_worse(make_report: MakeReport, tmp_path: Path) -> None:
    good = written(make_report(GOOD), tmp_path / "good.json")
    bad = written(make_report({**GOOD, "ops.add.int8.claim": "crash"}), tmp_path / "bad.json")
    assert device_api("compare", good, good).exit_code == 0
    done = device_api("compare", good, bad)
    assert done.exit_code == 1
    assert "new failures: 1" in done.stdout
    assert device_api("compare", bad, good).exit_code == 0
    done = device_api("compare", good, bad, "--json")
    assert json.loads(done.stdout)["new_failures"][0]["name"] == "ops.add.int8.claim"


def test_merge_writes_the_whole_and_ends_as_it_would_have(make_report: MakeReport, tmp_path: Path) -> None:
    parts = [
        written(make_report(GOOD, selection=Selection(shard=Shard(index, 2))), tmp_path / f"{index}.json")
        for index in (1, 2)
    ]
    whole = tmp_path / "whole.json"
    forms = ["--json-path", whole, "--html-path", tmp_path / "whole.html", "--badge-path", tmp_path / "b.svg"]
    assert device_api("merge", *parts, *forms).exit_code == 0
    assert json.loads(whole.read_text())["summary"]["pass"] == 2
    assert "2 passed" in (tmp_path / "b.svg").read_text()
    done = device_api("merge", parts[0], *forms)
    assert done.exit_code == 2
    assert "shard 2 of 2 is missing" in done.stderr


def test_bundle_and_verify_say_what_holds_and_what_cannot_be_proved(
    make_report: MakeReport, tmp_path: Path
) -> None:
    library, claim = tmp_path / "libnpu.so", tmp_path / "claim.zip"
    library.write_bytes(b"library")
    report = written(make_report(GOOD), tmp_path / "r.json")
    assert device_api("bundle", report, "--library", library, "-o", claim).exit_code == 0
    done = device_api("verify", claim, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert {finding["check"] for finding in found["findings"] if not finding["good"]} == {"cases"}
    assert found["cannot_prove"]
    assert "the claim does not hold" in device_api("verify", claim).stdout
    library.write_bytes(b"another")
    assert device_api("bundle", report, "--library", library, "-o", claim).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "/nowhere/a.json", "/nowhere/b.json"),
        ("merge", "/nowhere/a.json"),
        ("verify", "/nowhere/claim.zip"),
        ("verify", "/nowhere/claim.zip", "--rerun", "3"),
        ("bundle", "/nowhere/a.json", "--library", "/nowhere/x.so", "-o", "/nowhere/c.zip"),
        (),
        ("--shard", "3/2", "cpu"),
    ],
)
def test_what_cannot_be_used_ends_with_2_and_no_traceback(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = device_api(*arguments)
    assert done.exit_code == 2
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_claim_of_a_member_that_is_huge_is_refused(make_report: MakeReport, tmp_path: Path) -> None:
    import zipfile

    from conformance.claim import bundle

    library, claim = tmp_path / "libnpu.so", tmp_path / "claim.zip"
    library.write_bytes(b"library")
    write_bundle(make_report(GOOD), claim, library=library)
    with zipfile.ZipFile(claim, "a", zipfile.ZIP_DEFLATED) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundle, "MOST_BYTES", 1000)
        archive.writestr("waivers.toml", b"#" * 2000)
        archive.close()
        assert device_api("verify", claim).exit_code == 2
