"""Oracles of activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.forms import Array, formula
from conformance.oracle.registry import Call
from conformance.oracle.unary import erfc

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554804934, 1.6732632423543772848


def softplus(x: Array) -> Array:
    return np.logaddexp(x, 0)


def sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _expm1_below(x: Array) -> Array:
    return np.expm1(np.minimum(x, 0))


_ACTIVATIONS: dict[str, Callable[[Array, Any], Array]] = {
    "rsqrt": lambda x, a: 1 / np.sqrt(x),
    "relu": lambda x, a: np.maximum(x, 0),
    "leaky_relu": lambda x, a: np.where(x > 0, x, x * a["slope"]),
    "elu": lambda x, a: np.where(x > 0, x, a["alpha"] * _expm1_below(x)),
    "sigmoid": lambda x, a: sigmoid(x),
    "silu": lambda x, a: x * sigmoid(x),
    "softplus": lambda x, a: softplus(x),
    "relu6": lambda x, a: np.clip(x, 0, 6),
    "hardtanh": lambda x, a: np.clip(x, a["low"], a["high"]),
    "hardsigmoid": lambda x, a: np.clip(x * a["slope"] + a["offset"], 0, 1),
    "hardswish": lambda x, a: x * np.clip(x + 3, 0, 6) / 6,
    "mish": lambda x, a: x * np.tanh(softplus(x)),
    "selu": lambda x, a: _SELU_SCALE * np.where(x > 0, x, _SELU_ALPHA * _expm1_below(x)),
    "celu": lambda x, a: np.where(x > 0, x, a["alpha"] * _expm1_below(x / a["alpha"])),
    "softsign": lambda x, a: x / (1 + np.abs(x)),
    "log_sigmoid": lambda x, a: -softplus(-x),
    "softshrink": lambda x, a: x - np.clip(x, -a["limit"], a["limit"]),
    "hardshrink": lambda x, a: np.where(np.abs(x) <= a["limit"], 0, x),
    "threshold": lambda x, a: np.where(x <= a["limit"], a["value"], x),
}


@formula(*_ACTIVATIONS)
def activation(call: Call) -> Array:
    (x,) = call.inputs
    return _ACTIVATIONS[call.op](x, call.attributes)


@formula("tanhshrink", measure=lambda call: call.inputs[0])
def tanhshrink(call: Call) -> Array:
    (x,) = call.inputs
    return np.asanyarray(x - np.tanh(x))


@formula("logit", measure=lambda call: np.ones_like(call.inputs[0]))
def logit(call: Call) -> Array:
    (x,) = call.inputs
    return np.asanyarray(np.log(x) - np.log1p(-x))


def gelu_of(x: Array, approximate: bool = False) -> Array:
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * erfc(-x * np.sqrt(x.dtype.type(0.5)))


def gelu_slope(x: Array, approximate: bool = False) -> Array:
    if not approximate:
        below = 0.5 * erfc(-x * np.sqrt(x.dtype.type(0.5)))
        return np.asanyarray(below + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))
    scale = np.sqrt(x.dtype.type(2) / np.pi)
    share = sigmoid(2 * scale * (x + 0.044715 * x**3))
    return np.asanyarray(share + 2 * x * share * (1 - share) * scale * (1 + 3 * 0.044715 * x * x))


@formula("gelu_gradient", measure=lambda call: call.inputs[0])
def gelu_gradient(call: Call) -> Array:
    upstream, x = call.inputs
    return np.asanyarray(upstream * gelu_slope(x, call.attributes["approximate"]))


@formula("gelu", measure=lambda call: call.inputs[0])
def gelu(call: Call) -> Array:
    """Far below zero 1 + erf loses digits, as it does in the usual form: the argument is the measure."""
    return gelu_of(call.inputs[0], call.attributes["approximate"])


@formula("prelu")
def prelu(call: Call) -> Array:
    x, slope = call.inputs
    return np.where(x > 0, x, x * slope)


@formula("glu")
def glu(call: Call) -> Array:
    first, second = np.split(call.inputs[0], 2, axis=call.attributes["axis"])
    return first * sigmoid(second)


NAMED: dict[str, Callable[[Array], Array]] = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": gelu_of,
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
}

_SLOPES: dict[str, Callable[[Array], Array]] = {
    "none": np.ones_like,
    "relu": lambda x: (x > 0).astype(x.dtype),
    "gelu": gelu_slope,
    "silu": lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
    "sigmoid": lambda x: sigmoid(x) * sigmoid(-x),
    "tanh": lambda x: 1 / np.cosh(x) ** 2,
}


@formula("activate", measure=lambda call: call.inputs[0])
def activate(call: Call) -> Array:
    return np.asanyarray(NAMED[call.attributes["activation"]](call.inputs[0]))


@formula("activate_gradient", measure=lambda call: call.inputs[0])
def activate_gradient(call: Call) -> Array:
    upstream, x = call.inputs
    return np.asanyarray(upstream * _SLOPES[call.attributes["activation"]](x))
