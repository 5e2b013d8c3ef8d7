"""`device-api conformance TARGET`: proves a plugin and writes the report. The suite itself is the package
conformance; what is done with reports later has commands of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from device_api.cli import conformance_reports
from device_api.cli.conformance_reports import BadgePath, HtmlPath, JsonPath, JunitPath
from device_api.cli.output import print_json


class _RunUnlessNamed(TyperGroup):
    """`conformance npu:0` is `conformance run npu:0`: whatever does not begin with a command's name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunUnlessNamed,
    no_args_is_help=True,
    help="Prove that a plugin is right. `conformance TARGET` is `conformance run TARGET`; "
    "`conformance run --help` lists its options.",
)
app.command("compare")(conformance_reports.compare)
app.command("merge")(conformance_reports.merge)
app.command("bundle")(conformance_reports.bundle)
app.command("verify")(conformance_reports.verify)


@app.command()
def run(
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
    json_path: JsonPath = Path("report.json"),
    html_path: HtmlPath = Path("report.html"),
    junit_path: JunitPath = None,
    badge_path: BadgePath = None,
    bundle_path: Annotated[
        Path | None, typer.Option("--bundle", help="Where an archive goes that others can verify.")
    ] = None,
    performance: Annotated[
        bool, typer.Option("--performance", help="Measure the device too, as `device-api bench` does.")
    ] = False,
    imports: Annotated[
        list[str] | None,
        typer.Option("--import", help="Import a module first, for its custom ops and their cases."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON report instead of a summary.")
    ] = False,
) -> None:
    """Prove that a plugin is right; writes report.html and report.json."""
    from conformance import run as prove
    from conformance.report.terminal import print_outcome

    outcome = prove(
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
        badge_path=badge_path,
        bundle_path=bundle_path,
        performance=performance,
        imports=imports or (),
        waivers=waivers,
        artifacts=artifacts,
    )
    if as_json:
        print_json(outcome.report or {"error": {"type": "ConformanceError", "message": outcome.message}})
    else:
        print_outcome(outcome)
        if outcome.report:
            paths = (html_path, json_path, junit_path, badge_path, bundle_path)
            written = [path for path in paths if path is not None]
            print("reports: " + ", ".join(str(path) for path in written))
    raise typer.Exit(outcome.exit_code)
