"""The cost of one small op, from the Python expression to the freed result, beside NumPy and PyTorch.

The arrays are so small that nothing is measured but the way there: every check, the plan cache, the memory
of the output and its release. PyTorch runs eagerly, with its default gradient mode and no tensor that
requires one. The summary holds the bars of the project and whether this run met them; a bar missed is no
failure of the program, since a busy machine misses them too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import device_api as da
from benchmarks.report import emit, installed
from device_api import _core
from device_api.bench.timing import Candidate, Row, compare


@dataclass(frozen=True)
class Case:
    """One call, in the words of each library: `m` is its module, `a` and `b` the operands."""

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    ours: str
    numpy: str
    torch: str
    bars: dict[str, float] = field(default_factory=dict)


_SOFTMAX = "(e := m.exp(a - a.max(axis=0, keepdims=True))) / e.sum(axis=0, keepdims=True)"

CASES = (
    Case("a + b, 16", ((16,), (16,)), "a + b", "a + b", "a + b", {"numpy": 0.35, "torch": 0.10}),
    Case("a + 2.0, 16", ((16,), (16,)), "a + 2.0", "a + 2.0", "a + 2.0", {"torch": 0.5}),
    Case("a + b, (4, 16) and (16,)", ((4, 16), (16,)), "a + b", "a + b", "a + b", {"torch": 0.5}),
    Case("a @ b, 4x4", ((4, 4), (4, 4)), "a @ b", "a @ b", "a @ b", {"torch": 0.5}),
    Case(
        "softmax(a, axis=0), 4x4", ((4, 4), (4, 4)), "m.softmax(a, axis=0)", _SOFTMAX, "m.softmax(a, dim=0)",
        {"torch": 0.5},
    ),
)  # fmt: skip


def main(*, quick: bool, as_json: bool) -> int:
    """Times every case on the device `cpu`; returns 0."""
    measured = rows(quick=quick)
    bars = {row.name: _verdict(case, row) for case, row in zip(CASES, measured, strict=True)}
    emit(measured, as_json=as_json, facts={"device": "cpu", "bars": bars, "plans": _core.cache_info()})
    return 0


def rows(*, quick: bool) -> list[Row]:
    """One row for each case, peers interleaved in the same run."""
    torch: Any = __import__("torch") if installed()["torch"] else None
    if torch is not None:
        # One thread, as ours and NumPy's: work this small must not depend on whether another core is free.
        torch.set_num_threads(1)
    return [_row(case, torch, quick) for case in CASES]


def _row(case: Case, torch: Any, quick: bool) -> Row:
    generator = np.random.default_rng(0)
    arrays = [generator.uniform(0.1, 2.0, shape).astype(np.float32) for shape in case.shapes]
    ours = [da.asarray(each, device="cpu") for each in arrays]
    theirs: dict[str, Candidate | None] = {"numpy": _candidate(case.numpy, np, arrays), "torch": None}
    if torch is not None:
        theirs["torch"] = _candidate(case.torch, torch, [torch.from_numpy(each) for each in arrays])
    return compare(case.name, _candidate(case.ours, da, ours), theirs, rounds=20 if quick else 60)


def _candidate(statement: str, module: Any, operands: list[Any]) -> Candidate:
    return Candidate(statement, {"m": module, "a": operands[0], "b": operands[1]})


def _verdict(case: Case, row: Row) -> str:
    """Each bar of a case with what was measured: "numpy 0.210 of 0.35, torch 0.055 of 0.10"."""
    parts = []
    for peer, bar in case.bars.items():
        ratio = row.ratio.get(peer)
        if ratio is None:
            parts.append(f"{peer} missing")
        else:
            parts.append(f"{peer} {ratio:.3f} {'of' if ratio <= bar else 'MISSES'} {bar:.2f}")
    return ", ".join(parts)
