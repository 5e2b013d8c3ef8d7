"""Layouts: where the elements of a tensor lie, and what view operations make of that.

A layout is a shape, strides in elements and an offset in elements. Every view operation (permute, slice,
broadcast, reshape where no copy is needed) is arithmetic on these three and touches no memory. The same
code serves tensors and the symbolic values of a plan, so it knows neither: only integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from device_api.errors import AxisError, ShapeError


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements. A zero size counts as one, so that strides stay positive."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def normalize_axis(axis: int, ndim: int, op: str = "view") -> int:
    """The non-negative form of an axis; `AxisError` outside [-ndim, ndim)."""
    if not -ndim <= axis < ndim:
        raise AxisError(
            f"{op} got an axis out of range",
            subject=f"axis {axis} of a tensor with {ndim} dimensions",
            remedy=f"Give an axis in [{-ndim}, {ndim})." if ndim else "A 0-d tensor has no axis.",
            op=op,
            argument="axis",
            axis=axis,
            ndim=ndim,
        )
    return axis + ndim if axis < 0 else axis


def normalize_axes(axes: Iterable[int], ndim: int, op: str = "view") -> tuple[int, ...]:
    """The non-negative forms of several axes; `AxisError` for one that is out of range or repeated."""
    found = tuple(normalize_axis(axis, ndim, op) for axis in axes)
    for axis in found:
        if found.count(axis) > 1:
            raise AxisError(
                f"{op} got an axis twice",
                subject=f"axis {axis} in {found}",
                remedy="Name each axis once.",
                op=op,
                argument="axis",
                axis=axis,
                ndim=ndim,
            )
    return found


class Layout(NamedTuple):
    """Shape, strides and the offset of element (0, …, 0), all counted in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    def contiguous(cls, shape: Sequence[int]) -> Layout:
        """The row-major layout of a shape."""
        return cls(tuple(shape), contiguous_strides(shape))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether elements follow each other in row-major order; dimensions of one element do not matter."""
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size == 0:
                return True
            if size != 1:
                if stride != expected:
                    return False
                expected *= size
        return True

    @property
    def extent(self) -> tuple[int, int]:
        """First and one past last element position touched, relative to the storage; (0, 0) when empty."""
        if self.size == 0:
            return (0, 0)
        low = high = self.offset
        for size, stride in zip(self.shape, self.strides, strict=True):
            reach = (size - 1) * stride
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        return (low, high + 1)

    @property
    def may_overlap_itself(self) -> bool:
        """Whether two indices may name one element. A no is certain; interleaved strides count as yes."""
        if self.size <= 1:
            return False
        reach = 0
        moving = (
            (abs(stride), size) for size, stride in zip(self.shape, self.strides, strict=True) if size > 1
        )
        for stride, size in sorted(moving):
            if stride <= reach:
                return True
            reach += stride * (size - 1)
        return False

    def permute(self, axes: Sequence[int]) -> Layout:
        """Axes in another order: axis i of the result is axis axes[i]."""
        if sorted(axes) != list(range(len(self.shape))):
            raise AxisError(
                "permute_dims needs every axis exactly once",
                subject=f"axes {tuple(axes)} for shape {self.shape}",
                op="permute_dims",
                argument="axes",
                ndim=len(self.shape),
            )
        return Layout(tuple(self.shape[a] for a in axes), tuple(self.strides[a] for a in axes), self.offset)

    def broadcast(self, shape: Sequence[int], op: str = "broadcast_to") -> Layout:
        """Sizes of one stretched, and dimensions added in front, both with stride 0."""
        shape = tuple(shape)
        added = len(shape) - len(self.shape)
        fits = added >= 0 and all(
            have in (1, want) for have, want in zip(self.shape, shape[added:], strict=True)
        )
        if not fits:
            raise ShapeError(
                f"{op} cannot stretch a shape",
                subject=f"{self.shape} to {shape}",
                why="sizes are compared from the right, and only a size of 1 stretches",
                op=op,
                shapes=(self.shape, shape),
            )
        kept = (
            0 if have == 1 and want != 1 else stride
            for have, want, stride in zip(self.shape, shape[added:], self.strides, strict=True)
        )
        return Layout(shape, (0,) * added + tuple(kept), self.offset)

    def expand(self, axes: Sequence[int]) -> Layout:
        """New dimensions of size one at these positions of the result (non-negative)."""
        shape, strides = list(self.shape), list(self.strides)
        for axis in sorted(axes):
            shape.insert(axis, 1)
            strides.insert(axis, 0)
        return Layout(tuple(shape), tuple(strides), self.offset)

    def squeeze(self, axes: Sequence[int]) -> Layout:
        """Without these dimensions (non-negative), each of which has size one."""
        for axis in axes:
            if self.shape[axis] != 1:
                raise ShapeError(
                    "squeeze removes dimensions of size 1 only",
                    subject=f"axis {axis} of shape {self.shape}",
                    op="squeeze",
                    argument="axis",
                    shapes=(self.shape,),
                )
        kept = [i for i in range(len(self.shape)) if i not in axes]
        return Layout(tuple(self.shape[i] for i in kept), tuple(self.strides[i] for i in kept), self.offset)

    def slice(self, axis: int, start: int, count: int, step: int) -> Layout:
        """`count` elements of one axis from `start`, `step` apart; step may be negative, bounds are given."""
        shape, strides = list(self.shape), list(self.strides)
        offset = self.offset + (start * strides[axis] if count else 0)
        shape[axis], strides[axis] = count, strides[axis] * step
        return Layout(tuple(shape), tuple(strides), offset)

    def select(self, axis: int, index: int) -> Layout:
        """One position of an axis (non-negative, inside); the axis disappears."""
        return Layout(
            self.shape[:axis] + self.shape[axis + 1 :],
            self.strides[:axis] + self.strides[axis + 1 :],
            self.offset + index * self.strides[axis],
        )

    def flip(self, axes: Sequence[int]) -> Layout:
        """These axes (non-negative) backwards."""
        layout = self
        for axis in axes:
            layout = layout.slice(axis, layout.shape[axis] - 1, layout.shape[axis], -1)
        return layout

    def diagonal(self, first: int, second: int, shift: int) -> Layout:
        """Elements whose index along `second` is that along `first` plus `shift`; they form the last axis."""
        rows, columns = self.shape[first], self.shape[second]
        count = max(min(rows, columns - shift) if shift >= 0 else min(rows + shift, columns), 0)
        offset = self.offset
        if count:
            offset += shift * self.strides[second] if shift >= 0 else -shift * self.strides[first]
        kept = [i for i in range(len(self.shape)) if i not in (first, second)]
        return Layout(
            (*(self.shape[i] for i in kept), count),
            (*(self.strides[i] for i in kept), self.strides[first] + self.strides[second]),
            offset,
        )

    def reshape(self, shape: Sequence[int]) -> Layout | None:
        """The same elements in row-major order under another shape, or None when that needs a copy."""
        shape = tuple(shape)
        if self.size == 0:
            return Layout(shape, contiguous_strides(shape), self.offset)
        old = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        strides: list[int] = []
        position = 0
        run_size, run_stride = 1, 0  # what is left of the block of old dimensions that is being split
        for size in reversed(shape):
            if size == 1:
                strides.append(0)
                continue
            while run_size % size or run_size == 1:
                following = old[-1 - position] if position < len(old) else None
                if following is None:
                    return None
                if run_size == 1:
                    run_stride = following[1]
                    run_size = following[0]
                    block_stride = run_stride
                    block_size = run_size
                elif following[1] == block_stride * block_size:
                    run_size *= following[0]
                    block_size *= following[0]
                else:
                    return None
                position += 1
            strides.append(run_stride)
            run_stride *= size
            run_size //= size
        return Layout(shape, tuple(reversed(strides)), self.offset)


def resolve_shape(shape: Sequence[int], size: int, op: str = "reshape") -> tuple[int, ...]:
    """A shape with at most one -1, which is filled in from the number of elements."""
    known = math.prod(n for n in shape if n != -1)
    wild = [n for n in shape if n == -1]
    filled = tuple(shape)
    if len(wild) == 1 and known and size % known == 0:
        filled = tuple(size // known if n == -1 else n for n in shape)
    if any(n < 0 for n in filled) or math.prod(filled) != size:
        raise ShapeError(
            f"{op} cannot give {size} elements a shape",
            subject=tuple(shape),
            why=f"it holds {known} elements" if not wild else "the sizes but -1 must divide the elements",
            op=op,
            argument="shape",
            shapes=(tuple(shape),),
        )
    return filled
