"""`device-api bench`: latency and throughput of the op set on a device, beside another device, NumPy, or an
earlier measurement.

Exit codes: 0 measured, 1 something is slower than `--threshold` allows, or nothing could be measured; 2 wrong
usage, 3 unavailable.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from device_api.cli.output import print_json, print_table

if TYPE_CHECKING:
    from device_api.bench.cases import Case
    from device_api.bench.document import Comparison


def command(
    device: Annotated[str, typer.Argument(help="Device string, for example npu:0.")] = "cpu",
    ops: Annotated[
        list[str] | None, typer.Option("--op", help="Only ops whose name matches this glob; may be repeated.")
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(help="Element type in place of float32; ops that lack it are left out.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(help="Another device string, `numpy`, or the file of an earlier measurement (JSON)."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="End with 1 when a case is slower than --compare by more than this share (0.2)."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One op of each family, and fewer rounds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    html: Annotated[Path | None, typer.Option(help="Where a page with a plot goes.")] = None,
) -> None:
    """Time the ops of a device; compare with another device, NumPy or an earlier run."""
    import device_api as da
    from device_api import dtypes
    from device_api.bench import cases, document, measure, plot

    if dtype is not None and dtype not in dtypes.NAMES.values():
        raise typer.BadParameter(
            f"unknown element type {dtype!r}; there are {', '.join(dtypes.NAMES.values())}"
        )
    if threshold is not None and (compare is None or not threshold >= 0):
        raise typer.BadParameter("--threshold is a share of at least 0, and goes with --compare")
    earlier = document.read(Path(compare)) if compare and Path(compare).is_file() else None
    opened = [da.device(device)]
    peer = compare if earlier is None else None
    if peer is not None and peer != measure.NUMPY:
        opened.append(da.device(peer))
    chosen: Iterable[Case] = cases.select(opened[0], ops or (), dtype=dtype)
    if quick and not ops:
        chosen = _one_of_each_family(chosen)
    measured = measure.rows(
        chosen, opened, numpy=peer == measure.NUMPY, effort=measure.QUICK if quick else None
    )
    whole = document.document(str(opened[0]), _shown(measured), {"quick": quick})
    slower: list[str] = []
    if earlier is not None:
        change = document.compare(earlier, whole, 0.2 if threshold is None else threshold)
        whole["comparison"] = change.as_json()
        slower = [each.name for each in change.slower]
    elif peer is not None and threshold is not None:
        name = str(opened[1]) if len(opened) > 1 else measure.NUMPY
        slower = document.slower_than(whole["rows"], name, threshold)
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(plot.page(whole), encoding="utf-8", errors="backslashreplace")
    if as_json:
        print_json(whole)
    else:
        _print(whole)
        if earlier is not None:
            _print_change(change)
    if not whole["rows"] or (threshold is not None and slower):
        raise typer.Exit(1)


def _one_of_each_family(chosen: Iterable[Case]) -> Iterator[Case]:
    """The first op of each family."""
    first: dict[str, str] = {}
    for case in chosen:
        if first.setdefault(case.spec.family, case.spec.name) == case.spec.name:
            yield case


def _shown(measured: Iterable[Any]) -> Iterator[Any]:
    """Passes on what it gets, and says on a terminal how far it is: measuring takes a while."""
    for number, row in enumerate(measured, 1):
        if sys.stderr.isatty():
            print(f"\r{number} cases measured", end="", file=sys.stderr)
        yield row
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)


def _print(whole: dict[str, Any]) -> None:
    from device_api.bench.units import duration, rate

    peers = whole["summary"]["peers"]
    print_table(
        f"Speed of {whole['device']} (± is the median deviation; × is our time / theirs)",
        (
            "call",
            "latency",
            "per call",
            "±",
            "on the device",
            "bytes",
            "operations",
            *(f"× {p}" for p in peers),
        ),
        [
            (
                row["name"],
                duration(row["latency"]),
                duration(row["seconds"]),
                duration(row["seconds_mad"]),
                duration(row["device_seconds"]) if "device_seconds" in row else "",
                rate(row["bytes_per_second"], "B/s") if "bytes_per_second" in row else "",
                rate(row["flops_per_second"], "FLOP/s") if "flops_per_second" in row else "",
                *(f"{row['ratio'][peer]:.2f}" if peer in row["ratio"] else "" for peer in peers),
            )
            for row in whole["rows"]
        ],
    )
    for each in whole["failures"]:
        print(f"could not run {each['name']} on {each['device']}: {each['message']}")
    if not whole["rows"]:
        print("no case was measured: no op matches, or the device runs none of them", file=sys.stderr)


def _print_change(change: Comparison) -> None:
    print_table(
        f"{len(change.slower)} slower, {len(change.faster)} faster, {len(change.same)} the same, "
        f"{len(change.missing)} no longer measured, {len(change.new)} new",
        ("call", "was", "is", "ratio"),
        [
            (each.name, f"{each.before * 1e6:.2f} us", f"{each.now * 1e6:.2f} us", f"{each.ratio:.2f}")
            for each in (*change.slower, *change.faster)
        ],
    )
