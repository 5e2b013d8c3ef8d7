"""The one test that pytest collects from the suite; each conformance case is a parameter of it."""

from __future__ import annotations

from conformance.pytest_plugin import CaseRunner


def test_case(conformance_case: tuple[str, bool], conformance_runner: CaseRunner) -> None:
    """The plugin passes the case of this name."""
    conformance_runner.run(*conformance_case)
