"""The command line, `device-api`."""

from device_api.cli.entry import main

__all__ = ["main"]
