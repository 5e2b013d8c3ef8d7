"""The named faults: which of them the suite catches, in the cases that must catch them.

The plugin without a fault runs every named case too, because a suite that fails good plugins proves nothing.
Each fault is switched on by name, and its cases run. A fault is killed when each of its globs has a case that
fails, crashes or exceeds its deadline; an error of the suite itself, or a glob that matches nothing, is no
kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from conformance.case import Result, Status
from conformance.kill.forks import ForkServer
from conformance.kill.report import Progress
from conformance.kill.table import DEADLINE, LIBRARY, TABLE, Fault, TableError, read_table

FOLDER = TABLE.parent
VARIABLE = "DEVICE_API_FAULT"
KILLS = frozenset({Status.FAIL, Status.CRASH, Status.TIMEOUT})
PASSES = frozenset({Status.PASS, Status.QUALITY_WARNING})


@dataclass(frozen=True, slots=True)
class Attempt:
    """One glob on one plugin. `case` is the case that decided, "" when none matched."""

    cases: str
    case: str
    status: str
    message: str
    seconds: float

    @classmethod
    def of(cls, cases: str, results: Sequence[Result], wanted: frozenset[Status]) -> Attempt:
        """The attempt for the results of a glob: the first result that is wanted decides, else the last."""
        if not results:
            return cls(cases, "", "no case", "no case of the plugin matches", 0.0)
        chosen = next((result for result in results if result.status in wanted), results[-1])
        message = " ".join(chosen.message.split())[:300]
        seconds = round(sum(result.seconds for result in results), 3)
        return cls(cases, chosen.name, str(chosen.status), message, seconds)


@dataclass(slots=True)
class FaultReport:
    """The answers of a run. `unfaulted` are the named cases that the good plugin did not pass."""

    folder: Path
    faults: dict[str, tuple[Fault, list[Attempt]]] = field(default_factory=dict)
    unfaulted: list[tuple[str, Attempt]] = field(default_factory=list)
    unfaulted_total: int = 0

    @property
    def survivors(self) -> list[str]:
        return [name for name, (_, attempts) in self.faults.items() if not _killed(attempts)]

    @property
    def good(self) -> bool:
        return bool(self.faults) and not self.survivors and not self.unfaulted

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "total": len(self.faults),
            "killed": len(self.faults) - len(self.survivors),
            "survivors": self.survivors,
            "unfaulted": {
                "cases": self.unfaulted_total,
                "not_passed": [{"base": base, **asdict(attempt)} for base, attempt in self.unfaulted],
            },
            "faults": [
                {
                    "name": fault.name,
                    "kind": fault.kind,
                    "base": fault.base,
                    "defect": fault.defect,
                    "killed": _killed(attempts),
                    "cases": [asdict(attempt) for attempt in attempts],
                }
                for fault, attempts in self.faults.values()
            ],
        }

    def lines(self) -> Iterator[str]:
        for base, attempt in self.unfaulted:
            yield f"without a fault ({base}), {attempt.cases}: {attempt.status}: {attempt.message}"
        for name in self.survivors:
            fault, attempts = self.faults[name]
            yield f"survives: {name} ({fault.defect})"
            for attempt in attempts:
                if attempt.status not in KILLS:
                    yield f"  {attempt.case or attempt.cases}: {attempt.status} {attempt.message}".rstrip()
        killed = len(self.faults) - len(self.survivors)
        yield (
            f"named faults: {killed} of {len(self.faults)} killed; the plugin without a fault passes "
            f"{self.unfaulted_total - len(self.unfaulted)} of {self.unfaulted_total} named cases"
        )


def _killed(attempts: Iterable[Attempt]) -> bool:
    return all(attempt.status in KILLS for attempt in attempts)


@dataclass(frozen=True, slots=True)
class _Job:
    """One run of a glob: with a fault, or on a base without one."""

    switch: str
    cases: str
    library: str
    deadline: float


def good_name(base: str) -> str:
    """The name that switches on a base without a fault."""
    return f"none_{base}"


def run(quick: bool, jobs: int, progress: Progress, *, folder: Path = FOLDER, glob: str = "*") -> FaultReport:
    """Runs the faults whose names match; `quick` runs only the first case of each.

    Raises FileNotFoundError without the plugin, TableError when the table is malformed or nothing matches.
    """
    faults = [fault for fault in read_table() if fnmatchcase(fault.name, glob)]
    if not faults:
        raise TableError(f"no fault matches {glob!r}")
    for library in sorted({LIBRARY, *(fault.library for fault in faults)}):
        if not (folder / library).is_file():
            raise FileNotFoundError(
                f"{folder / library}: no such library; build it with -DDEVICE_API_IN_PLACE=ON "
                "-DDEVICE_API_TEST_PLUGINS=ON"
            )
    chosen = {fault.name: fault.cases[:1] if quick else fault.cases for fault in faults}
    good = {
        _Job(good_name(fault.base), cases, LIBRARY, DEADLINE)
        for fault in faults
        if not fault.only_with_fault
        for cases in chosen[fault.name]
    }
    bad = {
        (fault.name, cases): _Job(fault.name, cases, fault.library, fault.deadline)
        for fault in faults
        for cases in chosen[fault.name]
    }
    # What may wait for a deadline goes first, so that no one waits for it at the end.
    queue = sorted({*good, *bad.values()}, key=lambda job: (job.deadline, job.switch, job.cases))
    answers = _answers(folder, queue, jobs, progress)
    report = FaultReport(folder, unfaulted_total=len(good))
    for job in sorted(good, key=lambda job: (job.switch, job.cases)):
        results = answers[job]
        attempt = Attempt.of(job.cases, results, frozenset(Status) - PASSES)
        if not results or attempt.status not in PASSES:
            report.unfaulted.append((job.switch, attempt))
    for fault in faults:
        attempts = [Attempt.of(cases, answers[bad[fault.name, cases]], KILLS) for cases in chosen[fault.name]]
        report.faults[fault.name] = (fault, attempts)
    return report


def _answers(folder: Path, queue: Sequence[_Job], jobs: int, progress: Progress) -> dict[_Job, list[Result]]:
    servers: SimpleQueue[ForkServer] = SimpleQueue()
    started = [ForkServer() for _ in range(min(jobs, len(queue)))]
    for server in started:
        servers.put(server)

    def answer(job: _Job) -> list[Result]:
        server = servers.get()
        try:
            return server.run(folder / job.library, job.cases, job.deadline, {VARIABLE: job.switch})
        finally:
            servers.put(server)

    answers = {}
    try:
        with progress("named faults", len(queue)) as advance, ThreadPoolExecutor(len(started)) as pool:
            for job, results in zip(queue, pool.map(answer, queue), strict=True):
                answers[job] = results
                advance()
    finally:
        for server in started:
            server.close()
    return answers
