"""Shape rules against NumPy, and the errors of calls that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from device_api import dtypes
from device_api.errors import AttributeValueError, AxisError, ShapeError
from device_api.ops._table import BY_NAME
from device_api.ops.shapes import RULES, TensorSpec

F64 = dtypes.FLOAT64


def infer(op, *shapes, dtype=F64, **attributes):
    spec = BY_NAME[op]
    values = {each.name: each.default for each in spec.attributes} | attributes
    inputs = [None if shape is None else TensorSpec(shape, dtype) for shape in shapes]
    return RULES[spec.shape](spec, inputs, values)[0].shape


@settings(max_examples=200, deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=7, max_side=4))
def test_elementwise_shapes_broadcast_as_numpy_does(shapes):
    assert infer("where", *shapes.input_shapes) == shapes.result_shape
    assert infer("add", *shapes.input_shapes[:2]) == np.broadcast_shapes(*shapes.input_shapes[:2])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4), st.lists(st.integers(0, 3), max_size=4))
def test_shapes_that_numpy_refuses_are_refused(left, right):
    try:
        expected = np.broadcast_shapes(tuple(left), tuple(right))
    except ValueError:
        with pytest.raises(ShapeError) as caught:
            infer("multiply", tuple(left), tuple(right))
        assert caught.value.op == "multiply"
        assert caught.value.shapes == (tuple(left), tuple(right))
    else:
        assert infer("multiply", tuple(left), tuple(right)) == expected


@settings(max_examples=200, deadline=None)
@given(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=3), st.data())
def test_reductions_shape_as_numpy_does(shape, data):
    axis = data.draw(st.none() | st.lists(st.integers(-6, 6), max_size=3).map(tuple))
    keepdims = data.draw(st.booleans())
    try:
        expected = np.sum(np.zeros(shape), axis=axis, keepdims=keepdims).shape
    except (ValueError, np.exceptions.AxisError):
        with pytest.raises(AxisError):
            infer("sum", shape, axis=axis, keepdims=keepdims)
    else:
        assert infer("sum", shape, axis=axis, keepdims=keepdims) == expected


@settings(max_examples=300, deadline=None)
@given(hnp.array_shapes(max_dims=4, min_dims=0, min_side=0, max_side=3),
       hnp.array_shapes(max_dims=4, min_dims=0, min_side=0, max_side=3))  # fmt: skip
def test_matmul_shapes_as_numpy_does(left, right):
    try:
        expected = np.matmul(np.zeros(left), np.zeros(right)).shape
    except ValueError:
        with pytest.raises(ShapeError):
            infer("matmul", left, right)
    else:
        assert infer("matmul", left, right) == expected


@settings(max_examples=200, deadline=None)
@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5), st.data())
def test_slices_shape_as_python_does(shape, data):
    keys = [data.draw(st.slices(size)) for size in shape]
    start, stop, step = zip(*(key.indices(size) for key, size in zip(keys, shape, strict=True)), strict=True)
    assert infer("slice", shape, start=start, stop=stop, step=step) == np.zeros(shape)[tuple(keys)].shape


@settings(max_examples=200, deadline=None)
@given(hnp.array_shapes(min_dims=0, max_dims=3, max_side=3), st.data())
def test_expand_and_squeeze_undo_each_other(shape, data):
    count = data.draw(st.integers(0, 3))
    ndim = len(shape) + count
    axes = tuple(data.draw(st.permutations(range(ndim)))[:count])
    expected = np.expand_dims(np.zeros(shape), axes).shape
    assert infer("expand_dims", shape, axis=axes) == expected
    assert infer("squeeze", expected, axis=axes) == shape


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "error"),
    [
        ("sum", [(2, 3)], {"axis": (2,)}, AxisError),
        ("sum", [(2, 3)], {"axis": (-3,)}, AxisError),
        ("sum", [(2, 3)], {"axis": (0, 0)}, AxisError),
        ("sum", [(2, 3)], {"axis": (1, -1)}, AxisError),
        ("sum", [()], {"axis": (0,)}, AxisError),
        ("softmax", [()], {}, AxisError),
        ("max", [(0,)], {}, ShapeError),
        ("max", [(3, 0)], {"axis": (1,)}, ShapeError),
        ("argmax", [(0, 3)], {"axis": 0}, ShapeError),
        ("reduce_max", [(3, 0)], {}, ShapeError),
        ("reduce_sum", [()], {}, ShapeError),
        ("cumulative_sum", [(2, 2)], {}, ShapeError),
        ("reshape", [(2, 3)], {"shape": (4, -1)}, ShapeError),
        ("reshape", [(2, 3)], {"shape": (-1, -1)}, ShapeError),
        ("reshape", [(2, 3)], {"shape": (-2, -3)}, ShapeError),
        ("permute_dims", [(2, 3)], {"axes": (0,)}, ShapeError),
        ("permute_dims", [(2, 3)], {"axes": (0, 0)}, AxisError),
        ("squeeze", [(2, 3)], {"axis": (0,)}, ShapeError),
        ("expand_dims", [(2, 3)], {"axis": (4,)}, AxisError),
        ("broadcast_to", [(2, 3)], {"shape": (3,)}, ShapeError),
        ("broadcast_to", [(2, 3)], {"shape": (2, 6)}, ShapeError),
        ("broadcast_to", [(1,)], {"shape": (-1,)}, ShapeError),
        ("full", [()], {"shape": (-1,)}, ShapeError),
        ("full", [()], {"shape": (2**31, 2**31, 2**31)}, ShapeError),
        ("full", [()], {"shape": (2**62, 0)}, ShapeError),
        ("full", [()], {"shape": (1,) * 33}, ShapeError),
        ("full", [(1,)], {"shape": (1,)}, ShapeError),
        ("broadcast_to", [()], {"shape": (2**40, 2**40)}, ShapeError),
        ("concat", [(2, 3), (3, 2)], {}, ShapeError),
        ("concat", [()], {}, AxisError),
        ("concat", [], {}, ShapeError),
        ("stack", [(2,), (3,)], {}, ShapeError),
        ("linear", [(2, 3), (4, 2)], {}, ShapeError),
        ("linear", [(2, 3), (4, 3), (3,)], {}, ShapeError),
        ("vecdot", [(3,), (4,)], {}, ShapeError),
        ("vecdot", [(3,), (3,)], {"axis": 0}, AttributeValueError),
        ("take_along_axis", [(2, 3), (3,)], {}, ShapeError),
        ("cross_entropy", [(2, 3), (3,)], {}, ShapeError),
        ("cross_entropy", [(2, 3), (2,)], {"reduction": "median"}, AttributeValueError),
        ("slice", [(3,)], {"start": (0,), "stop": (4,), "step": (1,)}, ShapeError),
        ("slice", [(3,)], {"start": (0,), "stop": (3,), "step": (0,)}, AttributeValueError),
        ("slice", [(3,)], {"start": (), "stop": (3,), "step": (1,)}, AttributeValueError),
        ("layer_norm", [(2, 3), (2,)], {}, ShapeError),
        ("sgd_step", [(2,), (3,), ()], {}, ShapeError),
        ("sgd_step", [(2,), (2,), (2,)], {}, ShapeError),
        ("dropout", [(2,)], {"rate": 1.0}, AttributeValueError),
        ("bernoulli", [], {"shape": (2,), "p": float("nan")}, AttributeValueError),
        ("one_hot", [(2,)], {"num_classes": -1}, AttributeValueError),
        ("pad", [(2,), ()], {"before": (-1,), "after": (0,)}, AttributeValueError),
        ("roll", [(2,)], {"shift": (1, 2), "axis": (0,)}, AttributeValueError),
        ("tril", [(2,)], {}, ShapeError),
        ("batch_matmul", [(2, 3, 4), (3, 4, 5)], {}, ShapeError),
        ("gather_rows", [(2,), (2,)], {}, ShapeError),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_are_typed_errors_naming_the_op(op, shapes, attributes, error):
    with pytest.raises(error) as caught:
        infer(op, *shapes, **attributes)
    assert op in str(caught.value)
