"""Short ways to write an oracle: a formula over widened inputs, and a movement of elements.

A formula gives only values. How far rounding may lead a good kernel away from them is measured here, by
moving the inputs and the result of every step by a little: what the result moves by, in proportion, is added
to the result's own size, and units in the last place refer to the sum. So a loss that is the small difference
of large terms is judged by the terms, and an activation by itself. Where a step leaves the range of the
dtype, a kernel that computes in the dtype does so too: what it gets is as right as the formula's value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.compare import FORMATS, FloatFormat
from conformance.oracle.arithmetic import altered, jittered, within
from conformance.oracle.precision import is_half, widen
from conformance.oracle.registry import Call, Expected, oracle, values_by

# NumPy's own annotations say Any of most results.
Array = Any
Values = Array | tuple[Array, ...]
Formula = Callable[[Call], Values]

# Seeds and directions of the movements: several, since two may cancel in one; one of them
# is taken the other way too, so that what turns on the sign of a single rounding is seen.
_PATTERNS = ((7, 1), (7, -1), (8, 1), (9, 1), (10, 1))


def formula(
    *names: str,
    reduces: bool = False,
    measure: Callable[[Call], Values] | None = None,
    dtypes: tuple[Any, ...] = (),
) -> Callable[[Formula], Formula]:
    """Registers a function from a call with widened inputs to values. Output i has the dtype `dtypes[i]`
    where that is given and not None; else that of the first floating input, or the call's.

    `reduces` adds the logarithm of the number of terms to the tolerance. `measure` gives a further size that
    units refer to, for formulas whose usual intermediate results are larger than inputs and result: one for
    all outputs, or a tuple of one for each.
    """

    def register(function: Formula) -> Formula:
        def judge(call: Call) -> list[Expected]:
            own = _dtype_of(call)
            wide = replace(
                call, inputs=tuple(None if x is None else widen(x) for x in call.inputs), dtype=own
            )
            values = _tuple(function(wide))
            wanted = [
                np.dtype(dtypes[i]) if i < len(dtypes) and dtypes[i] else own for i in range(len(values))
            ]
            scales, unsettled = _scales(function, wide, values, own)
            held = np.dtype(np.float32) if reduces and is_half(own) else own
            narrow = _narrow(function, wide, held) or [None] * len(values)
            if measure is not None:
                sizes = measure(wide)
                floors = sizes if isinstance(sizes, tuple) else (sizes,) * len(values)
                scales = [
                    None if scale is None else np.maximum(scale, np.abs(floor))
                    for scale, floor in zip(scales, floors, strict=True)
                ]
            terms = max((x.size for x in call.inputs if x is not None), default=1)
            extra = math.log2(max(terms, 1)) if reduces and not is_half(own) else 0.0
            return [
                Expected(value, dtype, scale, False, extra, other, lost)
                if _is_inexact(value)
                else Expected(value.astype(dtype), dtype)
                for value, dtype, scale, other, lost in zip(
                    values, wanted, scales, narrow, unsettled, strict=True
                )
            ]

        oracle(*names)(judge)
        values_by(lambda call: _tuple(function(call)), *names)
        return function

    return register


def moves(*names: str) -> Callable[[Formula], Formula]:
    """Registers a function from a call to elements of its first input's own dtype (or the call's), to be met
    bit for bit but for the payload of a NaN."""

    def register(function: Formula) -> Formula:
        def judge(call: Call) -> list[Expected]:
            dtype = call.dtype if call.dtype is not None else call.inputs[0].dtype
            return [
                Expected(widen(np.ascontiguousarray(value)), dtype, zero_sign=True)
                for value in _tuple(function(call))
            ]

        oracle(*names)(judge)
        return function

    return register


def _tuple(values: Values) -> tuple[Array, ...]:
    return tuple(np.asarray(value) for value in (values if isinstance(values, tuple) else (values,)))


def _is_inexact(values: Array) -> bool:
    return values.dtype.kind in "fc"


def _dtype_of(call: Call) -> np.dtype[Any]:
    if call.dtype is not None:
        return call.dtype
    given = [x for x in call.inputs if x is not None]
    floating = [x for x in given if _is_inexact(widen(x))]
    dtype: np.dtype[Any] = (floating or given)[0].dtype
    return dtype


def _narrow(function: Formula, wide: Call, dtype: np.dtype[Any]) -> Sequence[Array | None]:
    """What the formula gives when each of its steps stays in the range of a dtype, of each output. Nothing
    where no operand is so large that a power or an exponential of it leaves the range."""
    form = FORMATS.get(dtype.name)
    numbers = [np.abs(x[np.isfinite(x)]) for x in wide.inputs if x is not None and _is_inexact(x)]
    if form is None or max((float(x.max(initial=0)) for x in numbers), default=0) < _usual(form):
        return ()
    alter = within(dtype)
    inputs = tuple(None if x is None else altered(x, alter) for x in wide.inputs)
    return _tuple(function(replace(wide, inputs=inputs)))


def _usual(form: FloatFormat) -> float:
    """Below this, neither a number's fourth power nor its exponential leaves the range of a format."""
    return min(math.pow(2, form.greatest_exponent / 4), form.greatest_exponent * math.log(2))


def _step(dtype: np.dtype[Any]) -> float:
    """How much a kernel may move the result of a step, in proportion: by half a unit in the last place. The
    16-bit types are computed in float32; there it is far above the rounding of the oracle and far below the
    inputs."""
    form = FORMATS.get(dtype.name)
    return 2.0**-20 if form is None or is_half(dtype) else math.ldexp(1.0, -form.precision)


def _scales(
    function: Formula, wide: Call, values: tuple[Array, ...], dtype: np.dtype[Any]
) -> tuple[list[Array | None], list[Array]]:
    """|value| plus how far it moves when every floating input, and but for 16-bit types the result of every
    step, moves by about one part, of each output; and where that decides what is finite or infinite."""
    step = _step(dtype)
    moved = [np.zeros(value.shape, np.abs(value).dtype) for value in values]
    unsettled = [np.zeros(value.shape, np.bool_) for value in values]
    for seed, direction in _PATTERNS:
        alter = jittered(np.random.default_rng(seed), direction * step)
        inputs = tuple(x if x is None or not _is_inexact(x) else alter(x) for x in wide.inputs)
        if not is_half(dtype):
            inputs = tuple(None if x is None else altered(x, alter) for x in inputs)
        others = _tuple(function(replace(wide, inputs=inputs)))
        for place, (value, other) in enumerate(zip(values, others, strict=True)):
            if _is_inexact(value) and value.shape == other.shape:
                distance = np.abs(other - value) / step
                moved[place] = np.maximum(moved[place], np.where(np.isfinite(distance), distance, 0))
                same = (value == other) | (np.isnan(value) & np.isnan(other))
                unsettled[place] |= ~same & ~(np.isfinite(value) & np.isfinite(other))
    sizes = [np.abs(value) if _is_inexact(value) else None for value in values]
    scales = [
        None if size is None else np.where(np.isfinite(size), size + far, 0)
        for size, far in zip(sizes, moved, strict=True)
    ]
    return scales, unsettled
