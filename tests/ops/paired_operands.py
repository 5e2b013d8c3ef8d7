"""Strategies for operands: arrays of any dtype, shape and layout, as NumPy and as tensors, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import device_api as da

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")


@dataclass
class Pair:
    """The same elements twice."""

    array: npt.NDArray[Any]
    tensor: da.Tensor


def dtype(name: str) -> np.dtype[Any]:
    """The dtype of a name, ml_dtypes' own too."""
    return np.dtype(getattr(ml_dtypes, name)) if name == "bfloat16" else np.dtype(name)


def values(name: str, size: int, seed: int) -> npt.NDArray[Any]:
    """Small numbers, so that sums and products of few of them are exact or nearly so."""
    generator = np.random.default_rng(seed)
    if name == "bool":
        return generator.integers(0, 2, size).astype(np.bool_)
    if name.startswith("complex"):
        parts = generator.integers(-8, 9, (2, size)) / 4
        return (parts[0] + 1j * parts[1]).astype(name)
    if name.startswith("uint"):
        return generator.integers(0, 17, size).astype(name)
    if name.startswith("int"):
        return generator.integers(-8, 9, size).astype(name)
    return (generator.integers(-32, 33, size) / 8).astype(dtype(name))


@st.composite
def shapes(draw: st.DrawFn, max_rank: int = 5, max_side: int = 4) -> tuple[int, ...]:
    """Shapes with zeros and ones among the sizes."""
    return tuple(draw(st.lists(st.integers(0, max_side), max_size=max_rank)))


@st.composite
def viewed(draw: st.DrawFn, shape: tuple[int, ...], name: str, device: str = "cpu") -> Pair:
    """Operands of this shape behind any mix of permuting, stepping, flipping, offsets and broadcasting."""
    order = draw(st.permutations(range(len(shape))))
    steps = draw(st.lists(st.sampled_from((1, 1, 1, 2, 3, -1, -2)), min_size=len(shape), max_size=len(shape)))
    starts = draw(st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape)))
    stretched = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    base: list[int] = []
    key: list[slice] = []
    for axis in order:
        size = 1 if stretched[axis] and shape[axis] > 0 else shape[axis]
        step, start = steps[axis], starts[axis]
        length = start + max((size - 1) * abs(step) + 1, 0) if size else start
        base.append(length)
        if step > 0:
            key.append(slice(start, None, step))
        else:
            key.append(slice(length - 1, start - 1 if start else None, step) if size else slice(0, 0))
    array = values(name, int(np.prod(base)), draw(st.integers(0, 2**16))).reshape(base)
    tensor = da.asarray(array, device=device)
    inverse = tuple(int(i) for i in np.argsort(order))
    array = np.broadcast_to(np.transpose(array[tuple(key)], inverse), shape)
    tensor = da.broadcast_to(da.permute_dims(tensor[tuple(key)], inverse), shape)
    return Pair(array, tensor)


@st.composite
def broadcastable(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that stretches to another."""
    kept = draw(st.integers(0, len(shape)))
    tail = shape[len(shape) - kept :]
    return tuple(1 if draw(st.booleans()) else size for size in tail)
