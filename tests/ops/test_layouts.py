"""Layouts, folding and the memory plan, against plain enumeration."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from device_api.ops import folding
from device_api.ops.assembly import RecordedStep, plan_memory
from device_api.ops.symbols import Ref, Storage
from device_api.ops.views import Layout, contiguous_strides

sizes = st.lists(st.sampled_from((1, 2, 3, 4, 6)), max_size=4)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Layout, np.ndarray]:
    """A layout and the positions that it names, as an array of NumPy's with the same strides."""
    base = draw(sizes)
    array = np.arange(int(np.prod(base))).reshape(base)
    array = array.transpose(draw(st.permutations(range(len(base)))))
    key = tuple(slice(None, None, draw(st.sampled_from((1, 1, 2, -1)))) for _ in base)
    array = array[(..., *key)]
    if draw(st.booleans()):
        array = np.broadcast_to(array, (draw(st.sampled_from((1, 2))), *array.shape))
    first = int(array.flat[0])
    return Layout(array.shape, tuple(s // 8 for s in array.strides), first), array


def named(layout: Layout) -> list[int]:
    """The positions that a layout names, in row-major order."""
    indices = itertools.product(*(range(n) for n in layout.shape))
    return [layout.offset + sum(i * s for i, s in zip(at, layout.strides, strict=True)) for at in indices]


@given(layouts(), st.data())
def test_reshape_finds_strides_exactly_when_numpy_does(
    pair: tuple[Layout, np.ndarray], data: st.DataObject
) -> None:
    layout, array = pair
    left, shape = array.size, []
    while left > 1:
        factor = data.draw(st.sampled_from([n for n in range(2, left + 1) if left % n == 0]))
        shape.append(factor)
        left //= factor
    for _ in range(data.draw(st.integers(0, 2))):
        shape.insert(data.draw(st.integers(0, len(shape))), 1)
    try:
        expected = np.reshape(array, shape, copy=False)
    except ValueError:
        assert layout.reshape(shape) is None
    else:
        found = layout.reshape(shape)
        assert found is not None
        assert named(found) == expected.ravel().tolist()


@given(layouts())
def test_extent_and_contiguity_and_self_overlap_tell_the_truth(pair: tuple[Layout, np.ndarray]) -> None:
    layout, _ = pair
    positions = named(layout)
    assert layout.extent == (min(positions), max(positions) + 1)
    assert layout.is_contiguous == (positions == list(range(layout.offset, layout.offset + layout.size)))
    if len(set(positions)) < len(positions):
        assert layout.may_overlap_itself


@given(st.data())
def test_folding_keeps_every_element_of_every_operand_in_its_place(data: st.DataObject) -> None:
    shape = tuple(data.draw(sizes))
    strides = st.lists(st.integers(-30, 30), min_size=len(shape), max_size=len(shape))
    operands = [Layout.contiguous(shape)]
    for _ in range(data.draw(st.integers(0, 2))):
        chosen = data.draw(st.one_of(st.just(list(contiguous_strides(shape))), strides))
        operands.append(Layout(shape, tuple(chosen), data.draw(st.integers(0, 9))))
    kept = data.draw(st.integers(0, len(shape)))
    folded = folding.fold(operands, [kept] * len(operands))
    for before, after in zip(operands, folded, strict=True):
        assert named(before) == named(after)
        assert after.shape[len(after.shape) - kept :] == before.shape[len(shape) - kept :]
    leading = folding.excess(folded, 2)
    parts = list(folding.slices(folded, leading))
    assert len(parts) == folding.slice_count(folded, leading)
    for place, before in enumerate(operands):
        assert [each for part in parts for each in named(part[place])] == named(before)


def test_folding_merges_all_of_contiguous_operands() -> None:
    folded = folding.fold([Layout.contiguous((2, 1, 3, 4))] * 3)
    assert [each.shape for each in folded] == [(24,)] * 3


class _Recorder:
    def call(self, op: str, *arguments: object, **attributes: object) -> None:
        raise AssertionError(op)


@given(st.data())
def test_temporaries_that_live_together_never_share_memory(data: st.DataObject) -> None:
    sizes_ = data.draw(st.lists(st.integers(0, 300), min_size=1, max_size=8))
    storages = [Storage("temp", bytes=size) for size in sizes_]
    refs = [Ref(_Recorder(), each, 6, Layout.contiguous((each.bytes,))) for each in storages]
    steps = []
    for _ in range(data.draw(st.integers(1, 10))):
        reads = data.draw(st.lists(st.sampled_from(refs), max_size=2))
        steps.append(RecordedStep(0, list(reads), [data.draw(st.sampled_from(refs))]))
    offsets, arena = plan_memory(steps, [], 64)
    spans = {}
    for storage in storages:
        touched = [i for i, step in enumerate(steps) if storage in (*step.reads(), *step.writes())]
        if touched:
            spans[id(storage)] = (touched[0], touched[-1])
            assert offsets[id(storage)] % 64 == 0
            assert offsets[id(storage)] + storage.bytes <= arena
    for one, other in itertools.combinations([s for s in storages if id(s) in spans], 2):
        (a, b), (c, d) = spans[id(one)], spans[id(other)]
        if a <= d and c <= b and one.bytes and other.bytes:
            x, y = offsets[id(one)], offsets[id(other)]
            assert x + one.bytes <= y or y + other.bytes <= x
