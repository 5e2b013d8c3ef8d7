"""What a plugin denies: dtypes and strides that its list leaves out, and launches that `supports` turns down.

A denial costs users a conversion, a copy or the CPU. So it must be true: a kernel that turns a launch down by
`supports` and then does it right has told an untruth, which fails. A kernel that does what its list leaves
out keeps a capability to itself, which is poor and not wrong. Such launches are outside of what a host may do
and may take the process down; they happen in a process of their own, which is begun again behind a crash.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, NotSupported, QualityWarning
from conformance.cases.ops_common import STRIDED, STRIDED_INPUTS, STRIDED_OUTPUTS, Check, Kernel
from conformance.judging import run_trial
from conformance.target import Target
from conformance.trial import Declined, Trial, TrialFailure
from device_api.ops._table import BY_NAME

SECONDS = 60.0
MOST_CRASHES = 20
# A launch may be right by chance, of booleans above all: it works when it is right so many times.
ATTEMPTS = 6
_PLAIN = ("float32", "int32", "int64")

Probe = tuple[str, Callable[[Target, np.random.Generator], bool]]


def denied_cases() -> Iterator[Case]:
    """One case for each way to deny."""
    for kind, text in (
        ("dtypes", "Dtypes that the device holds, the op takes and no kernel of the op claims."),
        ("strides", "Strided operands of kernels that do not claim them."),
        ("supports", "Launches within the claims that supports() turns down."),
    ):
        yield Case(f"ops.denied_{kind}", partial(_judge, kind), text, quick=False)


def _judge(kind: str, target: Target, rng: np.random.Generator) -> None:
    found = _in_child(target, kind, int(rng.integers(2**31)))
    if not found["probes"]:
        raise NotSupported(f"the plugin denies no {kind} that could be tried")
    works = found["works"]
    if works and kind == "supports":
        raise Failure(
            f"denied but works: {'; '.join(works[:5])}", {"works": works, "probes": found["probes"]}
        )
    if works:
        raise QualityWarning(f"denied but works, {len(works)} of {found['probes']}: {'; '.join(works[:8])}")


def _in_child(target: Target, kind: str, seed: int) -> dict[str, Any]:
    """Runs the probes in a child; begins again behind a probe that takes the child down."""
    works: list[str] = []
    first = total = crashes = 0
    while True:
        command = [sys.executable, "-P", "-m", __name__, target.location.spec, kind, str(seed), str(first)]
        try:
            child = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
            text = child.stdout
        except subprocess.TimeoutExpired as error:
            text = error.stdout or b""
        done = first
        for line in text.splitlines():
            if not line.startswith(b'{"probe"'):
                continue
            record = json.loads(line)
            done, total = record["probe"] + 1, record["of"]
            if record.get("works"):
                works.append(record["works"])
        if done >= total:
            return {"probes": total, "works": works}
        first, crashes = done + 1, crashes + 1
        if crashes > MOST_CRASHES:
            return {"probes": first, "works": works}


class _Probing(Check):
    """Runs the launches of a group, changed; remembers whether one that should be denied was right."""

    def __init__(self, target: Target, kernel: Kernel, change: Callable[[Trial], Trial | None]) -> None:
        super().__init__(target, kernel)
        self._change = change
        self.works = False

    def run(self, trial: Trial) -> list[Any]:
        changed = self._change(trial)
        if changed is not None and not self.works:
            try:
                outcome = run_trial(self.target, changed)
            except (Declined, TrialFailure):
                return []
            self.works = any(output.size for output in outcome.outputs)
        return []


def _attempt(
    kernel: Kernel, change: Callable[[Trial], Trial | None], target: Target, rng: np.random.Generator
) -> bool:
    from conformance.cases.ops import groups_of

    group = groups_of(kernel)[0]
    for _ in range(ATTEMPTS):
        check = _Probing(target, kernel, change)
        group.body(check, rng)
        if not check.works:
            return False
    return True


def probes(target: Target, kind: str) -> Iterator[Probe]:
    """What is tried, in an order that depends on the claims alone."""
    if kind == "dtypes":
        return _unclaimed_dtypes(target)
    return _unclaimed_strides(target) if kind == "strides" else _turned_down(target)


def _kernels(target: Target) -> Iterator[Kernel]:
    """Each kernel of an op of the op set, with plain dtypes where it claims them."""
    for claim in target.claims:
        spec = BY_NAME.get(claim.op)
        if spec is None or (spec.types and not all(claim.dtypes[: len(spec.types)])):
            continue
        codes = [_plainest(mask) for mask in claim.dtypes[: len(spec.types)]]
        names = [name for name, _ in spec.types]
        yield Kernel(spec, claim, {n: dtypes.from_code(c) for n, c in zip(names, codes, strict=True)})


def _plainest(mask: int) -> int:
    """A dtype of a set in which a wrong result is not right by chance, if there is one."""
    for name in _PLAIN:
        if mask >> dtypes.code(name) & 1:
            return dtypes.code(name)
    return (mask & -mask).bit_length() - 1


def _unclaimed_dtypes(target: Target) -> Iterator[Probe]:
    held = int(target.properties.dtypes)
    for kernel in _kernels(target):
        if len(kernel.dtypes) != 1:
            continue
        (variable,) = kernel.dtypes
        claimed = 0
        for other in target.claims:
            claimed |= other.dtypes[0] if other.op == kernel.spec.name else 0
        for code in sorted(kernel.spec.allowed(variable)):
            if held >> code & 1 and not claimed >> code & 1:
                changed = replace(kernel, dtypes={variable: dtypes.from_code(code)})
                yield f"{kernel.spec.name} of {dtypes.NAMES[code]}", partial(_attempt, changed, lambda t: t)


def _stepped(side: str, trial: Trial) -> Trial | None:
    """The launch with gaps between the elements of one side, where it has elements to lie apart."""
    if side == "outputs":
        wanted = trial.expectation()[0].values
        return replace(trial, output_layout="stepped") if wanted.size > 1 else None
    if not any(o is not None and o.values.size > 1 for o in trial.inputs):
        return None
    inputs = tuple(None if o is None else replace(o, layout="stepped") for o in trial.inputs)
    return replace(trial, inputs=inputs)


def _unclaimed_strides(target: Target) -> Iterator[Probe]:
    for kernel in _kernels(target):
        for side, flag in (("inputs", STRIDED_INPUTS), ("outputs", STRIDED_OUTPUTS)):
            if not kernel.claim.has(flag):
                what = f"{kernel.spec.name} of {kernel.dtype.name} with strided {side}"
                yield what, partial(_attempt, kernel, partial(_stepped, side))


def _turned_down(target: Target) -> Iterator[Probe]:
    """Launches within dtypes and flags, plain and strided: those that supports() turns down go on all the
    same."""
    for kernel in _kernels(target):
        if kernel.claim.pointer.supports == target.ffi.NULL:
            continue
        layouts = ["contiguous", *(STRIDED if kernel.claim.has(STRIDED_INPUTS) else ())]
        for layout in layouts:
            what = f"{kernel.spec.name} of {kernel.dtype.name}, {layout}"
            yield what, partial(_attempt, kernel, partial(_past_denial, target, layout))


def _past_denial(target: Target, layout: str, trial: Trial) -> Trial | None:
    inputs = tuple(None if o is None else replace(o, layout=layout) for o in trial.inputs)
    changed = replace(trial, inputs=inputs)
    try:
        run_trial(target, changed)
    except Declined:
        return replace(changed, past_denial=True)
    except TrialFailure:
        return None
    return None


def main() -> int:
    """The child: tries the probes from a place on, and says what it is about to do before it does it."""
    spec, kind, seed, first = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    target = Target(spec)
    found = list(probes(target, kind))
    if not found:
        print(json.dumps({"probe": -1, "of": 0}), flush=True)
    for number, (what, attempt) in enumerate(found):
        if number >= first:
            works = attempt(target, np.random.default_rng([seed, number]))
            print(json.dumps({"probe": number, "of": len(found), "works": what if works else ""}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
