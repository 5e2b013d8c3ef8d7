"""Times the rows of the benchmark `ops` with one number of threads, in a process of its own.

Thread pools are made once in a process, so each number of threads needs a new one: the benchmark starts
`python -m benchmarks.ops_worker THREADS` with the pools of all three libraries limited by environment
variables, and reads a line of JSON for each row. This module judges nothing.

A row that misses its bar is timed again, longer, and the longer timing counts: on a busy machine a short one
can be wrong in either direction, and a miss is what has to be certain.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from typing import Any

import numpy as np

import device_api as da
from benchmarks.ops_cases import BARS, CASES, Case, Operand
from benchmarks.report import installed
from device_api.bench.timing import Candidate, Row, compare

_ROUNDS = (15, 45)  # of the first timing, and of the one that decides
_SECONDS = (2.0, 8.0)
_REST = 0.015  # seconds: OpenMP's threads spin for some 10 ms when a candidate with several threads has ended


def main(arguments: list[str] | None = None) -> int:
    """Prints the rows as JSON, one a line; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops_worker", description=__doc__)
    parser.add_argument("threads", type=int, help="threads of PyTorch; the environment limits the others")
    parser.add_argument("--quick", action="store_true", help="the quick rows only")
    parser.add_argument("--include", default="*", metavar="PATTERN", help="only rows whose names match")
    options = parser.parse_args(arguments)
    torch: Any = None
    if installed()["torch"]:
        torch = __import__("torch")
        torch.set_num_threads(options.threads)
    for case in CASES:
        if (case.quick or not options.quick) and fnmatch.fnmatch(case.name, options.include):
            print(json.dumps(measured(case, torch, options.threads).as_json()), flush=True)
    return 0


def measured(case: Case, torch: Any, threads: int) -> Row:
    """The row of a case; without PyTorch its ratio is None."""
    row = _timed(case, torch, threads, 0)
    ratio = row.ratio["torch"]
    return row if ratio is None or ratio <= BARS[case.group] else _timed(case, torch, threads, 1)


def _timed(case: Case, torch: Any, threads: int, attempt: int) -> Row:
    generator = np.random.default_rng(0)
    arrays = [_numbers(generator, operand) for operand in case.operands]
    names: dict[str, object] = {"m": np}
    peers: dict[str, Candidate | None] = {"numpy": None, "torch": None}
    if case.numpy is not None:
        peers["numpy"] = Candidate(case.numpy, names | _named([each.copy() for each in arrays]))
    if torch is not None:
        tensors = [torch.from_numpy(each.copy()) for each in arrays]
        names = {"m": torch, "F": torch.nn.functional} | _named(_recorded(case, tensors))
        exec(case.setup, {}, names)
        peers["torch"] = Candidate(case.torch, names)
    ours = {"m": da} | _named(_recorded(case, [da.asarray(each, device="cpu") for each in arrays]))
    return compare(
        case.name,
        Candidate(case.ours, ours),
        peers,
        rounds=_ROUNDS[attempt],
        slice_seconds=0.01,
        most_seconds=_SECONDS[attempt],
        rest_seconds=0.0 if threads == 1 else _REST,
    )


def _numbers(generator: np.random.Generator, operand: Operand) -> np.ndarray[Any, Any]:
    if np.dtype(operand.dtype).kind == "i":
        return generator.integers(int(operand.low), int(operand.high), operand.shape, operand.dtype)
    return generator.uniform(operand.low, operand.high, operand.shape).astype(operand.dtype)


def _recorded(case: Case, tensors: list[Any]) -> list[Any]:
    for operand, tensor in zip(case.operands, tensors, strict=True):
        if operand.grad:
            tensor.requires_grad = True
    return tensors


def _named(tensors: list[Any]) -> dict[str, object]:
    return dict(zip("abcdef", tensors, strict=False))


if __name__ == "__main__":
    sys.exit(main())
