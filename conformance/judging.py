"""The judgement of a trial: is what the kernel wrote right, and if not, is it merely poor?

Outputs are compared with the oracle's answer within the op set's bounds. A good kernel may differ from the
answer in more than rounding: where infinite numbers meet, where a step leaves the range of the dtype, where
the device does not know subnormal numbers. What is allowed there stands here, for all ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance import compare
from conformance.oracle import Expected
from conformance.oracle.arithmetic import within
from conformance.target import CallFailed, Target
from conformance.trial import Trial, failure, wrong_values
from conformance.trial_launch import Launch
from device_api.abi import constants
from device_api.opset.spec import OpSpec

Array = npt.NDArray[Any]

# Types in which devices compute without subnormal numbers; in float16 too many would be missing.
_FLUSHED_BY_SOME = frozenset({"bfloat16", "float32", "float64"})

# Ops that move elements. The device may flush subnormal numbers when it computes, never when it moves.
_MOVES = frozenset({"copy", "fill", "where", "gather_rows", "scatter_rows"})


@dataclass(slots=True)
class Outcome:
    """The outputs of a trial as they came back, and their comparison with the oracle."""

    outputs: list[Array]
    comparisons: list[compare.Comparison]
    tolerance: float

    @property
    def max_ulp(self) -> float:
        return max((comparison.max_ulp for comparison in self.comparisons), default=0.0)


def tolerance_of(trial: Trial, want: Expected) -> float:
    """In ulps, of one output of a trial."""
    return bound_of(trial.spec, want, [None if o is None else o.values for o in trial.inputs])


def bound_of(spec: OpSpec, want: Expected, inputs: Sequence[Array | None]) -> float:
    """In ulps: the op set's bound for the dtype, and what the length of a reduction adds. An op that gives
    real numbers for complex ones is bound by the entry of the complex dtype."""
    name = want.dtype.name
    complex_inputs = [x.dtype.name for x in inputs if x is not None and x.dtype.kind == "c"]
    if complex_inputs and want.dtype.kind == "f":
        name = complex_inputs[0]
    return spec.ulp.get(name, 0.0) + want.extra_ulp


def run_trial(target: Target, trial: Trial) -> Outcome:
    """Runs a trial; raises Failure with everything needed to repeat it, or Declined."""
    wanted = trial.expectation()
    with ExitStack() as stack:
        launch = Launch(target, trial, wanted, stack)
        try:
            launch.run()
        except CallFailed as error:
            raise failure(trial, f"{error}, for {trial.describe()}", code=error.code) from error
        problem = launch.bad_bytes()
        outputs = launch.results()
    if problem:
        raise failure(trial, f"{problem}, by {trial.describe()}")
    comparisons = []
    for number, (output, want) in enumerate(zip(outputs, wanted, strict=True)):
        comparison = _compared(trial, output, want)
        comparisons.append(comparison)
        if not comparison.good:
            raise wrong_values(trial, number, _flush_aware(trial, number, output, comparison))
    tolerance = max((tolerance_of(trial, want) for want in wanted), default=0.0)
    return Outcome(outputs, comparisons, tolerance)


def _compared(trial: Trial, output: Array, want: Expected) -> compare.Comparison:
    values = [None if o is None else o.values for o in trial.inputs]
    rule = compare.Rule(tolerance_of(trial, want), want.zero_sign)
    return compared(trial.spec, values, output, want, rule)


def compared(
    spec: OpSpec, inputs: Sequence[Array | None], output: Array, want: Expected, rule: compare.Rule
) -> compare.Comparison:
    """An output of an op beside the oracle's answer. Where the formula leaves the range of the dtype on the
    way, what that gives is as right as the answer; where it is no finite number, any other such is too. What
    a device without subnormal numbers gets is wrong, and counts as flushed."""
    values = want.values
    if output.shape == values.shape and output.dtype.name in compare.FORMATS:
        if want.narrow is not None:
            values = np.where(_is_narrow(output, want, want.narrow, rule), output, values)
        free = _undefined(spec, inputs, want)
        if want.unsettled is not None:
            free = free | want.unsettled
        if want.scale is not None:
            # An infinite measure, as that of a matrix without an inverse: nothing can be demanded.
            free = free | (np.isfinite(values) & ~np.isfinite(want.scale))
        values = np.where(free, output, values)
    comparison = compare.compare(output, values, rule, want.scale)
    computes = spec.level != "primitive" and output.dtype.name in _FLUSHED_BY_SOME
    if not comparison.good and computes and output.shape == values.shape:
        near = _loses_no_more_than_subnormals(output, values)
        if compare.compare(output, np.where(near, output, values), rule, want.scale).good:
            comparison.flushed = comparison.wrong
    return comparison


def _loses_no_more_than_subnormals(output: Array, values: Array) -> Array:
    """Where a device that takes subnormal numbers for zero on the way may have lost what is missing."""
    least = compare.FORMATS[output.dtype.name].smallest_normal
    with np.errstate(all="ignore"):
        lost: Array = np.abs(output.astype(values.dtype) - values) < 2 * least
    return lost


def _is_narrow(output: Array, want: Expected, narrow: Array, rule: compare.Rule) -> Array:
    """Where the formula's steps leave the range of the dtype, and the output is what that leads to."""
    form = compare.FORMATS[output.dtype.name]
    with np.errstate(all="ignore"):
        exact = within(output.dtype)(want.values)
        left = (narrow != exact) & ~(np.isnan(narrow) & np.isnan(exact))
        size = np.abs(narrow) if want.scale is None else np.maximum(np.abs(narrow), want.scale)
        unit = compare.units(np.where(np.isfinite(size), size, 0), form)
        wide = output.astype(narrow.dtype)
        near = np.abs(wide - narrow) <= (rule.tolerance + 1) * unit
        same: Array = left & np.where(np.isfinite(narrow), near, ~np.isfinite(wide))
    return same


def _undefined(spec: OpSpec, inputs: Sequence[Array | None], want: Expected) -> Array:
    """Where a result may be anything. Of complex numbers, C99 recovers infinities that plain formulas turn
    into NaN, and correct libraries differ in it; so NaN is demanded only where an input is NaN in both parts.
    A composite op of numbers without NaN may give the limit where its formula has infinity times zero."""
    given = [x for x in inputs if x is not None and x.dtype.name in compare.FORMATS]
    undefined: Array = np.isnan(want.values)
    if spec.elementwise and want.dtype.kind == "c":
        for x in given:
            undefined = undefined & ~(np.isnan(x.real) & np.isnan(x.imag))
        return undefined
    if spec.level == "primitive":
        return np.asarray(False)
    for x in given:
        unknown = np.isnan(x)
        undefined = undefined & ~(unknown if spec.elementwise else unknown.any())
    return undefined


def _flush_aware(
    trial: Trial, number: int, output: Array, comparison: compare.Comparison
) -> compare.Comparison:
    """A device may read subnormal inputs as zero, which is poor and not wrong: then every wrong element
    counts as flushed. What moves elements may do so only where it converts to a number that is subnormal."""
    if trial.spec.name in _MOVES:
        dtypes_in = {o.values.dtype for o in trial.inputs if o is not None}
        adds = trial.attributes.get("reduction") == constants.DA_SCATTER_ROWS_REDUCTION_ADD
        if not adds and (output.dtype in dtypes_in or not dtypes_in):
            comparison.flushed = 0
        if not adds:
            return comparison
    flushed = [None if operand is None else _without_subnormals(operand.values) for operand in trial.inputs]
    changed = any(
        operand is not None
        and values is not None
        and not np.array_equal(operand.values, values, equal_nan=True)
        for operand, values in zip(trial.inputs, flushed, strict=True)
        if operand is not None and operand.values.dtype.name in compare.FORMATS
    )
    if changed:
        other = trial.with_values(flushed)
        again = _compared(other, output, other.expectation()[number])
        if again.wrong == again.flushed:
            comparison.flushed = comparison.wrong
    return comparison


def _without_subnormals(values: Array) -> Array:
    form = compare.FORMATS.get(values.dtype.name)
    if form is None or values.dtype.kind == "c":
        return values
    wide = np.abs(values.astype(np.longdouble))
    zero = np.copysign(np.zeros_like(wide), values.astype(np.longdouble)).astype(values.dtype)
    return np.where((wide > 0) & (wide < form.smallest_normal), zero, values)
