"""A scripted workload whose every call to the plugin fails once; prints one JSON line for each failure.

Usage: sweep_program.py DEVICE CALLS. The workload runs once to count the calls of each slot. Then, for each
slot that can fail and each n up to CALLS (and the last), the n-th call fails: the workload must raise a typed
error or get along without that call, give its memory back, and run again with the right results. What the
host counted meanwhile is printed too: retries, uploads without staging, missed marks.
"""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

import numpy as np

import device_api as da
from device_api import _core, layers
from device_api.errors import DeviceApiError
from device_api.layers._slots import SLOTS

# Slots of the first and the last use of a device; they have sweeps of their own.
OUTSIDE = (
    "plugin.",
    "device.open",
    "device.count",
    "device.properties",
    "device.close",
    "kernel.list",
    "context.",
)
COUNTED = ("retries", "unstaged_uploads", "missed_marks")
STATUSES = {
    "memory.allocate": ("out_of_memory", "internal"),
    "kernel.launch": ("out_of_memory", "internal", "device_lost"),
    "kernel.prepare": ("unimplemented", "internal"),
}


def workload(device: str) -> list[float]:
    """Eager ops, gradients, random numbers, the allocator, copies, streams, graphs, memory of others; the
    results as numbers.
    """
    simulated = device.startswith("sim")
    peer = "sim:0" if simulated else device
    da.manual_seed(5, device)
    data = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    x = da.asarray(data, device=device)
    x.requires_grad = True
    y = (da.softmax(x @ x.T, axis=1) * 3).sum()
    y.backward()
    big = da.zeros((3 << 20,), dtype="uint8", device=device)  # a chunk of its own
    big[5] = 7
    moved = x.detach().to_device(peer)
    parts = [y, x.grad.sum(), moved[1:, ::2].sum(), da.sort(x.reshape(24))[3], big[5]]
    parts.append(da.uniform((9,), device=device).sum())
    buffer = np.arange(6, dtype=np.float32)
    parts.append((da.wrap_memory(buffer.ctypes.data, (6,), "float32", device) * 2).sum())
    results = [float(part.item()) for part in parts]
    if simulated:
        results += overlapped(device, data)
    del x, y, big, moved, parts
    gc.collect()
    da.synchronize(device)
    da.empty_cache(device)
    return results


def overlapped(device: str, data: np.ndarray[Any, Any]) -> list[float]:
    """Streams, events, callbacks, pinned and managed memory, a graph."""
    side, called = da.Stream(device), []
    start, end = da.Event(timing=True), da.Event(timing=True)
    pinned = da.pinned_empty((4, 6), "float32", device)
    with side:
        start.record(side)
        x = da.asarray(data, device=device) * 3
        da.copy_into(pinned, x, non_blocking=True)
        side.add_callback(called.append)
        end.record(side)
    y = x + 1  # follows the other stream
    end.synchronize(timeout=60)
    end.query()
    start.elapsed_time(end)
    side.query()
    x.record_stream(side)
    side.synchronize()
    managed = da.managed_empty((5,), "float32", device)
    with da.host_view(managed) as array:
        array[:] = 2
    with da.Graph.capture(device) as graph:
        z = da.exp(y * 0.25)
    graph.replay()
    graph.replay()
    parts = [y.sum(), pinned.sum(), (managed * 2).sum(), z.sum()]
    return [float(part.item()) for part in parts] + [float(len(called))]


def settle(device: str) -> int:
    """Bytes in use when nothing should be."""
    gc.collect()
    _core.clear_plans()
    da.synchronize(device)
    da.empty_cache(device)
    return int(da.memory_stats(device)["allocated"])


class Sweep:
    def __init__(self, device: str) -> None:
        self.device = device
        if device.startswith("sim"):
            da.register_plugin("plugins/simulated/sim.json")
        layers.use(device.partition(":")[0], "validate,stats,fault(spec=)")
        self.expected = workload(device)
        self.plugin = layers.stack.layered_plugins()[0]
        self.idle = settle(device)
        workload(device)
        settle(device)
        self.plugin.reset("stats")
        workload(device)
        self.counts = {
            slot: item.calls for slot, item in layers.statistics(self.plugin).items() if item.calls
        }

    def run(self, calls: int) -> None:
        swept = set()
        for slot, count in self.counts.items():
            if SLOTS[slot][1] != "da_error *" or slot.startswith(OUTSIDE):
                continue
            swept.add(slot)
            for status in STATUSES.get(slot, ("internal",)):
                for n in sorted({*range(1, min(count, calls) + 1), count}):
                    print(json.dumps(self.fail(slot, n, status)), flush=True)
        print(json.dumps({"findings": [str(item) for item in layers.findings(self.plugin)]}))
        print(json.dumps({"swept": sorted(swept)}))

    def fail(self, slot: str, n: int, status: str) -> dict[str, Any]:
        """One failure: what was raised, and what is left of it."""
        settle(self.device)
        before = self.numbers()
        self.plugin.reset("stats")
        self.plugin.configure("fault", spec=f"{slot}:{n}:{status}")
        row: dict[str, Any] = {"slot": slot, "n": n, "status": status, "raised": None, "right": True}
        try:
            row["right"] = workload(self.device) == self.expected
        except DeviceApiError as error:
            row |= {"raised": type(error).__name__, "text": str(error)}
        except Exception as error:
            row |= {"raised": type(error).__name__, "untyped": True, "text": str(error)}
        row["done"] = self.plugin.report("fault")[0]["done"]
        self.plugin.configure("fault", spec="")
        row["calls"] = layers.statistics(self.plugin)[slot].calls
        try:
            after = self.numbers()
            row["counted"] = [name for name, number in after.items() if number > before[name]]
            if row["calls"] > self.counts[slot]:
                row["counted"].append("more calls")
            row["left"] = settle(self.device) - self.idle
            row["usable"] = workload(self.device) == self.expected
        except Exception as error:
            row |= {"usable": False, "text": f"{row.get('text')}; then {type(error).__name__}: {error}"}
        return row

    def numbers(self) -> dict[str, int]:
        """What the host counts when it gets along without a call."""
        kind = self.device.partition(":")[0]
        stats = [da.memory_stats(each) for each in da.devices(kind)]
        fallbacks = sum(entry.count for entry in da.fallback_report())
        return {name: sum(each[name] for each in stats) for name in COUNTED} | {"fallbacks": fallbacks}


def open_once(device: str, slot: str, n: int) -> None:
    """The n-th call of a slot fails while the device is opened; afterwards it opens."""
    if device.startswith("sim"):
        da.register_plugin("plugins/simulated/sim.json")
    kind = device.partition(":")[0]
    layers.use(kind, f"validate,fault(spec={slot}:{n}:internal)")
    row: dict[str, Any] = {"slot": slot, "n": n, "raised": None}
    for _ in range(3):
        try:
            da.device(device)
            break
        except DeviceApiError as error:
            row |= {"raised": type(error).__name__, "text": str(error)}
    row["usable"] = workload(device)[4] == 7.0
    row["findings"] = [str(item) for item in layers.findings()]
    print(json.dumps(row))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Sweep(sys.argv[1]).run(int(sys.argv[2]))
    else:
        open_once(sys.argv[1], sys.argv[2], int(sys.argv[3]))
