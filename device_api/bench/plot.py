"""A measurement as a picture: one bar for each case, in SVG that stands in an HTML page and needs no script.

Texts are escaped; colours and sizes are attributes, so a page may forbid everything else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from device_api.bench.units import duration, rate

ROW, LEFT, WIDTH, RIGHT = 18, 360, 420, 260


def bars(document: Mapping[str, Any]) -> Any:
    """Time per call on a logarithmic scale, throughput as the darker bar and latency as the mark; markup that
    templates take as it is."""
    from markupsafe import Markup

    rows = document["rows"]
    if not rows:
        return Markup("<p>No case was measured.</p>")
    low, high = _decades([value for row in rows for value in (row["seconds"], row["latency"])])
    lines = [*_grid(low, high, len(rows))]
    for place, row in enumerate(rows):
        lines += _bar(row, place, low, high)
    height = (len(rows) + 2) * ROW
    width = LEFT + WIDTH + RIGHT
    body = "\n".join(lines)
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">\n{body}\n</svg>'
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    return low, max(high, low + 1)


def _x(value: float, low: int, high: int) -> float:
    place = (math.log10(value) - low) / (high - low) if value > 0 else 0.0
    return LEFT + WIDTH * min(1.0, max(0.0, place))


def _grid(low: int, high: int, count: int) -> list[str]:
    lines = []
    for power in range(low, high + 1):
        x = _x(10.0**power, low, high)
        lines.append(
            f'<line x1="{x:.1f}" y1="{ROW}" x2="{x:.1f}" y2="{(count + 1) * ROW}" stroke="#d7dae0"/>'
            f'<text x="{x:.1f}" y="12" text-anchor="middle" fill="#666">{duration(10.0**power)}</text>'
        )
    return lines


def _bar(row: Mapping[str, Any], place: int, low: int, high: int) -> list[str]:
    top = (place + 1) * ROW
    end, mark = _x(row["seconds"], low, high), _x(row["latency"], low, high)
    facts = [duration(row["seconds"])]
    if "bytes_per_second" in row:
        facts.append(rate(row["bytes_per_second"], "B/s"))
    if "flops_per_second" in row:
        facts.append(rate(row["flops_per_second"], "FLOP/s"))
    facts += [f"{ratio:.2f} × {peer}" for peer, ratio in row["ratio"].items()]
    title = (
        f"{row['name']}: {duration(row['seconds'])} ± {duration(row['seconds_mad'])} per call, "
        f"latency {duration(row['latency'])} ± {duration(row['latency_mad'])}"
    )
    middle = top + ROW * 0.7
    return [
        f"<g><title>{escape(title)}</title>",
        f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end">{escape(_short(row["name"]))}</text>',
        f'<rect x="{LEFT}" y="{top + 3}" width="{max(1.0, end - LEFT):.1f}" height="{ROW - 6}" '
        f'fill="#3b6ea5"/>',
        f'<line x1="{mark:.1f}" y1="{top + 1}" x2="{mark:.1f}" y2="{top + ROW - 1}" stroke="#b26a00" '
        f'stroke-width="2"/>',
        f'<text x="{LEFT + WIDTH + 8}" y="{middle:.1f}" fill="#444">{escape(", ".join(facts))}</text></g>',
    ]


def _short(name: str) -> str:
    return name if len(name) <= 58 else f"{name[:57]}…"


def page(document: Mapping[str, Any]) -> str:
    """A whole HTML page about a measurement."""
    device = escape(str(document["device"]))
    failures = "".join(
        f"<li>{escape(each['name'])} on {escape(each['device'])}: {escape(each['message'])}</li>"
        for each in document["failures"]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Speed of {device}</title>
<style>body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1c1f24; }}</style>
</head>
<body>
<h1>Speed of {device}</h1>
<p>Time per call, logarithmic. Bars: many calls and one wait. Marks: one call and the wait for it. A title has
the medians with their median deviations.</p>
{bars(document)}
{f"<h2>Could not run</h2><ul>{failures}</ul>" if failures else ""}
</body>
</html>
"""
