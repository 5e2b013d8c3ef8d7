"""What `device-api list` prints: the plugins that can be found. Opens no library and imports no vendor code.

Apart from the command itself (list_plugins.py), so that it can be printed without the import of Typer.
"""

from __future__ import annotations

from device_api.cli.output import print_json, print_table
from device_api.loading import PluginRecord, plugin_records


def show(*, as_json: bool) -> None:
    """Prints the plugins as a table, with the problem of each below it, or as JSON."""
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
