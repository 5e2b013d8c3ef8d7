"""Checks a claim of conformance: is it whole, does it agree with itself, and is it about this library?

Everything but the spot check works without network, device and vendor code. Each check is one finding, good
or bad, with words for a person. What no such check can prove is said as well.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import environment
from conformance.case import LEVELS, Result, Status
from conformance.claim.bundle import Bundle
from conformance.reading import results_of
from conformance.report.model import judged, op_and_dtype
from conformance.verdict import names_hash
from conformance.waivers import Waiver, without_waivers

CANNOT_PROVE = (
    "who made the claim: a bundle is not signed; sign the file with the tools that you use for releases",
    "that the results were measured: somebody who writes a whole consistent report by hand, hashes included, "
    "is found only by running cases again (--library with --rerun)",
    "that driver, firmware and device of another machine behave like those of the run",
)
# Layers through which a conforming plugin stays conforming.
HARMLESS_LAYERS = frozenset({"validate", "trace", "stats"})
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    good: bool
    text: str


def verify(bundle: Bundle, *, library: Path | None = None, rerun: int = 0) -> list[Finding]:
    """All findings about a claim.

    `library` is the file that the claim should be about; with it the list of cases is asked of the library
    itself, which opens it in a worker process. `rerun` is the number of cases that are run again there.
    """
    checks: list[tuple[str, Callable[[], Iterator[str]]]] = [
        ("integrity", lambda: iter(bundle.damage)),
        ("suite", lambda: _suite(bundle)),
        ("selection", lambda: _selection(bundle.report)),
        ("cases", lambda: _cases(bundle)),
        ("environment", lambda: _environment(bundle.report["environment"])),
        ("results", lambda: _results(bundle.report)),
        ("verdict", lambda: _verdict(bundle.report)),
        ("waivers", lambda: _waivers(bundle.report)),
    ]
    if library is not None:
        checks.append(("library", lambda: _library(bundle, library)))
        if rerun > 0:
            checks.append(("spot check", lambda: _rerun(bundle.report, library, rerun)))
    return [_finding(name, list(check())) for name, check in checks]


def _finding(name: str, problems: Sequence[str]) -> Finding:
    more = f", and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return Finding(name, not problems, ("; ".join(problems[:SHOWN]) + more) if problems else "good")


def _suite(bundle: Bundle) -> Iterator[str]:
    here, there = environment.suite_version(), bundle.report["suite_version"]
    if there != here:
        yield f"made with suite {there}, this is {here}: verify with the suite that made it"
    if not there == bundle.contents["suite_version"] == bundle.report["target"]["suite_version"]:
        yield "the report and its contents name different suites"


def _selection(report: Mapping[str, Any]) -> Iterator[str]:
    chosen = report["selection"]
    if chosen["levels"] != list(LEVELS):
        yield f"only the levels {', '.join(chosen['levels'])} were run"
    for key in ("include", "exclude"):
        if chosen[key]:
            yield f"a filter was in force: {key} {', '.join(chosen[key])}"
    if chosen["quick"]:
        yield "it was the quick run"
    if chosen["shard"] is not None:
        yield f"only shard {chosen['shard']} was run"


def _cases(bundle: Bundle) -> Iterator[str]:
    """The list in the bundle, in the results and in the report's hashes is one; and it has what the suite has
    for every plugin."""
    from conformance.cases import registered_entries

    report, listed = bundle.report, set(bundle.cases)
    names = {result["name"] for result in report["results"]}
    if len(listed) != len(bundle.cases):
        yield "the list of cases names one twice"
    for name in sorted(listed - names):
        yield f"case {name} has no result"
    for name in sorted(names - listed):
        yield f"the result of {name} belongs to no case of the list"
    digest = names_hash(listed)
    for kind in ("known", "selected"):
        if report["cases"][kind] != len(listed) or report["cases"][f"{kind}_sha256"] != digest:
            yield f"the list of {len(listed)} cases is not that of the {report['cases'][kind]} {kind} ones"
    if report["suite_version"] == environment.suite_version():
        for entry in registered_entries():
            if entry.name not in listed:
                yield f"the suite has the case {entry.name}, the claim has not"
        for prefix in sorted(_compulsory() - {name.rsplit(".", 1)[0] for name in listed}):
            yield f"the suite has cases {prefix}.*, the claim has none"


def _compulsory() -> set[str]:
    """Every primitive and dtype has a case, claimed or not: "ops.add.float32"."""
    import device_api.dtypes as dtypes
    from device_api.ops._table import OPS

    return {
        f"ops.{spec.name}.{dtypes.NAMES[code]}"
        for spec in OPS
        if spec.level == "primitive" and spec.types
        for code in spec.types[0][1]
    }


def _environment(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["fallback"] != environment.FALLBACK:
        yield f"fallback to the CPU was set to {facts['fallback']!r}"
    layers = re.sub(r"\([^)]*\)", "", facts["variables"].get("DEVICE_API_LAYERS", ""))
    for layer in (text.strip() for text in layers.split(",") if text.strip()):
        if layer not in HARMLESS_LAYERS:
            yield f"the layer {layer} stood between suite and plugin"


def _results(report: Mapping[str, Any]) -> Iterator[str]:
    """What a result cannot say of itself unless somebody changed it."""
    seed = report["selection"]["seed"]
    for result in results_of(report):
        measure = result.measure or {}
        if result.seed != seed:
            yield f"{result.name} ran with seed {result.seed}, the run had {seed}"
        if result.status is Status.PASS:
            if result.repro or result.facts or result.shrunk or result.attempts != 1 or result.waiver:
                yield f"{result.name} passes and has the marks of a failure"
            key = op_and_dtype(result.name)
            if key is not None and result.name.endswith(".claim") and not measure.get("launches"):
                yield f"{result.name} passes, though no kernel was launched"
            # One unit more for the oracle's own rounding.
            if measure.get("max_ulp", 0.0) > measure.get("tolerance", float("inf")) + 1:
                yield f"{result.name} passes with an error above its tolerance"
        if result.status is Status.NOT_SUPPORTED and measure.get("launches"):
            yield f"{result.name} is not supported, though its kernel was launched"
        if (result.status is Status.WAIVED) != bool(result.waiver and result.waived):
            yield f"{result.name} is waived by no waiver, or not waived by one"


def _verdict(report: Mapping[str, Any]) -> Iterator[str]:
    """The report's tables are those that follow from its results, and they are good."""
    again = _judged_again(report, _started(report))
    for key in ("exit_code", "summary", "problems", "coverage", "accuracy", "capabilities", "launches"):
        if again[key] != report[key]:
            yield f"{key} of the report does not follow from its results"
    statuses = [(result["name"], result["status"]) for result in report["results"]]
    if statuses != [(result["name"], result["status"]) for result in again["results"]]:
        yield "statuses do not follow from the results and the waivers"
    if report["exit_code"] != 0:
        yield f"the run failed: {', '.join(report['problems'][:SHOWN]) or 'a case is bad'}"


def _judged_again(report: Mapping[str, Any], day: datetime.date) -> dict[str, Any]:
    results: list[Result] = results_of(report)
    without_waivers(results)
    waivers = [Waiver.from_json(record) for record in report["waivers"]]
    return judged(results, report["run_problems"], waivers, report["cases"]["known"], day)


def _started(report: Mapping[str, Any]) -> datetime.date:
    return datetime.datetime.fromisoformat(report["started_at"]).date()


def _waivers(report: Mapping[str, Any]) -> Iterator[str]:
    """Waivers may have expired since, and they count the cases that they name."""
    names = [result["name"] for result in report["results"]]
    for record in report["waivers"]:
        waiver = Waiver.from_json(record)
        if waiver.expires < datetime.datetime.now(datetime.UTC).date():
            yield f"a waiver has expired since: {waiver}"
        if waiver.counted(names).matches != waiver.matches:
            yield f"a waiver names another number of cases than it says: {waiver}"


def _library(bundle: Bundle, library: Path) -> Iterator[str]:
    from conformance.runner.pool import Pool, Settings

    try:
        sha256 = environment.sha256(library)
    except OSError as error:
        yield f"{library}: {error.strerror}"
        return
    if not sha256 == bundle.contents["library"]["sha256"] == bundle.report["target"]["library_sha256"]:
        yield f"{library} is another library: its SHA-256 is {sha256}"
        return
    pool = Pool(Settings(str(library), jobs=1, seed=0, deadline=30.0), lambda result: None)
    answer, ended = pool.ask({"do": "list"}, 30.0)
    pool.close()
    if answer is None or "cases" not in answer:
        reason = ended or (answer or {}).get("unavailable") or (answer or {}).get("broken")
        yield f"the library cannot be asked for its cases here: {reason}"
    elif {case[0] for case in answer["cases"]} != set(bundle.cases):
        yield "the library has other cases here than in the claim: it claims other ops and dtypes"


def _rerun(report: Mapping[str, Any], library: Path, count: int) -> Iterator[str]:
    """Runs some cases again, chosen anew each time, so that nobody can prepare for them."""
    from conformance.execution import run

    executed = [r["name"] for r in report["results"] if r["status"] != Status.NOT_SUPPORTED]
    chosen = random.SystemRandom().sample(executed, min(count, len(executed)))
    claimed = {result["name"]: result.get("waived") or result["status"] for result in report["results"]}
    outcome = run(
        str(library), include=[re.sub(r"([*?[])", r"[\1]", name) for name in chosen],
        seed=report["selection"]["seed"], deadline=report["selection"]["deadline"], progress=False,
    )  # fmt: skip
    if outcome.message:
        yield f"the cases could not be run again: {outcome.message}"
    found = {result.name: str(result.status) for result in outcome.results}
    for name in chosen:
        if found.get(name) != claimed[name]:
            yield f"{name} is {found.get(name, 'not run')} here, claimed was {claimed[name]}"
