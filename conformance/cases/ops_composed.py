"""Composite ops as programs get them: through the framework, by a kernel or composed from the primitives.

A device whose primitives are right alone may still be wrong together: in strides that only a composition
makes, in shapes that nobody thought of. Every sample of every composite op runs on the device, and is judged
by the oracle of the op.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance import compare
from conformance.case import Case, Failure, Measure, NotSupported
from conformance.framework import device_of, holds, on_device_only, run_op, to_device
from conformance.judging import bound_of, compared
from conformance.oracle import Expected, expected, has_oracle
from conformance.oracle.precision import is_half
from conformance.samples import Draw, Sample, has_samples, samples
from conformance.target import Target
from device_api.ops._table import OPS
from device_api.opset.spec import OpSpec

# What is composed does not depend on the dtype much; these differ in how sums are kept and numbers rounded.
_DTYPES = ("float32", "float16", "bfloat16", "float64", "int32", "bool", "complex64")
# A composition rounds more often than a kernel of the op set's precision has to.
SLACK = 4.0


def composed_cases() -> Iterator[Case]:
    """`ops.OP.DTYPE.composed` for every composite op and view."""
    for spec in OPS:
        if spec.level == "primitive" or not (has_oracle(spec.name) and has_samples(spec.name)):
            continue
        allowed = spec.allowed(spec.types[0][0]) if spec.types else {dtypes.code("int64")}
        names = [name for name in _DTYPES if dtypes.code(name) in allowed] if spec.types else ["int64"]
        for number, name in enumerate(names):
            yield Case(
                f"ops.{spec.name}.{name}.composed",
                partial(_composed, spec, dtypes.from_code(dtypes.code(name))),
                "Every sample of the op, through the framework on the device.",
                quick=number == 0,
            )


def _composed(spec: OpSpec, dtype: np.dtype[Any], target: Target, rng: np.random.Generator) -> Measure:
    if not holds(target, dtype.name):
        raise NotSupported(f"the device does not hold {dtype.name}")
    measure = Measure(op=spec.name, dtype=dtype.name)
    for sample in samples(spec.name, Draw(rng, dtype)):
        _judge(spec, sample, target, measure)
    return measure


def _judge(spec: OpSpec, sample: Sample, target: Target, measure: Measure) -> None:
    device = device_of(target)
    if not all(holds(target, x.dtype.name) for x in sample.inputs if x is not None):
        raise NotSupported("the device does not hold the dtypes of all operands")
    with on_device_only(f"{spec.name}({sample})"):
        tensors = [None if x is None else to_device(x, device) for x in sample.inputs]
        got = [x.numpy() for x in run_op(spec, tensors, sample, device)]
    shape = tuple(sample.attributes.get("shape") or ())
    wanted = expected(spec, sample.inputs, sample.attributes, sample.dtype, shape)
    for number, (found, want) in enumerate(zip(got, wanted, strict=True)):
        what = f"output {number} of {spec.name}({sample})"
        if found.dtype != want.dtype:
            raise Failure(f"{what} is {found.dtype.name} and not {want.dtype.name}")
        tolerance = SLACK * bound_of(spec, want, sample.inputs)
        comparison = compared(
            spec, sample.inputs, found, replace(want, scale=_scale(want)), compare.Rule(tolerance)
        )
        if not comparison.good:
            inputs = {f"input{i}": x for i, x in enumerate(sample.inputs) if x is not None}
            raise Failure(f"{what}: {comparison.message()}", comparison.facts(), inputs)
        if want.dtype.name in compare.FORMATS:
            measure.max_ulp = max(measure.max_ulp, comparison.max_ulp)
            measure.tolerance = max(measure.tolerance or 0.0, tolerance)
        measure.elements += comparison.total
    measure.launches += 1


def _scale(want: Expected) -> Any:
    """Compositions round what lies between to 16 bits: such results are measured by the largest of them."""
    if want.scale is None or not is_half(want.dtype):
        return want.scale
    sizes = np.abs(want.values[np.isfinite(want.values)])
    return np.maximum(want.scale, sizes.max(initial=0))
