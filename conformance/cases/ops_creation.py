"""Groups for ops that make or convert elements: fill, iota, and the strided, converting copy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from conformance.case import require
from conformance.cases.ops_common import (
    STRIDED,
    STRIDED_INPUTS,
    STRIDED_OUTPUTS,
    Check,
    Group,
    Kernel,
    group,
)
from conformance.cases.ops_elementwise import SHAPES, SIZES
from conformance.compare import FORMATS
from conformance.inputs import random_values, special_values, spread
from conformance.trial import Operand

# --- fill ---------------------------------------------------------------------------------------------


def _fill(check: Check, value: Any, shape: tuple[int, ...], layout: str = "contiguous") -> None:
    kernel = check.kernel
    attributes = {"value": value, "shape": shape, "dtype": kernel.dtype}
    check.run(kernel.trial(attributes=attributes, output_layout=layout, dtype=kernel.dtype, shape=shape))


def fill_claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    _fill(check, random_values(rng, "fill", check.kernel.dtype, ()), (3, 5))


def fill_shapes(check: Check, rng: np.random.Generator) -> None:
    """Ranks 0 to 7 and lengths around vector widths, aligned and not."""
    for shape in (*SHAPES, *((size,) for size in SIZES)):
        value = random_values(rng, "fill", check.kernel.dtype, ())
        _fill(check, value, shape)
        _fill(check, value, shape, "offset")


def fill_values(check: Check, rng: np.random.Generator) -> None:
    """Every special value."""
    for value in special_values(check.kernel.dtype):
        _fill(check, value, (9,))


def fill_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for layout in STRIDED:
        _fill(check, random_values(rng, "fill", check.kernel.dtype, ()), (3, 4, 5), layout)


def fill_large(check: Check, rng: np.random.Generator) -> None:
    """Sizes at which kernels share the work out among threads."""
    _fill(check, random_values(rng, "fill", check.kernel.dtype, ()), (3, 66_003))


# --- iota ---------------------------------------------------------------------------------------------


def _iota(check: Check, size: int, start: float, step: float, layout: str = "contiguous") -> None:
    kernel = check.kernel
    attributes = {
        "size": size,
        "dtype": kernel.dtype,
        "start": int(start),
        "step": int(step),
        "start_float": float(start),
        "step_float": float(step),
    }
    check.run(kernel.trial(attributes=attributes, output_layout=layout, dtype=kernel.dtype, shape=(size,)))


def iota_claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    _iota(check, 9, 0, 1)


def iota_values(check: Check, rng: np.random.Generator) -> None:
    """Starts and steps of both signs, zero, fractions and wrapping; lengths around vector widths."""
    for start, step in ((0, 1), (5, -1), (-3, 7), (100, 100), (2, 0), (-(2**40), 2**33 + 1)):
        for size in (1, 2, 17, 65, 300):
            _iota(check, size, start, step)
    if check.kernel.dtype.kind in "fV":
        for first, width in ((0.1, 0.3), (-2.5, 1e-3), (1e4, -0.7)):
            _iota(check, 1025, first, width)
    _iota(check, 33, 1, 2, "offset")
    if check.kernel.claim.has(STRIDED_OUTPUTS):
        for layout in ("stepped", "negative"):
            _iota(check, 33, 1, 2, layout)


# --- copy ---------------------------------------------------------------------------------------------


def _copy(check: Check, operand: Operand, layout: str = "contiguous", **options: Any) -> None:
    target = check.kernel.dtypes.get("U", check.kernel.dtype)
    attributes = {"dtype": target}
    check.run(
        check.kernel.trial(operand, attributes=attributes, output_layout=layout, dtype=target, **options)
    )


def convert(check: Check, rng: np.random.Generator) -> None:
    """One pair of dtypes: shapes, sizes, special values, and a few strides on both sides."""
    kernel = check.kernel
    for shape in ((), (7,), (3, 5), (2, 3, 4), (65,), (1025,)):
        _copy(check, Operand(random_values(rng, "copy", kernel.dtype, shape)))
    _copy(check, Operand(spread(special_values(kernel.dtype))))
    _copy(check, Operand(_around_limits(kernel, rng)))
    if kernel.dtype.name in _NAN_BITS:
        _copy(check, Operand(_nans(kernel.dtype)))
    for layout in ("transposed", "stepped", "negative"):
        _copy(check, Operand(random_values(rng, "copy", kernel.dtype, (4, 5)), layout), "rotated")
        _copy(check, Operand(random_values(rng, "copy", kernel.dtype, (2, 3, 4))), layout)


# The bits of infinity, above which NaN begins.
_NAN_BITS = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}


def _nans(dtype: np.dtype[Any]) -> Any:
    """NaN with the least and the greatest payload, signaling and quiet: a conversion that drops bits may take
    the first for infinity."""
    infinity = _NAN_BITS[dtype.name]
    sign = 1 << (dtype.itemsize * 8 - 1)
    bits = [infinity + 1, sign - 1, sign + infinity + 1, 2 * sign - 1]
    return np.array(bits, f"u{dtype.itemsize}").view(dtype)


_PRECISION = {"float8_e4m3fn": 4, "float8_e5m2": 3}  # of formats that compare has no rule for


def _around_limits(kernel: Kernel, rng: np.random.Generator) -> Any:
    """Numbers near the bounds and the halfway points of the target type."""
    target = kernel.dtypes.get("U", kernel.dtype)
    if kernel.dtype == np.bool_ or kernel.dtype.name.startswith("float8"):
        return special_values(kernel.dtype)
    if target.kind in "iu":
        limits = np.iinfo(target)
        ends = [float(limits.min), float(limits.max), 0.0]
        numbers = [end + shift for end in ends for shift in (-1.5, -1, -0.75, -0.5, 0, 0.5, 0.75, 1, 1.5)]
    else:
        scale = {"float16": 65504.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0, "bfloat16": 3.3895e38}
        top = scale.get(target.name, 3.4028235e38)
        numbers = [top * factor for factor in (1, 1 + 2**-9, 1 + 2**-5, 1.035714, 1.04, 1.0625, 1.07, 1.2)]
        precision = (
            FORMATS[target.name].precision if target.name in FORMATS else _PRECISION.get(target.name, 4)
        )
        whole = rng.integers(2 ** (precision - 1), 2**precision, 400).astype(float)
        unit = np.exp2(rng.integers(-21, 16, 400) - float(precision - 1))
        # Halfway, and so close to it that only a wide type knows on which side.
        for shift in (0.5, 0.5 + 2.0**-20, 0.5 - 2.0**-20, 0):
            numbers += list((whole + shift) * unit)
        # One number of float32 beside halfway, and less than that: what goes by way of float32 must not lose
        # on which side it is.
        step = 2.0 ** (precision - 24)
        for shift in (0.5 + step, 0.5 - step, 0.5 + 0.75 * step, 0.5 - 0.75 * step):
            numbers += list((whole[:100] + shift) * unit[:100])
    both = np.array([*numbers, *(-number for number in numbers)])
    with np.errstate(all="ignore"):
        if kernel.dtype.kind in "iu":
            limits = np.iinfo(kernel.dtype)
            inside = both[(both >= limits.min) & (both < float(limits.max))]
            return np.array([int(number) for number in inside] or [0], kernel.dtype)
        return both.astype(kernel.dtype)


def strides_claimed(check: Check, rng: np.random.Generator) -> None:
    """The copy must take any strides on both sides: views and broadcasting rest on it."""
    needed = STRIDED_INPUTS | STRIDED_OUTPUTS
    require(
        check.kernel.claim.flags & needed == needed,
        "the copy kernel does not claim strided inputs and strided outputs, which are mandatory for this op",
        flags=check.kernel.claim.flags,
    )
    _copy(check, Operand(random_values(rng, "copy", check.kernel.dtype, (3, 4)), "transposed"), "stepped")


def copy_shapes(check: Check, rng: np.random.Generator) -> None:
    """Ranks 0 to 7 and lengths around vector widths, aligned and not."""
    for shape in (*SHAPES, *((size,) for size in SIZES)):
        values = random_values(rng, "copy", check.kernel.dtype, shape)
        _copy(check, Operand(values))
        _copy(check, Operand(values, "offset"), "offset")


def copy_layouts(check: Check, rng: np.random.Generator) -> None:
    """Every pair of layouts, on three shapes; stride 0 on every set of axes."""
    for shape in ((4, 5), (2, 3, 4), (9,), (2, 1, 3, 2, 2)):
        for left, right in itertools.product(("contiguous", *STRIDED), repeat=2):
            _copy(check, Operand(random_values(rng, "copy", check.kernel.dtype, shape), left), right)
    for shape, axes in (((4,), (0,)), ((3, 5), (0,)), ((3, 5), (1,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,))):
        stored = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        small = random_values(rng, "copy", check.kernel.dtype, stored)
        for layout in ("contiguous", "transposed"):
            _copy(check, Operand(np.broadcast_to(small, shape), broadcast=axes), layout)


def copy_large(check: Check, rng: np.random.Generator) -> None:
    """Transposes and plain copies at sizes where kernels tile and use several threads."""
    values = random_values(rng, "copy", check.kernel.dtype, (300, 257))
    for left, right in (
        ("contiguous", "contiguous"),
        ("transposed", "contiguous"),
        ("contiguous", "transposed"),
    ):
        _copy(check, Operand(values, left), right)


def copy_bits(check: Check, rng: np.random.Generator) -> None:
    """A copy without conversion keeps every special value."""
    _copy(check, Operand(spread(special_values(check.kernel.dtype))))


def groups(kernel: Kernel) -> list[Group]:
    if kernel.spec.name == "fill":
        return [
            group("claim", fill_claim),
            group("shapes", fill_shapes),
            group("values", fill_values),
            group("large", fill_large, quick=False),
            group("output_layouts", fill_layouts, STRIDED_OUTPUTS),
        ]
    if kernel.spec.name == "iota":
        return [group("claim", iota_claim), group("values", iota_values)]
    target = kernel.dtypes.get("U", kernel.dtype)
    if target != kernel.dtype:
        plain = {"bool", "int32", "int64", "float16", "bfloat16", "float32", "float64"}
        common = kernel.dtype.name in plain and target.name in plain
        return [group(f"to_{target.name}", convert, quick=common)]
    return [
        group("claim", strides_claimed),
        group("shapes", copy_shapes),
        group("special", copy_bits),
        group("layouts", copy_layouts),
        group("large", copy_large, quick=kernel.dtype.itemsize in (1, 4)),
    ]
