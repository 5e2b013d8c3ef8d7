"""Samples of views, of ops that carry elements elsewhere, and of indexing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes

_VIEWS: dict[str, tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = {
    "reshape": (((2, 3), {"shape": (3, 2)}), ((2, 3, 4), {"shape": (6, 4)})),
    "permute_dims": (((2, 3, 4), {"axes": (2, 0, 1)}), ((3, 5), {"axes": (1, 0)})),
    "matrix_transpose": (((2, 3, 4), {}), ((3, 5), {})),
    "expand_dims": (((2, 3), {"axis": (1,)}), ((2, 3), {"axis": (0, 3)})),
    "squeeze": (((2, 1, 3), {"axis": (1,)}), ((1, 3, 1), {"axis": (0, 2)})),
    "broadcast_to": (((3,), {"shape": (2, 3)}), ((2, 1), {"shape": (2, 4)})),
    "flip": (((2, 3), {"axis": None}), ((2, 3, 4), {"axis": (1,)})),
    "slice": (
        ((5, 4), {"start": (1, 0), "stop": (5, 4), "step": (2, 1)}),
        ((5, 4), {"start": (4, 3), "stop": (-1, 0), "step": (-1, -2)}),
    ),
    "diagonal": (((3, 4), {}), ((2, 3, 4), {"offset": 1}), ((4, 3), {"offset": -1})),
    "window_view": (
        ((1, 5, 4), {"axes": (1, 2), "window": (2, 2), "step": (2, 1), "dilation": (1, 2)}),
        ((7,), {"axes": (0,), "window": (3,), "step": (1,), "dilation": (1,)}),
    ),
    "slice_scatter": (
        ((2, 4), {"shape": (5, 4), "start": (1, 0), "stop": (5, 4), "step": (2, 1)}),
        ((3,), {"shape": (7,), "start": (6,), "stop": (0,), "step": (-2,)}),
    ),
    "diagonal_scatter": (((3,), {"shape": (3, 4)}), ((2, 2), {"shape": (2, 3, 4), "offset": -1})),
    "roll": (
        ((2, 3), {"shift": (1,), "axis": None}),
        ((3, 5), {"shift": (2,), "axis": (1,)}),
        ((3, 5), {"shift": (-1, 2), "axis": (0, 1)}),
    ),
    "tile": (((2, 3), {"repetitions": (2,)}), ((3,), {"repetitions": (2, 2)})),
    "repeat": (((2, 3), {"repeats": 2, "axis": 1}), ((3, 2), {"repeats": 3, "axis": 0})),
    "tril": (((3, 4), {"k": 0}), ((2, 4, 3), {"k": -1}), ((3, 4), {"k": 2})),
    "triu": (((3, 4), {"k": 0}), ((2, 4, 3), {"k": -1}), ((3, 4), {"k": 2})),
}  # fmt: skip


@makes(*_VIEWS)
def one_array(d: Draw, op: str) -> Iterator[Sample]:
    for shape, attributes in _VIEWS[op]:
        yield Sample((d.anything(*shape),), attributes)


@makes("window_scatter")
def window_scatter(d: Draw, op: str) -> Iterator[Sample]:
    attributes = {"axes": (1, 2), "window": (2, 2), "step": (2, 1), "dilation": (1, 2)}
    yield Sample((d.normal(1, 2, 2, 2, 2),), {"shape": (1, 5, 4), **attributes})
    overlapping = {"axes": (0,), "window": (3,), "step": (1,), "dilation": (1,)}
    yield Sample((d.normal(5, 3),), {"shape": (7,), **overlapping})


@makes("concat")
def concat(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 3), d.anything(1, 3), d.anything(4, 3)), {"axis": 0})
    yield Sample((d.anything(2, 3), d.anything(2, 1)), {"axis": 1})
    yield Sample((d.anything(2, 3), d.anything(4)), {"axis": None})


@makes("stack")
def stack(d: Draw, op: str) -> Iterator[Sample]:
    for axis in (0, 1, 2):
        yield Sample((d.anything(2, 3), d.anything(2, 3)), {"axis": axis})


@makes("pad")
def pad(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 3), d.anything()), {"before": (1, 0), "after": (0, 2)})
    yield Sample((d.anything(4), d.anything()), {"before": (0,), "after": (3,)})


@makes("take")
def take(d: Draw, op: str) -> Iterator[Sample]:
    for axis in (0, 1):
        yield Sample((d.anything(3, 4), d.index(3, 5, negative=True)), {"axis": axis})
    yield Sample((d.anything(2, 4, 3), d.index(4, 2, 2)), {"axis": 1})


@makes("take", large=True)
def large_take(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(30, 40), d.index(40, 1300, negative=True)), {"axis": 1})
    yield Sample((d.anything(600, 41), d.index(600, 1100)), {"axis": 0})
    yield Sample((d.anything(3, 20, 70), d.index(20, 11, 17)), {"axis": 1})


@makes("put_add")
def put_add(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(5, 4), d.index(3, 5, negative=True)), {"shape": (3, 4), "axis": 0})
    yield Sample((d.normal(3, 2, 2), d.index(4, 2, 2)), {"shape": (3, 4), "axis": 1})


@makes("take_along_axis")
def take_along_axis(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(3, 4), d.index(4, 3, 2, negative=True)), {"axis": 1})
    yield Sample((d.anything(3, 4), d.index(3, 5, 4)), {"axis": 0})
    yield Sample((d.anything(3, 4), d.index(4, 1, 2)), {"axis": 1})


@makes("take_along_axis", large=True)
def large_take_along_axis(d: Draw, op: str) -> Iterator[Sample]:
    for shape, taken, axis in (((3, 50, 300), 90, 1), ((700, 5), 3000, 0), ((400, 150), 97, 1)):
        places = (*shape[:axis], taken, *shape[axis + 1 :])
        yield Sample((d.anything(*shape), d.index(shape[axis], *places, negative=True)), {"axis": axis})
    yield Sample((d.anything(30, 40), d.index(40, 30, 1300, negative=True)), {"axis": 1})


@makes("put_along_axis_add")
def put_along_axis_add(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(3, 2), d.index(4, 3, 2, negative=True)), {"shape": (3, 4), "axis": 1})
    yield Sample((d.normal(5, 4), d.index(3, 5, 4)), {"shape": (3, 4), "axis": 0})


@makes("index_add")
def index_add(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(3, 4), d.index(3, 5), d.normal(5, 4)), {"axis": 0})
    yield Sample((d.normal(3, 4), d.index(4, 2, negative=True), d.normal(3, 2)), {"axis": 1})
    yield Sample((d.normal(2, 3, 4), d.index(3, 2, 2), d.normal(2, 2, 2, 4)), {"axis": 1})


@makes("index_add", large=True)
def large_index_add(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(300, 70), d.index(300, 1000, negative=True), d.normal(1000, 70)), {"axis": 0})


@makes("scatter_add")
def scatter_add(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(3, 4), d.index(4, 3, 2, negative=True), d.normal(3, 2)), {"axis": 1})
    yield Sample((d.normal(3, 4), d.index(3, 5, 4), d.normal(5, 4)), {"axis": 0})


@makes("embedding")
def embedding(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(5, 3), d.index(5, 2, 4, negative=True)))
    yield Sample((d.anything(5, 3), np.array([0, 1, 2, 2])))


@makes("embedding", large=True)
def large_embedding(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(500, 33), d.index(500, 30, 40, negative=True)))
    yield Sample((d.anything(500, 1), d.index(500, 700)))


@makes("embedding_gradient")
def embedding_gradient(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2, 4, 3), d.index(5, 2, 4, negative=True)), {"size": 5})
    yield Sample((d.normal(6, 3), d.index(5, 6)), {"size": 5, "padding_index": 2})


@makes("one_hot")
def one_hot(d: Draw, op: str) -> Iterator[Sample]:
    indices = np.array([[0, 2, -1], [1, 5, 2]])
    for axis in (-1, 0, 1):
        yield Sample((indices,), {"num_classes": 3, "axis": axis, "dtype": d.dtype}, d.dtype)


@makes("position_of_last")
def position_of_last(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.index(4, 9),), {"size": 4})
    yield Sample((np.array([0, 1, 2]),), {"size": 3})


@makes("full")
def full(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(),), {"shape": (2, 3), "dtype": None}, d.dtype)


@makes("full_like")
def full_like(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 3), d.anything()), {"dtype": None}, d.dtype)


@makes("zeros", "ones")
def constant(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((), {"shape": (2, 3), "dtype": d.dtype}, d.dtype)


@makes("eye")
def eye(d: Draw, op: str) -> Iterator[Sample]:
    for k in (-1, 0, 2):
        yield Sample((), {"n_rows": 3, "n_cols": 4, "k": k, "dtype": d.dtype}, d.dtype)


@makes("astype")
def astype(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 3),), {"dtype": d.dtype}, d.dtype)
