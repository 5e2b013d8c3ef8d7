"""Short ways to write an oracle: a formula over widened inputs, and a movement of elements.

A formula gives only values. How far rounding may lead a good kernel away from them is measured here, by
moving the inputs by a little: what the result moves by, in proportion, is added to the result's own size, and
units in the last place refer to the sum. So a loss that is the small difference of large terms is judged by
the terms, and an activation by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.oracle.precision import is_half, widen
from conformance.oracle.registry import Call, Expected, oracle, values_by

# NumPy's own annotations say Any of most results.
Array = Any
Values = Array | tuple[Array, ...]
Formula = Callable[[Call], Values]

# The relative step by which inputs are moved, far above the rounding of the oracle and far below the inputs.
STEP = 2.0**-20
_PATTERNS = 4


def formula(
    *names: str,
    reduces: bool = False,
    measure: Callable[[Call], Array] | None = None,
    dtypes: tuple[Any, ...] = (),
) -> Callable[[Formula], Formula]:
    """Registers a function from a call with widened inputs to values. Output i has the dtype `dtypes[i]`
    where that is given and not None; else that of the first floating input, or the call's.

    `reduces` adds the logarithm of the number of terms to the tolerance. `measure` gives a further size that
    units refer to, for formulas whose usual intermediate results are larger than inputs and result.
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
            scales = _scales(function, wide, values)
            if measure is not None:
                floor = np.abs(measure(wide))
                scales = [None if scale is None else np.maximum(scale, floor) for scale in scales]
            terms = max((x.size for x in call.inputs if x is not None), default=1)
            extra = math.log2(max(terms, 1)) if reduces and not is_half(own) else 0.0
            return [
                _expected(value, dtype, scale, extra)
                for value, dtype, scale in zip(values, wanted, scales, strict=True)
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


def _expected(value: Array, dtype: np.dtype[Any], scale: Array | None, extra: float) -> Expected:
    if not _is_inexact(value):
        return Expected(value.astype(dtype), dtype)
    return Expected(value, dtype, scale, extra_ulp=extra)


def _scales(function: Formula, wide: Call, values: tuple[Array, ...]) -> list[Array | None]:
    """|value| plus how far it moves when every floating input moves by one part, of each output."""
    scales = [np.abs(value) if _is_inexact(value) else None for value in values]
    rng = np.random.default_rng(7)
    moved = [np.zeros(value.shape, np.abs(value).dtype) for value in values]
    for _ in range(_PATTERNS):
        others = _tuple(function(replace(wide, inputs=tuple(_nudged(x, rng) for x in wide.inputs))))
        for place, (value, other) in enumerate(zip(values, others, strict=True)):
            if scales[place] is not None and value.shape == other.shape:
                distance = np.abs(other - value) / STEP
                moved[place] = np.maximum(moved[place], np.where(np.isfinite(distance), distance, 0))
    return [
        None if scale is None else np.where(np.isfinite(scale), scale + far, 0)
        for scale, far in zip(scales, moved, strict=True)
    ]


def _nudged(x: Any, rng: np.random.Generator) -> Any:
    if x is None or not _is_inexact(x):
        return x
    return x * (1 + STEP * rng.choice((-1.0, 1.0), x.shape))
