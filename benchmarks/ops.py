"""Throughput of ops on larger arrays, beside NumPy and PyTorch on the same numbers.

Each row is one op on one shape, float32 unless the name says otherwise. PyTorch runs with as many threads
as it chooses, like device_api; NumPy as it is. Where a peer has no such op (softmax in NumPy), it is
written as its users write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import device_api as da
from benchmarks.report import emit, installed
from device_api.bench.timing import Candidate, Row, compare


@dataclass(frozen=True)
class Case:
    """One op: the statement for each library, over tensors `a`, `b` (of `shapes`) and its module `m`."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    ours: str
    numpy: str
    torch: str
    quick: bool = False


_BIG = ((1024, 1024), (1024, 1024))
_ROW = ((1024, 1024), (1024,))
_SOFTMAX = "(e := m.exp(a - a.max(axis=-1, keepdims=True))) / e.sum(axis=-1, keepdims=True)"
_LOG_SOFTMAX = "(s := a - a.max(axis=-1, keepdims=True)) - m.log(m.exp(s).sum(axis=-1, keepdims=True))"


def _same(
    name: str, statement: str, shapes: tuple[tuple[int, ...], ...] = _BIG, *, quick: bool = False
) -> Case:
    return Case(name, shapes, statement, statement, statement, quick)


CASES = (
    _same("add", "a + b", quick=True),
    _same("multiply", "a * b"),
    _same("divide", "a / b"),
    _same("multiply by a scalar", "a * 2.0"),
    _same("add a row", "a + b", _ROW, quick=True),
    _same("maximum", "m.maximum(a, b)"),
    _same("greater", "a > b"),
    _same("where", "m.where(a > 0, a, b)"),
    _same("negative", "-a"),
    _same("exp", "m.exp(a)", quick=True),
    _same("log", "m.log(b)"),
    _same("tanh", "m.tanh(a)", quick=True),
    _same("sin", "m.sin(a)"),
    _same("sqrt", "m.sqrt(b)"),
    _same("sum of all", "m.sum(a)", quick=True),
    Case("sum of rows", _BIG, "m.sum(a, axis=1)", "m.sum(a, axis=1)", "m.sum(a, dim=1)", True),
    Case("sum of columns", _BIG, "m.sum(a, axis=0)", "m.sum(a, axis=0)", "m.sum(a, dim=0)"),
    Case("max of rows", _BIG, "m.max(a, axis=1)", "m.max(a, axis=1)", "m.amax(a, dim=1)"),
    Case("argmax of rows", _BIG, "m.argmax(a, axis=1)", "m.argmax(a, axis=1)", "m.argmax(a, dim=1)"),
    Case("mean of rows", _BIG, "m.mean(a, axis=1)", "m.mean(a, axis=1)", "m.mean(a, dim=1)"),
    Case(
        "running sum of rows",
        _BIG,
        "m.cumulative_sum(a, axis=1)",
        "m.cumulative_sum(a, axis=1)",
        "m.cumsum(a, dim=1)",
    ),
    _same("matmul 64", "a @ b", ((64, 64), (64, 64))),
    _same("matmul 512", "a @ b", ((512, 512), (512, 512)), quick=True),
    _same("matmul 1024", "a @ b"),
    _same("batched matmul 64 of 64", "a @ b", ((64, 64, 64), (64, 64, 64))),
    Case("softmax", _BIG, "m.softmax(a, axis=-1)", _SOFTMAX, "m.softmax(a, dim=-1)", True),
    Case("log_softmax", _BIG, "m.log_softmax(a, axis=-1)", _LOG_SOFTMAX, "m.log_softmax(a, dim=-1)"),
    Case("transposed copy", _BIG, "m.astype(a.T, a.dtype, copy=True)", "a.T.copy()", "a.T.contiguous()"),
    Case("sort rows", ((256, 1024),), "m.sort(a, axis=1)", "m.sort(a, axis=1)", "m.sort(a, dim=1)"),
)


def main(*, quick: bool, as_json: bool) -> int:
    """Times every case on the device `cpu`; returns 0."""
    peers = installed()
    torch: Any = __import__("torch") if peers["torch"] else None
    rows = [_row(case, torch, quick) for case in CASES if case.quick or not quick]
    emit(rows, as_json=as_json, facts={"device": "cpu"})
    return 0


def _row(case: Case, torch: Any, quick: bool) -> Row:
    generator = np.random.default_rng(0)
    arrays = [generator.uniform(0.1, 2.0, shape).astype(np.float32) for shape in case.shapes]
    if len(arrays) == 1:
        arrays.append(arrays[0])
    ours = [da.asarray(each, device="cpu") for each in arrays]
    theirs: dict[str, Candidate | None] = {"numpy": _candidate(case.numpy, np, arrays), "torch": None}
    if torch is not None:
        theirs["torch"] = _candidate(case.torch, torch, [torch.from_numpy(each) for each in arrays])
    shape = "x".join(map(str, case.shapes[0]))
    return compare(
        f"{case.name} {shape}",
        _candidate(case.ours, da, ours),
        theirs,
        rounds=8 if quick else 20,
        slice_seconds=0.01,
    )


def _candidate(statement: str, module: Any, operands: list[Any]) -> Candidate:
    return Candidate(statement, {"m": module, "a": operands[0], "b": operands[1]})
