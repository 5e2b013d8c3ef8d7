"""The suite inside pytest: `pytest --pyargs conformance --device npu:0`, for a vendor's own tests.

Every conformance case becomes one test with the case's name; cases still run in worker processes, so a crash
fails one test. The rules about empty runs hold here too. Loaded by pytest's entry point, so importing this
module must be cheap and touch no plugin.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.runner.pool import Pool

OPTIONS = (
    ("--device", {"help": "conformance: device string, library or manifest to test", "metavar": "TARGET"}),
    ("--conformance-quick", {"action": "store_true", "help": "conformance: the short run"}),
    ("--conformance-seed", {"type": int, "default": 0, "help": "conformance: seed of all inputs"}),
    ("--conformance-deadline", {"type": float, "help": "conformance: seconds for each case"}),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("device_api conformance")
    for name, settings in OPTIONS:
        # Another plugin may have an option of this name: then that one is read.
        try:
            group.addoption(name, **settings)
        except ValueError:
            continue


class CaseRunner:
    """Runs one case after another in a warm worker, and counts what was really executed."""

    def __init__(self, target: str, seed: int, deadline: float | None) -> None:
        from conformance.case import Result
        from conformance.execution import DEADLINE
        from conformance.runner.pool import Pool, Settings

        self.settings = Settings(target, jobs=1, seed=seed, deadline=deadline or DEADLINE)
        self.executed = 0
        self._results: list[Result] = []
        self.pool: Pool = Pool(self.settings, self._results.append)

    def cases(self, quick: bool) -> list[tuple[str, bool]]:
        """(name, own process) of the cases of the target."""
        from conformance.case import Entry

        answer, ended = self.pool.ask({"do": "list"}, max(self.settings.deadline, 10.0))
        if answer is None or "cases" not in answer:
            reason = ended or (answer or {}).get("unavailable") or (answer or {}).get("broken")
            raise pytest.UsageError(f"{self.settings.spec} cannot be tested: {reason}")
        entries = (Entry(*each) for each in answer["cases"])
        return [(entry.name, entry.own_process) for entry in entries if entry.quick or not quick]

    def run(self, name: str, own_process: bool) -> None:
        """Runs a case; ends as the test should end."""
        from conformance.case import BAD, Status
        from conformance.execution import repro_line
        from conformance.runner.pool import Job

        self._results.clear()
        self.settings.reruns = max(self.settings.reruns, 1)
        self.pool.run([Job(name, own_process)])
        (result,) = self._results
        if result.status is Status.NOT_SUPPORTED:
            pytest.skip(result.message)
        self.executed += 1
        if result.status in BAD:
            repro = repro_line(self.settings.spec, name, self.settings.seed, self.settings.deadline)
            pytest.fail(f"{result.status}: {result.message}\n{result.output}\n{repro}", pytrace=False)
        if result.status is Status.QUALITY_WARNING:
            warnings.warn(result.message, stacklevel=2)


_RUNNER = pytest.StashKey[CaseRunner]()


def _runner(config: pytest.Config) -> CaseRunner:
    from conformance.selection import UsageError
    from conformance.target import Unavailable, locate

    if _RUNNER not in config.stash:
        target = config.getoption("--device")
        if not target:
            raise pytest.UsageError("the conformance cases need --device TARGET, for example --device npu:0")
        try:
            locate(target)
        except (UsageError, Unavailable) as error:
            raise pytest.UsageError(str(error)) from error
        config.stash[_RUNNER] = CaseRunner(
            target, config.getoption("--conformance-seed"), config.getoption("--conformance-deadline")
        )
    return config.stash[_RUNNER]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "conformance_case" in metafunc.fixturenames:
        cases = _runner(metafunc.config).cases(metafunc.config.getoption("--conformance-quick"))
        metafunc.parametrize("conformance_case", cases, ids=[name for name, _ in cases])


@pytest.fixture(scope="session")
def conformance_runner(request: pytest.FixtureRequest) -> CaseRunner:
    """Runs cases in worker processes."""
    return _runner(request.config)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in which every case was skipped proves nothing."""
    runner = session.config.stash.get(_RUNNER, None)
    if runner is None:
        return
    runner.pool.close()
    collected = session.testscollected and not session.config.option.collectonly
    if collected and not runner.executed and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    runner = config.stash.get(_RUNNER, None)
    if runner is not None and not config.option.collectonly:
        terminalreporter.write_line(f"conformance of {runner.settings.spec}: {runner.executed} executed")
