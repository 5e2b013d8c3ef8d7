"""Samples of reductions, scans, softmax, norms and ordering: ops that work along axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import axis_sets, makes

SHAPES = ((7,), (3, 5), (2, 3, 4), (2, 1, 3, 5))


def _wide(d: Draw) -> np.dtype[np.generic] | None:
    """The dtype of a sum: 64 bits for booleans and integers."""
    if d.dtype.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if d.dtype.kind == "u" else d.dtype


@makes("sum", "prod")
def wide_reductions(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        x = d.normal(*shape) if op == "sum" else d.positive(*shape)
        for axes in (None, *axis_sets(len(shape))):
            for keepdims in (False, True):
                yield Sample((x,), {"axis": axes, "keepdims": keepdims, "dtype": None}, _wide(d))


@makes("max", "min", "any", "all", "mean", "logsumexp")
def reductions(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        x = d.distinct(*shape) if op in ("max", "min") else d.normal(*shape)
        for axes in (None, *axis_sets(len(shape))):
            for keepdims in (False, True):
                yield Sample((x,), {"axis": axes, "keepdims": keepdims})


@makes("var", "std")
def spreads(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        x = d.distinct(*shape)
        for axes in (None, *axis_sets(len(shape))):
            if math.prod(shape[i] for i in (range(len(shape)) if axes is None else axes)) > 1:
                for correction in (0.0, 1.0):
                    yield Sample((x,), {"axis": axes, "correction": correction})
        yield Sample((x,), {"keepdims": True})


@makes("argmax", "argmin")
def positions(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        x = d.distinct(*shape)
        for axis in (None, *range(len(shape))):
            for keepdims in (False, True):
                yield Sample((x,), {"axis": axis, "keepdims": keepdims})


@makes("softmax", "log_softmax")
def softmax(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        for axis in range(len(shape)):
            yield Sample((d.normal(*shape),), {"axis": axis})
    # Numbers whose exponentials overflow.
    yield Sample(((d.normal(3, 5) * d.number(8.0) + d.number(2000.0)).astype(d.dtype),), {"axis": 1})


@makes("softmax_gradient", "log_softmax_gradient")
def softmax_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        for axis in range(len(shape)):
            part = np.exp(d.rng.normal(size=shape))
            result = part / part.sum(axis=axis, keepdims=True)
            result = result if op == "softmax_gradient" else np.log(result)
            yield Sample((d.normal(*shape), result.astype(d.dtype)), {"axis": axis})


_LARGE_LINES = (((9, 1000), 1), ((1000, 9), 0), ((33, 65, 17), 1), ((3, 20_001), 1), ((700, 31), 1))


@makes("softmax", "log_softmax", large=True)
def large_softmax(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in _LARGE_LINES:
        yield Sample((d.normal(*shape),), {"axis": axis})
    # One far above all others, at each place of a line longer than vectors.
    yield Sample(((d.normal(70, 70) + np.eye(70) * 2000).astype(d.dtype),), {"axis": 1})


@makes("softmax_gradient", "log_softmax_gradient", large=True)
def large_softmax_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in _LARGE_LINES:
        part = np.exp(d.rng.normal(size=shape))
        result = part / part.sum(axis=axis, keepdims=True)
        result = result if op == "softmax_gradient" else np.log(result)
        yield Sample(
            ((d.normal(*shape) + d.number(1.0)).astype(d.dtype), result.astype(d.dtype)), {"axis": axis}
        )


@makes("sum", "prod", "max", "min", "mean", "var", "std", "logsumexp", "argmax", "argmin", large=True)
def large_reductions(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in (((9, 1000), 1), ((1000, 9), 0), ((33, 65, 17), 1)):
        single = op in ("argmax", "argmin")
        x = d.positive(*shape) if op == "prod" else d.normal(*shape)
        if op == "prod":
            x = (x * d.number(0.0) + d.number(1.0)).astype(d.dtype)
        yield Sample((x,), {"axis": axis if single else (axis,)}, _wide(d) if op in ("sum", "prod") else None)


@makes("sort", "argsort")
def ordering(d: Draw, op: str) -> Iterator[Sample]:
    for shape in SHAPES:
        for axis in range(len(shape)):
            for descending in (False, True):
                yield Sample((d.distinct(*shape),), {"axis": axis, "descending": descending})


@makes("top_k")
def top_k(d: Draw, op: str) -> Iterator[Sample]:
    for axis, k in ((0, 1), (1, 2), (1, 5)):
        for largest in (False, True):
            yield Sample((d.distinct(3, 5),), {"axis": axis, "k": k, "largest": largest})
    yield Sample((d.distinct(2, 3, 4),), {"axis": 1, "k": 2})


@makes("top_k", large=True)
def large_top_k(d: Draw, op: str) -> Iterator[Sample]:
    # Integers and the rounded ones have equals among them.
    for shape, axis in (((50, 301), 1), ((301, 50), 0), ((3, 200, 20), 1)):
        for k in (5, 64, 65, 150):
            for x in (d.normal(*shape), np.round(d.normal(*shape).astype(np.float32)).astype(d.dtype)):
                yield Sample((x,), {"axis": axis, "k": k, "largest": k != 64})


@makes("searchsorted")
def searchsorted(d: Draw, op: str) -> Iterator[Sample]:
    table = np.sort(d.rng.integers(0, 9, 12)).astype(d.dtype)
    for right in (False, True):
        yield Sample((table, d.rng.integers(0, 12, (3, 4)).astype(d.dtype)), {"right": right})


@makes("layer_norm", "rms_norm")
def row_norms(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in (((7,), 0), ((3, 5), 1), ((2, 3, 4), 2), ((2, 3, 4), 1)):
        inner = shape[axis:]
        weights = (None, d.positive(*inner))
        for weight in weights:
            if op == "rms_norm":
                yield Sample((d.normal(*shape), weight), {"axis": axis})
                continue
            for bias in (None, d.normal(*inner)):
                yield Sample((d.normal(*shape), weight, bias), {"axis": axis})
    inputs = (d.normal(3, 5), d.positive(5)) + ((d.normal(5),) if op == "layer_norm" else ())
    yield Sample(inputs, {"axis": 1, "epsilon": 0.125})


@makes("layer_norm", "rms_norm", large=True)
def large_row_norms(d: Draw, op: str) -> Iterator[Sample]:
    for rows, size in ((9, 1000), (700, 33), (3, 5001)):
        inputs = (d.normal(rows, size), d.positive(size)) + ((d.normal(size),) if op == "layer_norm" else ())
        yield Sample(inputs, {"axis": 1})


_ASKED = ("by_x", "by_weight", "by_bias")


@makes("layer_norm_gradient")
def row_norm_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in (((7,), 0), ((3, 5), 1), ((2, 3, 4), 2), ((2, 3, 4), 1), ((5, 2), 1)):
        for centred in (True, False):
            for weight in (None, d.positive(*shape[axis:])):
                inputs = (d.normal(*shape), d.normal(*shape), weight)
                yield Sample(inputs, {"axis": axis, "centred": centred, "by_bias": centred, "epsilon": 0.125})
    inputs = (d.normal(3, 5), d.normal(3, 5), d.positive(5))
    for wanted in itertools.product((False, True), repeat=3):
        if any(wanted):
            yield Sample(inputs, {"axis": 1, **dict(zip(_ASKED, wanted, strict=True))})


@makes("layer_norm_gradient", large=True)
def large_row_norm_gradient(d: Draw, op: str) -> Iterator[Sample]:
    # Few long rows, many short ones, and more pieces of rows than one.
    for rows, size in ((9, 1000), (9001, 17), (5, 20_001)):
        x = (d.normal(rows, size) + d.number(2.0)).astype(d.dtype)
        yield Sample((d.normal(rows, size), x, d.positive(size)), {"axis": 1, "centred": rows != 9})
    inputs = (d.normal(70, 33), d.normal(70, 33), None)
    for name in _ASKED:
        yield Sample(inputs, {"axis": 1, **{each: each == name for each in _ASKED}})


@makes("standardize")
def standardize(d: Draw, op: str) -> Iterator[Sample]:
    for axes in ((0, 2), (2,), (1, 2), (1,)):
        yield Sample((d.normal(2, 4, 3),), {"axis": axes})


_LARGE_GROUPS = (((3, 2, 70, 71), (0, 2, 3)), ((7, 5001), (1,)), ((37, 5, 9), (0, 2)), ((9001,), (0,)))


@makes("standardize", "standardize_gradient", large=True)
def large_standardize(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axes in _LARGE_GROUPS:
        inputs = [
            (d.normal(*shape) + d.number(2.0)).astype(d.dtype)
            for _ in range(2 if op.endswith("gradient") else 1)
        ]
        yield Sample(tuple(inputs), {"axis": axes, "epsilon": 0.25})


@makes("standardize_gradient")
def standardize_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for axes in ((0, 2), (2,), (1, 2), (1,)):
        yield Sample((d.normal(2, 4, 3), d.normal(2, 4, 3)), {"axis": axes})


@makes("add_layer_norm")
def add_layer_norm(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(3, 5), d.normal(3, 5), d.positive(5), d.normal(5)))
    yield Sample((d.normal(3, 5), d.normal(3, 5), None, None))


@makes("cumulative_sum", "cumulative_prod")
def running(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((7,), (3, 5), (2, 3, 4)):
        for axis in (None, *range(len(shape))) if len(shape) == 1 else range(len(shape)):
            for initial in (False, True):
                x = d.normal(*shape)
                yield Sample((x,), {"axis": axis, "include_initial": initial, "dtype": None}, _wide(d))


@makes("cumulative_prod_gradient")
def running_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for zeros in (0, 1, 2):
        x = d.positive(3, 5)
        x[:, 1 : 1 + zeros] = 0
        yield Sample((d.normal(3, 5), x, np.cumprod(x, axis=1).astype(d.dtype)), {"axis": 1})


@makes("products_of_others")
def products_of_others(d: Draw, op: str) -> Iterator[Sample]:
    x = d.positive(3, 4)
    yield Sample((x,))
    with_zero = x.copy()
    with_zero[0, 1] = with_zero[1, 0] = with_zero[1, 2] = 0
    yield Sample((with_zero,))


@makes("vector_norm")
def vector_norm(d: Draw, op: str) -> Iterator[Sample]:
    for order in (2.0, 1.0, 3.0, math.inf, -math.inf):
        x = d.distinct(3, 5) if math.isinf(order) and d.dtype.kind != "c" else d.grid(3, 5)
        if math.isinf(order):
            # No two magnitudes alike.
            x = (x.astype(d.dtype) + d.number(40.0)).astype(d.dtype)
        for axes in (None, (0,), (1,)):
            yield Sample((x,), {"axis": axes, "ord": order})
    yield Sample((d.grid(3, 5),), {"axis": (1,), "keepdims": True})


@makes("sum_to")
def sum_to(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((4,), (3, 1), (2, 1, 4), (1, 1), ()):
        yield Sample((d.normal(2, 3, 4),), {"shape": shape})


@makes("diff")
def diff(d: Draw, op: str) -> Iterator[Sample]:
    for axis, n in ((0, 1), (1, 1), (1, 2)):
        yield Sample((d.normal(3, 5),), {"axis": axis, "n": n})
