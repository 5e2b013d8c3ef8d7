"""Placing an array in memory in every legal way, with poison wherever no element lies.

A placed array is a run of bytes: a guard band, the elements with their gaps, a guard band. Gaps and guards of
inputs hold NaN (or a striking integer), so that a kernel which reads them gives itself away; those of outputs
hold a pattern that must still be there afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
GUARD = 256
# As a number of any type it is neither NaN nor so small that adding to it would go unnoticed.
OUTPUT_POISON = 0x5A


@dataclass(frozen=True, slots=True)
class Placement:
    """Strides and first element, in elements from the start of a block of `extent` elements."""

    strides: tuple[int, ...]
    start: int
    extent: int


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _contiguous(shape: tuple[int, ...]) -> Placement:
    return Placement(_row_major(shape), 0, math.prod(shape))


def _offset(shape: tuple[int, ...]) -> Placement:
    """Contiguous, but aligned to no more than one element."""
    return Placement(_row_major(shape), 3, math.prod(shape) + 3)


def _transposed(shape: tuple[int, ...]) -> Placement:
    return Placement(_row_major(shape[::-1])[::-1], 0, math.prod(shape))


def _rotated(shape: tuple[int, ...]) -> Placement:
    """The first axis is the innermost in memory; the others keep their order."""
    if not shape:
        return _contiguous(shape)
    strides = _row_major((*shape[1:], shape[0]))
    return Placement((strides[-1], *strides[:-1]), 0, math.prod(shape))


def _stepped(shape: tuple[int, ...]) -> Placement:
    """Every second element of the last axis, every third row."""
    steps = [1] * len(shape)
    if shape:
        steps[-1] = 2
    if len(shape) > 1:
        steps[-2] = 3
    full = tuple(size * step for size, step in zip(shape, steps, strict=True))
    strides = tuple(s * step for s, step in zip(_row_major(full), steps, strict=True))
    return Placement(strides, 1, math.prod(full) + 1)


def _padded(shape: tuple[int, ...]) -> Placement:
    """Rows with a gap behind each: the last axis is dense, the others are not foldable."""
    full = tuple(size + 3 for size in shape)
    return Placement(_row_major(full), 0, math.prod(full))


def _negative(shape: tuple[int, ...]) -> Placement:
    """Every axis runs backwards."""
    strides = _row_major(shape)
    last = sum(max(size - 1, 0) * stride for size, stride in zip(shape, strides, strict=True))
    return Placement(tuple(-s for s in strides), last, math.prod(shape))


def _flipped(shape: tuple[int, ...]) -> Placement:
    """The first axis runs backwards, the others do not."""
    strides = _row_major(shape)
    if not shape:
        return Placement(strides, 0, 1)
    return Placement((-strides[0], *strides[1:]), max(shape[0] - 1, 0) * strides[0], math.prod(shape))


def _mixed(shape: tuple[int, ...]) -> Placement:
    """Transposed, stepped and backwards at once, from an odd place."""
    base = _stepped(shape[::-1])
    strides = list(base.strides[::-1])
    start = base.start
    if shape:
        start += max(shape[0] - 1, 0) * strides[0]
        strides[0] = -strides[0]
    return Placement(tuple(strides), start, base.extent)


LAYOUTS: dict[str, Callable[[tuple[int, ...]], Placement]] = {
    "contiguous": _contiguous,
    "offset": _offset,
    "transposed": _transposed,
    "rotated": _rotated,
    "stepped": _stepped,
    "padded": _padded,
    "negative": _negative,
    "flipped": _flipped,
    "mixed": _mixed,
}
# Layouts that a kernel without the stride flags must take: row-major and dense, wherever it begins.
DENSE = ("contiguous", "offset")


def place(shape: tuple[int, ...], layout: str, broadcast: tuple[int, ...] = ()) -> Placement:
    """The placement of a shape. Axes in `broadcast` get stride 0: one element stands for all of the axis."""
    stored = tuple(1 if axis in broadcast else size for axis, size in enumerate(shape))
    placement = LAYOUTS[layout](stored)
    strides = tuple(0 if axis in broadcast else s for axis, s in enumerate(placement.strides))
    return Placement(strides, placement.start, placement.extent)


def poison_of(dtype: np.dtype[Any]) -> int:
    """The byte that fills the gaps of an input: NaN for every floating type, else a striking number."""
    return 0xFF if dtype.kind in "fcV" else OUTPUT_POISON


class Placed:
    """The bytes of a placed array on the host, and where its elements are."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], placement: Placement, fill: int) -> None:
        self.dtype, self.shape, self.placement, self.fill = dtype, shape, placement, fill
        self.storage = np.full(2 * GUARD + placement.extent * dtype.itemsize, fill, np.uint8)
        self.byte_offset = GUARD + placement.start * dtype.itemsize

    def view(self, storage: npt.NDArray[np.uint8] | None = None) -> Array:
        """The elements inside `storage` (default: the placed bytes themselves)."""
        data = self.storage if storage is None else storage
        strides = tuple(s * self.dtype.itemsize for s in self.placement.strides)
        return np.ndarray(self.shape, self.dtype, data, self.byte_offset, strides)

    def copy(self) -> Placed:
        """The same placement with bytes of its own."""
        other = Placed(self.dtype, self.shape, self.placement, self.fill)
        other.storage[...] = self.storage
        return other

    def untouched(self, storage: npt.NDArray[np.uint8]) -> str:
        """What is wrong with the bytes around and between the elements: "" when they are as they were."""
        mask = np.zeros(self.placement.extent + 1, np.bool_)
        np.ndarray(self.shape, np.bool_, mask, self.placement.start, self.placement.strides)[...] = True
        outside = np.ones(storage.size, np.bool_)
        end = GUARD + self.placement.extent * self.dtype.itemsize
        outside[GUARD:end] = ~np.repeat(mask[:-1], self.dtype.itemsize)
        changed = np.flatnonzero(outside & (storage != self.storage))
        if not changed.size:
            return ""
        first = int(changed[0]) - self.byte_offset
        return (
            f"{changed.size} bytes outside its elements were written, the first {first} bytes from its start"
        )


def placed_input(values: Array, layout: str, broadcast: tuple[int, ...] = ()) -> Placed:
    """`values` must be constant along the broadcast axes."""
    placement = place(values.shape, layout, broadcast)
    result = Placed(values.dtype, values.shape, placement, poison_of(values.dtype))
    result.view()[...] = values
    return result


def placed_output(dtype: np.dtype[Any], shape: tuple[int, ...], layout: str) -> Placed:
    return Placed(dtype, shape, place(shape, layout), OUTPUT_POISON)
