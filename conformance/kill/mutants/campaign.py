"""One run: sources to mutants, mutants to a plugin, and each mutant of the sample to its verdict."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.kill.mutants import explained, scope
from conformance.kill.mutants.build import build
from conformance.kill.mutants.execute import Processes, Reach, list_cases, reach
from conformance.kill.mutants.flags import flags
from conformance.kill.mutants.judging import Judge, Plan, thinned
from conformance.kill.mutants.parse import Source, attribute_macros, parse
from conformance.kill.mutants.report import Explained, MutantReport
from conformance.kill.mutants.schemata import Mutant, Place, places, sample, switched
from conformance.kill.report import Progress

_ROOT = Path(__file__).parents[3]
# All of them would take hours on two cores: a sample by seed, which says of how many. A quick run, of fewer
# mutants which meet fewer cases, says less: its bar is lower by what that costs.
FULL = Plan(size=600, patience=8.0, hosted_patience=4.0)
QUICK = Plan(size=120, patience=2.0, hosted_patience=1.0, thin=True, more_patience=3.0, target=0.85)


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
    only: Sequence[str] = (),
    cases: Sequence[str] = ("*",),
    plan: Plan | None = None,
    work: Path = _ROOT / "build" / "mutants",
) -> MutantReport:
    """Mutates the sources of `folder` and runs the ops level against each mutant of the sample.

    `jobs` are processes; `seed` chooses the sample; `entries` are the explained mutants, by default those of
    the list; `only` are globs of keys: all mutants that match one instead of a sample; `cases` are globs of
    the cases that judge; `work` keeps what was compiled. Raises NoSources, BuildFailure, BadBaseline,
    ServerFailure, ListFault.
    """
    plan = plan or (QUICK if quick else FULL)
    clock = _Clock()
    with clock.measures("parse"):
        code = read_code(folder)
        everything = code.mutants
        known, stale = explained.match(explained.read() if entries is None else entries, everything)
        chosen = sample(everything, plan.size, seed) if not only else _matching(everything, only)
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
            flags(folder, work),
        )
    with ExitStack() as stack:
        cold = Processes(built.library, 0, jobs, True, stack)
        warm = Processes(built.library, 0, jobs, False, stack)
        with clock.measures("reach"):
            listed, at_opening = list_cases(cold)
            listed = [each for each in listed if any(fnmatchcase(each.name, glob) for glob in cases)]
            tried = thinned(listed) if plan.thin else listed
            reached = Reach(at_opening=at_opening)
            with progress("cases without a mutant", len(tried)) as advance:
                for processes, hosted in ((warm, False), (cold, True)):
                    names = [each.name for each in tried if each.hosted == hosted]
                    reach(processes, names, reached, advance)
        judge_one = Judge(
            plan, numbers, _first_numbers(code, numbers), built.dropped, known, reached, listed, cold, warm
        )
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
        cases=len(tried),
        target=plan.target,
        explanations=_explanations(known, chosen),
        judged=judged,
        problems=problems,
        seconds=clock.seconds,
        by_operator=dict(Counter(mutant.operator for mutant in everything)),
        left_out=dict(scope.LEFT_OUT),
        set_aside=reached.set_aside,
    )


def _explanations(known: Mapping[str, explained.Entry], chosen: Sequence[Mutant]) -> list[Explained]:
    """What each reason of the list counts out."""
    sampled = {mutant.key for mutant in chosen}
    exist, of_sample = Counter[explained.Entry](), Counter[explained.Entry]()
    for key, entry in known.items():
        reason = replace(entry, operator="*", before="*", after="*", within="*", number="*")
        exist[reason] += 1
        of_sample[reason] += key in sampled
    return [
        Explained(each.file, each.function, each.kind, each.reason, count, of_sample[each])
        for each, count in exist.items()
    ]


def _matching(mutants: Sequence[Mutant], globs: Sequence[str]) -> list[Mutant]:
    # Brackets stand in every key: they are no sets of characters here.
    plain = [glob.replace("[", "[[]") for glob in globs]
    return [mutant for mutant in mutants if any(fnmatchcase(mutant.key, glob) for glob in plain)]


def _first_numbers(code: Code, numbers: dict[str, int]) -> dict[str, int]:
    """Under which number the reach of each numbered mutant is noted: the first one of its place."""
    return {
        mutant.key: min(numbers[each.key] for each in place.mutants if each.key in numbers)
        for found in code.places.values()
        for place in found
        for mutant in place.mutants
        if mutant.key in numbers
    }


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


class _Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measures(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - began
