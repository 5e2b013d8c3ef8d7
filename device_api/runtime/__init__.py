"""Devices, their memory, their streams and their random generators."""

from __future__ import annotations

from device_api.runtime.devices import (
    default_device,
    device,
    device_count,
    device_properties,
    device_types,
    devices,
    get_default_device,
    get_device,
    is_available,
    opened_devices,
    set_default_device,
    set_device,
    synchronize,
)
from device_api.runtime.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    reset_peak_memory_stats,
    set_memory_limit,
)
from device_api.runtime.random import Generator, get_random_state, manual_seed, set_random_state
from device_api.runtime.streams import (
    Event,
    Stream,
    copy_into,
    current_stream,
    default_stream,
    pinned_empty,
)

__all__ = [
    "Event",
    "Generator",
    "Stream",
    "copy_into",
    "current_stream",
    "default_device",
    "default_stream",
    "device",
    "device_count",
    "device_properties",
    "device_types",
    "devices",
    "empty_cache",
    "get_default_device",
    "get_device",
    "get_random_state",
    "is_available",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "opened_devices",
    "pinned_empty",
    "reset_peak_memory_stats",
    "set_default_device",
    "set_device",
    "set_memory_limit",
    "set_random_state",
    "synchronize",
]
