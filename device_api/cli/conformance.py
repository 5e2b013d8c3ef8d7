"""`device-api conformance`: proves a plugin and writes the report. The suite itself is the package
conformance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from device_api.cli.output import print_json


def command(
    target: Annotated[
        str, typer.Argument(help="Device string such as npu:0, or path of a library or manifest.")
    ],
    levels: Annotated[
        list[str] | None,
        typer.Option("--level", help="Only this level (abi, runtime, ops); may be repeated."),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Only cases whose name matches this glob; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="No case whose name matches this glob; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all inputs.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Worker processes; as many as there are CPUs by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short run, of a minute at most.")] = False,
    deadline: Annotated[float | None, typer.Option(help="Seconds for each case.")] = None,
    journal: Annotated[Path | None, typer.Option(help="File that keeps each result as it comes.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the journal.")] = False,
    shard: Annotated[str | None, typer.Option(help="INDEX/COUNT: only this part of the cases.")] = None,
    waivers: Annotated[Path | None, typer.Option(help="TOML file of known failures.")] = None,
    artifacts: Annotated[Path | None, typer.Option(help="Folder for the inputs of failures.")] = None,
    json_path: Annotated[Path, typer.Option("--json-path", help="Where the JSON report goes.")] = Path(
        "report.json"
    ),
    html_path: Annotated[Path, typer.Option("--html-path", help="Where the HTML report goes.")] = Path(
        "report.html"
    ),
    junit_path: Annotated[
        Path | None, typer.Option("--junit-path", help="Where a JUnit report goes.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON report instead of a summary.")
    ] = False,
) -> None:
    """Prove that a plugin is right; writes report.html and report.json."""
    from conformance import run
    from conformance.report.terminal import print_outcome

    outcome = run(
        target,
        levels=levels or None,
        include=include or (),
        exclude=exclude or (),
        seed=seed,
        jobs=jobs,
        quick=quick,
        deadline=deadline,
        journal=journal,
        resume=resume,
        shard=shard,
        json_path=json_path,
        html_path=html_path,
        junit_path=junit_path,
        waivers=waivers,
        progress=False if as_json else None,
        artifacts=artifacts,
    )
    if as_json:
        print_json(outcome.report or {"error": {"type": "ConformanceError", "message": outcome.message}})
    else:
        print_outcome(outcome)
        if outcome.report:
            written = [path for path in (html_path, json_path, junit_path) if path is not None]
            print("reports: " + ", ".join(str(path) for path in written))
    raise typer.Exit(outcome.exit_code)
