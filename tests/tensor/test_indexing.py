"""`x[key]` and `x[key] = value` against NumPy, for every kind of key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import device_api as da


def as_tensors(key: Any) -> Any:
    """The same key with its arrays as tensors."""
    if isinstance(key, tuple):
        return tuple(as_tensors(each) for each in key)
    return da.asarray(key) if isinstance(key, np.ndarray) else key


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    key: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        kinds = ["slice", "slice", "new", "int"] if size else ["slice", "new"]
        kind = draw(st.sampled_from(kinds))
        if kind == "new":
            key.append(None)
        key.append(draw(st.integers(-size, size - 1)) if kind == "int" else draw(st.slices(size)))
    if draw(st.booleans()):
        used = sum(each is not None for each in key)
        place = draw(st.integers(0, len(key)))
        later = [i for i, each in enumerate(key) if i >= place and each is not None]
        # What stands behind the dots counts from the end: only whole slices fit every size there.
        if used == len(shape) or not later:
            key.insert(place, ...)
    return tuple(key)


@st.composite
def advanced_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Keys with integer arrays that broadcast together, integers, slices and new axes."""
    common = draw(st.lists(st.integers(0, 3), max_size=2))
    key: list[Any] = []
    arrays = 0
    for size in shape:
        kind = draw(st.sampled_from(("array", "slice", "int", "new", "array")))
        if kind == "new":
            key.append(None)
        if size and kind == "array":
            own = [1 if draw(st.booleans()) else n for n in common[draw(st.integers(0, len(common))) :]]
            count = int(np.prod(own))
            values = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            key.append(np.asarray(values, draw(st.sampled_from((np.int64, np.int32, np.int8)))).reshape(own))
            arrays += 1
        elif size and kind == "int":
            key.append(draw(st.integers(-size, size - 1)))
        else:
            key.append(draw(st.slices(size)))
    return tuple(key)


shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def numbers(shape: tuple[int, ...]) -> Any:
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)


@given(st.data())
@settings(deadline=None)
def test_basic_keys_are_views_of_the_elements_numpy_names(data: st.DataObject) -> None:
    array = numbers(data.draw(shapes))
    key = data.draw(basic_keys(array.shape))
    tensor = da.asarray(array)
    view = tensor[key]
    expected = array[key]
    assert view.shape == expected.shape
    np.testing.assert_array_equal(view.numpy(), expected)
    if view.size:
        view += 1000
        assert (tensor.numpy() >= 1000).sum() == view.size


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_integer_arrays_gather_what_numpy_gathers(data: st.DataObject) -> None:
    array = numbers(data.draw(shapes))
    key = data.draw(advanced_keys(array.shape))
    result = da.asarray(array)[as_tensors(key)]
    expected = array[key]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)


@given(st.data())
@settings(deadline=None)
def test_masks_select_what_numpy_selects(data: st.DataObject) -> None:
    array = numbers(data.draw(st.lists(st.integers(0, 4), max_size=3).map(tuple)))
    first = data.draw(st.integers(0, array.ndim))
    last = data.draw(st.integers(first, array.ndim))
    shape = array.shape[first:last]
    count = int(np.prod(shape))
    mask = np.asarray(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool).reshape(shape)
    key = (*[slice(None)] * first, mask)
    result = da.asarray(array)[as_tensors(key)]
    expected = array[key]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_setitem_writes_what_numpy_writes(data: st.DataObject) -> None:
    array = numbers(data.draw(shapes))
    keys = st.one_of(basic_keys(array.shape), advanced_keys(array.shape))
    key = data.draw(keys)
    target = array[key].shape
    kept = data.draw(st.integers(0, len(target)))
    own = tuple(1 if data.draw(st.booleans()) else n for n in target[kept:])
    value = -1 - numbers(own)
    tensor = da.asarray(array)
    tensor[as_tensors(key)] = da.asarray(value)
    array[key] = value
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize(
    "mask",
    [np.zeros((2, 3), bool), np.ones((2, 3), bool), np.array([[0, 1, 0], [1, 1, 0]], bool)],
    ids=["none", "all", "some"],
)
def test_masked_assignment_and_selection_with_none_all_and_some(mask: np.ndarray) -> None:
    array = np.arange(6.0).reshape(2, 3)
    tensor = da.asarray(array)
    np.testing.assert_array_equal(tensor[da.asarray(mask)].numpy(), array[mask])
    tensor[da.asarray(mask)] = -1.0
    array[mask] = -1.0
    np.testing.assert_array_equal(tensor.numpy(), array)
    for found, expected in zip(da.nonzero(da.asarray(mask)), np.nonzero(mask), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)


def test_0d_tensors_and_masks() -> None:
    x = da.asarray(5.0)
    assert x[()].item() == 5
    assert x[...].shape == ()
    assert x[None].shape == (1,)
    assert x[True].tolist() == [5]
    assert x[False].tolist() == []
    x[()] = 7
    assert x.item() == 7
    x[x > 6] = 1
    assert x.item() == 1


def test_lists_numpy_arrays_and_0d_tensors_are_keys() -> None:
    x = da.asarray([10, 20, 30])
    assert x[[2, 0]].tolist() == [30, 10]
    assert x[[]].tolist() == []
    assert x[[True, False, True]].tolist() == [10, 30]
    assert x[np.int64(1)].item() == 20
    assert x[da.asarray(1)].item() == 20
    assert x[np.array([1])].tolist() == [20]


def test_views_of_views_with_offsets_stay_right() -> None:
    array = np.arange(60).reshape(3, 4, 5)
    x, n = da.asarray(array)[1:, ::-1], array[1:, ::-1]
    for key in ((0, 2), (slice(None), 1, slice(3, 0, -2)), (-1, -1, -1)):
        np.testing.assert_array_equal((x[key] + 0).numpy(), n[key] + 0)


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        (3, da.IndexOutOfRange, "index 3 of axis 0 with 3 elements"),
        (-4, da.IndexOutOfRange, "index -4"),
        ((0, 0, 0), da.IndexOutOfRange, "too many"),
        ((..., ...), da.IndexOutOfRange, "ellipsis"),
        (1.0, da.DTypeError, "float"),
        ("a", da.DTypeError, "str"),
        ([0.5], da.DTypeError, "float32"),
        (slice("a"), da.DTypeError, "slice"),
        (np.array([3]), da.IndexOutOfRange, "gather_rows"),
        (np.array([-4]), da.IndexOutOfRange, "gather_rows"),
        ((np.array([0]), np.array([2])), da.IndexOutOfRange, "gather_rows"),
        ((np.array([1]), np.array([-3])), da.IndexOutOfRange, "gather_rows"),
        (np.array([True, False]), da.ShapeError, "mask"),
        ((np.array([0, 1]), np.array([0, 1, 0])), da.ShapeError, r"\(2,\).*\(3,\)"),
    ],
)
def test_keys_that_do_not_fit_are_typed_errors(key: Any, error: type[Exception], words: str) -> None:
    x = da.zeros((3, 2))
    with pytest.raises(error, match=words):
        x[key]
    with pytest.raises((error, da.IndexOutOfRange)):
        x[key] = 1.0
    assert x.tolist() == [[0, 0]] * 3


def test_values_that_do_not_fit_are_typed_errors() -> None:
    x = da.zeros((3, 2))
    with pytest.raises(da.ShapeError, match=r"\(3,\).*\(3, 2\)"):
        x[:] = da.ones((3,))
    with pytest.raises(OverflowError):
        da.zeros((2,), dtype=da.int8)[0] = 1000


def test_values_are_converted_to_the_dtype_of_the_tensor() -> None:
    x = da.zeros((3,), dtype=da.int16)
    x[0] = 2.75
    x[1:] = da.asarray([-1.5, 7.0])
    assert x.tolist() == [2, -1, 7]


def test_writing_where_a_gradient_would_be_lost_is_an_error() -> None:
    x = da.zeros((3,))
    x.requires_grad = True
    with pytest.raises(da.GradientError, match="no_grad"):
        x[0] = 1.0
    with da.no_grad():
        x[0] = 1.0
    assert x.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "key",
    [
        1,
        (slice(None), 1),
        (slice(None, None, -1), None),
        np.array([[0, 2], [2, 2]]),
        np.array([True, False, True]),
    ],
)
def test_gradients_flow_through_every_kind_of_key(key: Any) -> None:
    x = da.asarray(np.arange(6.0).reshape(3, 2))
    x.requires_grad = True
    (gradient,) = da.grad(da.sum(x[as_tensors(key)] * 2), [x])
    expected = np.zeros((3, 2))
    np.add.at(expected, key, 2.0)
    np.testing.assert_array_equal(gradient.numpy(), expected)


def test_where_an_index_repeats_the_last_value_stays() -> None:
    x = da.zeros((2,))
    x[da.asarray([0, 0, 0])] = da.asarray([1.0, 2.0, 3.0])
    assert x.tolist() == [3, 0]
