"""Shape rules of array-API functions beyond the plain families, of ops that write to chosen places, and of
fused forms built on other rules. Inputs have been promoted; attributes are in normal form."""

from __future__ import annotations

from device_api import dtypes
from device_api.ops import shape_rules_layout, shape_rules_network, shape_rules_spatial
from device_api.ops.facts import sum_dtype
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    axis_of,
    broadcast,
    dtype_of,
    first,
    given,
    second,
    shape_error,
    value_error,
    without,
)
from device_api.opset.spec import OpSpec

Shape = tuple[int, ...]
_ACTIVATIONS = ("none", "relu", "gelu", "silu", "sigmoid", "tanh")


def diagonal(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, m) -> (..., length of the diagonal)."""
    x = first(inputs)
    return [TensorSpec(_diagonal(op, x.shape, attributes), x.dtype)]


def diagonal_scatter(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; x has the shape of its diagonals."""
    x, shape = first(inputs), tuple(attributes["shape"])
    expected = _diagonal(op, shape, attributes)
    if x.shape != expected:
        raise shape_error(op, f"the diagonals have the shape {expected}", [x.shape, shape], "x")
    return [TensorSpec(shape, x.dtype)]


def trace(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, m) -> (...); small integers widen to 64 bits unless a dtype is asked for."""
    x = first(inputs)
    if attributes["dtype"] is not None:
        code = dtype_of(op, inputs, attributes)
    else:
        code = dtypes.code(sum_dtype(dtypes.from_code(x.dtype), None))
    return [TensorSpec(_diagonal(op, x.shape, attributes)[:-1], code)]


def outer(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n), (m) -> (n, m)."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    if len(x1) != 1 or len(x2) != 1:
        raise shape_error(op, "two tensors of one dimension are needed", [x1, x2])
    return [TensorSpec((*x1, *x2), dtype_of(op, inputs, attributes))]


def diff(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axis becomes n shorter, down to nothing."""
    x, n = first(inputs), attributes["n"]
    axis = axis_of(op, attributes["axis"], len(x.shape))
    if n < 0:
        raise value_error(op, "n", n, "it is not negative")
    return [TensorSpec(_resized(x.shape, axis, max(x.shape[axis] - n, 0)), x.dtype)]


def cross(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Shapes broadcast; the axis has three elements in both."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    axis = attributes["axis"]
    axis_of(op, axis, min(len(x1), len(x2)))
    if axis >= 0 and len(x1) != len(x2):
        raise value_error(op, "axis", axis, "it counts from the end, as the shapes broadcast")
    if x1[axis] != 3 or x2[axis] != 3:
        raise shape_error(op, f"axis {axis} must have 3 elements", [x1, x2], "axis")
    return [TensorSpec(broadcast(op, [x1, x2]), dtype_of(op, inputs, attributes))]


def repeat(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axis becomes as many times as long."""
    x, count = first(inputs), attributes["repeats"]
    axis = axis_of(op, attributes["axis"], len(x.shape))
    if count < 0:
        raise value_error(op, "repeats", count, "a count is not negative")
    return [TensorSpec(_resized(x.shape, axis, x.shape[axis] * count), x.dtype)]


def top_k(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axis becomes k long, twice."""
    x, k = first(inputs), attributes["k"]
    axis = axis_of(op, attributes["axis"], len(x.shape))
    if not 0 <= k <= x.shape[axis]:
        raise value_error(op, "k", k, f"it lies in [0, {x.shape[axis]}], the size of the axis")
    shape = _resized(x.shape, axis, k)
    return [TensorSpec(shape, x.dtype), TensorSpec(shape, dtypes.INT64)]


def searchsorted(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the values; x1 has one dimension."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    if len(x1) != 1:
        raise shape_error(op, "x1 must have one dimension", [x1, x2], "x1")
    return [TensorSpec(x2, dtypes.INT64)]


def index_add(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x; updates have the shape that take with these indices would give."""
    x, indices, updates = given(inputs)
    axis = axis_of(op, attributes["axis"], len(x.shape))
    expected = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if updates.shape != expected:
        raise shape_error(op, f"updates must have the shape {expected}", [x.shape, updates.shape], "updates")
    return [x]


def scatter_elements(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x; indices and updates have one shape, which agrees but along the axis."""
    x, indices, updates = (each.shape for each in given(inputs))
    axis = axis_of(op, attributes["axis"], len(x))
    if indices != updates or len(indices) != len(x) or without(indices, (axis,)) != without(x, (axis,)):
        raise shape_error(op, f"shapes must agree except along axis {axis}", [x, indices, updates])
    return [first(inputs)]


def activation(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape that all inputs have."""
    _check_activation(op, attributes)
    return shape_rules_network.standardize(op, inputs, {"axis": ()})


def linear_activation(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (..., i), weight (o, i), bias (o) -> (..., o)."""
    _check_activation(op, attributes)
    return shape_rules_layout.linear(op, inputs, attributes)


def conv_norm(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """As the convolution; the rest has one number for each of its channels."""
    _check_activation(op, attributes)
    made = shape_rules_spatial.convolution(op, inputs[:2], attributes)
    for declared, spec in zip(op.inputs[2:], inputs[2:], strict=True):
        if spec is not None and spec.shape != made[0].shape[1:2]:
            raise shape_error(
                op, f"{declared.name} must have the shape {made[0].shape[1:2]}", [spec.shape], declared.name
            )
    return made


def multinomial(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Weights (..., n) -> positions (..., count)."""
    x, count = first(inputs), attributes["count"]
    if not x.shape or x.shape[-1] == 0:
        raise shape_error(op, "weights (..., n) with n above 0 are needed", [x.shape], "x")
    if count < 0 or (not attributes["replacement"] and count > x.shape[-1]):
        raise value_error(op, "count", count, "without replacement there are at most as many as weights")
    return [TensorSpec((*x.shape[:-1], count), dtypes.INT64)]


def _diagonal(op: OpSpec, shape: Shape, attributes: Attributes) -> Shape:
    if len(shape) < 2:
        raise shape_error(op, "a matrix has two dimensions at least", [shape], op.inputs[0].name)
    rows, columns = shape[-2:]
    offset = attributes["offset"]
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    return (*shape[:-2], max(length, 0))


def _resized(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _check_activation(op: OpSpec, attributes: Attributes) -> None:
    if attributes["activation"] not in _ACTIVATIONS:
        raise value_error(
            op, "activation", attributes["activation"], f"it is one of {', '.join(_ACTIVATIONS)}"
        )


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        diagonal, diagonal_scatter, trace, outer, diff, cross, repeat, top_k, searchsorted, index_add,
        scatter_elements, activation, linear_activation, conv_norm, multinomial,
    )
}  # fmt: skip
