"""A pytest plugin that runs any test module on another device, and says what did not run there.

    DEVICE_UNDER_TEST=npu PYTHONPATH=tests/external pytest -p device_under_test tests/autograd

The device becomes the default one of the process, so that it serves every test which names none. Falling back
to the CPU is an error but for the op families in MAY_FALL_BACK, a list separated by commas; which ops did so,
and how often, stands at the end of the run.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

import device_api as da
from device_api.ops._table import BY_NAME

ALLOWED = frozenset(filter(None, os.environ.get("MAY_FALL_BACK", "").split(",")))


def pytest_configure() -> None:
    da.set_device(os.environ.get("DEVICE_UNDER_TEST", "cpu"))
    da.set_fallback("allow" if ALLOWED else "error")


def _fallen_back() -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in da.fallback_report():
        counts[entry.op] += entry.count
    return counts


def _forbidden() -> list[str]:
    return sorted(op for op in _fallen_back() if BY_NAME[op].family not in ALLOWED)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _forbidden():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = ", ".join(f"{op} {count}" for op, count in sorted(_fallen_back().items()))
    terminalreporter.write_line(f"ran on the CPU instead: {counts or 'nothing'}")
    if _forbidden():
        terminalreporter.write_line(f"which these may not: {', '.join(_forbidden())}", red=True)
