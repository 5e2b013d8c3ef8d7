"""A scripted workload whose every call to the plugin fails once; prints one JSON line for each failure.

Usage: sweep_program.py DEVICE CALLS. The workload runs once to count the calls of each slot. Then, for each
slot that can fail and each n up to CALLS (and the last), the n-th call fails: the workload must raise a typed
error or get along without that call, give its memory back, and run again with the right results.
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

# Slots at which the first use of a device can fail; they have a sweep of their own.
OPENING = ("plugin.", "device.open", "device.count", "device.properties", "kernel.list", "stream.create")
STATUSES = {
    "memory.allocate": ("out_of_memory", "internal"),
    "kernel.launch": ("out_of_memory", "internal", "device_lost"),
    "kernel.prepare": ("unimplemented", "internal"),
}


def workload(device: str) -> list[float]:
    """Eager ops, gradients, the allocator, copies; the results as numbers."""
    peer = "sim:0" if device.startswith("sim") else device
    data = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    x = da.asarray(data, device=device)
    x.requires_grad = True
    y = (da.softmax(x @ x.T, axis=1) * 3).sum()
    y.backward()
    big = da.zeros((3 << 20,), dtype="uint8", device=device)  # a chunk of its own
    big[5] = 7
    moved = x.detach().to_device(peer)
    parts = [y, x.grad.sum(), moved[1:, ::2].sum(), da.sort(x.reshape(24))[3], big[5]]
    results = [float(part.item()) for part in parts]
    del x, y, big, moved, parts
    gc.collect()
    da.synchronize(device)
    da.empty_cache(device)
    return results


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
        layers.use(device.partition(":")[0], "validate,fault(spec=),stats")
        self.expected = workload(device)
        self.plugin = layers.stack.layered_plugins()[0]
        self.idle = settle(device)
        self.plugin.reset("stats")
        workload(device)
        self.counts = {slot: item.calls for slot, item in layers.statistics(self.plugin).items()}

    def run(self, calls: int) -> None:
        for slot, count in self.counts.items():
            if slot.startswith(("error.", "host.", "context.", *OPENING)) or slot == "kernel.release":
                continue
            for status in STATUSES.get(slot, ("internal",)):
                for n in sorted({*range(1, min(count, calls) + 1), count}):
                    print(json.dumps(self.fail(slot, n, status)), flush=True)
        print(json.dumps({"findings": [str(item) for item in layers.findings(self.plugin)]}))

    def fail(self, slot: str, n: int, status: str) -> dict[str, Any]:
        """One failure: what was raised, and what is left of it."""
        settle(self.device)
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
        try:
            row["left"] = settle(self.device) - self.idle
            row["usable"] = workload(self.device) == self.expected
        except Exception as error:
            row |= {"usable": False, "text": f"{row.get('text')}; then {type(error).__name__}: {error}"}
        return row


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
