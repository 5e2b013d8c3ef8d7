"""Where the command line begins, and where typed errors end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from device_api.cli import failures
from device_api.errors import DeviceApiError


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line; a code other than 0 leaves by `SystemExit` (see failures.py for the codes)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words in (["list"], ["list", "--json"]):
            # Importing the application takes longer than finding all plugins.
            from device_api.cli.listing import show

            show(as_json="--json" in words)
        else:
            from device_api.cli.app import app

            app(args=words, prog_name="device-api")
    except DeviceApiError as error:
        failures.report(error, as_json="--json" in words)
        sys.exit(failures.exit_code(error))
