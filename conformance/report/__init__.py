"""Reports of a run: JSON, HTML, JUnit, a badge, and lines for a terminal."""

from conformance.report.badge import write_badge
from conformance.report.html import write_html
from conformance.report.junit import write_junit
from conformance.report.model import build_report, write_json

__all__ = ["build_report", "write_badge", "write_html", "write_json", "write_junit"]
