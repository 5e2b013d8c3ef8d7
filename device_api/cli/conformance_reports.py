"""`device-api conformance compare, merge, bundle, verify`: what is done with reports after a run.

None of them opens a plugin, but `verify` with `--library`. Exit codes: 0 good, 1 worse or not proved, 2 a
file cannot be used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from device_api.cli.output import print_json, print_table

if TYPE_CHECKING:
    from conformance.difference import Difference

JsonPath = Annotated[Path, typer.Option("--json-path", help="Where the JSON report goes.")]
HtmlPath = Annotated[Path, typer.Option("--html-path", help="Where the HTML report goes.")]
JunitPath = Annotated[Path | None, typer.Option("--junit-path", help="Where a JUnit report goes.")]
BadgePath = Annotated[Path | None, typer.Option("--badge-path", help="Where a badge (SVG) goes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Report = Annotated[Path, typer.Argument(help="A report in JSON.")]


@contextmanager
def _usage_errors(as_json: bool) -> Iterator[None]:
    """A file that cannot be used ends the command with 2 and a line that names it."""
    from conformance.selection import UsageError

    try:
        yield
    except UsageError as error:
        if as_json:
            print_json({"error": {"type": "UsageError", "message": str(error)}})
        print(error, file=sys.stderr)
        raise typer.Exit(2) from error


def compare(
    before: Report,
    now: Report,
    accuracy_factor: Annotated[
        float, typer.Option(help="An error counts as worse from this many times the old one on.")
    ] = 1.25,
    as_json: AsJson = False,
) -> None:
    """What changed from one report to another; ends with 1 when something got worse."""
    from conformance.difference import compare_reports
    from conformance.reading import read_report

    with _usage_errors(as_json):
        found = compare_reports(read_report(before), read_report(now), accuracy_factor)
    if as_json:
        print_json(found.as_json())
    else:
        _print_difference(found)
    raise typer.Exit(int(found.worse))


def _print_difference(found: Difference) -> None:
    for note in found.notes:
        print(f"note: {note}")
    for title, changes in (
        ("new failures", found.new_failures),
        ("no longer covered", found.lost),
        ("less accurate", found.less_accurate),
        ("fixed", found.fixed),
        ("newly covered", found.gained),
        ("more accurate", found.more_accurate),
        ("changed otherwise", found.changed),
    ):
        if changes:
            rows = [(each.name, each.before, each.now, each.message) for each in changes]
            print_table(f"{title}: {len(changes)}", ("what", "was", "is", "why"), rows)
    print("worse" if found.worse else "not worse")


def merge(
    reports: Annotated[list[Path], typer.Argument(help="The reports of all shards of a run.")],
    json_path: JsonPath = Path("report.json"),
    html_path: HtmlPath = Path("report.html"),
    junit_path: JunitPath = None,
    badge_path: BadgePath = None,
    as_json: AsJson = False,
) -> None:
    """One report out of those of all shards; ends as the whole run would have ended."""
    from conformance.execution import write_reports
    from conformance.merging import merge as merge_reports
    from conformance.reading import read_report

    with _usage_errors(as_json):
        merged = merge_reports([read_report(path) for path in reports])
    write_reports(merged, json_path, html_path, junit_path, badge_path)
    if as_json:
        print_json(merged)
    else:
        summary = merged["summary"]
        for problem in merged["problems"]:
            print(f"problem of the run: {problem}")
        print(
            f"{'failed' if merged['exit_code'] else 'good'}: {summary['executed']} executed, "
            f"{summary['pass']} passed, {summary['not_supported']} not supported"
        )
    raise typer.Exit(merged["exit_code"])


def bundle(
    report: Report,
    library: Annotated[Path, typer.Option(help="The library that the report is about.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the archive goes.")],
    waivers: Annotated[Path | None, typer.Option(help="The waiver file of the run.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="The manifest of the plugin.")] = None,
) -> None:
    """Put a report into an archive that others can verify."""
    from conformance.claim import write_bundle
    from conformance.reading import read_report
    from conformance.selection import UsageError

    with _usage_errors(as_json=False):
        try:
            write_bundle(read_report(report), output, library=library, waivers=waivers, manifest=manifest)
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror}") from error
    print(f"written: {output}")


def verify(
    claim: Annotated[Path, typer.Argument(help="An archive that `bundle` or a run with --bundle wrote.")],
    library: Annotated[
        Path | None, typer.Option(help="The library that the claim should be about; it is opened.")
    ] = None,
    rerun: Annotated[
        int, typer.Option(help="With --library: run this many cases again, chosen at random.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Check a claim of conformance, off line; ends with 1 when it does not hold."""
    from conformance.claim import CANNOT_PROVE, read_bundle
    from conformance.claim import verify as verify_claim

    if rerun and library is None:
        raise typer.BadParameter("--rerun needs --library")
    with _usage_errors(as_json):
        opened = read_bundle(claim)
    findings = verify_claim(opened, library=library, rerun=rerun)
    good = all(finding.good for finding in findings)
    if as_json:
        print_json(
            {
                "good": good,
                "library": opened.contents["library"],
                "findings": [{"check": f.check, "good": f.good, "text": f.text} for f in findings],
                "cannot_prove": list(CANNOT_PROVE),
            }
        )
    else:
        rows = [(f.check, "good" if f.good else "BAD", "" if f.good else f.text) for f in findings]
        print_table(f"Claim about {opened.contents['library']['name']}", ("check", "verdict", "why"), rows)
        print(f"library: SHA-256 {opened.contents['library']['sha256']}")
        for text in CANNOT_PROVE:
            print(f"not proved: {text}")
        print("the claim holds" if good else "the claim does not hold")
    raise typer.Exit(int(not good))
