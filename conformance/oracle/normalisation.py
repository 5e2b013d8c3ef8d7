"""Oracles of normalisations. Parameters have one number per channel, but for those of layer and RMS norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.oracle.activation import NAMED
from conformance.oracle.convolution import Geometry, convolve
from conformance.oracle.forms import Array, formula
from conformance.oracle.registry import Call

Axes = tuple[int, ...]


def _size(call: Call) -> Array:
    """What the results of a normalisation are made of: about one, times the weight, plus the bias."""
    return np.asanyarray(max([1.0, *(_greatest(x) for x in call.inputs[1:] if x is not None)]))


def _greatest(x: Array) -> float:
    """The greatest finite magnitude: an infinite one would be no measure for the other results."""
    return float(np.abs(x[np.isfinite(x)]).max(initial=0))


def standard(x: Array, axes: Axes, epsilon: float) -> Array:
    centred = x - x.sum(axis=axes, keepdims=True) / _count(x, axes)
    power = (centred * centred).sum(axis=axes, keepdims=True) / _count(x, axes)
    return np.asanyarray(centred / np.sqrt(power + epsilon))


def _count(x: Array, axes: Axes) -> int:
    return int(np.prod([x.shape[axis] for axis in axes]))


def _affine(values: Array, weight: Any, bias: Any, shape: tuple[int, ...] | None = None) -> Array:
    if weight is not None:
        values = values * (weight if shape is None else weight.reshape(shape))
    if bias is not None:
        values = values + (bias if shape is None else bias.reshape(shape))
    return values


def _channels(x: Array) -> tuple[int, ...]:
    return (-1, *([1] * (x.ndim - 2)))


@formula("layer_norm", reduces=True, measure=_size)
def layer_norm(call: Call) -> Array:
    x, weight, bias = call.inputs
    axes = tuple(range(call.attributes["axis"] % x.ndim, x.ndim))
    return _affine(standard(x, axes, call.attributes["epsilon"]), weight, bias)


@formula("rms_norm", reduces=True, measure=_size)
def rms_norm(call: Call) -> Array:
    x, weight = call.inputs
    axes = tuple(range(call.attributes["axis"] % x.ndim, x.ndim))
    power = (x * x).sum(axis=axes, keepdims=True) / _count(x, axes)
    return _affine(x / np.sqrt(power + call.attributes["epsilon"]), weight, None)


@formula("standardize", reduces=True, measure=_size)
def standardize(call: Call) -> Array:
    (x,) = call.inputs
    axes = tuple(axis % x.ndim for axis in call.attributes["axis"])
    return standard(x, axes, call.attributes["epsilon"])


@formula("standardize_gradient", reduces=True, measure=lambda call: _gradient_size(call))
def standardize_gradient(call: Call) -> Array:
    upstream, x = call.inputs
    axes = tuple(axis % x.ndim for axis in call.attributes["axis"])
    count = _count(x, axes)
    unit = standard(x, axes, call.attributes["epsilon"])
    rest = upstream - upstream.sum(axis=axes, keepdims=True) / count
    along = unit * ((upstream * unit).sum(axis=axes, keepdims=True) / count)
    return np.asanyarray((rest - along) / _spread(x, axes, call.attributes["epsilon"]))


def _spread(x: Array, axes: Axes, epsilon: float) -> Array:
    centred = x - x.sum(axis=axes, keepdims=True) / _count(x, axes)
    return np.sqrt((centred * centred).sum(axis=axes, keepdims=True) / _count(x, axes) + epsilon)


def _gradient_size(call: Call) -> Array:
    upstream, x = call.inputs
    axes = tuple(axis % x.ndim for axis in call.attributes["axis"])
    return _greatest(upstream) / _spread(x, axes, call.attributes["epsilon"])


@formula("layer_norm_gradient", reduces=True, measure=lambda call: _row_sizes(call))
def layer_norm_gradient(call: Call) -> tuple[Array, ...]:
    upstream, x, _ = call.inputs
    axes, rows, above, unit, spread = _row_parts(call)
    count = _count(x, axes)
    by_x = above - unit * ((above * unit).sum(axis=axes, keepdims=True) / count)
    if call.attributes["centred"]:
        by_x = by_x - above.sum(axis=axes, keepdims=True) / count
    return _asked(call, by_x / spread, (upstream * unit).sum(axis=rows), upstream.sum(axis=rows))


def _row_sizes(call: Call) -> tuple[Array, ...]:
    upstream, _, _ = call.inputs
    axes, rows, above, unit, spread = _row_parts(call)
    top = np.where(np.isfinite(above), np.abs(above), 0).max(axis=axes, keepdims=True, initial=0)
    return _asked(call, top / spread, np.abs(upstream * unit).sum(axis=rows), np.abs(upstream).sum(axis=rows))


def _row_parts(call: Call) -> tuple[Axes, Axes, Array, Array, Array]:
    """The axes of a row and those of the rows, upstream times weight, x normalised, and what it is divided
    by."""
    upstream, x, weight = call.inputs
    first = call.attributes["axis"] % x.ndim
    axes, rows = tuple(range(first, x.ndim)), tuple(range(first))
    distance = x - x.sum(axis=axes, keepdims=True) / _count(x, axes) if call.attributes["centred"] else x
    power = (distance * distance).sum(axis=axes, keepdims=True) / _count(x, axes)
    spread = np.sqrt(power + call.attributes["epsilon"])
    return axes, rows, _affine(upstream, weight, None), distance / spread, spread


def _asked(call: Call, *gradients: Array) -> tuple[Array, ...]:
    """Gradients by x, weight and bias, without elements where they were not asked for."""
    names = ("by_x", "by_weight", "by_bias")
    return tuple(
        made if call.attributes[name] else np.zeros(0, made.dtype)
        for name, made in zip(names, gradients, strict=True)
    )


@formula("batch_norm", measure=lambda call: _batch_size(call))
def batch_norm(call: Call) -> Array:
    x, centre, variance, weight, bias = call.inputs
    shape = _channels(x)
    scaled = (x - centre.reshape(shape)) / np.sqrt(variance.reshape(shape) + call.attributes["epsilon"])
    return _affine(scaled, weight, bias, shape)


def _batch_size(call: Call) -> Array:
    x, centre, variance, weight, _ = call.inputs
    top = _greatest(x) + _greatest(centre)
    least = np.sqrt(variance[np.isfinite(variance)].min(initial=1) + call.attributes["epsilon"])
    return np.asanyarray(top / least * (1 if weight is None else _greatest(weight)))


@formula("batch_norm_training", reduces=True, measure=_size)
def batch_norm_training(call: Call) -> tuple[Array, ...]:
    x, mean, variance, weight, bias = call.inputs
    momentum, shape = call.attributes["momentum"], _channels(x)
    axes = (0, *range(2, x.ndim))
    count = _count(x, axes)
    out = _affine(standard(x, axes, call.attributes["epsilon"]), weight, bias, shape)
    middle = x.sum(axis=axes) / count
    spread = ((x - middle.reshape(shape)) ** 2).sum(axis=axes) / (count - 1)
    return out, mean + momentum * (middle - mean), variance + momentum * (spread - variance)


def _grouped(x: Array, groups: int, epsilon: float) -> Array:
    rows = x.reshape(x.shape[0], groups, -1)
    return standard(rows, (2,), epsilon).reshape(x.shape)


@formula("group_norm", reduces=True, measure=_size)
def group_norm(call: Call) -> Array:
    x, weight, bias = call.inputs
    return _affine(
        _grouped(x, call.attributes["groups"], call.attributes["epsilon"]), weight, bias, _channels(x)
    )


@formula("instance_norm", reduces=True, measure=_size)
def instance_norm(call: Call) -> Array:
    x, weight, bias = call.inputs
    return _affine(_grouped(x, x.shape[1], call.attributes["epsilon"]), weight, bias, _channels(x))


@formula("add_layer_norm", reduces=True, measure=_size)
def add_layer_norm(call: Call) -> tuple[Array, ...]:
    x, residual, weight, bias = call.inputs
    total = x + residual
    return _affine(standard(total, (x.ndim - 1,), call.attributes["epsilon"]), weight, bias), total


@formula("conv_norm_activation", reduces=True, measure=lambda call: _conv_norm(call, absolute=True))
def conv_norm_activation(call: Call) -> Array:
    return np.asanyarray(NAMED[call.attributes["activation"]](_conv_norm(call, absolute=False)))


def _conv_norm(call: Call, absolute: bool) -> Array:
    x, weight, centre, variance, scale, shift = call.inputs
    if absolute:
        x, weight, centre, scale, shift = (
            -np.abs(x),
            np.abs(weight),
            np.abs(centre),
            np.abs(scale),
            -np.abs(shift),
        )
    shape = _channels(x)
    image = convolve(x, weight, Geometry.of(call.attributes, x.ndim - 2))
    unit = (image - centre.reshape(shape)) / np.sqrt(variance.reshape(shape) + call.attributes["epsilon"])
    return _affine(unit, scale, shift, shape)
