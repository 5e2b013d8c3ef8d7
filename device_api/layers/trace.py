"""`python -m device_api.layers.trace FILE [--chrome OUT]`: what a trace holds, or the trace for a browser.

Without an option it prints calls, failures and time of each slot. With `--chrome` it writes the trace event
format that chrome://tracing and Perfetto open.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from device_api.layers.reports import SlotStatistics, table
from device_api.layers.trace_file import Trace, TraceError, read


def chrome(trace: Trace) -> dict[str, Any]:
    """The trace as trace events: one complete event for each call, times in microseconds."""
    process = trace.head.get("process", 0)
    events = []
    for record in trace.records:
        kernel = record.inputs.get("kernel")
        op = kernel.get("op") if isinstance(kernel, dict) else None
        arguments = {key: value for key, value in record.inputs.items() if not isinstance(value, dict | list)}
        if record.error is not None:
            arguments["error"] = record.error.get("message")
        events.append(
            {
                "name": f"{record.slot} {op}" if op else record.slot,
                "cat": record.slot.partition(".")[0],
                "ph": "X",
                "ts": record.start_ns / 1e3,
                "dur": record.duration_ns / 1e3,
                "pid": process,
                "tid": record.thread,
                "args": arguments,
            }
        )
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": trace.head}


def summary(trace: Trace) -> str:
    """Calls, failures and time of each slot, as a table."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for record in trace.records:
        row = rows[record.slot]
        row[0] += 1
        row[1] += record.error is not None
        row[2] += record.duration_ns
        row[3] = max(row[3], record.duration_ns)
    return table({slot: SlotStatistics(slot, *row) for slot, row in rows.items()})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m device_api.layers.trace", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--chrome", type=Path, metavar="OUT", help="write trace events to this file")
    options = parser.parse_args(arguments)
    try:
        trace = read(options.file)
    except TraceError as error:
        print(error, file=sys.stderr)
        return 2
    if options.chrome is not None:
        options.chrome.write_text(json.dumps(chrome(trace)), encoding="utf-8")
        return 0
    print(f"{trace.head.get('plugin')} {trace.head.get('plugin_version')}: {len(trace.records)} calls")
    print(summary(trace))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
