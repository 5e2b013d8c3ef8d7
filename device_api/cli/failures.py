"""How a typed error ends a command: one line on standard error, a document when JSON was asked for, a code.

Exit codes: 0 good, 1 failed, 2 wrong usage, 3 unavailable (a plugin or device that is not there or cannot
be used).
"""

from __future__ import annotations

import json
import re
import sys

from device_api.errors import DeviceApiError, DeviceUnavailable, InvalidDevice, PluginError

FAILED = 1
USAGE = 2
UNAVAILABLE = 3

_DEVICE_STRING = re.compile(r"[a-z][a-z0-9_]*(:[0-9]+)?")


def exit_code(error: DeviceApiError) -> int:
    """The exit code for a typed error that ended a command."""
    if isinstance(error, InvalidDevice):
        # A well-formed name of something that is not there is no mistake of usage.
        return UNAVAILABLE if _DEVICE_STRING.fullmatch(str(error.spec)) else USAGE
    if isinstance(error, (PluginError, DeviceUnavailable)):
        return UNAVAILABLE
    return FAILED


def report(error: DeviceApiError, *, as_json: bool) -> None:
    """Prints the error, never a traceback."""
    if as_json:
        print(json.dumps({"error": {"type": type(error).__name__, "message": str(error)}}, indent=1))
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
