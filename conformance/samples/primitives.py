"""Samples of primitives, for their gradients: away from kinks and from the ends of domains. What their
kernels do everywhere else is the business of the op cases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes

_SHAPES = ((), (7,), (2, 3))


@makes(
    "negative", "abs", "sign", "square", "exp", "exp2", "expm1", "sin", "cos", "atan", "sinh", "cosh", "tanh",
    "asinh", "erf", "erfc", "floor", "ceil", "trunc", "round", "real", "imag", "conj", "copy",
)  # fmt: skip
def everywhere(d: Draw, op: str) -> Iterator[Sample]:
    for shape in _SHAPES:
        yield Sample((d.grid(*shape),), {}, d.dtype if op == "copy" else None)


@makes("sqrt", "reciprocal", "log", "log1p", "log2", "log10")
def positive(d: Draw, op: str) -> Iterator[Sample]:
    for shape in _SHAPES:
        yield Sample((d.positive(*shape),))


@makes("asin", "acos", "atanh", "tan")
def bounded(d: Draw, op: str) -> Iterator[Sample]:
    for shape in _SHAPES:
        yield Sample((d.share(*shape),))
        yield Sample((-d.share(*shape),))


@makes("acosh")
def above_one(d: Draw, op: str) -> Iterator[Sample]:
    for shape in _SHAPES:
        yield Sample(((d.positive(*shape) + d.number(1.0)).astype(d.dtype),))


@makes(
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "atan2",
    "hypot",
    "copysign",
    "logaddexp",
    "nextafter",
)
def pairs(d: Draw, op: str) -> Iterator[Sample]:
    for first, second in (((7,), (7,)), ((2, 3), (3,)), ((2, 1), (2, 3)), ((), (2, 3))):
        yield Sample((d.grid(*first), d.other(*second)))


@makes("divide", "floor_divide", "remainder")
def quotients(d: Draw, op: str) -> Iterator[Sample]:
    for first, second in (((7,), (7,)), ((2, 3), (3,)), ((2, 1), (2, 3))):
        divisor = np.round(d.positive(*second).real.astype(np.float64) + 1) / 2
        yield Sample((d.grid(*first), divisor.astype(d.dtype)))


@makes("pow")
def power(d: Draw, op: str) -> Iterator[Sample]:
    for first, second in (((7,), (7,)), ((2, 3), (3,))):
        yield Sample((d.positive(*first), d.grid(*second)))


@makes("where")
def where(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.mask(2, 3), d.normal(2, 3), d.normal(2, 3)))
    yield Sample((d.mask(2, 3), d.normal(3), d.normal()))


@makes("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "scan_sum", "scan_prod")
def last_axis(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((5,), (3, 4), (2, 3, 2)):
        yield Sample((d.distinct(*shape) if op in ("reduce_max", "reduce_min") else d.grid(*shape),))


@makes("batch_matmul")
def batch_matmul(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(3, 4), d.normal(4, 2)))
    yield Sample((d.normal(2, 3, 4), d.normal(2, 4, 5)))


@makes("gather_rows")
def gather_rows(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(4, 3), d.index(4, 6)))


@makes("scatter_rows")
def scatter_rows(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in (1, 2):
        yield Sample((d.normal(4, 3), d.index(4, 6), d.normal(6, 3)), {"reduction": reduction})
