"""The verdict as a small picture (SVG) for a project's front page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

GOOD, BAD, PARTIAL = "#1a7f37", "#c62828", "#b26a00"
LABEL = "device_api conformance"
# Widths of letters differ between fonts; textLength makes the text fit.
LETTER, PADDING = 6.6, 10


def badge(report: dict[str, Any]) -> str:
    """ "device_api conformance | 5600 passed": green for a whole run without a fault, amber for a part of
    one."""
    summary, selection = report["summary"], report["selection"]
    bad = sum(summary[status] for status in ("fail", "crash", "timeout", "flaky", "harness_error"))
    partial = report["cases"]["selected"] != report["cases"]["known"] or selection["shard"] is not None
    if report["exit_code"]:
        text, colour = (f"{bad} failing" if bad else "failed"), BAD
    elif partial:
        text, colour = f"{summary['pass']} passed, partial", PARTIAL
    else:
        text, colour = f"{summary['pass']} passed", GOOD
    left, right = (round(len(words) * LETTER) + PADDING for words in (LABEL, text))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(LABEL)}: {escape(text)}">\n'
        f"<title>{escape(LABEL)}: {escape(text)}</title>\n"
        f'<rect width="{left}" height="20" fill="#444b55"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>\n'
        f'<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">\n'
        f'<text x="{left / 2}" y="14" textLength="{left - PADDING}">{escape(LABEL)}</text>\n'
        f'<text x="{left + right / 2}" y="14" textLength="{right - PADDING}">{escape(text)}</text>\n'
        f"</g>\n</svg>\n"
    )


def write_badge(report: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(badge(report), encoding="utf-8")
