"""Folding: the fewest dimensions that describe the same elements, and ways around a device's greatest rank.

A kernel pays for each dimension that it walks, and a device may take few of them. Operands that are walked
together (all of an elementwise op, the leading axes of a reduction) share one fold: a dimension of size one
goes, and two neighbours merge where every operand steps through them as through one. What is still too deep
is cut into slices of lower rank. Everything here is arithmetic on layouts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from device_api.ops.views import Layout


def fold(layouts: Sequence[Layout], kept: Sequence[int] | None = None) -> list[Layout]:
    """Merges the leading dimensions of operands that are walked together.

    `kept[i]` is how many trailing dimensions of operand i stay as they are (0 everywhere by default); the
    dimensions before them are the same for all operands.
    """
    kept = kept or [0] * len(layouts)
    lead = [len(layout.shape) - k for layout, k in zip(layouts, kept, strict=True)]
    shape = layouts[0].shape[: lead[0]]
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in layouts]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        steps = [layout.strides[axis] for layout in layouts]
        if sizes and all(run[-1] == step * size for run, step in zip(strides, steps, strict=True)):
            sizes[-1] *= size
            for run, step in zip(strides, steps, strict=True):
                run[-1] = step
        else:
            sizes.append(size)
            for run, step in zip(strides, steps, strict=True):
                run.append(step)
    return [
        Layout(
            (*sizes, *layout.shape[count:]),
            (*run, *layout.strides[count:]),
            layout.offset,
        )
        for layout, run, count in zip(layouts, strides, lead, strict=True)
    ]


def excess(layouts: Sequence[Layout], max_rank: int) -> int:
    """How many leading dimensions the deepest operand has more than the device takes."""
    return max(0, max(len(layout.shape) for layout in layouts) - max_rank)


def slices(layouts: Sequence[Layout], leading: int) -> Iterator[list[Layout]]:
    """The operands cut along their first `leading` dimensions, one list per slice, in row-major order."""
    for index in itertools.product(*(range(n) for n in layouts[0].shape[:leading])):
        yield [
            Layout(
                layout.shape[leading:],
                layout.strides[leading:],
                layout.offset + sum(i * s for i, s in zip(index, layout.strides, strict=False)),
            )
            for layout in layouts
        ]


def slice_count(layouts: Sequence[Layout], leading: int) -> int:
    """How many slices `slices` gives."""
    return math.prod(layouts[0].shape[:leading])
