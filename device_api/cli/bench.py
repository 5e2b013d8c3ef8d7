"""`device-api bench`: how fast a device runs a few ops, beside NumPy on the host.

Small tensors show the cost of a call, large ones the throughput. Device and NumPy are timed in turns, so
that a busy machine slows both; the ratio is ours divided by NumPy's, the median over the turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from device_api.cli.output import print_json, print_table


@dataclass(frozen=True)
class Case:
    """An op on tensors of one shape, for the device and for NumPy; `operands` are the tensors moved."""

    name: str
    shape: tuple[int, ...]
    ours: Callable[[Any, Any, Any], Any]
    numpy: Callable[[Any, Any, Any], Any]
    operands: int = 3
    flops: Callable[[tuple[int, ...]], int] | None = None


def cases(quick: bool) -> list[Case]:
    """The ops that are timed."""
    side = 256 if quick else 512
    large = (side, 1024)
    chosen = [
        Case("add", (16,), lambda da, a, b: a + b, lambda np, a, b: a + b),
        Case("add", large, lambda da, a, b: a + b, lambda np, a, b: a + b),
        Case("multiply by a scalar", large, lambda da, a, b: a * 2.0, lambda np, a, b: a * 2.0, 2),
        Case("exp", large, lambda da, a, b: da.exp(a), lambda np, a, b: np.exp(a), 2),
        Case("tanh", large, lambda da, a, b: da.tanh(a), lambda np, a, b: np.tanh(a), 2),
        Case("sum of all", large, lambda da, a, b: da.sum(a), lambda np, a, b: np.sum(a), 1),
        Case("sum of rows", large, lambda da, a, b: da.sum(a, axis=1), lambda np, a, b: np.sum(a, axis=1), 1),
        Case(
            "sum of columns", large, lambda da, a, b: da.sum(a, axis=0), lambda np, a, b: np.sum(a, axis=0), 1
        ),
        Case(
            "matmul",
            (side, side),
            lambda da, a, b: a @ b,
            lambda np, a, b: a @ b,
            flops=lambda shape: 2 * shape[0] ** 3,
        ),
    ]
    return [case for case in chosen if not quick or case.name in ("add", "exp", "sum of rows", "matmul")]


def measure(case: Case, device: Any, *, rounds: int, seconds: float) -> dict[str, object]:
    """Times one case in `rounds` turns of about `seconds` each; the row of the JSON output."""
    import numpy as np

    import device_api as da

    generator = np.random.default_rng(0)
    x, y = (generator.uniform(-1, 1, case.shape).astype(np.float32) for _ in range(2))
    a, b = da.asarray(x, device=device), da.asarray(y, device=device)

    def ours(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            case.ours(da, a, b)
        device.synchronize()
        return (time.perf_counter() - began) / count

    def theirs(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            case.numpy(np, x, y)
        return (time.perf_counter() - began) / count

    counts = [_count(run, seconds) for run in (ours, theirs)]
    pairs = [(ours(counts[0]), theirs(counts[1])) for _ in range(rounds)]
    taken = statistics.median(pair[0] for pair in pairs)
    row: dict[str, object] = {
        "name": f"{case.name} {'x'.join(map(str, case.shape))} float32",
        "seconds": taken,
        "ratio": {"numpy": statistics.median(pair[0] / pair[1] for pair in pairs)},
        "gigabytes_per_second": case.operands * x.nbytes / taken / 1e9,
    }
    if case.flops is not None:
        row["gigaflops"] = case.flops(case.shape) / taken / 1e9
    return row


def _count(run: Callable[[int], float], seconds: float) -> int:
    run(1)
    count, taken = 1, run(1)
    while taken * count < seconds / 4:
        count *= 4
        taken = run(count)
    return max(1, round(seconds / taken))


def command(
    device: Annotated[str, typer.Argument(help="Device string, for example npu:0.")] = "cpu",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer ops and turns.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Time ops of a device beside NumPy on the host."""
    import device_api as da

    opened = da.device(device)
    rounds, seconds = (5, 0.005) if quick else (20, 0.02)
    rows = [measure(case, opened, rounds=rounds, seconds=seconds) for case in cases(quick)]
    if as_json:
        print_json({"rows": rows, "summary": {"device": str(opened), "rows": len(rows), "missing_peers": []}})
        return
    print_table(
        f"{opened} beside NumPy (ratio: our time / NumPy's)",
        ("op", "time", "ratio", "GB/s", "GFLOP/s"),
        [_cells(row) for row in rows],
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    flops = row.get("gigaflops")
    return (
        row["name"],
        f"{row['seconds'] * 1e6:.2f} us",
        f"{row['ratio']['numpy']:.2f}",
        f"{row['gigabytes_per_second']:.2f}",
        "" if flops is None else f"{flops:.1f}",
    )
