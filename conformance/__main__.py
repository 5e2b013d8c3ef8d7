"""`python -m conformance TARGET`: the suite without the rest of the command line tool."""

from __future__ import annotations

import argparse
import sys

from conformance.execution import run
from conformance.report.terminal import print_outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("target", help="a device string such as npu:0, or the path of a library or manifest")
    parser.add_argument("--level", dest="levels", action="append", help="only this level; may be repeated")
    parser.add_argument("--include", action="append", default=[], help="only cases that match this glob")
    parser.add_argument("--exclude", action="append", default=[], help="no case that matches this glob")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="worker processes")
    parser.add_argument("--quick", action="store_true", help="the short run")
    parser.add_argument("--deadline", type=float, help="seconds per case")
    parser.add_argument("--journal", help="file that keeps each result as it comes")
    parser.add_argument("--resume", action="store_true", help="go on with the journal")
    parser.add_argument("--shard", help="INDEX/COUNT, for example 2/5")
    parser.add_argument("--json", dest="json_path")
    parser.add_argument("--html", dest="html_path")
    parser.add_argument("--junit", dest="junit_path")
    parser.add_argument("--badge", dest="badge_path")
    parser.add_argument("--bundle", dest="bundle_path", help="an archive that others can verify")
    parser.add_argument("--performance", action="store_true", help="measure the device too")
    parser.add_argument("--waivers", help="TOML file")
    parser.add_argument("--artifacts", help="folder for the inputs of failures")
    options = vars(parser.parse_args())
    outcome = run(options.pop("target"), **options)
    print_outcome(outcome)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
