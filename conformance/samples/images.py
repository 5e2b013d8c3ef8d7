"""Samples of convolution, pooling, batch norms, resizing: ops on images (batch, channels, spatial ...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.oracle.convolution import Geometry, each_axis
from conformance.oracle.pooling import counts as pooled
from conformance.samples.draw import Array, Draw, Sample
from conformance.samples.table import makes

Attributes = dict[str, Any]
Shape = tuple[int, ...]

# Attributes of convolutions by rank: nothing, everything, and sides that differ.
_GEOMETRY: dict[int, tuple[Attributes, ...]] = {
    1: (
        {},
        {"stride": (2,), "padding": (1,), "dilation": (2,)},
        {"groups": 2},
        {"stride": (3,), "padding": (2,)},
        # Whole windows in the padding, and steps that share a factor with the dilation.
        {"stride": (4,), "padding": (6,), "dilation": (2,)},
        {"padding": (0, 4)},
    ),
    2: (
        {},
        {"padding": (1,)},
        {"stride": (2, 1), "padding": (1, 0, 0, 2), "dilation": (1, 2)},
        {"groups": 2, "padding": (1, 1)},
        {"groups": 4, "stride": (2,)},
        {"stride": (3, 2), "padding": (4, 1, 2, 3), "dilation": (2, 3)},
    ),
    3: (
        {},
        {"stride": (1, 2, 1), "padding": (1, 0, 1), "groups": 2},
        {"stride": (2, 1, 3), "padding": (1, 0, 3, 0, 2, 1), "dilation": (1, 2, 2)},
    ),
}
_SIZES = {1: (7,), 2: (5, 6), 3: (3, 4, 5)}
_WINDOWS = {1: ((2,), (3,), (1,)), 2: ((2, 3), (3, 3), (1, 1)), 3: ((2, 3, 2),)}


def _filled(attributes: Attributes, rank: int) -> Attributes:
    """Every attribute of a convolution, one number per axis where a call may give one for all."""
    full: Attributes = {"stride": (1,), "padding": (0,), "dilation": (1,), "groups": 1, **attributes}
    return {
        **full,
        "stride": each_axis(full["stride"], rank),
        "dilation": each_axis(full["dilation"], rank),
        "padding": full["padding"] if len(full["padding"]) > rank else each_axis(full["padding"], rank),
    }


def _geometries(ranks: tuple[int, ...]) -> Iterator[tuple[int, Attributes, tuple[int, ...]]]:
    for rank in ranks:
        for attributes in _GEOMETRY[rank]:
            for window in _WINDOWS[rank]:
                full = _filled(attributes, rank)
                if min(Geometry.of(full, rank).counts(_SIZES[rank], window)) > 0:
                    yield rank, full, window


def _weight(d: Draw, attributes: Attributes, window: tuple[int, ...], channels: int) -> Array:
    groups = attributes["groups"]
    return d.normal(2 * groups, channels // groups, *window)


@makes("convolution", "conv1d", "conv2d", "conv3d")
def convolution(d: Draw, op: str) -> Iterator[Sample]:
    for number, (rank, attributes, window) in enumerate(_geometries(_ranks(op))):
        x = d.normal(2, 4, *_SIZES[rank])
        weight = _weight(d, attributes, window, 4)
        yield Sample((x, weight, d.normal(len(weight)) if number % 2 else None), attributes)


def _ranks(op: str) -> tuple[int, ...]:
    return (int(op[-2]),) if op[-1] == "d" and op[-2].isdigit() else (1, 2, 3)


# (image, weight, attributes): what kernels cut into pieces. Images longer than a piece along each of their
# axes, with steps and without; more features than a block of them, in groups and not; many images; channels
# on their own, in windows of several sizes; more axes than kernels know by name; steps along one axis alone,
# over windows of one element; images much longer than wide; windows wholly in the padding, and steps that
# miss the image's last elements; padding that makes lines longer than those of the image. A number may stand
# for all axes.
_LARGE: tuple[tuple[Shape, Shape, Attributes], ...] = (
    ((1, 16, 90, 40), (5, 16, 3, 3), {"padding": (1, 1)}),
    ((1, 12, 121, 70), (3, 12, 3, 2), {"stride": (2, 3), "padding": (2, 0, 1, 3), "dilation": (3, 1)}),
    ((1, 96, 40, 41), (3, 96, 3, 3), {"padding": (1, 1)}),
    ((1, 8, 17, 16, 27), (3, 8, 2, 3, 2), {"stride": (1,), "padding": (1,), "dilation": (1,)}),
    ((1, 3, 31_000), (2, 3, 3), {"padding": (1, 0)}),
    ((1, 2, 1, 40_000), (2, 2, 1, 3), {"stride": (1, 2), "padding": (0, 1)}),
    ((1, 5, 6, 7), (73, 5, 3, 3), {"stride": (2,), "padding": (1,)}),
    ((2, 15, 9, 11), (33, 5, 3, 3), {"groups": 3, "padding": (1, 1)}),
    ((9, 16, 20, 21), (16, 1, 3, 3), {"groups": 16, "padding": (1, 1)}),
    ((1, 3, 121, 300), (3, 1, 5, 5), {"groups": 3, "padding": (2, 2)}),
    ((2, 4, 17, 24), (4, 1, 7, 7), {"groups": 4, "padding": (3, 0, 2, 4)}),
    ((2, 6, 20, 40), (6, 1, 4, 4), {"groups": 6, "padding": (2, 1)}),
    ((2, 6, 20, 40), (6, 1, 3, 3), {"groups": 6, "dilation": (1, 2)}),
    ((41, 6, 23, 24), (9, 6, 1, 1), {}),
    ((2, 4, 3, 2, 4, 3), (6, 2, 2, 1, 3, 2), {"groups": 2, "padding": (1,)}),
    ((1, 32, 16, 16, 16), (2, 32, 1, 1, 1), {"stride": (2, 1, 1)}),
    ((1, 16, 300, 24), (2, 16, 1, 1), {"stride": (2, 1)}),
    ((1, 8, 16_000), (2, 8, 1), {"stride": (2,)}),
    ((1, 3, 20, 46, 46), (24, 3, 1, 2, 2), {"stride": (1, 3, 3), "padding": (0, 3, 3, 0, 0, 0)}),
    ((1, 2, 31_000, 2), (2, 2, 3, 1), {}),
    ((1, 3, 12, 37), (2, 3, 3, 3), {"stride": (2, 1), "padding": (0, 2)}),
    ((1, 24, 20, 14, 15), (3, 24, 2, 3, 2), {"padding": (0, 0, 0, 0, 2, 0)}),
)


def _large(op: str) -> Iterator[tuple[Shape, Shape, Attributes]]:
    for image, weight, attributes in _LARGE:
        if not op[-2].isdigit() or len(image) - 2 in _ranks(op):
            one = {"stride": (1,), "padding": (0,), "dilation": (1,), "groups": 1}
            yield image, weight, {**one, **attributes}


@makes("convolution", "conv1d", "conv2d", "conv3d", large=True)
def large_convolution(d: Draw, op: str) -> Iterator[Sample]:
    for number, (image, weight, attributes) in enumerate(_large(op)):
        bias = d.normal(weight[0]) if number % 2 else None
        yield Sample((d.normal(*image), d.normal(*weight), bias), attributes)


def _upstream(d: Draw, image: Shape, weight: Shape, attributes: Attributes) -> Array:
    counts = Geometry.of(attributes, len(image) - 2).counts(image[2:], weight[2:])
    return d.normal(image[0], weight[0], *counts)


@makes("convolution_input_gradient", large=True)
def large_input_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for image, weight, attributes in _large(op):
        upstream = _upstream(d, image, weight, attributes)
        yield Sample((upstream, d.normal(*weight)), {**attributes, "shape": image})


@makes("convolution_weight_gradient", large=True)
def large_weight_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for image, weight, attributes in _large(op):
        upstream = _upstream(d, image, weight, attributes)
        yield Sample((d.normal(*image), upstream), {**attributes, "shape": weight})


@makes("convolution_input_gradient")
def input_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes, window in _geometries((1, 2, 3)):
        weight = _weight(d, attributes, window, 4)
        counts = Geometry.of(attributes, rank).counts(_SIZES[rank], window)
        shape = (2, 4, *_SIZES[rank])
        yield Sample((d.normal(2, len(weight), *counts), weight), {**attributes, "shape": shape})


@makes("convolution_weight_gradient")
def weight_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes, window in _geometries((1, 2, 3)):
        shape = _weight(d, attributes, window, 4).shape
        counts = Geometry.of(attributes, rank).counts(_SIZES[rank], window)
        x = d.normal(2, 4, *_SIZES[rank])
        yield Sample((x, d.normal(2, shape[0], *counts)), {**attributes, "shape": shape})


@makes("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed(d: Draw, op: str) -> Iterator[Sample]:
    rank = int(op[-2])
    size, window = {1: (4,), 2: (2, 3), 3: (2, 1, 2)}[rank], (3, 2, 2)[:rank]
    choices: tuple[Attributes, ...] = (
        {},
        {"stride": (2,), "padding": (1,), "output_padding": (1,)},
        {"groups": 2, "dilation": (2,)},
    )
    for attributes in choices:
        full = _filled(attributes, rank)
        full["output_padding"] = each_axis(full.get("output_padding", (0,)), rank)
        x, groups = d.normal(2, 4, *size), full["groups"]
        weight = d.normal(4, 3, *window)
        yield Sample((x, weight, d.normal(3 * groups)), full)
        yield Sample((x, weight, None), full)


@makes("conv_norm_activation")
def conv_norm(d: Draw, op: str) -> Iterator[Sample]:
    for activation in ("none", "relu", "gelu", "silu", "sigmoid", "tanh"):
        attributes = {**_filled({"padding": (1, 1)}, 2), "activation": activation}
        inputs = (
            d.normal(2, 4, 4, 5),
            d.normal(3, 4, 3, 3),
            d.normal(3),
            d.positive(3),
            d.positive(3),
            d.normal(3),
        )
        yield Sample(inputs, attributes)


_POOLS: dict[int, tuple[Attributes, ...]] = {
    1: (
        {"window": (2,)},
        {"window": (3,), "stride": (2,), "padding": (1,)},
        {"window": (3,), "stride": (2,), "ceil_mode": True},
        {"window": (2,), "stride": (1,), "dilation": (2,)},
        {"window": (2,), "stride": (3,)},
        {"window": (5,), "stride": (3,), "padding": (2, 1), "ceil_mode": True},
        # As long as the image, of which it misses the end.
        {"window": (7,), "padding": (1, 0)},
        {"window": (7,), "stride": (1,), "padding": (0, 2)},
        {"window": (3,), "stride": (1,), "padding": (1,), "dilation": (2,)},
    ),
    2: (
        {"window": (2, 2)},
        {"window": (3, 2), "stride": (2, 1), "padding": (1, 1)},
        {"window": (3, 3), "stride": (2, 2), "padding": (1, 1), "ceil_mode": True},
        {"window": (2, 2), "stride": (1, 2), "dilation": (2, 1)},
        {"window": (3, 3), "stride": (1, 1), "padding": (1, 0, 0, 1)},
        # The whole image in one window, with padding and without; and less than the whole.
        {"window": (5, 6)},
        {"window": (5, 7), "padding": (0, 1, 0, 0)},
        {"window": (5, 4), "stride": (1, 3)},
        {"window": (5, 6), "padding": (0, 2, 0, 0)},
        {"window": (3, 2), "stride": (1, 1), "padding": (1, 1), "dilation": (2, 3)},
        # One number for all axes.
        {"window": (3,), "stride": (2,), "padding": (1,)},
        {"window": (2,), "stride": (1,), "dilation": (3,)},
    ),
    3: (
        {"window": (2, 1, 2)},
        {"window": (2, 2, 2), "stride": (1, 1, 1), "padding": (1, 0, 1)},
        {"window": (3, 2, 3), "stride": (1, 3, 2), "padding": (1, 0, 1, 0, 1, 1), "ceil_mode": True},
        {"window": (2, 2, 2), "stride": (1, 1, 1), "padding": (1, 1, 0), "dilation": (2, 3, 3)},
        {"window": (3, 4, 5)},
        {"window": (3, 4, 5), "padding": (1, 1, 1, 0, 0, 0)},
    ),
}


def _pools(op: str) -> Iterator[tuple[int, Attributes]]:
    """Attributes of every variant of a pooling op; averages have no dilation and may leave padding out."""
    average = op.startswith("avg")
    for rank in _ranks(op):
        for attributes in _POOLS[rank]:
            full: Attributes = {"stride": None, "padding": (0,) * rank, "ceil_mode": False, **attributes}
            if not average:
                yield rank, {"dilation": (1,) * rank, **full}
            elif "dilation" not in full:
                yield rank, {**full, "count_include_pad": True}
                yield rank, {**full, "count_include_pad": False}


@makes(
    "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d"
)
def pool(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes in _pools(op):
        shape = (2, 3, *_SIZES[rank])
        yield Sample((d.distinct(*shape) if op.startswith("max") else d.normal(*shape),), attributes)


@makes("max_pool", "avg_pool", "max_pool2d", "avg_pool2d", large=True)
def large_pool(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes in _pools(op):
        if rank == 2:
            yield Sample((d.normal(2, 5, 19, 33),), attributes)
    whole: Attributes = {"window": (61, 75), "stride": None, "padding": (0, 0), "ceil_mode": False}
    if op.startswith("max"):
        whole["dilation"] = (1, 1)
    yield Sample((d.normal(2, 3, 61, 75),), whole)
    if op in ("max_pool", "avg_pool"):
        for shape, _, attributes in _large_pools():
            more = {"dilation": (1,) * (len(shape) - 2)} if op == "max_pool" else {}
            yield Sample((d.normal(*shape),), {**attributes, **more})
    if op == "max_pool":
        yield Sample((d.normal(*_AROUND_SHAPE),), _AROUND)


# A window whose elements lie around the image, in the padding on both sides of it.
_AROUND_SHAPE: Shape = (2, 3, 5, 7)
_AROUND: Attributes = {
    "window": (2, 2), "stride": (1, 1), "padding": (1, 1), "dilation": (6, 2), "ceil_mode": False,
}  # fmt: skip

# (image, window, step, padding) of gradients: many channels, and windows that overlap.
_LARGE_POOLS: tuple[tuple[Shape, Shape, Shape, Shape], ...] = (
    ((2, 40, 900), (50,), (45,), (0,)),
    ((1, 4, 19, 33), (3, 4), (2, 3), (1, 2)),
    ((1, 2, 3, 2, 4, 3), (2, 2, 3, 1), (1, 1, 2, 1), (1, 0, 1, 0)),
)


def _large_pools() -> Iterator[tuple[Shape, Shape, Attributes]]:
    for shape, window, step, padding in _LARGE_POOLS:
        attributes = {"window": window, "stride": step, "padding": padding, "ceil_mode": False}
        yield shape, (*shape[:2], *pooled(shape[2:], attributes)), attributes


@makes("max_pool_gradient", large=True)
def large_max_pool_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for shape, counts, attributes in _large_pools():
        few = d.rng.integers(1, 4, shape).astype(d.dtype)  # many equals: the first has all
        few[0, 0] = -np.inf
        one = (1,) * (len(shape) - 2)
        yield Sample((d.normal(*counts), few), {**attributes, "dilation": one})
    counts = (*_AROUND_SHAPE[:2], *pooled(_AROUND_SHAPE[2:], _AROUND))
    yield Sample((d.normal(*counts), d.normal(*_AROUND_SHAPE)), _AROUND)


@makes("avg_pool_gradient", large=True)
def large_avg_pool_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for shape, counts, attributes in _large_pools():
        yield Sample((d.normal(*counts),), {**attributes, "count_include_pad": False, "shape": shape})


@makes("max_pool_gradient")
def max_pool_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes in _pools("max_pool"):
        x = d.distinct(2, 3, *_SIZES[rank])
        yield Sample((d.normal(2, 3, *pooled(_SIZES[rank], attributes)), x), attributes)


@makes("avg_pool_gradient")
def avg_pool_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for rank, attributes in _pools("avg_pool"):
        upstream = d.normal(2, 3, *pooled(_SIZES[rank], attributes))
        yield Sample((upstream,), {**attributes, "shape": (2, 3, *_SIZES[rank])})


_ADAPTED = {1: ((3,), (7,), (9,)), 2: ((2, 3), (1, 1), (7, 1)), 3: ((2, 2, 2),)}


@makes("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive(d: Draw, op: str) -> Iterator[Sample]:
    rank = int(op[-2])
    for size in _ADAPTED[rank]:
        yield Sample((d.normal(2, 3, *_SIZES[rank]),), {"size": size})


@makes("adaptive_avg_pool_gradient")
def adaptive_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for rank in (1, 2, 3):
        for size in _ADAPTED[rank]:
            yield Sample((d.normal(2, 3, *size),), {"size": size, "shape": (2, 3, *_SIZES[rank])})


@makes("global_avg_pool", "global_max_pool")
def global_pool(d: Draw, op: str) -> Iterator[Sample]:
    for rank in (1, 2):
        yield Sample((d.distinct(2, 3, *_SIZES[rank]),))


@makes("batch_norm")
def batch_norm(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 3)):
        yield Sample((d.normal(*shape), d.normal(3), d.positive(3), d.positive(3), d.normal(3)))
        yield Sample((d.normal(*shape), d.normal(3), d.positive(3), None, None))


@makes("batch_norm_training")
def batch_norm_training(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 3)):
        yield Sample((d.normal(*shape), d.normal(3), d.positive(3), d.positive(3), d.normal(3)))
        yield Sample((d.normal(*shape), d.normal(3), d.positive(3), None, None), {"momentum": 0.25})


# Channels of more elements than a kernel reads at a time, of short runs in many images, of single elements.
_LARGE_BATCHES: tuple[Shape, ...] = ((3, 2, 70, 71), (37, 5, 9), (5003, 3))


def _moved(d: Draw, *shape: int) -> Array:
    """Numbers whose mean is not theirs by chance alone: each channel has another one."""
    centre = np.arange(1, shape[1] + 1).reshape(-1, *([1] * (len(shape) - 2)))
    return (d.normal(*shape) + centre).astype(d.dtype)


@makes("batch_norm", "batch_norm_training", large=True)
def large_batch_norm(d: Draw, op: str) -> Iterator[Sample]:
    for shape in _LARGE_BATCHES:
        channels = shape[1]
        parameters = (d.normal(channels), d.positive(channels), d.positive(channels), d.normal(channels))
        attributes = {"momentum": 0.75} if op == "batch_norm_training" else {}
        yield Sample((_moved(d, *shape), *parameters), {**attributes, "epsilon": 0.25})


@makes("group_norm", "instance_norm", large=True)
def large_group_norm(d: Draw, op: str) -> Iterator[Sample]:
    attributes = {"groups": 2} if op == "group_norm" else {}
    for shape in ((2, 6, 50, 41), (300, 4, 9)):
        yield Sample((_moved(d, *shape), d.positive(shape[1]), d.normal(shape[1])), attributes)


@makes("group_norm", "instance_norm")
def group_norm(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((2, 4, 3), (2, 4, 2, 3)):
        for groups in (2, 1) if op == "group_norm" else (None,):
            attributes = {} if groups is None else {"groups": groups}
            yield Sample((d.normal(*shape), d.positive(4), d.normal(4)), attributes)
            yield Sample((d.normal(*shape), None, None), attributes)
    attributes = {"groups": 2} if op == "group_norm" else {}
    if op == "group_norm":
        yield Sample((d.normal(3, 4), d.positive(4), d.normal(4)), attributes)
    yield Sample((d.normal(2, 4, 3), d.positive(4), None), attributes)
    yield Sample((d.normal(2, 4, 3), None, d.normal(4)), attributes)


_RESIZED = ((1, (7,), ((3,), (7,), (16,))), (2, (4, 5), ((7, 3), (8, 10))))


@makes("resize_nearest", "resize_linear")
def resize(d: Draw, op: str) -> Iterator[Sample]:
    for _, size, targets in _RESIZED:
        for target in targets:
            x = d.anything(2, 2, *size) if op == "resize_nearest" else d.normal(2, 2, *size)
            yield Sample((x,), {"size": target})
            if op == "resize_linear":
                yield Sample((x,), {"size": target, "align_corners": True})


@makes("resize_nearest_gradient", "resize_linear_gradient")
def resize_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for _, size, targets in _RESIZED:
        for target in targets:
            attributes: Attributes = {"shape": (2, 2, *size)}
            yield Sample((d.normal(2, 2, *target),), attributes)
            if op == "resize_linear_gradient":
                yield Sample((d.normal(2, 2, *target),), {**attributes, "align_corners": True})


@makes("resize_places")
def resize_places(d: Draw, op: str) -> Iterator[Sample]:
    # No place lies on an element, but for those that halves and wholes express: rounding would decide.
    for size, count, corners in ((8, 3, False), (3, 8, False), (5, 1, False), (5, 3, True), (3, 5, True)):
        attributes = {"size": size, "count": count, "align_corners": corners, "dtype": d.dtype}
        yield Sample((), attributes, d.dtype)


@makes("pixel_shuffle")
def pixel_shuffle(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 8, 2, 3),), {"factor": 2})
    yield Sample((d.anything(9, 1, 2),), {"factor": 3})


@makes("pixel_unshuffle")
def pixel_unshuffle(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 2, 4, 6),), {"factor": 2})
    yield Sample((d.anything(1, 3, 6),), {"factor": 3})


@makes("pad_mode")
def pad_mode(d: Draw, op: str) -> Iterator[Sample]:
    for mode in ("reflect", "replicate", "circular"):
        yield Sample((d.anything(2, 4, 3),), {"before": (0, 2, 1), "after": (0, 1, 2), "mode": mode})
        yield Sample((d.anything(5),), {"before": (3,), "after": (0,), "mode": mode})
