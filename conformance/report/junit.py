"""The report in the XML that continuous integration systems read (JUnit)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

# XML 1.0 has no place for these, and a plugin may print any of them.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_ELEMENTS = {
    "fail": "failure",
    "flaky": "failure",
    "crash": "error",
    "timeout": "error",
    "harness_error": "error",
    "not_supported": "skipped",
    "waived": "skipped",
}


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("�", text)


def write_junit(report: dict[str, Any], path: Path) -> None:
    """Writes one suite per level; problems of the run itself become failures of a suite named `run`."""
    root = ElementTree.Element("testsuites", name="device-api conformance", time=str(report["seconds"]))
    for level in sorted({result["level"] for result in report["results"]}):
        results = [result for result in report["results"] if result["level"] == level]
        _add_suite(root, level, results)
    if report["problems"]:
        problems = [
            {"name": f"run.problem.{number}", "status": "fail", "message": text, "seconds": 0}
            for number, text in enumerate(report["problems"], 1)
        ]
        _add_suite(root, "run", problems)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _add_suite(root: ElementTree.Element, level: str, results: list[dict[str, Any]]) -> None:
    kinds = [_ELEMENTS.get(result["status"]) for result in results]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=level,
        tests=str(len(results)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{sum(result['seconds'] for result in results):.3f}",
    )
    for result, kind in zip(results, kinds, strict=True):
        group, _, name = result["name"].rpartition(".")
        element = ElementTree.SubElement(
            suite, "testcase", classname=group, name=name, time=f"{result['seconds']:.6f}"
        )
        message = _clean(result.get("message", ""))
        if kind is not None:
            outcome = ElementTree.SubElement(element, kind, message=f"{result['status']}: {message}")
            if kind != "skipped":
                outcome.text = _clean(f"{message}\n{result.get('repro', '')}")
        elif message:
            ElementTree.SubElement(element, "system-out").text = message
        if result.get("output"):
            ElementTree.SubElement(element, "system-err").text = _clean(result["output"])
