"""The `device-api` application: which commands there are, and how errors become exit codes.

Exit codes: 0 good, 1 failed, 2 wrong usage, 3 unavailable (a plugin or device that is not there or cannot
be used). A typed error is one line on standard error, never a traceback; with `--json` it is also a
document on standard output. Each command lives in a module of its own, which imports what it needs only
when it runs, so that `device-api list` stays quick.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

import typer

from device_api.cli import bench, check, conformance, info, list_plugins, new_plugin, paths
from device_api.errors import DeviceApiError, DeviceUnavailable, InvalidDevice, PluginError

FAILED = 1
USAGE = 2
UNAVAILABLE = 3

app = typer.Typer(
    name="device-api",
    help="Find, inspect, check and prove hardware plugins.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("list")(list_plugins.command)
app.command("info")(info.command)
app.command("check")(check.command)
app.command("conformance")(conformance.command)
app.command("new-plugin")(new_plugin.command)
app.command("bench")(bench.command)
app.command("include-dir")(paths.include_dir_command)
app.command("cmake-dir")(paths.cmake_dir_command)

_DEVICE_STRING = re.compile(r"[a-z][a-z0-9_]*(:[0-9]+)?")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line; leaves with `SystemExit` whose code follows the table above."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=words, prog_name="device-api")
    except DeviceApiError as error:
        _report(error, as_json="--json" in words)
        sys.exit(exit_code(error))


def exit_code(error: DeviceApiError) -> int:
    """The exit code for a typed error that ended a command."""
    if isinstance(error, InvalidDevice):
        # A well-formed name of something that is not there is no mistake of usage.
        return UNAVAILABLE if _DEVICE_STRING.fullmatch(str(error.spec)) else USAGE
    if isinstance(error, (PluginError, DeviceUnavailable)):
        return UNAVAILABLE
    return FAILED


def _report(error: DeviceApiError, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": {"type": type(error).__name__, "message": str(error)}}, indent=1))
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
