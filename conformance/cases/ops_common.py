"""What the generated op cases share: a kernel with one choice of dtypes, and a check that runs trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance import compare
from conformance.case import Failure, Measure, NotSupported
from conformance.judging import run_trial
from conformance.target import Claim, Target, status_name
from conformance.trial import Declined, Operand, Trial, TrialFailure
from conformance.trial_launch import launch_expecting
from device_api.abi import constants
from device_api.opset.spec import OpSpec

Array = Any
Shape = tuple[int, ...]

STRIDED_INPUTS = constants.DA_KERNEL_STRIDED_INPUTS
STRIDED_OUTPUTS = constants.DA_KERNEL_STRIDED_OUTPUTS
IN_PLACE = constants.DA_KERNEL_IN_PLACE
IN_PLACE_PAIRS = constants.DA_KERNEL_IN_PLACE_PAIRS
DETERMINISTIC = constants.DA_KERNEL_DETERMINISTIC

# Layouts beyond dense ones. The first three find most faults; all are tried on one shape.
STRIDED = ("transposed", "stepped", "negative", "rotated", "padded", "mixed")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A claimed kernel with one dtype for each type variable."""

    spec: OpSpec
    claim: Claim
    dtypes: dict[str, np.dtype[Any]]

    def input_dtype(self, number: int) -> np.dtype[Any]:
        """Of an operand; those of a list at the end are all of its type."""
        return self._dtype(self.spec.inputs[min(number, len(self.spec.inputs) - 1)].type)

    def _dtype(self, kind: str) -> np.dtype[Any]:
        return self.dtypes[kind] if kind in self.dtypes else np.dtype(kind)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the first type variable, or of the first input of an op without any."""
        return next(iter(self.dtypes.values())) if self.dtypes else self.input_dtype(0)

    def trial(
        self, *operands: Operand | None, attributes: Mapping[str, Any] | None = None, **options: Any
    ) -> Trial:
        """A launch on these operands. Attributes that are not given have their defaults."""
        defaults = {each.name: each.default for each in self.spec.attributes}
        return Trial(self.spec, self.claim, operands, {**defaults, **(attributes or {})}, **options)


class Check:
    """Runs trials of one case and keeps what they measured."""

    def __init__(self, target: Target, kernel: Kernel) -> None:
        self.target, self.kernel = target, kernel
        self.measure = Measure(op=kernel.spec.name, dtype=kernel.dtype.name)
        self.max_rank = int(target.properties.max_rank) or 32
        self.on_stream, self.prepared = False, True
        self._declined = ""

    def run(self, trial: Trial) -> list[Array]:
        """Runs a trial; gives its outputs, [] when the kernel declines it or takes no such rank."""
        if self.on_stream or not self.prepared:
            trial = replace(trial, on_stream=self.on_stream, prepared=self.prepared)
        wanted = trial.expectation()
        ranks = [o.values.ndim for o in trial.inputs if o is not None] + [w.values.ndim for w in wanted]
        if max(ranks, default=0) > self.max_rank:
            return []
        if all(math.prod(want.values.shape) == 0 for want in wanted):
            return []  # The host never launches when every output is empty.
        try:
            outcome = run_trial(self.target, trial)
        except Declined as error:
            self.measure.declined += 1
            self._declined = str(error)
            return []
        except TrialFailure as error:
            comparison = error.comparison
            if comparison is None or comparison.wrong != comparison.flushed:
                raise
            self.measure.launches += 1
            warning = "subnormal results are flushed to zero"
            if warning not in self.measure.warnings:
                self.measure.warnings.append(warning)
            return []
        self._take(outcome.comparisons, outcome.tolerance, trial)
        return outcome.outputs

    def _take(self, comparisons: Sequence[compare.Comparison], tolerance: float, trial: Trial) -> None:
        measure = self.measure
        measure.launches += trial.launches
        measure.elements += sum(comparison.total for comparison in comparisons)
        if any(dtype.name in compare.FORMATS for dtype in self.kernel.dtypes.values()):
            worst = max(comparison.max_ulp for comparison in comparisons)
            measure.max_ulp = max(measure.max_ulp, worst)
            measure.tolerance = max(measure.tolerance or 0.0, tolerance)

    def done(self) -> Measure:
        """The measure of the case; a case in which nothing ran says why."""
        if not self.measure.launches:
            raise NotSupported(self._declined or "no shape of this group suits the device's greatest rank")
        return self.measure


Body = Callable[[Check, np.random.Generator], None]


@dataclass(frozen=True, slots=True)
class Group:
    """A group of trials: one case per kernel and dtype. `needs` are flags that the kernel must claim."""

    name: str
    body: Body
    needs: int = 0
    quick: bool = True
    description: str = ""


def group(name: str, body: Body, needs: int = 0, quick: bool = True) -> Group:
    return Group(name, body, needs, quick, " ".join((body.__doc__ or "").split()))


def dtype_of(code: int) -> np.dtype[Any]:
    return dtypes.from_code(code)


def same_bits(first: Array, second: Array) -> bool:
    return bool(np.array_equal(first.view(np.uint8), second.view(np.uint8)))


THREADS, ROUNDS = 4, 25
_MAIN = ("float32", "int32", "bool")


def is_main_dtype(kernel: Kernel) -> bool:
    """Whether this is the dtype to try where what is tried is the kernel's, not the dtype's."""
    claimed = kernel.claim.dtypes[0] if kernel.dtypes else 0
    names = [name for name in _MAIN if claimed >> dtypes.code(name) & 1]
    return not kernel.dtypes or kernel.dtype.name in names[:1]


def threads_group(kernel: Kernel, body: Body) -> list[Group]:
    """The group of launches from several threads, for the dtype of an op that is tried."""
    return [group("threads", body, quick=False)] if is_main_dtype(kernel) else []


def check_threads(check: Check, trials: Sequence[Trial]) -> None:
    """The trials at once, each again and again on a thread of its own: launches are safe in any thread."""
    for trial in trials:
        check.run(trial)  # Alone first: what declines or fails alone is no matter of threads.
    if not check.measure.launches:
        return

    def work(trial: Trial) -> None:
        for _ in range(ROUNDS):
            run_trial(check.target, trial)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work, trial) for trial in trials]:
            done.result()


def check_refuses_index(check: Check, valid: Trial, place: int, bad: int) -> None:
    """The trial with `bad` at a place of its second operand, counted through all of it, is OUT_OF_RANGE; and
    the valid one works after it."""
    index = valid.inputs[1]
    assert index is not None
    values = index.values.copy()
    values.reshape(-1)[place] = bad
    broken = replace(valid, inputs=(valid.inputs[0], Operand(values), *valid.inputs[2:]))
    code = launch_expecting(check.target, broken, valid.expectation())
    if code != constants.DA_STATUS_OUT_OF_RANGE:
        got = "success" if code is None else status_name(code)
        raise Failure(
            f"index {bad} gave {got} instead of OUT_OF_RANGE, by {broken.describe()}",
            {"index": bad, "code": code},
        )
    check.measure.launches += 1
    check.run(valid)


def check_repeats(check: Check, trial: Trial) -> None:
    """The same launch twice: the bits must agree."""
    first, second = check.run(trial), check.run(trial)
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        if not same_bits(np.ascontiguousarray(a), np.ascontiguousarray(b)):
            raise TrialFailure(
                trial, f"output {number} differs from run to run, though the kernel claims DETERMINISTIC", {}
            )
