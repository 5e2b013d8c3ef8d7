"""`python -m conformance.kill.mutants`: the share of the reference kernels' mutants that the ops level
kills."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from conformance.kill.mutants.campaign import FULL, run
from conformance.kill.mutants.execute import BadBaseline, ServerFailure
from conformance.kill.mutants.explained import ListFault
from conformance.kill.mutants.flags import BuildFailure
from conformance.kill.mutants.scope import NoSources
from conformance.kill.report import bar_on


def main() -> int:
    """Ends with 0 when enough mutants were killed, 1 when not, 2 when the run did not take place."""
    parser = argparse.ArgumentParser(prog="python -m conformance.kill.mutants", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small sample and the quick cases")
    parser.add_argument("--size", type=int, help="how many mutants to run")
    parser.add_argument("--seed", type=int, default=0, help="chooses the sample")
    parser.add_argument(
        "--mutant", metavar="GLOB", action="append", default=[], help="run all mutants whose name matches"
    )
    parser.add_argument("--case", metavar="GLOB", action="append", help="only cases whose name matches judge")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--json", metavar="PATH", help="writes the report there")
    options = parser.parse_args()
    plan = replace(FULL, size=options.size) if options.size else None
    progress = bar_on(Console(stderr=True))
    try:
        report = run(
            options.quick,
            options.jobs,
            progress,
            seed=options.seed,
            only=options.mutant,
            cases=options.case or ("*",),
            plan=plan,
        )
    except (BadBaseline, BuildFailure, ListFault, NoSources, ServerFailure) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        Path(options.json).write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    print("\n".join(report.lines()))
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
