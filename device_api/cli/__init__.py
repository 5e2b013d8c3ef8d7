"""The command line, `device-api`."""

from device_api.cli.app import main

__all__ = ["main"]
