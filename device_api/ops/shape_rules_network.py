"""Shape rules of ops that networks are made of and whose inputs play different parts: losses of pairs and
triplets, normalisation over batches and groups, attention, fused forms. Inputs have been promoted;
attributes are in normal form."""

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
from device_api.opset.spec import OpSpec

Shape = tuple[int, ...]


def halves(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axis, of even size, becomes half as long."""
    x = first(inputs)
    axis = axis_of(op, attributes["axis"], len(x.shape))
    if x.shape[axis] % 2:
        raise shape_error(op, f"axis {axis} must have an even size", [x.shape], "axis")
    shape = (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def loss_terms(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the terms; upstream has it, or is one number where they were reduced."""
    upstream, *terms = given(inputs)
    shape = broadcast(op, [each.shape for each in terms])
    if upstream.shape != reduced(op, shape, attributes):
        raise shape_error(op, "upstream must have the shape of the loss", [upstream.shape, shape], "upstream")
    return [TensorSpec(shape, upstream.dtype)]


def along_pair(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Two tensors broadcast; the axis disappears."""
    shape = broadcast(op, [first(inputs).shape, second(inputs).shape])
    axis = axis_of(op, attributes["axis"], len(shape))
    return [TensorSpec(without(shape, (axis,)), dtype_of(op, inputs, attributes))]


def embedding_loss(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Two tensors of vectors, and one target for each vector."""
    x1, x2, target = given(inputs)
    if not x1.shape or x1.shape != x2.shape or target.shape != x1.shape[:-1]:
        raise shape_error(
            op, "x1 and x2 (..., n) and a target (...) are needed", [x1.shape, x2.shape, target.shape]
        )
    return [TensorSpec(reduced(op, target.shape, attributes), dtype_of(op, inputs, attributes))]


def triplet_loss(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Three tensors of vectors of one shape."""
    shapes = [each.shape for each in given(inputs)]
    if not shapes[0] or any(shape != shapes[0] for shape in shapes):
        raise shape_error(op, "three tensors (..., n) of one shape are needed", shapes)
    return [TensorSpec(reduced(op, shapes[0][:-1], attributes), dtype_of(op, inputs, attributes))]


def target_weights(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the target; weight has one number for each class."""
    target, weight = first(inputs), inputs[1]
    if weight is not None and weight.shape != (attributes["classes"],):
        raise shape_error(op, "one weight for each class is needed", [weight.shape], "weight")
    return [TensorSpec(target.shape, dtype_of(op, inputs, attributes))]


def standardize(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape that all inputs have; the axes are some of it."""
    specs = given(inputs)
    if any(each.shape != specs[0].shape for each in specs):
        raise shape_error(op, "shapes must be equal", [each.shape for each in specs])
    axes_of(op, attributes["axis"], len(specs[0].shape))
    return [specs[0]]


def batch_norm(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c, ...); everything else has one number for each channel. Statistics that come out do too."""
    x = first(inputs)
    if len(x.shape) < 2:
        raise shape_error(op, "a batch and channels are needed", [x.shape], op.inputs[0].name)
    channels = x.shape[1:2]
    for declared, spec in zip(op.inputs[1:], inputs[1:], strict=False):
        if spec is not None and spec.shape != channels:
            raise shape_error(
                op, f"{declared.name} must have the shape {channels}", [x.shape, spec.shape], declared.name
            )
    result = [TensorSpec(x.shape, dtype_of(op, inputs, attributes))]
    return result + [
        TensorSpec(channels, dtype_of(op, inputs, attributes, i)) for i in range(1, len(op.outputs))
    ]


def group_norm(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c, ...), c a multiple of the groups; weight and bias (c)."""
    x = first(inputs)
    groups = attributes.get("groups", 1)
    if groups < 1:
        raise value_error(op, "groups", groups, "it is positive")
    if len(x.shape) < 2 or x.shape[1] % groups:
        raise shape_error(op, f"(n, c, ...) with c a multiple of {groups} is needed", [x.shape])
    return batch_norm(op, inputs, attributes)


def attention(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """query (..., l, e), key (..., s, e), value (..., s, v), mask and bias (..., l, s) -> (..., l, v);
    without a value the weights (..., l, s)."""
    query, key = first(inputs).shape, second(inputs).shape
    named = dict(zip((each.name for each in op.inputs), inputs, strict=False))
    value = named.get("value")
    if len(query) < 2 or len(key) < 2 or query[-1] != key[-1]:
        raise shape_error(op, "query (..., l, e) and key (..., s, e) are needed", [query, key])
    batches = [query[:-2], key[:-2]]
    scores = (query[-2], key[-2])
    if value is not None:
        if len(value.shape) < 2 or value.shape[-2] != key[-2]:
            raise shape_error(op, "value (..., s, v) must match key (..., s, e)", [key, value.shape], "value")
        batches.append(value.shape[:-2])
    for name in ("mask", "bias"):
        spec = named.get(name)
        if spec is not None:
            if broadcast(op, [spec.shape[-2:], scores]) != scores:
                raise shape_error(
                    op, f"{name} must broadcast to (..., {scores})", [spec.shape, query, key], name
                )
            batches.append(spec.shape[:-2])
    batch = broadcast(op, batches)
    last = scores if value is None else (query[-2], value.shape[-1])
    return [TensorSpec((*batch, *last), dtype_of(op, inputs, attributes))]


def rotary(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (..., d), d even; cosine and sine broadcast to (..., d / 2)."""
    x = first(inputs)
    if not x.shape or x.shape[-1] % 2:
        raise shape_error(op, "the last axis of x must have an even size", [x.shape], "x")
    half = (*x.shape[:-1], x.shape[-1] // 2)
    for declared, spec in zip(op.inputs[1:], given(inputs)[1:], strict=True):
        if broadcast(op, [spec.shape, half]) != half:
            raise shape_error(op, f"{declared.name} must broadcast to {half}", [spec.shape], declared.name)
    return [x]


def embedding(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """weight (n, d), indices (...) -> (..., d)."""
    weight, indices = first(inputs), second(inputs)
    if len(weight.shape) != 2:
        raise shape_error(op, "weight (n, d) is needed", [weight.shape], "weight")
    return [TensorSpec((*indices.shape, weight.shape[1]), weight.dtype)]


def embedding_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream (..., d), indices (...) -> (size, d)."""
    upstream, indices = first(inputs), second(inputs)
    if not upstream.shape or upstream.shape[:-1] != indices.shape or attributes["size"] < 0:
        raise shape_error(
            op, "upstream (..., d) and indices (...) are needed", [upstream.shape, indices.shape]
        )
    return [TensorSpec((attributes["size"], upstream.shape[-1]), upstream.dtype)]


def add_norm(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x and residual of one shape, weight and bias of its last axis -> the normalised sum, and the sum."""
    x, residual = first(inputs), second(inputs)
    if not x.shape or x.shape != residual.shape:
        raise shape_error(op, "x and residual (..., d) of one shape are needed", [x.shape, residual.shape])
    for declared, spec in zip(op.inputs[2:], inputs[2:], strict=False):
        if spec is not None and spec.shape != x.shape[-1:]:
            raise shape_error(op, f"{declared.name} must have the shape {x.shape[-1:]}", [spec.shape])
    return [x, x]


def unscale(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x unscaled, and one truth."""
    x, scale = first(inputs), second(inputs)
    if scale.shape:
        raise shape_error(op, "the scale is 0-d", [scale.shape], "scale")
    return [x, TensorSpec((), dtype_of(op, inputs, attributes, 1))]


def numbers(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """0-d tensors from 0-d tensors."""
    for declared, spec in zip(op.inputs, inputs, strict=True):
        if spec is not None and spec.shape:
            raise shape_error(op, f"{declared.name} is 0-d", [spec.shape], declared.name)
    return [TensorSpec((), dtype_of(op, inputs, attributes, i)) for i in range(len(op.outputs))]


def reduced(op: OpSpec, shape: Shape, attributes: Attributes) -> Shape:
    """The shape of a loss whose terms have this shape."""
    reduction = attributes["reduction"]
    if reduction not in ("mean", "sum", "none"):
        raise value_error(op, "reduction", reduction, "it is 'mean', 'sum' or 'none'")
    return shape if reduction == "none" else ()


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        halves, loss_terms, along_pair, embedding_loss, triplet_loss, target_weights, standardize, batch_norm,
        group_norm, attention, rotary, embedding, embedding_gradient, add_norm, unscale, numbers,
    )
}  # fmt: skip
