"""One run: sources to mutants, mutants to a plugin, and each mutant of the sample to its verdict."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.kill.mutants import explained, scope
from conformance.kill.mutants.build import build
from conformance.kill.mutants.execute import Processes, Reach, Verdict, judge, list_cases, reach
from conformance.kill.mutants.parse import Source, attribute_macros, parse
from conformance.kill.mutants.report import Judged, MutantReport
from conformance.kill.mutants.schemata import Mutant, Place, places, sample, switched
from conformance.kill.report import Progress

_ROOT = Path(__file__).parents[3]
# How many seconds of cases (as long as they take without a mutant) a mutant meets before it counts as
# survivor. Stopping early can only make the share smaller. An explained one meets fewer: they show whether
# the entry lies.
_PATIENCE, _EXPLAINED_PATIENCE = 8.0, 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much a run does. `size` is that of the sample, None for all mutants."""

    size: int | None
    patience: float
    quick_cases: bool


# All of them would take an hour on two cores: a sample by seed, which says of how many.
FULL = Plan(size=600, patience=_PATIENCE, quick_cases=False)
QUICK = Plan(size=120, patience=2.0, quick_cases=True)


@dataclass(frozen=True, slots=True)
class Code:
    """The parsed sources and their mutants."""

    sources: tuple[Source, ...]
    places: dict[str, list[Place]]

    @property
    def mutants(self) -> list[Mutant]:
        return [mutant for found in self.places.values() for place in found for mutant in place.mutants]


def read_code(folder: Path) -> Code:
    """Parses the sources of a folder."""
    paths = {path.relative_to(folder).as_posix(): path.read_bytes() for path in scope.sources(folder)}
    macros = attribute_macros(paths.values())
    sources = tuple(parse(name, text, macros) for name, text in paths.items())
    return Code(sources, {each.name: places(each) for each in sources if scope.is_mutated(each.name)})


def run(
    quick: bool,
    jobs: int,
    progress: Progress,
    *,
    seed: int = 0,
    folder: Path = _ROOT / "reference_cpu",
    entries: Sequence[explained.Entry] | None = None,
    plan: Plan | None = None,
    work: Path = _ROOT / "build" / "mutants",
) -> MutantReport:
    """Mutates the sources of `folder` and runs the ops level against each mutant of the sample.

    `jobs` are processes; `seed` chooses the sample; `entries` are the explained mutants, by default those of
    the list; `work` keeps what was compiled. Raises NoSources, BuildFailure, BadBaseline, ServerFailure,
    ListFault.
    """
    plan = plan or (QUICK if quick else FULL)
    clock = _Clock()
    with clock.measures("parse"):
        code = read_code(folder)
        everything = code.mutants
        known, stale = explained.match(explained.read() if entries is None else entries, everything)
        chosen = sample(everything, plan.size, seed)
    problems = [f"explained mutant matches nothing, the entry is stale: {entry}" for entry in stale]
    for source in code.sources:
        if source.name in code.places and source.faults():
            lines = ", ".join(map(str, source.faults()))
            problems.append(f"{source.name}: the parser does not understand line {lines}: no mutants there")
    if not chosen:
        return MutantReport(len(everything), seed, quick, 0, [], problems)
    numbers = _numbers(code, chosen)
    with clock.measures("build"), progress("compiling the mutants", 1):
        built = build(
            lambda dropped: _texts(code, numbers, dropped),
            len(numbers) + 1,
            _ROOT / "device_api" / "include",
            work,
            jobs,
        )
    with ExitStack() as stack:
        cold = Processes(built.library, 0, jobs, True, stack)
        warm = Processes(built.library, 0, jobs, False, stack)
        with clock.measures("reach"):
            found, at_opening = list_cases(cold)
            names = [name for name, is_quick in found if is_quick or not plan.quick_cases]
            with progress("cases without a mutant", len(names)) as advance:
                reached = reach(warm, names, at_opening, advance)
        judge_one = _Judge(code, numbers, built.dropped, known, reached, plan, cold, warm)
        judged = []
        with clock.measures("mutants"), progress("mutants", len(chosen)) as advance:
            for result in warm.map(judge_one, chosen):
                judged.append(result)
                advance()
    problems += [
        f"explained mutant is killed by {each.case}, the entry is false: {each.mutant.key}"
        for each in judged
        if each.state == "killed" and each.mutant.key in known
    ]
    return MutantReport(
        exist=len(everything),
        seed=seed,
        quick=quick,
        cases=len(names),
        judged=judged,
        problems=problems,
        seconds=clock.seconds,
        by_operator=dict(Counter(mutant.operator for mutant in everything)),
        left_out=dict(scope.LEFT_OUT),
        set_aside=reached.set_aside,
    )


def _numbers(code: Code, chosen: Sequence[Mutant]) -> dict[str, int]:
    """Numbers from 1 by key, consecutive within a place."""
    keys = {mutant.key for mutant in chosen}
    return {
        mutant.key: number
        for number, mutant in enumerate((each for each in code.mutants if each.key in keys), 1)
    }


def _texts(code: Code, numbers: dict[str, int], dropped: frozenset[tuple[str, int]]) -> dict[str, bytes]:
    """Every file, with the switches of the numbered mutants that are not on a dropped line."""
    lines = {mutant.key for mutant in code.mutants if (mutant.file, mutant.line) in dropped}
    kept = {key: number for key, number in numbers.items() if key not in lines}
    return {source.name: switched(source, code.places.get(source.name, []), kept) for source in code.sources}


class _Judge:
    """Gives each mutant its verdict."""

    def __init__(
        self,
        code: Code,
        numbers: dict[str, int],
        dropped: frozenset[tuple[str, int]],
        known: dict[str, explained.Entry],
        reached: Reach,
        plan: Plan,
        cold: Processes,
        warm: Processes,
    ) -> None:
        self._numbers, self._dropped, self._known = numbers, dropped, known
        self._reach, self._plan, self._cold, self._warm = reached, plan, cold, warm
        # Reach is noted under the first number of a place.
        self._place = {
            mutant.key: min(numbers[each.key] for each in place.mutants if each.key in numbers)
            for found in code.places.values()
            for place in found
            for mutant in place.mutants
            if mutant.key in numbers
        }

    def __call__(self, mutant: Mutant) -> Judged:
        entry = self._known.get(mutant.key)
        reason = f"{entry.kind}: {entry.reason}" if entry is not None else ""
        if (mutant.file, mutant.line) in self._dropped:
            return Judged(mutant, "invalid")
        place = self._place[mutant.key]
        at_opening = place in self._reach.at_opening
        cases = order(self._reach, place, at_opening)
        if not cases:
            return Judged(mutant, "explained" if entry else "unreached", reason=reason)
        patience = _EXPLAINED_PATIENCE if entry else self._plan.patience
        chosen = list(within(cases, self._reach, patience))
        processes = self._cold if at_opening else self._warm
        verdict = judge(processes, self._numbers[mutant.key], chosen, self._reach)
        return _judged(mutant, verdict, len(cases), reason)


def _judged(mutant: Mutant, verdict: Verdict, reaching: int, reason: str) -> Judged:
    if verdict.killed:
        return Judged(
            mutant, "killed", verdict.killed, verdict.how, verdict.message, verdict.ran, reaching, reason
        )
    state = "invalid" if verdict.invalid else "explained" if reason else "survived"
    return Judged(mutant, state, ran=verdict.ran, reaching=reaching, reason=reason)


def order(reached: Reach, place: int, at_opening: bool) -> list[str]:
    """The cases that execute a place: first the quickest of each op and group, then all others by time. A
    place executed while the plugin is opened is met by the cases about its list of kernels first."""
    seconds = reached.seconds
    cases = sorted(reached.cases.get(place, ()), key=lambda name: (seconds[name], name))
    seen: set[tuple[str, str]] = set()
    first: list[str] = []
    rest: list[str] = []
    for name in cases:
        parts = name.split(".")
        kind = (parts[1], parts[-1])
        (rest if kind in seen else first).append(name)
        seen.add(kind)
    about_list = [name for name in sorted(seconds) if name.count(".") == 1] if at_opening else []
    return list(dict.fromkeys([*about_list, *first, *rest]))


def within(cases: Sequence[str], reached: Reach, patience: float) -> Iterator[str]:
    """The first cases that together take no longer than `patience` seconds, and always one."""
    total = 0.0
    for number, name in enumerate(cases):
        total += reached.seconds[name]
        if number and total > patience:
            return
        yield name


class _Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measures(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - began
