"""What the layers of this process found and counted, as Python values and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from device_api.layers.stack import LayeredPlugin, layered_plugins


@dataclass(frozen=True)
class Finding:
    """One broken rule: its id, the side that broke it, the slot in which it was seen, and what happened.

    `count` is how often it was seen in this slot; `message` tells of the first time.
    """

    rule: str
    side: str
    slot: str
    message: str
    count: int = 1
    device_type: str = ""

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.rule} [{self.side}] {self.slot}: {self.message}{times}"


@dataclass(frozen=True)
class SlotStatistics:
    """Calls of one slot through a stats layer. Times are in nanoseconds."""

    slot: str
    calls: int
    failures: int
    total_ns: int
    max_ns: int


def _reports(layer: str, plugin: LayeredPlugin | None) -> Iterator[tuple[LayeredPlugin, Any]]:
    for item in layered_plugins() if plugin is None else (plugin,):
        if any(entry.name == layer for entry in item.stack):
            yield item, item.report(layer)


def findings(plugin: LayeredPlugin | None = None) -> tuple[Finding, ...]:
    """Everything the validate layers have found, of one plugin or of all, in the order of discovery."""
    return tuple(
        Finding(**row, device_type=item.device_type)
        for item, report in _reports("validate", plugin)
        for row in report
    )


def statistics(plugin: LayeredPlugin | None = None) -> dict[str, SlotStatistics]:
    """What the stats layers have counted: slot -> numbers, added up over plugins."""
    total: dict[str, SlotStatistics] = {}
    for _, report in _reports("stats", plugin):
        for row in report:
            new, old = SlotStatistics(**row), total.get(row["slot"])
            if old is not None:
                new = SlotStatistics(
                    new.slot,
                    new.calls + old.calls,
                    new.failures + old.failures,
                    new.total_ns + old.total_ns,
                    max(new.max_ns, old.max_ns),
                )
            total[new.slot] = new
    return total


def table(statistics: dict[str, SlotStatistics]) -> str:
    """The numbers as a table, the slot that took most time first."""
    rows = [("slot", "calls", "failures", "total ms", "mean us", "max us")]
    for item in sorted(statistics.values(), key=lambda item: -item.total_ns):
        rows.append(
            (
                item.slot,
                str(item.calls),
                str(item.failures),
                f"{item.total_ns / 1e6:.3f}",
                f"{item.total_ns / item.calls / 1e3:.3f}",
                f"{item.max_ns / 1e3:.3f}",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def summaries() -> Iterator[str]:
    """One text for each layer that has something to say at the end of the process."""
    for plugin in layered_plugins():
        for layer in plugin.stack:
            if layer.name == "stats":
                yield f"stats of {plugin.device_type}:\n{table(statistics(plugin))}"
            elif layer.name == "validate":
                found = findings(plugin)
                lines = "".join(f"\n  {item}" for item in found)
                yield f"validate {plugin.device_type}: {len(found)} finding{'s' * (len(found) != 1)}{lines}"
