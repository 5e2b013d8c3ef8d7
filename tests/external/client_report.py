"""What the client plugins share: which tests run, which are left out and why, and what the run must end with.

Only tests with device_api's arrays run; the rest of a file is another matter. A test that is left out is
named in clients/ with its reason. A name that leaves out nothing fails the run, as does a run without a
passed test.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

NAMESPACE = "device_api"


def exclusions(kind: str) -> dict[str, str]:
    """Pattern to reason, from clients/KIND.txt: a line of a pattern, then ` # ` and the reason."""
    found = {}
    for line in (Path(__file__).parent / "clients" / f"{kind}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" # ")
            if not reason.strip():
                raise pytest.UsageError(f"{kind}.txt leaves out {pattern} without a reason")
            found[pattern.strip()] = reason.strip()
    return found


class ClientRun:
    """A plugin of one run: chooses the tests, counts them, and turns an empty run into a failure."""

    def __init__(self, title: str, kind: str) -> None:
        self.title = title
        self.left_out = exclusions(kind)
        self.counts: Counter[str] = Counter()
        self.used: Counter[str] = Counter()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen, other = [], []
        for item in items:
            if NAMESPACE not in item.nodeid:
                other.append(item)
                continue
            pattern = next((each for each in self.left_out if re.search(each, item.nodeid)), None)
            if pattern is None:
                chosen.append(item)
            else:
                self.used[pattern] += 1
                other.append(item)
        config.hook.pytest_deselected(items=other)
        items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            expected = hasattr(report, "wasxfail")
            self.counts["xfailed" if expected and report.skipped else report.outcome] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.stale() or not self.counts["passed"]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def stale(self) -> list[str]:
        """Exclusions that leave out nothing."""
        return [each for each in self.left_out if not self.used[each]]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.write_line
        facts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items()))
        write(f"{self.title}'s own tests on device_api: {facts or 'none ran'}; {self.used.total()} left out")
        for pattern, count in self.used.items():
            write(f"  left out {count:4d}  {pattern}: {self.left_out[pattern]}")
        for pattern in self.stale():
            write(f"  {pattern} leaves out nothing: take it off the list")
