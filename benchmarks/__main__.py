"""The command line of the benchmarks: `python -m benchmarks NAME [--quick] [--json]`.

Each benchmark is a module with `main(quick, as_json) -> int`, imported only when it is asked for, so that one
that needs PyTorch costs the others nothing.
"""

from __future__ import annotations

import argparse
import importlib
import sys

BENCHMARKS = {
    "dispatch": "the cost of one small op, beside NumPy and PyTorch",
    "ops": "throughput of ops on larger arrays, beside NumPy and PyTorch",
    "memory": "growth of memory over 10,000 training steps",
    "import": "what `import device_api` adds to `import numpy`, and what the command line costs",
}
_MODULES = {"import": "import_time"}


def main(arguments: list[str] | None = None) -> int:
    """Runs one benchmark; returns the exit code (0 measured, 1 a bar of the benchmark itself missed,
    2 wrong usage)."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="\n".join(f"{name:<10} {text}" for name, text in BENCHMARKS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("benchmark", choices=list(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds and rows, for a first look")
    parser.add_argument("--only", metavar="PATTERN", help="of ops: only rows whose names match")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    module = importlib.import_module(f"benchmarks.{_MODULES.get(options.benchmark, options.benchmark)}")
    rows = {}
    if options.only is not None:
        if options.benchmark != "ops":
            parser.error(f"--only chooses rows of ops; {options.benchmark} has none to choose from")
        rows["only"] = options.only
    result: int = module.main(quick=options.quick, as_json=options.as_json, **rows)
    return result


if __name__ == "__main__":
    sys.exit(main())
