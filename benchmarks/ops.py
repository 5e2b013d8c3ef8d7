"""Throughput of ops on larger arrays, beside NumPy and PyTorch on the same numbers, with 1 and 2 threads.

The rows are in ops_cases, float32 unless their names say otherwise; each number of threads is timed in a
process of its own (ops_worker). Here the rows are judged: the summary says which bars hold.
"""

from __future__ import annotations

import fnmatch
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

from benchmarks.ops_cases import BARS, CASES, MEAN_BAR
from benchmarks.report import emit
from device_api.bench.timing import Row

THREADS = (1, 2)
_GROUPS = {case.name: case.group for case in CASES}


def main(*, quick: bool, as_json: bool, only: str = "*") -> int:
    """Times the cases on the device `cpu` whose names match `only`; returns 0, or 1 when a bar is missed, or
    2 when no name matches."""
    if not fnmatch.filter(_GROUPS, only):
        told = f"no row of the benchmark ops matches {only!r}; the rows are in benchmarks/ops_cases.py"
        print(told, file=sys.stderr)
        return 2
    rows = []
    bars: dict[str, dict[str, object]] = {}
    for threads in THREADS:
        measured = _measured(threads, quick, only)
        bars |= {f"{name}, threads {threads}": bar for name, bar in judged(measured).items()}
        rows += [Row(f"{row.name}, threads {threads}", row.seconds, row.ratio, row.p10) for row in measured]
    emit(rows, as_json=as_json, facts={"device": "cpu", "bars": bars} if as_json else {"device": "cpu"})
    if not as_json:
        for name, bar in bars.items():
            print(f"{'holds ' if bar['holds'] else 'MISSED'} {name}: {bar['worst']:.3f} of {bar['bar']}")
    return 0 if all(bar["holds"] for bar in bars.values()) else 1


def judged(rows: Sequence[Row]) -> dict[str, dict[str, object]]:
    """Each bar with the ratio to PyTorch that it is about, and whether it holds. `rows` have one number of
    threads; those without a ratio count for nothing."""
    ratios = {row.name: ratio for row in rows if (ratio := row.ratio["torch"]) is not None}
    found: dict[str, dict[str, object]] = {}
    if ratios:
        found["geometric mean"] = _bar(statistics.geometric_mean(ratios.values()), MEAN_BAR)
    for group, bar in BARS.items():
        # What holds for every row is asked of the rows of the other groups too.
        members = [name for name in ratios if group in ("any", _GROUPS[name])]
        if members:
            worst = max(members, key=lambda name: ratios[name])
            found[group] = {**_bar(ratios[worst], bar), "row": worst}
    return found


def _bar(worst: float, bar: float) -> dict[str, object]:
    return {"worst": worst, "bar": bar, "holds": worst <= bar}


def _measured(threads: int, quick: bool, only: str) -> list[Row]:
    limits = ("DEVICE_API_CPU_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    command = [sys.executable, "-m", "benchmarks.ops_worker", str(threads), "--include", only]
    if quick:
        command.append("--quick")
    done = subprocess.run(
        command,
        env={**os.environ, **dict.fromkeys(limits, str(threads))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [_row(json.loads(line)) for line in done.stdout.splitlines()]


def _row(document: Mapping[str, object]) -> Row:
    return Row(**document)  # type: ignore[arg-type]
