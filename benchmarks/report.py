"""How a benchmark's rows become its output: a table for people, JSON for programs.

Holds the one shape of the JSON, `{"rows": [...], "summary": {...}}`, and the naming of missing peers. It
knows nothing of what was measured.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence

from device_api.bench.timing import Row
from device_api.bench.units import duration

PEERS = ("numpy", "torch")


def installed(peers: Iterable[str] = PEERS) -> dict[str, bool]:
    """Which peers can be imported here, without importing them."""
    return {peer: importlib.util.find_spec(peer) is not None for peer in peers}


def document(rows: Sequence[Row], facts: Mapping[str, object] | None = None) -> dict[str, object]:
    """The JSON document of a benchmark; `facts` are added to its summary."""
    peers = list(dict.fromkeys(peer for row in rows for peer in row.ratio))
    missing = [peer for peer in peers if all(row.ratio.get(peer) is None for row in rows)]
    medians = {}
    for peer in peers:
        ratios = [ratio for row in rows if (ratio := row.ratio.get(peer)) is not None]
        if ratios:
            medians[peer] = statistics.median(ratios)
    summary: dict[str, object] = {"rows": len(rows), "missing_peers": missing, "median_ratio": medians}
    summary.update(facts or {})
    return {"rows": [row.as_json() for row in rows], "summary": summary}


def emit(rows: Sequence[Row], *, as_json: bool, facts: Mapping[str, object] | None = None) -> None:
    """Prints the rows: as JSON, or as a table with a line for each missing peer."""
    whole = document(rows, facts)
    if as_json:
        print(json.dumps(whole, indent=1))
        return
    peers = list(dict.fromkeys(peer for row in rows for peer in row.ratio))
    width = max([len(row.name) for row in rows] + [4])
    print(f"{'name':<{width}}  {'time':>10}" + "".join(f"  {'x ' + peer:>8}" for peer in peers))
    for row in rows:
        cells = "".join(f"  {_ratio(row.ratio.get(peer)):>8}" for peer in peers)
        print(f"{row.name:<{width}}  {duration(row.seconds):>10}{cells}")
    summary = whole["summary"]
    assert isinstance(summary, dict)
    for peer in summary["missing_peers"]:
        print(f"{peer}: not installed, so not compared")
    for name, value in (facts or {}).items():
        print(f"{name}: {value}")


def _ratio(value: float | None) -> str:
    return "missing" if value is None else f"{value:.3f}"
