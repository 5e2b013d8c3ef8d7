"""Groups for gathering and scattering rows, and for compaction of a mask."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.case import NotSupported
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
    check_refuses_index,
    check_repeats,
    check_threads,
    group,
    threads_group,
)
from conformance.inputs import random_values, special_values
from conformance.trial import Operand, Trial

REPLACE, ADD = 1, 2
# (rows of x, columns, indices)
SIZES = ((1, 1, 1), (5, 3, 7), (7, 1, 4), (3, 17, 9), (64, 33, 65), (2, 5, 1), (300, 2, 1000), (60, 35, 2000))


def _reductions(kernel: Kernel) -> tuple[int, ...]:
    """Addition is for numbers; float8 and bool are storage."""
    plain = kernel.dtype == np.bool_ or kernel.dtype.name.startswith("float8")
    return (REPLACE,) if plain else (REPLACE, ADD)


def _trials(
    check: Check,
    rng: np.random.Generator,
    sizes: tuple[int, int, int],
    layout: str = "contiguous",
    **options: Any,
) -> list[Trial]:
    """The launches of one size: one for gather_rows, one per reduction for scatter_rows."""
    kernel = check.kernel
    rows, columns, count = sizes
    x = random_values(rng, kernel.spec.name, kernel.dtype, (rows, columns))
    index = rng.integers(0, rows, count).astype(np.int64)
    if kernel.spec.name == "gather_rows":
        return [kernel.trial(Operand(x, layout), Operand(index, layout), **options)]
    updates = random_values(rng, kernel.spec.name, kernel.dtype, (count, columns))
    operands = (Operand(x, layout), Operand(index, layout), Operand(updates, layout))
    return [
        kernel.trial(*operands, attributes={"reduction": reduction}, **options)
        for reduction in _reductions(kernel)
    ]


def _run(check: Check, rng: np.random.Generator, *arguments: Any, **options: Any) -> None:
    for trial in _trials(check, rng, *arguments, **options):
        check.run(trial)


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    _run(check, rng, (5, 3, 4))


def sizes(check: Check, rng: np.random.Generator) -> None:
    """Rows and columns around vector widths, repeated indices; no indices at all leave x as it is."""
    for size in SIZES:
        _run(check, rng, size)
        _run(check, rng, size, "offset", output_layout="offset")
    _run(check, rng, (4, 3, 0))


def order(check: Check, rng: np.random.Generator) -> None:
    """Equal indices: the last replaces, every one adds."""
    kernel = check.kernel
    for rows in (1, 3):
        x = random_values(rng, kernel.spec.name, kernel.dtype, (rows, 4))
        index = np.sort(rng.integers(0, rows, 50)).astype(np.int64)
        updates = random_values(rng, kernel.spec.name, kernel.dtype, (50, 4))
        for reduction in _reductions(kernel):
            operands = (Operand(x), Operand(index), Operand(updates))
            check.run(kernel.trial(*operands, attributes={"reduction": reduction}))


def special(check: Check, rng: np.random.Generator) -> None:
    """Every special value moves unchanged."""
    kernel = check.kernel
    chosen = special_values(kernel.dtype)
    x = np.resize(chosen, (chosen.size, 3))
    index = rng.permutation(chosen.size).astype(np.int64)
    if kernel.spec.name == "gather_rows":
        check.run(kernel.trial(Operand(x), Operand(index)))
        return
    operands = (Operand(x[::-1].copy()), Operand(index), Operand(x))
    check.run(kernel.trial(*operands, attributes={"reduction": REPLACE}))


def out_of_range(check: Check, rng: np.random.Generator) -> None:
    """An index outside [0, n) is OUT_OF_RANGE, and nothing outside is touched; the device stays usable."""
    for bad in (-1, 5, 6, 2**31, 2**32, -(2**63), 2**63 - 1):
        for trial in _trials(check, rng, (5, 3, 4)):
            check_refuses_index(check, trial, 2, bad)


def out_of_range_on_stream(check: Check, rng: np.random.Generator) -> None:
    """The same on a stream: the launch or the wait for it says OUT_OF_RANGE, and the next stream works."""
    if check.target.optional_interface("stream") is None:
        raise NotSupported("the stream interface is not implemented")
    for trial in _trials(check, rng, (5, 3, 4)):
        check_refuses_index(check, replace(trial, on_stream=True), 2, 5)


def threads(check: Check, rng: np.random.Generator) -> None:
    """Four threads launch the kernel at once, each on its own memory."""
    check_threads(check, [_trials(check, rng, (40, 17, 60))[-1] for _ in range(THREADS)])


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Inputs of every layout, with poison in the gaps."""
    for layout in STRIDED:
        _run(check, rng, (5, 4, 6), layout)


def output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for layout in STRIDED:
        _run(check, rng, (5, 4, 6), output_layout=layout)


def both_layouts(check: Check, rng: np.random.Generator) -> None:
    """Strided inputs and strided outputs at once, in different orders."""
    for left, right in itertools.product(STRIDED, repeat=2):
        _run(check, rng, (5, 4, 6), left, output_layout=right)


def large(check: Check, rng: np.random.Generator) -> None:
    """Sizes at which kernels use several threads: many short rows, few long ones."""
    for size in ((300, 30, 2500), (6, 17_011, 5)):
        _run(check, rng, size)


def in_place(check: Check, rng: np.random.Generator) -> None:
    """The output in the memory of x: only the rows that change are written."""
    for size in SIZES:
        _run(check, rng, size, in_place=((0, 0),))


def prepared(check: Check, rng: np.random.Generator) -> None:
    """One prepared state launched three times."""
    _run(check, rng, (5, 4, 6), launches=3, deterministic=True)


def repeats(check: Check, rng: np.random.Generator) -> None:
    """Two launches on the same inputs give the same bits."""
    for trial in _trials(check, rng, (40, 17, 3000)):
        check_repeats(check, trial)


# --- compact -----------------------------------------------------------------------------------------


def _mask(rng: np.random.Generator, size: int, share: float) -> Operand:
    return Operand((rng.random(size) < share).astype(np.bool_))


def compact_claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    check.run(check.kernel.trial(_mask(rng, 9, 0.5)))


def compact_sizes(check: Check, rng: np.random.Generator) -> None:
    """No element, none, one, some and all true, at lengths around vector widths."""
    for size in (0, *range(1, 20), 31, 32, 33, 63, 64, 65, 255, 257, 1025):
        for share in (0.0, 0.1, 0.5, 1.1):
            check.run(check.kernel.trial(_mask(rng, size, share)))
    check.run(check.kernel.trial(Operand(_mask(rng, 100, 0.5).values, "offset")))


def compact_large(check: Check, rng: np.random.Generator) -> None:
    """Lengths at which kernels use several threads."""
    for share in (0.001, 0.5, 1.1):
        check.run(check.kernel.trial(_mask(rng, 300_001, share)))


def compact_layouts(check: Check, rng: np.random.Generator) -> None:
    """Stepped and backward masks, and one element repeated."""
    for layout in ("stepped", "negative", "mixed"):
        check.run(check.kernel.trial(Operand(_mask(rng, 33, 0.5).values, layout)))
    repeated = np.broadcast_to(np.array([True]), (9,))
    check.run(check.kernel.trial(Operand(repeated, broadcast=(0,))))


def groups(kernel: Kernel) -> list[Group]:
    if kernel.spec.name == "compact":
        return [
            group("claim", compact_claim),
            group("sizes", compact_sizes),
            group("large", compact_large),
            group("layouts", compact_layouts, STRIDED_INPUTS),
        ]
    chosen = [
        group("claim", claim),
        group("sizes", sizes),
        group("special", special),
        group("out_of_range", out_of_range),
        group("out_of_range_on_stream", out_of_range_on_stream),
        *threads_group(kernel, threads),
        group("prepared", prepared, quick=False),
        group("layouts", layouts, STRIDED_INPUTS),
        group("output_layouts", output_layouts, STRIDED_OUTPUTS),
        group("both_layouts", both_layouts, STRIDED_INPUTS | STRIDED_OUTPUTS, quick=False),
        group("large", large, quick=kernel.dtype.name == "float32"),
        group("repeats", repeats, DETERMINISTIC, quick=False),
    ]
    if kernel.spec.name == "scatter_rows":
        chosen += [group("order", order), group("in_place", in_place, IN_PLACE)]
    return chosen
