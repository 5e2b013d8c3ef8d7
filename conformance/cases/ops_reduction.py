"""Groups for reductions and scans over the last axis, and for sorting it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from conformance.cases.ops_common import (
    DETERMINISTIC,
    IN_PLACE,
    STRIDED,
    STRIDED_INPUTS,
    STRIDED_OUTPUTS,
    THREADS,
    Check,
    Group,
    Kernel,
    Shape,
    check_repeats,
    check_threads,
    group,
    threads_group,
)
from conformance.compare import FORMATS
from conformance.inputs import random_values, special_values, spread
from conformance.oracle.precision import is_half
from conformance.trial import Operand, Trial

# Reductions that have a value for no elements.
WITH_IDENTITY = {"reduce_sum", "reduce_prod", "reduce_any", "reduce_all"}
# Products of many random numbers leave the range; their lengths stay short.
PRODUCTS = {"reduce_prod", "scan_prod"}

SHAPES: tuple[Shape, ...] = (
    (1,), (7,), (1, 1), (3, 5), (5, 1), (1, 9), (2, 3, 4), (2, 1, 3, 5), (2, 2, 1, 3, 4), (1, 2, 1, 2, 1, 3),
)  # fmt: skip
SIZES = (*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 1025)
LONG = 1 << 20


def _options(check: Check) -> list[dict[str, Any]]:
    if check.kernel.spec.name == "argsort_last":
        return [{"attributes": {"descending": flag}} for flag in (False, True)]
    return [{}]


def _run(check: Check, operand: Operand, **options: Any) -> None:
    for attributes in _options(check):
        check.run(check.kernel.trial(operand, **attributes, **options))


def _draw(check: Check, rng: np.random.Generator, shape: Shape) -> Any:
    kernel = check.kernel
    values = random_values(rng, kernel.spec.name, kernel.dtype, shape)
    if kernel.dtype == np.bool_:
        # Mostly one value, so that a single element decides.
        values = (rng.random(shape) < rng.choice([0.03, 0.5, 0.97])).astype(np.bool_)
    return values


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    _run(check, Operand(_draw(check, rng, (3, 5))))


def shapes(check: Check, rng: np.random.Generator) -> None:
    """Ranks 1 to 6; of ops with an identity also no elements at all."""
    for shape in SHAPES:
        _run(check, Operand(_draw(check, rng, shape)))
    if check.kernel.spec.name in WITH_IDENTITY:
        for shape in ((0,), (3, 0), (2, 2, 0)):
            _run(check, Operand(_draw(check, rng, shape)))


def sizes(check: Check, rng: np.random.Generator) -> None:
    """Lengths of the last axis around vector widths, aligned and not, one row and three."""
    for size in SIZES:
        if check.kernel.spec.name in PRODUCTS and size > 129:
            continue
        _run(check, Operand(_draw(check, rng, (size,))))
        _run(check, Operand(_draw(check, rng, (3, size)), "offset"), output_layout="offset")


def special(check: Check, rng: np.random.Generator) -> None:
    """NaN, infinities, zeros and extremes at each position of a row, and rows of nothing else."""
    kernel = check.kernel
    chosen = special_values(kernel.dtype)
    if kernel.dtype.kind == "c":
        chosen = chosen[:8]
    for length in (5, 19):
        rows = [np.resize(chosen, length)] if kernel.dtype == np.bool_ else []
        for value, place in itertools.product(chosen, range(length)):
            row = _draw(check, rng, (length,))
            row[place] = value
            rows.append(row)
        rows += [np.full(length, value) for value in chosen]
        _run(check, Operand(_only_safe(kernel, np.stack(rows))))
    if kernel.spec.name not in PRODUCTS and kernel.spec.name not in ("reduce_sum", "scan_sum"):
        _run(check, Operand(spread(chosen)[None, :]))


def _only_safe(kernel: Kernel, rows: Any) -> Any:
    """Sums near the greatest number overflow or not by the order of additions: such rows are left out."""
    if kernel.dtype.kind in "biu" or kernel.spec.name.split("_")[-1] not in ("sum", "prod"):
        return rows
    wide = rows.astype(np.clongdouble if kernel.dtype.kind == "c" else np.longdouble)
    largest = np.abs(wide)
    limit = np.sqrt(np.longdouble(np.finfo(np.float16).max if kernel.dtype.name == "float16" else 1e30))
    extreme = np.isfinite(largest) & (largest != 0) & ((largest > limit) | (largest < 1 / limit))
    return rows[~extreme.any(axis=-1)]


def ties(check: Check, rng: np.random.Generator) -> None:
    """Few distinct values, zeros of both signs and NaN among them: the first of equals is the one."""
    kernel = check.kernel
    chosen = special_values(kernel.dtype)[:3]
    if kernel.dtype.kind in "fV":
        chosen = np.array([0.0, -0.0, 1.0, np.nan]).astype(kernel.dtype)
    for length in (2, 3, 8, 40, 301):
        for pool in (chosen, chosen[:2]):
            _run(check, Operand(rng.choice(pool, (9, length))))


def long(check: Check, rng: np.random.Generator) -> None:
    """A million elements in one row: how the error of a long sum grows, and positions beyond 16 bits."""
    kernel = check.kernel
    values = _draw(check, rng, (LONG,))
    if kernel.spec.name.endswith("sum") and kernel.dtype.kind in "fcV":
        values = (
            np.abs(values.astype(np.float64)).astype(kernel.dtype) if kernel.dtype.kind != "c" else values
        )
    if kernel.spec.name.endswith("sum") and kernel.dtype.name == "float16":
        # The sum itself must stay below 65,504.
        values = (rng.random(LONG) * 2.0**-5).astype(np.float16)
    _run(check, Operand(values))


def long_products(check: Check, rng: np.random.Generator) -> None:
    """Rows longer than kernels reduce in one piece, whose products are exact: ones of both signs, and a few
    twos at either end."""
    kernel = check.kernel
    row = np.ones((2, 66_003), kernel.dtype)
    if kernel.dtype.kind != "u":
        row = (rng.choice((-1, 1), row.shape) * row).astype(kernel.dtype)
    row[:, [0, 1, -2, -1]] = 2
    _run(check, Operand(row))


def small_and_large(check: Check, rng: np.random.Generator) -> None:
    """A few ones in a row of numbers so small that one of them added to a one is lost, and all of them
    together are not: sums of blocks keep them, or errors carried along, where one long sum drops them."""
    kernel = check.kernel
    # A thread that adds up some hundred numbers may drop them and stay within the bound.
    small = 2.0 ** -(FORMATS[kernel.dtype.name].precision + 6)
    row = np.full((2, 1 << 17), small * (1 + 1j if kernel.dtype.kind == "c" else 1), kernel.dtype)
    row[:, 1 << 16 : (1 << 16) + 8] = 1 + 1j if kernel.dtype.kind == "c" else 1
    _run(check, Operand(row))


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Inputs transposed, stepped, backwards and repeated, with poison in the gaps."""
    kernel = check.kernel
    for shape, layout in itertools.product(((4, 5), (2, 3, 4), (9,), (5, 2)), STRIDED):
        _run(check, Operand(_draw(check, rng, shape), layout))
    for shape, axes in (((3, 5), (0,)), ((3, 5), (1,)), ((2, 3, 4), (0, 2))):
        stored = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        small = random_values(rng, kernel.spec.name, kernel.dtype, stored)
        _run(check, Operand(np.broadcast_to(small, shape), broadcast=axes))


def _large_shapes(kernel: Kernel) -> tuple[Shape, ...]:
    """Many rows, rows of columns that lie side by side, and pieces of long rows, each just beyond the sizes
    from which kernels use several threads. A sort does with less, and its oracle takes longer."""
    if kernel.spec.name == "argsort_last":
        return ((331, 29), (2, 211, 30))
    return (
        ((2503, 29), (3, 301, 80))
        if kernel.spec.name in PRODUCTS
        else ((2503, 29), (3, 301, 80), (2, 66_003))
    )


def many_rows(check: Check, rng: np.random.Generator) -> None:
    """Sizes at which kernels share rows out among threads."""
    for shape in _large_shapes(check.kernel):
        _run(check, Operand(_draw(check, rng, shape)))


def large_layouts(check: Check, rng: np.random.Generator) -> None:
    """The same sizes transposed and stepped."""
    for shape, layout in itertools.product(_large_shapes(check.kernel), ("transposed", "mixed")):
        _run(check, Operand(_draw(check, rng, shape), layout))


def output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for layout, shape in itertools.product(STRIDED, ((3, 4, 5), (4, 4, 3))):
        _run(check, Operand(_draw(check, rng, shape)), output_layout=layout)


def prepared(check: Check, rng: np.random.Generator) -> None:
    """One prepared state launched three times."""
    _run(check, Operand(_draw(check, rng, (3, 7))), launches=3, deterministic=True)


def in_place(check: Check, rng: np.random.Generator) -> None:
    """The output in the memory of the input."""
    for shape in ((7,), (3, 5), (2, 257), (9, 20)):
        for layout in ("contiguous", "offset"):
            _run(check, Operand(_draw(check, rng, shape), layout), in_place=((0, 0),))


def threads(check: Check, rng: np.random.Generator) -> None:
    """Four threads launch the kernel at once, each on its own memory."""
    options = [_options(check)[number % len(_options(check))] for number in range(THREADS)]
    length = 65 if check.kernel.spec.name in PRODUCTS else 1025
    check_threads(
        check, [check.kernel.trial(Operand(_draw(check, rng, (3, length))), **each) for each in options]
    )


def repeats(check: Check, rng: np.random.Generator) -> None:
    """Two launches on the same inputs give the same bits."""
    length = 65 if check.kernel.spec.name in PRODUCTS else 70_001
    for options in _options(check):
        trial: Trial = check.kernel.trial(Operand(_draw(check, rng, (2, length))), **options)
        check_repeats(check, trial)


def groups(kernel: Kernel) -> list[Group]:
    name = kernel.spec.name
    chosen = [
        group("claim", claim),
        group("shapes", shapes),
        group("sizes", sizes),
        group("special", special),
        group("prepared", prepared, quick=False),
        group("layouts", layouts, STRIDED_INPUTS),
        group("many_rows", many_rows, quick=kernel.dtype.name == "float32"),
        group("large_layouts", large_layouts, STRIDED_INPUTS, quick=False),
        group("output_layouts", output_layouts, STRIDED_OUTPUTS),
        group("repeats", repeats, DETERMINISTIC, quick=False),
        *threads_group(kernel, threads),
    ]
    if name.startswith("scan_"):
        chosen.append(group("in_place", in_place, IN_PLACE))
    if name in ("reduce_argmax", "reduce_argmin", "argsort_last", "reduce_max", "reduce_min"):
        chosen.append(group("ties", ties))
    if name == "reduce_prod":
        chosen.append(group("long_products", long_products, quick=False))
    if name == "reduce_sum" and kernel.dtype.name in FORMATS and not is_half(kernel.dtype):
        chosen.append(group("small_and_large", small_and_large, quick=False))
    if name not in PRODUCTS and name not in ("argsort_last", "scan_sum"):
        chosen.append(group("long", long, quick=kernel.dtype.name in ("float32", "float16")))
    return chosen
