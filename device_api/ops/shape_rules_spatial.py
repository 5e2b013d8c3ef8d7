"""Shape rules of ops that slide windows over axes, resample axes, or rearrange blocks of them: convolution,
pooling, padding by content, resizing. Inputs have been promoted; attributes are in normal form. Images are
(batch, channels, one size for each spatial axis)."""

from __future__ import annotations

import math

from device_api.ops.facts import both_sides, each_axis, window_count, window_ends
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    axes_of,
    dtype_of,
    first,
    second,
    shape_error,
    value_error,
)
from device_api.opset.spec import OpSpec

Shape = tuple[int, ...]


def window_view(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Each of these axes becomes the number of its windows; the sizes of the windows follow at the end."""
    x = first(inputs)
    axes = _window_axes(op, attributes, len(x.shape))
    return [TensorSpec(_windowed(op, x.shape, axes, attributes), x.dtype)]


def window_scatter(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; x has the shape of its windows."""
    x, shape = first(inputs), tuple(attributes["shape"])
    expected = _windowed(op, shape, _window_axes(op, attributes, len(shape)), attributes)
    if x.shape != expected:
        raise shape_error(op, f"the windows have the shape {expected}", [x.shape, shape], op.inputs[0].name)
    return [TensorSpec(shape, x.dtype)]


def convolution(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c, *s), weight (o, c / groups, *k), bias (o) -> (n, o, *windows)."""
    x, weight = first(inputs), second(inputs)
    rank = _spatial_rank(op, x.shape, weight.shape)
    shape = convolved(op, x.shape, weight.shape, rank, attributes)
    _check_bias(op, inputs, weight.shape[0])
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def convolution_input_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream has the shape that the convolution of the shape asked for has -> that shape."""
    upstream, weight, shape = first(inputs), second(inputs), tuple(attributes["shape"])
    expected = convolved(
        op, shape, weight.shape, _spatial_rank(op, upstream.shape, weight.shape), attributes, "shape"
    )
    if upstream.shape != expected:
        raise shape_error(
            op, f"upstream must have the shape {expected}", [upstream.shape, weight.shape], "upstream"
        )
    return [TensorSpec(shape, upstream.dtype)]


def convolution_weight_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream has the shape that the convolution with a weight of the shape asked for has -> that shape."""
    x, upstream, shape = first(inputs), second(inputs), tuple(attributes["shape"])
    expected = convolved(op, x.shape, shape, _spatial_rank(op, x.shape, shape), attributes, "shape")
    if upstream.shape != expected:
        raise shape_error(
            op, f"upstream must have the shape {expected}", [x.shape, upstream.shape], "upstream"
        )
    return [TensorSpec(shape, x.dtype)]


def conv_transpose(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c, *s), weight (c, o / groups, *k), bias (o) -> the (n, o, *t) whose convolution has the shape of
    x; output_padding says which of several."""
    x, weight = first(inputs), second(inputs)
    rank = _spatial_rank(op, x.shape, weight.shape)
    stride, dilation = (_per_axis(op, attributes, name, rank, 1) for name in ("stride", "dilation"))
    before, after = _sides(op, attributes, rank)
    extra = _per_axis(op, attributes, "output_padding", rank, 0)
    groups = attributes["groups"]
    if x.shape[1] != weight.shape[0] or groups < 1 or weight.shape[0] % groups:
        raise shape_error(
            op,
            f"x (n, c, ...) and weight (c, o / groups, ...) are needed, with c a multiple of {groups} groups",
            [x.shape, weight.shape],
        )
    for place in range(rank):
        if extra[place] >= max(stride[place], dilation[place]):
            raise value_error(
                op, "output_padding", extra, "it is smaller than the stride or the dilation of its axis"
            )
    sizes = tuple(
        (x.shape[2 + i] - 1) * stride[i]
        - before[i]
        - after[i]
        + dilation[i] * (weight.shape[2 + i] - 1)
        + extra[i]
        + 1
        for i in range(rank)
    )
    if any(size < 0 for size in sizes):
        raise shape_error(op, f"the result would have the sizes {sizes}", [x.shape, weight.shape], "padding")
    channels = weight.shape[1] * groups
    _check_bias(op, inputs, channels)
    return [TensorSpec((x.shape[0], channels, *sizes), dtype_of(op, inputs, attributes))]


def pool(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n, c, *s) -> (n, c, *windows)."""
    x = first(inputs)
    return [TensorSpec(_pooled(op, x.shape, attributes), dtype_of(op, inputs, attributes))]


def pool_gradient(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream has the shape of the pooled x -> the shape of x."""
    upstream, x = first(inputs), second(inputs)
    expected = _pooled(op, x.shape, attributes)
    if upstream.shape != expected:
        raise shape_error(op, f"upstream must have the shape {expected}", [upstream.shape, x.shape])
    return [TensorSpec(x.shape, upstream.dtype)]


def pool_spread(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """As pool_gradient, with the shape of x an attribute."""
    upstream, shape = first(inputs), tuple(attributes["shape"])
    expected = _pooled(op, shape, attributes)
    if upstream.shape != expected:
        raise shape_error(op, f"upstream must have the shape {expected}", [upstream.shape, shape])
    return [TensorSpec(shape, upstream.dtype)]


def adaptive_pool(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n, c, *s) -> (n, c, *size)."""
    x = first(inputs)
    return [TensorSpec(_adapted(op, x.shape, attributes), dtype_of(op, inputs, attributes))]


def adaptive_spread(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream has the shape of the pooled tensor -> the shape asked for."""
    upstream, shape = first(inputs), tuple(attributes["shape"])
    expected = _adapted(op, shape, attributes)
    if upstream.shape != expected:
        raise shape_error(op, f"upstream must have the shape {expected}", [upstream.shape, shape])
    return [TensorSpec(shape, upstream.dtype)]


def global_pool(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n, c, *s) -> (n, c, 1, ...)."""
    x = first(inputs)
    if len(x.shape) < 3 or 0 in x.shape[2:]:
        raise shape_error(op, "(n, c, ...) with spatial axes that are not empty is needed", [x.shape])
    return [TensorSpec((*x.shape[:2], *(1 for _ in x.shape[2:])), dtype_of(op, inputs, attributes))]


def pad_mode(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Each axis grows by what is added before and after, which its content must suffice for."""
    x = first(inputs)
    before, after, mode = attributes["before"], attributes["after"], attributes["mode"]
    if mode not in ("reflect", "replicate", "circular"):
        raise value_error(op, "mode", mode, "it is 'reflect', 'replicate' or 'circular'")
    for name in ("before", "after"):
        if len(attributes[name]) != len(x.shape) or any(each < 0 for each in attributes[name]):
            raise value_error(
                op, name, attributes[name], f"one count >= 0 for each of {len(x.shape)} axes is needed"
            )
    for axis, size in enumerate(x.shape):
        most = {"reflect": size - 1, "circular": size, "replicate": math.inf if size else 0}[mode]
        if max(before[axis], after[axis]) > max(most, 0):
            raise shape_error(
                op,
                f"axis {axis} has {size} elements, too few to {mode} "
                f"{before[axis]} before and {after[axis]} after",
                [x.shape],
            )
    return [TensorSpec(tuple(b + s + a for b, s, a in zip(before, x.shape, after, strict=True)), x.dtype)]


def resize(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(n, c, *s) -> (n, c, *size)."""
    x = first(inputs)
    size = attributes["size"]
    if len(x.shape) < 3 or len(size) != len(x.shape) - 2 or 0 in x.shape[2:]:
        raise shape_error(
            op, "(n, c, ...) and one new size for each spatial axis are needed", [x.shape], "size"
        )
    if any(each < 1 for each in size):
        raise value_error(op, "size", size, "sizes are positive")
    return [TensorSpec((*x.shape[:2], *size), dtype_of(op, inputs, attributes))]


def resize_spread(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """upstream (n, c, *size) -> the (n, c, *s) asked for."""
    upstream, shape = first(inputs), tuple(attributes["shape"])
    if len(shape) != len(upstream.shape) or shape[:2] != upstream.shape[:2] or 0 in upstream.shape[2:]:
        raise shape_error(op, "batch and channels must agree", [upstream.shape, shape], "shape")
    return [TensorSpec(shape, upstream.dtype)]


def resize_places(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Three lists of `count` places."""
    if attributes["size"] < 1 or attributes["count"] < 1:
        raise value_error(op, "count", attributes["count"], "sizes are positive")
    shape = (attributes["count"],)
    return [TensorSpec(shape, dtype_of(op, inputs, attributes, i)) for i in range(3)]


def pixel_shuffle(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., c r r, h, w) -> (..., c, h r, w r)."""
    x, factor = first(inputs), attributes["factor"]
    if factor < 1:
        raise value_error(op, "factor", factor, "it is positive")
    if len(x.shape) < 3 or x.shape[-3] % (factor * factor):
        raise shape_error(op, f"(..., c, h, w) with c a multiple of {factor * factor} is needed", [x.shape])
    *rest, channels, high, wide = x.shape
    return [TensorSpec((*rest, channels // factor**2, high * factor, wide * factor), x.dtype)]


def pixel_unshuffle(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., c, h r, w r) -> (..., c r r, h, w)."""
    x, factor = first(inputs), attributes["factor"]
    if factor < 1:
        raise value_error(op, "factor", factor, "it is positive")
    if len(x.shape) < 3 or x.shape[-1] % factor or x.shape[-2] % factor:
        raise shape_error(op, f"(..., c, h, w) with h and w multiples of {factor} is needed", [x.shape])
    *rest, channels, high, wide = x.shape
    return [TensorSpec((*rest, channels * factor**2, high // factor, wide // factor), x.dtype)]


def convolved(
    op: OpSpec, x: Shape, weight: Shape, rank: int, attributes: Attributes, argument: str | None = None
) -> Shape:
    """The shape of a convolution, or a `ShapeError`."""
    stride, dilation = (_per_axis(op, attributes, name, rank, 1) for name in ("stride", "dilation"))
    before, after = _sides(op, attributes, rank)
    groups = attributes["groups"]
    if groups < 1:
        raise value_error(op, "groups", groups, "it is positive")
    if len(x) != rank + 2 or x[1] != weight[1] * groups or weight[0] % groups:
        raise shape_error(
            op,
            f"x (n, c, ...) and weight (o, c / groups, ...) are needed, o a multiple of {groups} groups",
            [x, weight],
            argument,
        )
    counts = tuple(
        window_count(x[2 + i] + before[i] + after[i], weight[2 + i], stride[i], dilation[i])
        for i in range(rank)
    )
    if any(count < 1 for count in counts) or 0 in weight[2:]:
        raise shape_error(op, "the window is larger than the padded image", [x, weight], argument)
    return (x[0], weight[0], *counts)


def _spatial_rank(op: OpSpec, x: Shape, weight: Shape) -> int:
    """How many spatial axes there are: as many as the op's name says, or as x has."""
    rank = len(x) - 2
    wanted = int(op.name[-2]) if op.name[-2:] in ("1d", "2d", "3d") else rank
    if rank < 1 or len(weight) != len(x) or rank != wanted:
        raise shape_error(
            op, f"x and weight need a batch, channels and {max(wanted, 1)} spatial axes", [x, weight]
        )
    return rank


def _per_axis(op: OpSpec, attributes: Attributes, name: str, rank: int, least: int) -> Shape:
    values: Shape = attributes[name]
    if len(values) not in (1, rank) or any(each < least for each in values):
        raise value_error(
            op, name, values, f"one number >= {least}, or one for each of {rank} axes, is needed"
        )
    return each_axis(values, rank)


def _sides(op: OpSpec, attributes: Attributes, rank: int) -> tuple[Shape, Shape]:
    values: Shape = attributes["padding"]
    if len(values) not in (1, rank, 2 * rank) or any(each < 0 for each in values):
        raise value_error(
            op, "padding", values, f"one number >= 0, {rank}, or {2 * rank} (before, then after) are needed"
        )
    return both_sides(values, rank)


def _check_bias(op: OpSpec, inputs: Inputs, channels: int) -> None:
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and bias.shape != (channels,):
        raise shape_error(op, f"the bias must have the shape {(channels,)}", [bias.shape], "bias")


def _pooled(op: OpSpec, x: Shape, attributes: Attributes) -> Shape:
    rank = len(x) - 2
    wanted = int(op.name[-2]) if op.name[-2:] in ("1d", "2d", "3d") else rank
    if rank < 1 or rank != wanted:
        raise shape_error(op, f"a batch, channels and {max(wanted, 1)} spatial axes are needed", [x])
    window = _per_axis(op, attributes, "window", rank, 1)
    step = window if attributes["stride"] is None else _per_axis(op, attributes, "stride", rank, 1)
    dilation = _per_axis(op, attributes, "dilation", rank, 1) if "dilation" in attributes else (1,) * rank
    sides = _sides(op, attributes, rank)
    if any(2 * side > size for each in sides for side, size in zip(each, window, strict=True)):
        raise value_error(op, "padding", attributes["padding"], "it is at most half of the window")
    before, after = window_ends(x[2:], window, step, dilation, attributes["padding"], attributes["ceil_mode"])
    counts = tuple(
        window_count(x[2 + i] + before[i] + after[i], window[i], step[i], dilation[i]) for i in range(rank)
    )
    if any(count < 1 for count in counts):
        raise shape_error(op, f"the window {window} is larger than the padded image", [x], "window")
    return (*x[:2], *counts)


def _adapted(op: OpSpec, x: Shape, attributes: Attributes) -> Shape:
    size: Shape = attributes["size"]
    rank = len(x) - 2
    wanted = int(op.name[-2]) if op.name[-2:] in ("1d", "2d", "3d") else rank
    if rank < 1 or rank != wanted or 0 in x[2:]:
        raise shape_error(op, f"a batch, channels and {max(wanted, 1)} filled spatial axes are needed", [x])
    if len(size) not in (1, rank) or any(each < 1 for each in size):
        raise value_error(op, "size", size, f"one size >= 1, or one for each of {rank} axes, is needed")
    return (*x[:2], *each_axis(size, rank))


def _window_axes(op: OpSpec, attributes: Attributes, ndim: int) -> Shape:
    axes = axes_of(op, attributes["axes"], ndim)
    if axes != tuple(axis % ndim for axis in attributes["axes"]):
        raise value_error(op, "axes", attributes["axes"], "they ascend")
    for name in ("window", "step", "dilation"):
        if len(attributes[name]) != len(axes) or any(each < 1 for each in attributes[name]):
            raise value_error(op, name, attributes[name], "one number >= 1 for each axis is needed")
    return axes


def _windowed(op: OpSpec, shape: Shape, axes: Shape, attributes: Attributes) -> Shape:
    sizes = list(shape)
    for place, axis in enumerate(axes):
        window, step, dilation = (attributes[name][place] for name in ("window", "step", "dilation"))
        sizes[axis] = window_count(shape[axis], window, step, dilation)
        if sizes[axis] < 1:
            raise shape_error(op, f"no window of {window} fits into axis {axis}", [shape], "window")
    return (*sizes, *attributes["window"])


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        window_view, window_scatter, convolution, convolution_input_gradient, convolution_weight_gradient,
        conv_transpose, pool, pool_gradient, pool_spread, adaptive_pool, adaptive_spread, global_pool,
        pad_mode, resize, resize_spread, resize_places, pixel_shuffle, pixel_unshuffle,
    )
}  # fmt: skip
