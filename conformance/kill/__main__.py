"""`python -m conformance.kill`: runs every part, prints the verdict, ends with 0 when all is caught, 1 when
something survives, 2 for wrong usage, 3 when there is nothing to run on."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from conformance.kill import faults, table
from conformance.kill.report import Part, Progress, bar_on, build_report
from conformance.kill.table import TableError
from conformance.verdict import EXIT_FAILED, EXIT_GOOD, EXIT_UNAVAILABLE, EXIT_USAGE

# Each part is called with (quick, jobs, progress).
Run = Callable[[bool, int, Progress], Part]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance.kill", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer cases of each fault, a sample of the mutants"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    parser.add_argument("--only", choices=("faults", "mutants"), action="append", help="run these parts only")
    parser.add_argument("--fault", metavar="GLOB", help="run the named faults that match, and nothing else")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1), help="processes at a time")
    parser.add_argument("--folder", type=Path, default=faults.FOLDER, help="where the faulty libraries are")
    parser.add_argument(
        "--pages", type=Path, metavar="FOLDER", help="write the kill table and the mutants as Markdown there"
    )
    return parser


def _mutants(quick: bool, jobs: int, progress: Progress) -> Part:
    # Needs a parser of C++ and a compiler, which runs of the named faults do without.
    from conformance.kill import mutants

    try:
        return mutants.run(quick, jobs, progress)
    except mutants.ListFault as error:
        raise TableError(str(error)) from error


def _write_pages(folder: Path, report: Mapping[str, Any]) -> None:
    """A page for each part that ran."""
    folder.mkdir(parents=True, exist_ok=True)
    if "faults" in report:
        (folder / "kill-table.md").write_text(table.markdown(report["faults"]), encoding="utf-8")
    if "mutants" in report:
        from conformance.kill.mutants import page

        (folder / "mutants.md").write_text(page.markdown(report["mutants"]), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.jobs < 1:
        print(f"--jobs must be at least 1, not {options.jobs}", file=sys.stderr)
        return EXIT_USAGE
    console = Console(stderr=True, soft_wrap=True)
    runs: dict[str, Run] = {
        "faults": lambda quick, jobs, progress: faults.run(
            quick, jobs, progress, folder=options.folder, glob=options.fault or "*"
        ),
        "mutants": _mutants,
    }
    chosen = ["faults"] if options.fault else options.only or list(runs)
    began = time.monotonic()
    try:
        parts = {name: runs[name](options.quick, options.jobs, bar_on(console)) for name in chosen}
    except (TableError, FileNotFoundError, ModuleNotFoundError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, ModuleNotFoundError):
            print('mutants need the extra "kill": pip install "device_api[kill]"', file=sys.stderr)
        if isinstance(error, TableError):
            return EXIT_USAGE
        return EXIT_FAILED if isinstance(error, RuntimeError) else EXIT_UNAVAILABLE
    report = build_report(parts, quick=options.quick, seconds=time.monotonic() - began)
    if options.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    for part in parts.values():
        for line in part.lines():
            console.print(line, markup=False, highlight=False)
    if options.pages is not None:
        _write_pages(options.pages, report)
    return EXIT_GOOD if report["good"] else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
