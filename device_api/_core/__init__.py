"""The native hot path: tensors, the plan cache, the caching allocator and the program runner.

It exists so that one small op costs tens of nanoseconds. It must not know the op set, shapes rules, promotion
or how plugins are found: the layers above hand it addresses, op numbers and finished programs.
"""

from __future__ import annotations

from device_api._core.native import (
    Device,
    Kernel,
    Program,
    Tensor,
    bump_version,
    cache_info,
    clear_plans,
    copy_bytes,
    data_handle,
    data_start,
    deliver_log,
    dispatch,
    empty,
    from_host,
    grad_enabled,
    host_table_address,
    read_into,
    set_grad_enabled,
    set_hooks,
    set_op_names,
    set_operators,
    set_surface,
    view,
)

__all__ = [
    "Device",
    "Kernel",
    "Program",
    "Tensor",
    "bump_version",
    "cache_info",
    "clear_plans",
    "copy_bytes",
    "data_handle",
    "data_start",
    "deliver_log",
    "dispatch",
    "empty",
    "from_host",
    "grad_enabled",
    "host_table_address",
    "read_into",
    "set_grad_enabled",
    "set_hooks",
    "set_op_names",
    "set_operators",
    "set_surface",
    "view",
]
