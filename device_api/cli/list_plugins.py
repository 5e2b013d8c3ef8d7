"""`device-api list`: the plugins that can be found. Opens no library and imports no vendor's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from device_api.cli.output import print_json, print_table

if TYPE_CHECKING:
    from device_api.loading import PluginRecord


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the plugins that can be found, without opening any of them."""
    from device_api.loading import plugin_records

    records = plugin_records()
    if as_json:
        print_json({"plugins": [_document(record) for record in records]})
        return
    print_table(
        "Plugins",
        ("device type", "vendor", "version", "from", "library"),
        [
            (
                record.device_type or "?",
                record.vendor or "",
                record.version or "",
                record.origin,
                str(record.library),
            )
            for record in records
        ],
    )
    for record in records:
        if record.problem is not None:
            print(f"{record.device_type or record.library}: {record.problem}")


def _document(record: PluginRecord) -> dict[str, object]:
    return {
        "device_type": record.device_type,
        "name": record.name,
        "vendor": record.vendor,
        "version": record.version,
        "origin": record.origin,
        "library": str(record.library),
        "manifest": None if record.manifest is None else str(record.manifest),
        "problem": record.problem,
    }
