"""What a run over mutants says: how many exist, how many ran, which survived, and whether that is good
enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from conformance.kill.mutants.schemata import Mutant

TARGET = 0.95


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and what became of it: killed, survived, unreached, explained or invalid."""

    mutant: Mutant
    state: str
    case: str = ""
    how: str = ""
    message: str = ""
    ran: int = 0
    reaching: int = 0
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        mutant = self.mutant
        record = {
            "mutant": mutant.key,
            "line": mutant.line,
            "within": mutant.within,
            "state": self.state,
            "case": self.case,
            "how": self.how,
            "message": self.message,
            "ran": self.ran,
            "reaching": self.reaching,
            "reason": self.reason,
        }
        return {name: value for name, value in record.items() if value or name in ("ran", "reaching")}


@dataclass(frozen=True, slots=True)
class Explained:
    """One reason of the list: how many mutants it counts out, of those that exist and of the sample."""

    file: str
    function: str
    kind: str
    reason: str
    exist: int
    sample: int


@dataclass(slots=True)
class MutantReport:
    """`exist` counts the mutants of the sources, `judged` holds those of the sample. `problems` are faults of
    the run or of the list of explained mutants: any makes it bad."""

    exist: int
    seed: int
    quick: bool
    cases: int
    judged: list[Judged]
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    by_operator: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)
    target: float = TARGET
    explanations: list[Explained] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.exist:
            self.problems.append("no mutant exists: nothing was proved")
        elif not self.counted:
            self.problems.append("no mutant was counted: nothing was proved")

    @property
    def states(self) -> Counter[str]:
        return Counter(judged.state for judged in self.judged)

    @property
    def counted(self) -> int:
        """The mutants of the sample that a case can kill or should: all but the explained and the invalid."""
        states = self.states
        return states["killed"] + states["survived"] + states["unreached"]

    @property
    def share(self) -> float:
        """Killed of counted; 0 when none is counted."""
        return self.states["killed"] / self.counted if self.counted else 0.0

    @property
    def good(self) -> bool:
        """Whether enough were killed and nothing else is wrong."""
        return not self.problems and self.share >= self.target

    def of(self, *states: str) -> list[Judged]:
        """The mutants of some states, in order of file and line."""
        chosen = [judged for judged in self.judged if judged.state in states]
        return sorted(chosen, key=lambda judged: (judged.mutant.file, judged.mutant.line, judged.mutant.key))

    def to_json(self) -> dict[str, Any]:
        """The report for a machine: the counts, and the survivors and explained mutants in full."""
        states = self.states
        return {
            "exist": self.exist,
            "by_operator": dict(sorted(self.by_operator.items())),
            "left_out": self.left_out,
            "set_aside": self.set_aside,
            "sample": len(self.judged),
            "seed": self.seed,
            "quick": self.quick,
            "cases": self.cases,
            **{name: states[name] for name in ("killed", "survived", "unreached", "explained", "invalid")},
            "killed_by": dict(Counter(judged.how for judged in self.of("killed"))),
            "killed_share": round(self.share, 4),
            "target": self.target,
            "good": self.good,
            "problems": self.problems,
            "survivors": [judged.to_json() for judged in self.of("survived", "unreached")],
            "explanations": [asdict(each) for each in self.explanations],
            "counted_out": [judged.to_json() for judged in self.of("explained")],
            "seconds": {name: round(value, 1) for name, value in self.seconds.items()},
        }

    def lines(self) -> list[str]:
        """The report for a person."""
        states = self.states
        text = [
            f"{self.exist} mutants of the reference kernels exist; {len(self.judged)} ran (seed {self.seed})",
            f"killed {states['killed']} of {self.counted} = {self.share:.1%}, at least {self.target:.0%} is "
            f"good; {states['explained']} counted out with a reason, {states['invalid']} do not compile",
        ]
        for judged in self.of("survived", "unreached"):
            what = "no case reaches it" if judged.state == "unreached" else f"survived {judged.ran} cases"
            text.append(f"  {judged.mutant.key} (line {judged.mutant.line}): {what}")
        text += [
            f"  {case} ends badly without a mutant and was not used: {why}"
            for case, why in self.set_aside.items()
        ]
        text += [
            f"  counted out: {each.exist} in {each.file} {each.function} ({each.kind}), {each.sample} of the "
            "sample"
            for each in self.explanations
        ]
        text += [f"  problem: {problem}" for problem in self.problems]
        text.append(", ".join(f"{name} {value:.0f} s" for name, value in self.seconds.items()))
        return text
