"""Functions that look for values among values: searching in what is sorted, membership, distinct elements.

They are built from sorting, comparing, counting and gathering, so they run on every device. NaNs are equal to
nothing, each is an element of its own, and they stand last. Complex numbers are ordered by real part first.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from device_api import _core, dtypes
from device_api.errors import AttributeValueError, ShapeError
from device_api.ops import _functions as F
from device_api.tensor.conversion import asarray
from device_api.tensor.creation import arange, zeros
from device_api.tensor.dynamic import positions
from device_api.tensor.inspection import result_type

Tensor = _core.Tensor
Number = bool | int | float | complex


class UniqueAll(NamedTuple):
    """The distinct elements, where each is first, which of them each element is, and how many of each."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct elements and how many there are of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct elements, and for each element of x which of them it is."""

    values: Tensor
    inverse_indices: Tensor


def searchsorted(
    x1: Tensor,
    x2: Tensor | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:
    """Where in the ascending x1 (one dimension) elements of x2 belong, before ("left") or behind ("right")
    those that equal them; int64 in the shape of x2. `sorter` lists the positions that sort x1."""
    if x1.ndim != 1:
        raise ShapeError(
            "only one dimension is searched", subject=str(x1.shape), op="searchsorted", shapes=(x1.shape,)
        )
    if side not in ("left", "right"):
        raise AttributeValueError(
            "a side is 'left' or 'right'", subject=repr(side), op="searchsorted", argument="side", value=side
        )
    if sorter is not None:
        x1 = F.take(x1, sorter)
    if not isinstance(x2, Tensor):
        x2 = asarray(x2, dtype=result_type(x1, x2), device=x1.device)
    joined = result_type(x1, x2)
    keys, wanted = F.astype(x1, joined, copy=False), F.astype(x2, joined, copy=False)
    size = keys.shape[0]
    place = zeros(wanted.shape, dtype=np.int64, device=x1.device)
    step = 1 << size.bit_length() >> 1
    # Powers of two, the largest first: the greatest place before which everything belongs to the left.
    while step and size:
        tried = F.add(place, step)
        key = F.take(keys, F.reshape(F.subtract(F.minimum(tried, size), 1), (tried.size,)))
        key = F.reshape(key, tried.shape)
        before = _before(key, wanted) if side == "left" else F.logical_not(_before(wanted, key))
        place = F.where(F.logical_and(F.less_equal(tried, size), before), tried, place)
        step >>= 1
    return place


def _before(left: Tensor, right: Tensor) -> Tensor:
    """Whether one element sorts before another."""
    if left.dtype_code == dtypes.BOOL_CODE:
        return F.logical_and(F.logical_not(left), right)
    less = F.less(left, right)
    if left.dtype_code not in dtypes.FLOATING:
        return less
    return F.logical_or(less, F.logical_and(F.isnan(right), F.logical_not(F.isnan(left))))


def isin(x1: Tensor | Number, x2: Tensor | Number, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 equals some element of x2 (none, with `invert`)."""
    joined = result_type(x1, x2)
    device = next((each.device for each in (x1, x2) if isinstance(each, Tensor)), None)
    sought = asarray(x1, dtype=joined, device=device)
    among = asarray(x2, dtype=joined, device=device)
    among = F.reshape(among, (among.size,))
    if among.size <= _FEW or dtypes.code(joined) in dtypes.COMPLEX:
        found = F.any(F.equal(F.expand_dims(sought, axis=-1), among), axis=-1)
    else:
        among = F.sort(among)
        place = F.minimum(searchsorted(among, sought), among.size - 1)
        hit = F.reshape(F.take(among, F.reshape(place, (place.size,))), place.shape)
        found = F.equal(hit, sought)
    return F.logical_not(found) if invert else found


# Up to so many, comparing with each is cheaper than sorting.
_FEW = 16


class _Groups(NamedTuple):
    order: Tensor  # the positions that sort the flattened x
    first: Tensor  # whether a sorted element differs from the one before it
    start: Tensor  # where in the sorted elements each group begins
    values: Tensor


def _groups(x: Tensor) -> _Groups:
    flat = F.reshape(x, (x.size,))
    if x.dtype_code in dtypes.COMPLEX:
        order = F.argsort(F.imag(flat))
        order = F.take(order, F.argsort(F.take(F.real(flat), order)))
    else:
        order = F.argsort(flat)
    ordered = F.take(flat, order)
    if x.size == 0:
        return _Groups(order, F.not_equal(ordered, ordered), order, ordered)
    one = F.equal(arange(1, device=x.device), 0)
    first = F.concat([one, F.not_equal(ordered[1:], ordered[:-1])])
    start = positions(first)
    return _Groups(order, first, start, F.take(ordered, start))


def _counts(groups: _Groups) -> Tensor:
    end = asarray([groups.order.size], dtype=np.int64, device=groups.order.device)
    bounds = F.concat([groups.start, end])
    return F.subtract(bounds[1:], bounds[:-1])


def _inverse(groups: _Groups, shape: tuple[int, ...]) -> Tensor:
    group = F.subtract(F.cumulative_sum(F.astype(groups.first, np.int64)), 1)
    # The positions that sort the sorting positions undo them.
    return F.reshape(F.take(group, F.argsort(groups.order)), shape)


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct elements in ascending order with their first positions, the inverse and the counts."""
    groups = _groups(x)
    first = F.take(groups.order, groups.start)
    return UniqueAll(groups.values, first, _inverse(groups, x.shape), _counts(groups))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct elements in ascending order, and how many there are of each."""
    groups = _groups(x)
    return UniqueCounts(groups.values, _counts(groups))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct elements in ascending order, and the indices among them that reconstruct x."""
    groups = _groups(x)
    return UniqueInverse(groups.values, _inverse(groups, x.shape))


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements in ascending order."""
    values: Any = _groups(x).values
    return values  # type: ignore[no-any-return]
