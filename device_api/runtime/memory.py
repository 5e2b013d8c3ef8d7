"""Memory of devices as users see it: what is in use, what is kept for reuse, and limits.

The counting is the caching allocator's in the native core. "Allocated" is what tensors hold, "reserved" what
was taken from the plugin, in bytes. Every function takes a device or a device string; None is the device of
this thread.
"""

from __future__ import annotations

from typing import Any

from device_api.errors import AttributeValueError
from device_api.runtime.devices import DeviceLike, resolve


def memory_stats(device: DeviceLike | None = None) -> dict[str, int]:
    """All counters of a device's allocator."""
    return resolve(device).memory_stats()


def memory_snapshot(device: DeviceLike | None = None) -> list[dict[str, Any]]:
    """Every block of memory held from the plugin: `kind` ("device" or "pinned"), `chunk` (a number for the
    plugin's allocation), `offset` and `bytes`, `state` ("used" by a tensor or queued work, "cached" for the
    next tensor of that size, or "free") and the number of the `stream` it belongs to."""
    return resolve(device).memory_snapshot()


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes that live tensors hold."""
    return memory_stats(device)["allocated"]


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes taken from the plugin: what tensors hold and what is kept for reuse."""
    return memory_stats(device)["reserved"]


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The greatest `memory_allocated` since the start or the last reset."""
    return memory_stats(device)["peak_allocated"]


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The greatest `memory_reserved` since the start or the last reset."""
    return memory_stats(device)["peak_reserved"]


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Lets both peaks start again from the present."""
    resolve(device).reset_peak_memory_stats()


def empty_cache(device: DeviceLike | None = None) -> int:
    """Gives memory kept for reuse back to the plugin; returns how many bytes."""
    return resolve(device).empty_cache()


def set_memory_limit(limit: int, device: DeviceLike | None = None) -> None:
    """Lets a device take at most `limit` bytes from its plugin; 0 lifts the limit."""
    if limit < 0:
        raise AttributeValueError(
            "a memory limit is 0 (none) or a number of bytes", subject=limit, argument="limit", value=limit
        )
    resolve(device).memory_limit = limit
