"""How commands print: a JSON document for programs, Rich tables for people.

Rich is imported only when a table is printed, because it costs as much as everything else that `device-api
list` does. This module knows nothing of plugins or devices.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence


def print_json(document: object) -> None:
    """Prints a document as JSON, keys in the order given."""
    print(json.dumps(document, indent=1))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table; text is taken literally, never as Rich markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # In a pipe there is no width to fit: a path that is folded cannot be searched or copied.
    Console(width=None if sys.stdout.isatty() else 400).print(table)


def bytes_text(count: int) -> str:
    """A number of bytes with a binary unit: 1536 is "1.5 KiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
