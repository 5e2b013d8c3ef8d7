"""Shape rules of ops that compute element by element, along axes, or from nothing: which shape and dtype each
output has, and which calls are wrong. Inputs have been promoted; attributes are in normal form."""

from __future__ import annotations

import math

from device_api import dtypes
from device_api.ops.facts import sum_dtype
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    axes_of,
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


def elementwise(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Every output has the shape that all inputs broadcast to."""
    shape = broadcast(op, [spec.shape for spec in given(inputs)])
    return [TensorSpec(shape, dtype_of(op, inputs, attributes, place)) for place in range(len(op.outputs))]


def same(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the first input, which has a last axis where the op needs one."""
    shape = first(inputs).shape
    if not shape:
        raise shape_error(op, "a last axis is needed, and a 0-d tensor has none", [shape], op.inputs[0].name)
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def cast(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x, with the dtype asked for."""
    return [TensorSpec(first(inputs).shape, dtype_of(op, inputs, attributes))]


def like(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x; the dtype asked for, or that of x. A second input is a 0-d value."""
    x = first(inputs)
    if len(inputs) > 1 and second(inputs).shape:
        raise shape_error(op, "the value must be 0-d", [second(inputs).shape], op.inputs[1].name)
    return [TensorSpec(x.shape, dtype_of(op, inputs, attributes))]


def creation(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; the dtype asked for, that of the value, or float32."""
    shape = tuple(attributes["shape"])
    _check_sizes(op, "shape", shape)
    if inputs and first(inputs).shape:
        raise shape_error(op, "the value must be 0-d", [first(inputs).shape], op.inputs[0].name)
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def iota(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """One dimension of `size`."""
    _check_sizes(op, "size", (attributes["size"],))
    return [TensorSpec((attributes["size"],), dtype_of(op, inputs, attributes))]


def eye(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n_rows, n_cols), n_cols being n_rows unless given."""
    rows, columns = attributes["n_rows"], attributes["n_cols"]
    shape = (rows, rows if columns is None else columns)
    _check_sizes(op, "n_rows", shape)
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def reduce_last(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The last axis disappears; extremes need one element in it at least."""
    shape = first(inputs).shape
    if not shape:
        raise shape_error(op, "a last axis is needed, and a 0-d tensor has none", [shape], op.inputs[0].name)
    if "empty" in dict(op.numerics) and dict(op.numerics)["empty"] == "an error":
        _check_not_empty(op, shape, (len(shape) - 1,))
    return [TensorSpec(shape[:-1], dtype_of(op, inputs, attributes))]


def reduce(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axes (all of them by default) disappear, or keep size 1 with keepdims."""
    shape = first(inputs).shape
    axes = axes_of(op, attributes["axis"], len(shape))
    if dict(op.numerics).get("empty") == "an error":
        _check_not_empty(op, shape, axes)
    return [TensorSpec(without(shape, axes, attributes["keepdims"]), dtype_of(op, inputs, attributes))]


def reduce_wide(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """As reduce; small integers widen to 64 bits unless a dtype is asked for."""
    x = first(inputs)
    shape = without(x.shape, axes_of(op, attributes["axis"], len(x.shape)), attributes["keepdims"])
    return [TensorSpec(shape, _wide(op, inputs, attributes))]


def reduce_position(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """As reduce over one axis, or over the flattened tensor without one."""
    shape = first(inputs).shape
    axis = attributes["axis"]
    axes = tuple(range(len(shape))) if axis is None else (axis_of(op, axis, len(shape)),)
    _check_not_empty(op, shape, axes)
    return [TensorSpec(without(shape, axes, attributes["keepdims"]), dtypes.INT64)]


def along_axis(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the first input, of which `axis` is one axis."""
    x = first(inputs)
    axis_of(op, attributes["axis"], len(x.shape))
    return [TensorSpec(x.shape, dtype_of(op, inputs, attributes, place)) for place in range(len(op.outputs))]


def cumulative(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x, one longer along the axis with include_initial. A 1-d tensor needs no axis."""
    x = first(inputs)
    axis = attributes["axis"]
    if axis is None:
        if len(x.shape) != 1:
            raise shape_error(
                op, "axis may be left out for one dimension only", [x.shape], "axis", "Give axis."
            )
        axis = 0
    axis = axis_of(op, axis, len(x.shape))
    shape = list(x.shape)
    shape[axis] += 1 if attributes["include_initial"] else 0
    return [TensorSpec(tuple(shape), _wide(op, inputs, attributes))]


def normalise(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x; weight and bias, where given, have the shape of x from `axis` on."""
    x = first(inputs)
    trailing = x.shape[axis_of(op, attributes["axis"], len(x.shape)) :]
    for declared, spec in zip(op.inputs[1:], inputs[1:], strict=False):
        if spec is not None and spec.shape != trailing:
            raise shape_error(
                op,
                f"{declared.name} must have the normalised shape {trailing}",
                [x.shape, spec.shape],
                declared.name,
            )
    return [TensorSpec(x.shape, dtype_of(op, inputs, attributes))]


def normalise_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream and x of one shape, weight of that from `axis` on; gradients of x, weight and bias, those that
    are not asked for without elements."""
    upstream, x, weight = inputs
    if upstream is None or x is None or upstream.shape != x.shape:
        raise shape_error(op, "upstream must have the shape of x", [each.shape for each in given(inputs)])
    trailing = x.shape[axis_of(op, attributes["axis"], len(x.shape)) :]
    if weight is not None and weight.shape != trailing:
        raise shape_error(
            op, f"weight must have the normalised shape {trailing}", [x.shape, weight.shape], "weight"
        )
    shapes = {"by_x": x.shape, "by_weight": trailing, "by_bias": trailing}
    return [TensorSpec(shape if attributes[by] else (0,), x.dtype) for by, shape in shapes.items()]


def loss(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Element by element; then as it is ("none"), or one number ("mean", "sum")."""
    return _reduced(op, broadcast(op, [spec.shape for spec in given(inputs)]), inputs, attributes)


def class_loss(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The target has the shape of the scores without the class axis."""
    scores, target = first(inputs), second(inputs)
    axis = axis_of(op, attributes["axis"], len(scores.shape))
    expected = without(scores.shape, (axis,))
    if target.shape != expected:
        raise shape_error(
            op,
            f"the target must have the shape {expected}, without the class axis",
            [scores.shape, target.shape],
            "target",
        )
    weight = inputs[2] if len(inputs) > 2 else None
    if weight is not None and weight.shape != (scores.shape[axis],):
        raise shape_error(op, "one weight for each class is needed", [scores.shape, weight.shape], "weight")
    return _reduced(op, expected, inputs, attributes)


def class_loss_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the scores; upstream has that of the loss."""
    scores, target, upstream, weight = inputs
    (made,) = class_loss(op, [scores, target, weight], attributes)
    if upstream is None or upstream.shape != made.shape:
        shapes = [each.shape for each in given(inputs)]
        raise shape_error(op, f"upstream must have the shape of the loss, {made.shape}", shapes, "upstream")
    return [first(inputs)]


def optimiser(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """State and gradient have the shape of the parameter; hyper-parameters are 0-d or Python numbers."""
    shape = first(inputs).shape
    states = {place for _, place in op.in_place} | {1}
    for place, spec in enumerate(inputs):
        if spec is not None and spec.shape != (shape if place in states else ()):
            raise shape_error(
                op,
                f"{op.inputs[place].name} must have the shape {shape if place in states else ()}",
                [shape, spec.shape],
                op.inputs[place].name,
            )
    return [TensorSpec(shape, dtype_of(op, inputs, attributes, place)) for place in range(len(op.outputs))]


def _reduced(op: OpSpec, shape: tuple[int, ...], inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    reduction = attributes["reduction"]
    if reduction not in ("mean", "sum", "none"):
        raise value_error(op, "reduction", reduction, "it is 'mean', 'sum' or 'none'")
    return [TensorSpec(shape if reduction == "none" else (), dtype_of(op, inputs, attributes))]


def _wide(op: OpSpec, inputs: Inputs, attributes: Attributes) -> int:
    if attributes["dtype"] is not None:
        return dtype_of(op, inputs, attributes)
    return dtypes.code(sum_dtype(dtypes.from_code(first(inputs).dtype), None))


def _check_not_empty(op: OpSpec, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    if math.prod(shape[axis] for axis in axes) == 0:
        raise shape_error(op, f"there is no extreme of nothing along axes {axes}", [shape], op.inputs[0].name)


def _check_sizes(op: OpSpec, argument: str, sizes: tuple[int, ...]) -> None:
    for size in sizes:
        if size < 0:
            raise shape_error(op, f"size {size} is negative", [sizes], argument)


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        elementwise, same, cast, like, creation, iota, eye, reduce_last, reduce, reduce_wide, reduce_position,
        along_axis, cumulative, normalise, normalise_gradient, loss, class_loss,
        class_loss_gradient, optimiser,
    )
}  # fmt: skip
