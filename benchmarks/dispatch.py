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
    """One call in the words of each library: `m` is its module, `a`, `b` are operands, `i`, `j` indices."""

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

# Ops with attributes. Their bar is one for the average of all.
_MATRIX = ((4, 4), (4, 4))
WITH_ATTRIBUTES = tuple(
    Case(ours, _MATRIX, ours, numpy, torch)
    for ours, numpy, torch in (
        ("m.sum(a, axis=1)", "m.sum(a, axis=1)", "m.sum(a, dim=1)"),
        ("m.sum(a)", "m.sum(a)", "m.sum(a)"),
        ("m.mean(a, axis=0)", "m.mean(a, axis=0)", "m.mean(a, dim=0)"),
        ("m.var(a, axis=1)", "m.var(a, axis=1)", "m.var(a, dim=1, correction=0)"),
        ("m.max(a, axis=1)", "m.max(a, axis=1)", "m.amax(a, dim=1)"),
        (
            "m.prod(a, axis=0, keepdims=True)",
            "m.prod(a, axis=0, keepdims=True)",
            "m.prod(a, dim=0, keepdim=True)",
        ),
        ("m.argmax(a, axis=1)", "m.argmax(a, axis=1)", "m.argmax(a, dim=1)"),
        ("m.softmax(a, axis=1)", "m.exp(a) / m.exp(a).sum(axis=1, keepdims=True)", "m.softmax(a, dim=1)"),
        ("m.cumulative_sum(a, axis=1)", "m.cumsum(a, axis=1)", "m.cumsum(a, dim=1)"),
        ("m.sort(a, axis=1)", "m.sort(a, axis=1)", "m.sort(a, dim=1)"),
        ("m.reshape(a, (2, 8))", "m.reshape(a, (2, 8))", "m.reshape(a, (2, 8))"),
        ("a.reshape(2, 8)", "a.reshape(2, 8)", "a.reshape(2, 8)"),
        ("m.permute_dims(a, (1, 0))", "m.transpose(a, (1, 0))", "m.permute(a, (1, 0))"),
        ("a.mT", "a.mT", "a.mT"),
        ("m.expand_dims(a, axis=0)", "m.expand_dims(a, axis=0)", "m.unsqueeze(a, 0)"),
        ("m.squeeze(a[:1], axis=0)", "m.squeeze(a[:1], axis=0)", "m.squeeze(a[:1], 0)"),
        ("m.broadcast_to(a, (2, 4, 4))", "m.broadcast_to(a, (2, 4, 4))", "m.broadcast_to(a, (2, 4, 4))"),
        ("m.flip(a, axis=1)", "m.flip(a, axis=1)", "m.flip(a, (1,))"),
        ("m.roll(a, 1, axis=1)", "m.roll(a, 1, axis=1)", "m.roll(a, 1, 1)"),
        ("m.clip(a, 0.2, 0.8)", "m.clip(a, 0.2, 0.8)", "m.clip(a, 0.2, 0.8)"),
        ("m.concat([a, b], axis=1)", "m.concatenate([a, b], axis=1)", "m.concat([a, b], dim=1)"),
        ("m.stack([a, b], axis=0)", "m.stack([a, b], axis=0)", "m.stack([a, b], dim=0)"),
        ("m.where(a > 1.0, a, b)", "m.where(a > 1.0, a, b)", "m.where(a > 1.0, a, b)"),
        ("m.tril(a, k=1)", "m.tril(a, k=1)", "m.tril(a, diagonal=1)"),
        ("m.astype(a, m.float64)", "a.astype(m.float64)", "a.to(m.float64)"),
        ("a[1]", "a[1]", "a[1]"),
        ("a[1:3, ::2]", "a[1:3, ::2]", "a[1:3, ::2]"),
        ("m.tile(a, (2, 1))", "m.tile(a, (2, 1))", "m.tile(a, (2, 1))"),
        (
            "m.pad(a, 0.0, before=(0, 1), after=(0, 1))",
            "m.pad(a, ((0, 0), (1, 1)))",
            "m.nn.functional.pad(a, (1, 1))",
        ),
        ("m.take(a, i, axis=0)", "m.take(a, i, axis=0)", "m.index_select(a, 0, i)"),
        ("m.take_along_axis(a, j, axis=1)", "m.take_along_axis(a, j, axis=1)", "m.take_along_dim(a, j, 1)"),
        ("m.zeros((4, 4))", "m.zeros((4, 4), dtype=m.float32)", "m.zeros((4, 4))"),
    )
)
ATTRIBUTE_BAR = 0.35


def main(*, quick: bool, as_json: bool) -> int:
    """Times every case on the device `cpu`; returns 0."""
    measured = rows(quick=quick)
    plain = measured[: len(CASES)]
    bars = {row.name: _verdict(case, row) for case, row in zip(CASES, plain, strict=True)}
    bars["ops with attributes, on average"] = _average(measured[len(CASES) :])
    emit(measured, as_json=as_json, facts={"device": "cpu", "bars": bars, "plans": _core.cache_info()})
    return 0


def rows(*, quick: bool) -> list[Row]:
    """One row for each case, peers interleaved in the same run."""
    torch: Any = __import__("torch") if installed()["torch"] else None
    if torch is not None:
        # One thread, as ours and NumPy's: work this small must not depend on whether another core is free.
        torch.set_num_threads(1)
    return [_row(case, torch, quick) for case in (*CASES, *WITH_ATTRIBUTES)]


def _row(case: Case, torch: Any, quick: bool) -> Row:
    generator = np.random.default_rng(0)
    arrays = [generator.uniform(0.1, 2.0, shape).astype(np.float32) for shape in case.shapes]
    arrays += [np.asarray([2, 0, 1]), np.asarray([[3, 0], [1, 2], [0, 0], [2, 1]])]
    ours = [da.asarray(each, device="cpu") for each in arrays]
    theirs: dict[str, Candidate | None] = {"numpy": _candidate(case.numpy, np, arrays), "torch": None}
    if torch is not None:
        theirs["torch"] = _candidate(case.torch, torch, [torch.from_numpy(each) for each in arrays])
    return compare(case.name, _candidate(case.ours, da, ours), theirs, rounds=20 if quick else 60)


def _candidate(statement: str, module: Any, operands: list[Any]) -> Candidate:
    return Candidate(statement, {"m": module, **dict(zip("abij", operands, strict=True))})


def _average(measured: list[Row]) -> str:
    ratios = [ratio for row in measured if (ratio := row.ratio["torch"]) is not None]
    if not ratios:
        return "torch missing"
    average = sum(ratios) / len(ratios)
    return f"torch {average:.3f} {'of' if average <= ATTRIBUTE_BAR else 'MISSES'} {ATTRIBUTE_BAR:.2f}"


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
