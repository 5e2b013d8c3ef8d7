"""The verdict on each mutant: which cases it meets, in which order, and when it has met enough.

Kernels are met first as the suite launches them, because that is quick; then as programs get them, through
the host. Stopping early can only make the share smaller.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.kill.mutants.execute import Listed, Processes, Reach, Verdict, judge
from conformance.kill.mutants.explained import Entry
from conformance.kill.mutants.report import TARGET, Judged
from conformance.kill.mutants.schemata import Mutant


@dataclass(frozen=True, slots=True)
class Plan:
    """How much a run does. `size` is that of the sample, None for all mutants. `patience` are the seconds of
    cases, as long as they take without a mutant, that a mutant meets before it counts as survivor: of the
    kernels' own cases, of those through the host, and of those that were not tried without mutants, because
    only a thinned choice was (`thin`). An explained mutant meets few: they show whether the entry lies."""

    size: int | None
    patience: float
    hosted_patience: float
    thin: bool = False
    more_patience: float = 0.0
    explained_patience: float = 1.0
    target: float = TARGET


class Judge:
    """Gives each mutant its verdict; safe in threads. `place` is the number under which the reach of a mutant
    is noted, by key; `dropped` are lines whose mutants do not compile."""

    def __init__(
        self,
        plan: Plan,
        numbers: Mapping[str, int],
        place: Mapping[str, int],
        dropped: frozenset[tuple[str, int]],
        known: Mapping[str, Entry],
        reached: Reach,
        listed: Sequence[Listed],
        cold: Processes,
        warm: Processes,
    ) -> None:
        self._plan, self._numbers, self._place = plan, numbers, place
        self._dropped, self._known, self._reach = dropped, known, reached
        self._cold, self._warm = cold, warm
        self._hosted = {each.name for each in listed if each.hosted}
        self._untried: dict[str, list[str]] = {}
        for each in listed:
            if not (each.hosted or each.name in reached.seconds or each.name in reached.set_aside):
                self._untried.setdefault(each.name.split(".")[1], []).append(each.name)
        self._lock = threading.Lock()
        self._good: dict[str, bool] = {}

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
        verdict = self._verdict(mutant, cases, at_opening, explained=entry is not None)
        state = "explained" if entry else "survived"
        if verdict.killed:
            state = "killed"
        elif verdict.invalid:
            state = "invalid"
        return Judged(
            mutant, state, verdict.killed, verdict.how, verdict.message, verdict.ran, len(cases), reason
        )

    def _verdict(self, mutant: Mutant, cases: Sequence[str], at_opening: bool, explained: bool) -> Verdict:
        number, plan = self._numbers[mutant.key], self._plan
        own = [name for name in cases if name not in self._hosted]
        hosted = [name for name in cases if name in self._hosted]
        processes = self._cold if at_opening else self._warm
        patience = plan.explained_patience if explained else plan.patience
        verdict = Verdict()
        if own:
            verdict = judge(processes, number, list(within(own, self._reach, patience)), self._reach)
        if hosted and not (verdict.killed or verdict.invalid or explained):
            chosen = list(within(hosted, self._reach, plan.hosted_patience))
            verdict = _after(verdict, judge(self._cold, number, chosen, self._reach))
        if plan.more_patience and not (verdict.killed or verdict.invalid or explained):
            more = self._more(own)
            made = judge(processes, number, more, self._reach, plan.more_patience) if more else Verdict()
            if not made.killed or self._passes(made.killed):
                verdict = _after(verdict, made)
        return verdict

    def _more(self, own: Sequence[str]) -> list[str]:
        """The untried cases of the ops that reach a place, mixed; those of the same dtypes first."""
        ops = list(dict.fromkeys(name.split(".")[1] for name in own))
        names = [name for op in ops for name in self._untried.get(op, ())]
        reaching = {_of_dtype(name) for name in own}
        return sorted(names, key=lambda name: (_of_dtype(name) not in reaching, _mixed(name)))

    def _passes(self, name: str) -> bool:
        """Whether a case passes without a mutant; known after the first time."""
        with self._lock:
            known = self._good.get(name)
        if known is None:
            known = not judge(self._warm, 0, [name], self._reach).killed
            with self._lock:
                self._good[name] = known
        return known


def _of_dtype(name: str) -> str:
    return name.rpartition(".")[0]


def _mixed(name: str) -> int:
    return zlib.crc32(name.encode())


def thinned(listed: Sequence[Listed]) -> list[Listed]:
    """Of the quick cases the plainest of every op and dtype, and each other group of an op once, for one
    dtype or another: enough to know which ops reach a place."""
    chosen: dict[tuple[str, ...], Listed] = {}
    for each in sorted((each for each in listed if each.quick), key=lambda each: _mixed(each.name)):
        parts = each.name.split(".")
        kind = tuple(parts) if parts[-1] == "claim" or len(parts) < 3 else (parts[1], parts[-1])
        chosen.setdefault(kind, each)
    return list(chosen.values())


def _after(first: Verdict, second: Verdict) -> Verdict:
    return replace(second, ran=first.ran + second.ran)


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
