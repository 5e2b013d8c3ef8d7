"""`device-api list` as a command of the application; what it prints is in listing.py."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the plugins that can be found, without opening any of them."""
    from device_api.cli.listing import show

    show(as_json=as_json)
