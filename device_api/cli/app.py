"""The `device-api` application: which commands there are.

Each command lives in a module of its own, which imports what it needs only when it runs.
"""

from __future__ import annotations

import typer

from device_api.cli import bench, check, conformance, info, list_plugins, new_plugin, paths

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
app.add_typer(conformance.app, name="conformance")
app.command("new-plugin")(new_plugin.command)
app.command("bench")(bench.command)
app.command("include-dir")(paths.include_dir_command)
app.command("cmake-dir")(paths.cmake_dir_command)
