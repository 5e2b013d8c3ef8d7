"""When a host and a plugin may work together, and which fields of a struct are there.

One major always loads, in both directions; a plugin may name the oldest minor of that major that it
accepts. Drafts, which have major 0, may break with a new minor: plugins built before it are refused. A
struct is accepted from the size it had when it was first released, and a field is present when the size
reaches its end. These are the only rules, so they stand here alone; nothing in this module touches a
library.
"""

from __future__ import annotations

from typing import Any

from device_api.abi import _tables

Version = tuple[int, int]

HOST: Version = _tables.VERSION
OLDEST_DRAFT: int = _tables.OLDEST_MINOR


def refusal(
    plugin: Version, min_host_minor: int, host: Version = HOST, oldest_draft: int = OLDEST_DRAFT
) -> str | None:
    """Why a plugin built for ABI `plugin` cannot work with `host`; None when it can.

    `oldest_draft` is the oldest minor of major 0 whose plugins the host understands.
    """
    if plugin[0] != host[0]:
        return f"built for ABI {text(plugin)}, this host speaks {text(host)}: the major versions differ"
    if host[0] == 0 and plugin[1] < oldest_draft:
        return (
            f"built for the draft ABI {text(plugin)}, this host speaks {text(host)}, and drafts broke with "
            f"{text((0, oldest_draft))}"
        )
    if min_host_minor > host[1]:
        return (
            f"built for ABI {text(plugin)}, it needs a host of at least {text((host[0], min_host_minor))}, "
            f"this one speaks {text(host)}"
        )
    return None


def remedy(plugin: Version, host: Version = HOST) -> str:
    """What a user can do about a refusal."""
    if plugin > host:
        return (
            f"Install a device_api of ABI {text(plugin)} or newer, or a build of the plugin for {text(host)}."
        )
    return f"Install a build of the plugin for ABI {text(host)}, or the device_api it was built for."


def text(version: Version) -> str:
    """The version as people write it: "1.4"."""
    return f"{version[0]}.{version[1]}"


def accepts_size(struct: str, size: int) -> bool:
    """Whether a `struct_size` is one that some release of this major can have written."""
    return size >= _tables.MINIMUM_SIZES[struct] and size % 8 == 0


def has_field(ffi: Any, struct: str, field: str, size: int) -> bool:
    """Whether a struct of `size` bytes reaches the end of `field`; False for a field this host does not
    know.
    """
    found = dict(ffi.typeof(struct).fields).get(field)
    return found is not None and bool(found.offset + ffi.sizeof(found.type) <= size)
