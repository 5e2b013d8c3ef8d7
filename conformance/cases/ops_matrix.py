"""Groups for the batched matrix product."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from conformance.cases.ops_common import (
    DETERMINISTIC,
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
from conformance.inputs import random_values
from conformance.trial import Operand, Trial

SIZES = (1, 2, 3, 7, 8, 9, 16, 17, 33)
# One row or column more than whole blocks, and one fewer.
EDGES = ((127, 33, 127), (129, 17, 513), (20, 19, 1023))


def _trial(
    check: Check,
    rng: np.random.Generator,
    batch: Shape,
    mkn: Shape,
    layouts: tuple[str, str],
    **options: Any,
) -> Trial:
    m, k, n = mkn
    kernel = check.kernel
    x1 = random_values(rng, kernel.spec.name, kernel.dtype, (*batch, m, k))
    x2 = random_values(rng, kernel.spec.name, kernel.dtype, (*batch, k, n))
    return kernel.trial(Operand(x1, layouts[0]), Operand(x2, layouts[1]), **options)


DENSE = ("contiguous", "contiguous")
# Rows that run backwards while their elements do not tell kernels that look at one stride only.
MATRICES = (*STRIDED, "flipped")


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    check.run(_trial(check, rng, (), (3, 4, 5), DENSE))


def shapes(check: Check, rng: np.random.Generator) -> None:
    """Batches of rank 0 to 3; single rows, columns and elements."""
    for batch in ((), (1,), (3,), (2, 2), (2, 1, 3)):
        for mkn in ((1, 1, 1), (1, 5, 1), (4, 1, 3), (1, 3, 6), (6, 3, 1), (3, 4, 5)):
            check.run(_trial(check, rng, batch, mkn, DENSE))


def empty_inner(check: Check, rng: np.random.Generator) -> None:
    """k = 0 writes zeros, over whatever stood there."""
    for batch in ((), (2,), (2, 3)):
        for m, n in ((1, 1), (3, 4), (17, 5)):
            check.run(_trial(check, rng, batch, (m, 0, n), DENSE))


def sizes(check: Check, rng: np.random.Generator) -> None:
    """All of m, k and n around vector and tile widths; unaligned operands."""
    for mkn in itertools.product(SIZES, (1, 4, 9, 33), SIZES):
        if sum(size > 9 for size in mkn) <= 1 or mkn[0] == mkn[2]:
            check.run(_trial(check, rng, (), mkn, DENSE))
    for mkn in ((5, 7, 3), (17, 33, 9)):
        check.run(_trial(check, rng, (2,), mkn, ("offset", "offset"), output_layout="offset"))


def large(check: Check, rng: np.random.Generator) -> None:
    """Sizes at which kernels block and use several threads."""
    for mkn in ((130, 70, 131), (1, 2000, 3), (257, 64, 1), (64, 513, 65), *EDGES):
        check.run(_trial(check, rng, (), mkn, DENSE))


def special(check: Check, rng: np.random.Generator) -> None:
    """One NaN or infinity spoils its row or column and nothing else; zeros do not hide it."""
    kernel = check.kernel
    if kernel.dtype.kind in "iu":
        limits = np.iinfo(kernel.dtype)
        extreme = np.full((3, 4), limits.max, kernel.dtype)
        check.run(kernel.trial(Operand(extreme), Operand(np.full((4, 2), limits.min or 3, kernel.dtype))))
        return
    for value, place in itertools.product((np.nan, np.inf, -np.inf), range(4)):
        x1 = random_values(rng, "batch_matmul", kernel.dtype, (5, 4))
        x2 = random_values(rng, "batch_matmul", kernel.dtype, (4, 6))
        x1[2, place] = value
        check.run(kernel.trial(Operand(x1), Operand(x2)))
        x1[2, place], x2[place, 3] = 0, value
        check.run(kernel.trial(Operand(x1), Operand(x2)))


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Each operand transposed, stepped, backwards and padded, alone and together; repeated batches."""
    for layout in MATRICES:
        for pair in ((layout, "contiguous"), ("contiguous", layout), (layout, layout)):
            check.run(_trial(check, rng, (), (4, 5, 3), pair))
            check.run(_trial(check, rng, (2,), (3, 4, 5), pair))
    x1 = random_values(rng, "batch_matmul", check.kernel.dtype, (1, 3, 4))
    x2 = random_values(rng, "batch_matmul", check.kernel.dtype, (3, 4, 2))
    repeated = Operand(np.broadcast_to(x1, (3, 3, 4)), broadcast=(0,))
    check.run(check.kernel.trial(repeated, Operand(x2)))


def large_layouts(check: Check, rng: np.random.Generator) -> None:
    """Operands of every layout at sizes where kernels pack, block, or hand over to a library; single rows and
    columns of them; and few large products beside many small ones."""
    for layout in MATRICES:
        for pair in ((layout, "contiguous"), ("contiguous", layout)):
            check.run(_trial(check, rng, (), (29, 31, 27), pair))
        for mkn in ((1, 130, 110), (110, 130, 1), (130, 1, 110)):
            check.run(_trial(check, rng, (), mkn, (layout, layout)))
    for layouts in (DENSE, ("transposed", "transposed")):
        check.run(_trial(check, rng, (), (83, 40, 131), layouts))
        # The oracle of 64-bit floats is slow.
        if check.kernel.dtype.name not in ("float64", "complex128"):
            check.run(_trial(check, rng, (2,), (150, 150, 141), layouts))
            check.run(_trial(check, rng, (300,), (23, 22, 24), layouts))


def large_output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Large products into outputs of every layout."""
    for layout in MATRICES:
        check.run(_trial(check, rng, (2,), (35, 31, 37), DENSE, output_layout=layout))
        check.run(_trial(check, rng, (), (2, 90, 80), DENSE, output_layout=layout))


def output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for layout in MATRICES:
        check.run(_trial(check, rng, (), (4, 5, 3), DENSE, output_layout=layout))
        check.run(_trial(check, rng, (2,), (3, 4, 5), DENSE, output_layout=layout))


def prepared(check: Check, rng: np.random.Generator) -> None:
    """One prepared state launched three times."""
    check.run(_trial(check, rng, (2,), (3, 4, 5), DENSE, launches=3, deterministic=True))


def threads(check: Check, rng: np.random.Generator) -> None:
    """Four threads launch the kernel at once, each on its own memory."""
    check_threads(check, [_trial(check, rng, (2,), (9, 17, 33), DENSE) for _ in range(THREADS)])


def repeats(check: Check, rng: np.random.Generator) -> None:
    """Two launches on the same inputs give the same bits."""
    check_repeats(check, _trial(check, rng, (), (65, 300, 33), DENSE))


def groups(kernel: Kernel) -> list[Group]:
    return [
        group("claim", claim),
        group("shapes", shapes),
        group("empty_inner", empty_inner),
        group("sizes", sizes),
        group("large", large, quick=kernel.dtype.kind == "f"),
        group("special", special),
        group("prepared", prepared, quick=False),
        group("layouts", layouts, STRIDED_INPUTS),
        group("large_layouts", large_layouts, STRIDED_INPUTS, quick=kernel.dtype.name == "float32"),
        group("output_layouts", output_layouts, STRIDED_OUTPUTS),
        group("large_output_layouts", large_output_layouts, STRIDED_OUTPUTS, quick=False),
        group("repeats", repeats, DETERMINISTIC, quick=False),
        *threads_group(kernel, threads),
    ]
