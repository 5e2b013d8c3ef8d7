"""One conformance run from target to verdict.

Chooses the cases, runs them in the pool, applies waivers, looks for the ways in which a run can be worthless
(nothing executed, a filter that matches nothing, a stale waiver), and writes the reports. Everything it knows
about the plugin comes from worker processes: this process never opens it.
"""

from __future__ import annotations

import datetime
import importlib
import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import environment
from conformance.case import BAD, LEVELS, Entry, Result, Status
from conformance.claim.bundle import write_bundle
from conformance.performance import measure_speed
from conformance.report import build_report, write_badge, write_html, write_json, write_junit
from conformance.report.progress import make_progress
from conformance.runner.journal import Journal
from conformance.runner.pool import HarnessFailure, Job, Pool, Settings
from conformance.selection import Selection, Shard, UsageError
from conformance.target import Location, Unavailable, locate
from conformance.verdict import EXIT_FAILED, EXIT_UNAVAILABLE, EXIT_USAGE
from conformance.waivers import Waiver, read_waivers

DEADLINE = 30.0
PathLike = str | os.PathLike[str]


@dataclass(slots=True)
class Outcome:
    """The verdict. `summary` has a count per status and `executed`; `problems` are faults of the run itself;
    `report` is the JSON report; `message` says why a run did not take place."""

    exit_code: int
    summary: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    message: str = ""


def run(
    target: str,
    *,
    levels: Sequence[str] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    seed: int = 0,
    jobs: int | None = None,
    quick: bool = False,
    deadline: float | None = None,
    journal: PathLike | None = None,
    resume: bool = False,
    shard: str | None = None,
    json_path: PathLike | None = None,
    html_path: PathLike | None = None,
    junit_path: PathLike | None = None,
    badge_path: PathLike | None = None,
    bundle_path: PathLike | None = None,
    waivers: PathLike | None = None,
    progress: bool | None = None,
    artifacts: PathLike | None = None,
    performance: bool = False,
    imports: Sequence[str] = (),
) -> Outcome:
    """Runs the suite on a device string or a library.

    `deadline` is in seconds per case; `shard` is "index/count"; `progress` draws a bar on stderr (None: on a
    terminal, and else a line each half minute); `artifacts` is the folder for the inputs of failures;
    `bundle_path` is for the archive that others can verify; `performance` measures the device afterwards;
    `imports` are modules to import first, which declare custom ops and their cases. Nothing is raised for a
    bad request or a bad plugin: the outcome's exit code is 0 good, 1 failed, 2 usage, 3 device unavailable.
    """
    try:
        if resume and journal is None:
            raise UsageError("resume needs a journal to resume from")
        if jobs is not None and jobs < 1:
            raise UsageError(f"jobs must be at least 1, not {jobs}")
        if seed < 0:
            raise UsageError(f"seed must not be negative, it is {seed}")
        if deadline is not None and not deadline > 0:
            raise UsageError(f"deadline must be a number of seconds greater than 0, not {deadline}")
        _import(imports)
        selection = Selection(
            levels=LEVELS if levels is None else tuple(levels),
            include=tuple(include),
            exclude=tuple(exclude),
            quick=quick,
            shard=None if shard is None else Shard.parse(shard),
        )
        request = _Run(
            location=locate(target),
            selection=selection,
            waivers=() if waivers is None else read_waivers(Path(waivers)),
            settings=Settings(
                spec=target,
                jobs=jobs or min(8, os.cpu_count() or 1),
                seed=seed,
                deadline=deadline or DEADLINE,
                save=str(artifacts) if artifacts is not None else _artifact_folder(json_path, html_path),
                imports=tuple(imports),
            ),
            progress=progress,
            performance=performance,
        )
        outcome = request.execute(journal, resume)
        if bundle_path is not None:
            write_bundle(
                outcome.report,
                Path(bundle_path),
                library=request.location.library,
                waivers=None if waivers is None else Path(waivers),
                manifest=request.location.manifest,
            )
    except UsageError as error:
        return Outcome(EXIT_USAGE, message=str(error))
    except Unavailable as error:
        return Outcome(EXIT_UNAVAILABLE, message=str(error))
    except HarnessFailure as error:
        return Outcome(EXIT_FAILED, message=str(error), problems=[str(error)])
    write_reports(outcome.report, json_path, html_path, junit_path, badge_path)
    return outcome


def write_reports(
    report: dict[str, Any],
    json_path: PathLike | None = None,
    html_path: PathLike | None = None,
    junit_path: PathLike | None = None,
    badge_path: PathLike | None = None,
) -> None:
    """Writes the forms of a report that have a path."""
    forms = (
        (json_path, write_json),
        (html_path, write_html),
        (junit_path, write_junit),
        (badge_path, write_badge),
    )
    for path, write in forms:
        if path is not None:
            write(report, Path(path))


def _artifact_folder(*reports: PathLike | None) -> str:
    """Beside the report, else in the working folder."""
    folder = next((Path(path).parent for path in reports if path is not None), Path())
    return str(folder / "conformance-failures")


def repro_line(target: str, name: str, seed: int, deadline: float, imports: Sequence[str] = ()) -> str:
    """The command that repeats one case."""
    more = "" if deadline == DEADLINE else f" --deadline {deadline:g}"
    more += "".join(f" --import {shlex.quote(module)}" for module in imports)
    return f"device-api conformance {shlex.quote(target)} --include {shlex.quote(name)} --seed {seed}{more}"


def _import(modules: Sequence[str]) -> None:
    """Here too, so that a module that cannot be imported is a usage error and no dead worker."""
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise UsageError(
                f"module {module!r} cannot be imported: {type(error).__name__}: {error}"
            ) from error


@dataclass(slots=True)
class _Run:
    location: Location
    selection: Selection
    waivers: tuple[Waiver, ...]
    settings: Settings
    progress: bool | None
    performance: bool
    device: dict[str, Any] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    peak_memory: int = 0

    def execute(self, journal_path: PathLike | None, resume: bool) -> Outcome:
        began = time.monotonic()
        started_at = datetime.datetime.now(datetime.UTC)
        try:
            sha256 = environment.sha256(self.location.library)
        except OSError as error:
            raise UsageError(f"target {self.settings.spec!r}: {error}") from error
        cases = self._list()
        known = [case.name for case in cases]
        chosen = [case for case in cases if self.selection.chooses(case.name, case.quick)]
        selected = [
            Job(case.name, case.own_process, capabilities=case.capabilities)
            for case in chosen
            if self.selection.in_shard(case.name)
        ]
        self.problems += [
            f"filter {glob!r} matches no case of this target" for glob in self.selection.unmatched(known)
        ]
        header = {
            "target": self.settings.spec,
            "library_sha256": sha256,
            "suite_version": environment.suite_version(),
            "seed": self.settings.seed,
        }
        journal = self._journal(journal_path, header, resume)
        try:
            self._run(selected, journal)
        finally:
            if journal is not None:
                journal.close()
        if environment.sha256(self.location.library) != sha256:
            self.problems.append(f"{self.location.library} changed while it was tested")
        missing = {job.name for job in selected} - {result.name for result in self.results}
        self.problems += [f"case {name} was selected and gave no result" for name in sorted(missing)]
        report = build_report(
            results=self.results,
            run_problems=self.problems,
            waivers=[waiver.counted(known) for waiver in self.waivers],
            target={**header, "library": str(self.location.library), "device": self.device},
            selection=self.selection,
            settings=self.settings,
            known=known,
            selected=[case.name for case in chosen],
            started_at=started_at,
            seconds=time.monotonic() - began,
            peak_memory=self.peak_memory,
        )
        if self.performance:
            report["performance"] = measure_speed(self.location)
        return Outcome(report["exit_code"], report["summary"], report["problems"], self.results, report)

    def _journal(self, path: PathLike | None, header: dict[str, Any], resume: bool) -> Journal | None:
        if path is None:
            return None
        return Journal(Path(path), {**header, "variables": environment.variables()}, resume)

    def _list(self) -> list[Entry]:
        """Asks a worker for the cases of the target. A plugin that cannot be listed gets the cases that need
        no list, and one failing result in place of the others."""
        from conformance.cases import registered_entries

        pool = Pool(self.settings, self.results.append)
        answer, ended = pool.ask({"do": "list"}, max(self.settings.deadline, 10.0))
        pool.close()
        if answer is not None and "unavailable" in answer:
            raise Unavailable(answer["unavailable"])
        if answer is not None and "cases" in answer:
            self.device = answer["device"]
            return [Entry(*case) for case in answer["cases"]]
        name = "abi.open"
        status, message = Status.FAIL, str((answer or {}).get("broken", ended or answer))
        if answer is None:
            status = Status.TIMEOUT if ended.startswith("no answer") else Status.CRASH
        self.results.append(
            Result(name, "abi", status, f"the device cannot be opened: {message}", seed=self.settings.seed)
        )
        self.results[-1].repro = self._repro(name)
        return [case for case in registered_entries() if case.name.startswith("abi.")]

    def _repro(self, name: str) -> str:
        settings = self.settings
        return repro_line(settings.spec, name, settings.seed, settings.deadline, settings.imports)

    def _run(self, selected: list[Job], journal: Journal | None) -> None:
        done = {result.name: result for result in journal.results} if journal is not None else {}
        wanted = [job for job in selected if job.name not in {result.name for result in self.results}]
        self.results += [done[job.name] for job in wanted if job.name in done]
        rest = [job for job in wanted if job.name not in done]
        # Cases that need a process of their own take longest: they go first, so that no one waits at the end.
        rest.sort(key=lambda job: not job.own_process)
        with make_progress(self.progress, len(selected), self.results) as advance:
            pool = Pool(self.settings, self._finish(journal, advance))
            try:
                pool.run(rest)
            finally:
                pool.close()
                self.peak_memory = pool.peak_memory

    def _finish(self, journal: Journal | None, advance: Callable[[Result], None]) -> Callable[[Result], None]:
        def finished(result: Result) -> None:
            if result.status in BAD:
                result.repro = self._repro(result.name)
            self.results.append(result)
            if journal is not None:
                journal.add(result)
            advance(result)

        return finished
