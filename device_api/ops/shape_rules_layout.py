"""Shape rules of ops that lay out or multiply: views, joining, padding, matrix products. Inputs have
been promoted; attributes are in normal form."""

from __future__ import annotations

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
from device_api.ops.views import normalize_axes, resolve_shape
from device_api.opset.spec import OpSpec


def reshape(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The same number of elements; one size may be -1."""
    x = first(inputs)
    size = 1
    for each in x.shape:
        size *= each
    return [TensorSpec(resolve_shape(tuple(attributes["shape"]), size, op.name), x.dtype)]


def permute_dims(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Every axis exactly once, in the order asked for."""
    x = first(inputs)
    axes = normalize_axes(attributes["axes"], len(x.shape), op.name)
    if len(axes) != len(x.shape):
        raise shape_error(op, f"axes {axes} must name every axis once", [x.shape], "axes")
    return [TensorSpec(tuple(x.shape[axis] for axis in axes), x.dtype)]


def matrix_transpose(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The last two axes change places."""
    x = first(inputs)
    if len(x.shape) < 2:
        raise shape_error(op, "a matrix has two dimensions at least", [x.shape], op.inputs[0].name)
    return [TensorSpec((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)]


def expand_dims(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """New axes of size 1 at these positions of the result."""
    x = first(inputs)
    wanted = attributes["axis"]
    ndim = len(x.shape) + len(wanted)
    axes = normalize_axes(wanted, ndim, op.name)
    sizes = iter(x.shape)
    return [TensorSpec(tuple(1 if place in axes else next(sizes) for place in range(ndim)), x.dtype)]


def squeeze(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """These axes, each of size 1, disappear."""
    x = first(inputs)
    axes = axes_of(op, attributes["axis"], len(x.shape))
    for axis in axes:
        if x.shape[axis] != 1:
            raise shape_error(op, f"axis {axis} has size {x.shape[axis]}, not 1", [x.shape], "axis")
    return [TensorSpec(without(x.shape, axes), x.dtype)]


def broadcast_to(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for, which the shape of x stretches to."""
    x, shape = first(inputs), tuple(attributes["shape"])
    if len(x.shape) > len(shape) or broadcast(op, [x.shape, shape]) != shape:
        raise shape_error(
            op, "only sizes of 1 stretch, and axes are added in front", [x.shape, shape], "shape"
        )
    return [TensorSpec(shape, x.dtype)]


def sum_to(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for, which stretches to the shape of x."""
    x, shape = first(inputs), tuple(attributes["shape"])
    if len(shape) > len(x.shape) or broadcast(op, [x.shape, shape]) != x.shape:
        raise shape_error(op, "the shape asked for must broadcast to that of x", [x.shape, shape], "shape")
    return [TensorSpec(shape, x.dtype)]


def flip(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x."""
    x = first(inputs)
    axes_of(op, attributes["axis"], len(x.shape))
    return [x]


def roll(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x; one shift, or one for each axis."""
    x = first(inputs)
    shift, axis = attributes["shift"], attributes["axis"]
    if axis is not None:
        for each in axis:
            axis_of(op, each, len(x.shape))
    if len(shift) != 1 and (axis is None or len(shift) != len(axis)):
        raise value_error(op, "shift", shift, "there must be one shift, or one for each axis")
    return [x]


def slice(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Per axis, the positions that range(start, stop, step) counts."""
    x = first(inputs)
    return [TensorSpec(_slice_lengths(op, x.shape, attributes), x.dtype)]


def slice_scatter(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; x has the shape of the slice."""
    x, shape = first(inputs), tuple(attributes["shape"])
    lengths = _slice_lengths(op, shape, attributes)
    if lengths != x.shape:
        raise shape_error(op, f"the slice has the shape {lengths}", [x.shape, shape], op.inputs[0].name)
    return [TensorSpec(shape, x.dtype)]


def concat(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Sizes add up along the axis and agree elsewhere. Without an axis, everything is flattened."""
    specs = _some(op, inputs)
    shapes = [spec.shape for spec in specs]
    if attributes["axis"] is None:
        total = 0
        for shape in shapes:
            count = 1
            for size in shape:
                count *= size
            total += count
        return [TensorSpec((total,), dtype_of(op, inputs, attributes))]
    axis = axis_of(op, attributes["axis"], len(shapes[0]))
    for shape in shapes:
        if len(shape) != len(shapes[0]) or without(shape, (axis,)) != without(shapes[0], (axis,)):
            raise shape_error(op, f"shapes must agree except along axis {axis}", shapes)
    total = sum(shape[axis] for shape in shapes)
    result = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    return [TensorSpec(result, dtype_of(op, inputs, attributes))]


def stack(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """A new axis as long as there are tensors, which have one shape."""
    specs = _some(op, inputs)
    shape = specs[0].shape
    if any(spec.shape != shape for spec in specs):
        raise shape_error(op, "shapes must be equal", [spec.shape for spec in specs])
    axis = axis_of(op, attributes["axis"], len(shape) + 1)
    return [TensorSpec((*shape[:axis], len(specs), *shape[axis:]), dtype_of(op, inputs, attributes))]


def pad(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Each axis grows by what is added before and after; the value is 0-d."""
    x, value = first(inputs), second(inputs)
    if value.shape:
        raise shape_error(op, "the value must be 0-d", [value.shape], "value")
    for name in ("before", "after"):
        if len(attributes[name]) != len(x.shape) or any(each < 0 for each in attributes[name]):
            raise value_error(
                op, name, attributes[name], f"one count >= 0 for each of {len(x.shape)} axes is needed"
            )
    sizes = zip(attributes["before"], x.shape, attributes["after"], strict=True)
    return [TensorSpec(tuple(low + size + high for low, size, high in sizes), x.dtype)]


def tile(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Each axis is as many times as long; what is missing in front counts as 1."""
    x, counts = first(inputs), tuple(attributes["repetitions"])
    if any(each < 0 for each in counts):
        raise value_error(op, "repetitions", counts, "a count is not negative")
    rank = max(len(x.shape), len(counts))
    sizes = (1,) * (rank - len(x.shape)) + x.shape
    counts = (1,) * (rank - len(counts)) + counts
    return [TensorSpec(tuple(size * count for size, count in zip(sizes, counts, strict=True)), x.dtype)]


def matrix(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x, whose last two axes are a matrix."""
    x = first(inputs)
    if len(x.shape) < 2:
        raise shape_error(op, "a matrix has two dimensions at least", [x.shape], op.inputs[0].name)
    return [x]


def batch_matmul(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., m, k) x (..., k, n) -> (..., m, n); the batch shapes are equal."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    if len(x1) < 2 or len(x2) < 2 or x1[:-2] != x2[:-2] or x1[-1] != x2[-2]:
        raise shape_error(op, "(..., m, k) x (..., k, n) is needed, with equal batch shapes", [x1, x2])
    return [TensorSpec((*x1[:-1], x2[-1]), dtype_of(op, inputs, attributes))]


def matmul(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., m, k) x (..., k, n) -> (..., m, n); batches broadcast; a vector's axis does not show."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    if not x1 or not x2:
        raise shape_error(
            op, "operands have one dimension at least", [x1, x2], remedy="Use multiply for scalars."
        )
    left = x1 if len(x1) > 1 else (1, *x1)
    right = x2 if len(x2) > 1 else (*x2, 1)
    if left[-1] != right[-2]:
        raise shape_error(op, f"rows of length {left[-1]} meet columns of length {right[-2]}", [x1, x2])
    shape = broadcast(op, [left[:-2], right[:-2]])
    shape += left[-2:-1] if len(x1) > 1 else ()
    shape += right[-1:] if len(x2) > 1 else ()
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def linear(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (..., i), weight (o, i), bias (o) -> (..., o)."""
    x, weight = first(inputs).shape, second(inputs).shape
    if not x or len(weight) != 2 or x[-1] != weight[1]:
        raise shape_error(op, "x (..., i) and weight (o, i) are needed", [x, weight])
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and bias.shape != weight[:1]:
        raise shape_error(op, f"the bias must have the shape {weight[:1]}", [bias.shape, weight], "bias")
    return [TensorSpec((*x[:-1], weight[0]), dtype_of(op, inputs, attributes))]


def vecdot(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Shapes broadcast except that the axis must agree; it disappears."""
    x1, x2 = first(inputs).shape, second(inputs).shape
    axis = attributes["axis"]
    axis_of(op, axis, min(len(x1), len(x2)))
    if axis >= 0:
        raise value_error(op, "axis", axis, "it counts from the end, as the shapes broadcast")
    if x1[axis] != x2[axis]:
        raise shape_error(op, f"sizes along axis {axis} must be equal", [x1, x2], "axis")
    shape = broadcast(op, [x1, x2])
    return [TensorSpec(without(shape, (axis + len(shape),)), dtype_of(op, inputs, attributes))]


def _some(op: OpSpec, inputs: Inputs) -> list[TensorSpec]:
    specs = given(inputs)
    if not specs:
        raise shape_error(op, "one tensor at least is needed", [], op.inputs[0].name)
    return specs


def _slice_lengths(op: OpSpec, shape: tuple[int, ...], attributes: Attributes) -> tuple[int, ...]:
    bounds = (attributes["start"], attributes["stop"], attributes["step"])
    for name, values in zip(("start", "stop", "step"), bounds, strict=True):
        if len(values) != len(shape):
            raise value_error(op, name, values, f"there must be one number for each of {len(shape)} axes")
    lengths = []
    for axis, (start, stop, step) in enumerate(zip(*bounds, strict=True)):
        if step == 0:
            raise value_error(op, "step", attributes["step"], "a step of 0 goes nowhere")
        positions = range(start, stop, step)
        if positions and not (0 <= positions[0] < shape[axis] and 0 <= positions[-1] < shape[axis]):
            raise shape_error(
                op,
                f"axis {axis} has positions 0 to {shape[axis] - 1}, the slice {positions} leaves them",
                [shape],
            )
        lengths.append(len(positions))
    return tuple(lengths)


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        reshape, permute_dims, matrix_transpose, expand_dims, squeeze, broadcast_to, sum_to, flip,
        roll, slice, slice_scatter, concat, stack, pad, tile, matrix, batch_matmul, matmul, linear,
        vecdot,
    )
}  # fmt: skip
