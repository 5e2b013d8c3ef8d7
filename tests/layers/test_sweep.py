"""Every call of the host fails once: the error is typed, nothing leaks, the device stays usable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PROGRAM = (HERE / "sweep_program.py").read_text("utf-8")
SIMULATED = HERE.parents[1] / "plugins" / "simulated" / "libdevice_api_simulated.so"
DEVICES = [
    "cpu",
    pytest.param(
        "sim:1", marks=pytest.mark.skipif(not SIMULATED.exists(), reason="the simulated device is not built")
    ),
]
CALLS = 4  # the first calls of each slot, and the last
# What the host may raise; success counts where it has another way.
RAISED: dict[str, set[str | None]] = {
    "internal": {"PluginFailed", "KernelFailed"},
    "device_lost": {"DeviceLost"},
    "out_of_memory": {None, "DeviceOutOfMemory"},
    "unimplemented": {None, "UnsupportedOp"},
}
# Without pinned staging an upload goes straight from the memory of the caller; a mark for parked blocks that
# could not be set or asked is tried again at the next look.
OTHER_WAY = {"memory.allocate", "stream.event_create", "stream.event_record", "stream.event_query"}


def rows_of(done: Any) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("device", DEVICES)
def test_a_failure_of_any_call_is_a_typed_error_that_leaves_nothing_behind(
    device: str, python: Callable[..., Any]
) -> None:
    rows = rows_of(python(PROGRAM, device, CALLS))
    assert rows.pop() == {"findings": []}
    assert {"memory.allocate", "memory.free", "memory.copy", "kernel.launch", "kernel.prepare"} <= {
        row["slot"] for row in rows if row["done"]
    }
    for row in rows:
        other_way = {None} if device == "sim:1" and row["slot"] in OTHER_WAY else set()
        # What the host keeps and uses again, say events, it does not ask for twice: nothing failed then.
        allowed = RAISED[row["status"]] | other_way if row["done"] else {None}
        assert row["raised"] in allowed, row
        assert row["right"], row
        assert row["left"] == 0, row
        assert row["usable"], row


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "slot", ["plugin.initialize", "device.count", "device.open", "device.properties", "kernel.list"]
)
def test_a_device_opens_after_its_opening_has_failed(
    device: str, slot: str, python: Callable[..., Any]
) -> None:
    (row,) = rows_of(python(PROGRAM, device, slot, 1))
    assert row["raised"] == "PluginFailed", row
    assert row["usable"], row
    assert row["findings"] == []
