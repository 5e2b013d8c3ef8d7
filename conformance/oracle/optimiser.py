"""Oracles of optimiser steps, as their papers have them, and of what mixed precision needs."""

from __future__ import annotations

import numpy as np

from conformance.oracle.forms import Array, formula
from conformance.oracle.registry import Call


def _decayed(call: Call) -> Array:
    """The gradient, with weight decay, if there is any, added where it belongs to the gradient."""
    decay = call.attributes["weight_decay"]
    return np.asanyarray(call.inputs[1] + decay * call.inputs[0] if decay else call.inputs[1])


@formula("sgd_step")
def sgd(call: Call) -> Array:
    parameter, _, rate = call.inputs
    return np.asanyarray(parameter - rate * _decayed(call))


@formula("momentum_step")
def momentum(call: Call) -> tuple[Array, ...]:
    parameter, _, velocity, rate = call.inputs
    share, gradient = call.attributes["momentum"], _decayed(call)
    moved = share * velocity + gradient
    return parameter - rate * (gradient + share * moved if call.attributes["nesterov"] else moved), moved


def _adam(call: Call, gradient: Array) -> tuple[Array, Array, Array]:
    """The step's direction, and both moments."""
    mean, variance, step = call.inputs[2:5]
    beta1, beta2 = (step.dtype.type(call.attributes[name]) for name in ("beta1", "beta2"))
    mean = beta1 * mean + (1 - beta1) * gradient
    variance = beta2 * variance + (1 - beta2) * gradient**2
    spread = np.sqrt(variance / (1 - beta2**step)) + call.attributes["epsilon"]
    return mean / (1 - beta1**step) / spread, mean, variance


@formula("adam_step")
def adam(call: Call) -> tuple[Array, ...]:
    direction, mean, variance = _adam(call, _decayed(call))
    return call.inputs[0] - call.inputs[5] * direction, mean, variance


@formula("adamw_step")
def adamw(call: Call) -> tuple[Array, ...]:
    parameter, gradient, rate = call.inputs[0], call.inputs[1], call.inputs[5]
    direction, mean, variance = _adam(call, gradient)
    return parameter * (1 - rate * call.attributes["weight_decay"]) - rate * direction, mean, variance


@formula("lamb_step", reduces=True)
def lamb(call: Call) -> tuple[Array, ...]:
    parameter, gradient, rate = call.inputs[0], call.inputs[1], call.inputs[5]
    direction, mean, variance = _adam(call, gradient)
    direction = direction + call.attributes["weight_decay"] * parameter
    length, reach = (np.sqrt((each**2).sum()) for each in (parameter, direction))
    trust = length / reach if length > 0 and reach > 0 else 1
    return parameter - rate * trust * direction, mean, variance


@formula("adagrad_step")
def adagrad(call: Call) -> tuple[Array, ...]:
    parameter, _, total, rate = call.inputs
    gradient = _decayed(call)
    total = total + gradient**2
    return parameter - rate * gradient / (np.sqrt(total) + call.attributes["epsilon"]), total


@formula("rmsprop_step")
def rmsprop(call: Call) -> tuple[Array, ...]:
    parameter, _, square, average, velocity, rate = call.inputs
    gradient, decay = _decayed(call), call.attributes["decay"]
    square = decay * square + (1 - decay) * gradient**2
    spread = square
    if call.attributes["centered"]:
        average = decay * average + (1 - decay) * gradient
        spread = square - average**2
    step = gradient / (np.sqrt(spread) + call.attributes["epsilon"])
    velocity = call.attributes["momentum"] * velocity + step
    return parameter - rate * velocity, square, average, velocity


@formula("adadelta_step")
def adadelta(call: Call) -> tuple[Array, ...]:
    parameter, _, square, moved, rate = call.inputs
    gradient, decay, epsilon = _decayed(call), call.attributes["decay"], call.attributes["epsilon"]
    square = decay * square + (1 - decay) * gradient**2
    step = np.sqrt((moved + epsilon) / (square + epsilon)) * gradient
    return parameter - rate * step, square, decay * moved + (1 - decay) * step**2


@formula("adamax_step")
def adamax(call: Call) -> tuple[Array, ...]:
    parameter, _, mean, greatest, step, rate = call.inputs
    gradient = _decayed(call)
    beta1, beta2 = (step.dtype.type(call.attributes[name]) for name in ("beta1", "beta2"))
    mean = beta1 * mean + (1 - beta1) * gradient
    greatest = np.maximum(beta2 * greatest, np.abs(gradient) + call.attributes["epsilon"])
    return parameter - rate / (1 - beta1**step) * mean / greatest, mean, greatest


@formula("nadam_step")
def nadam(call: Call) -> tuple[Array, ...]:
    parameter, _, mean, variance, product, step, rate = call.inputs
    gradient, decay = _decayed(call), call.attributes["momentum_decay"]
    beta1, beta2 = (step.dtype.type(call.attributes[name]) for name in ("beta1", "beta2"))
    now, later = (beta1 * (1 - 0.96 ** ((step + i) * decay) / 2) for i in (0, 1))
    product = product * now
    mean = beta1 * mean + (1 - beta1) * gradient
    variance = beta2 * variance + (1 - beta2) * gradient**2
    ahead = later * mean / (1 - product * later) + (1 - now) * gradient / (1 - product)
    spread = np.sqrt(variance / (1 - beta2**step)) + call.attributes["epsilon"]
    return parameter - rate * ahead / spread, mean, variance, product


@formula("lion_step")
def lion(call: Call) -> tuple[Array, ...]:
    parameter, gradient, mean, rate = call.inputs
    beta1, beta2, decay = (call.attributes[name] for name in ("beta1", "beta2", "weight_decay"))
    direction = np.sign(beta1 * mean + (1 - beta1) * gradient)
    kept = parameter * (1 - rate * decay)
    return kept - rate * direction, beta2 * mean + (1 - beta2) * gradient


@formula("check_finite_and_unscale", dtypes=(None, np.bool_))
def unscale(call: Call) -> tuple[Array, ...]:
    x, scale = call.inputs
    return x / scale, np.asanyarray(not np.isfinite(x).all())


@formula("update_loss_scaling", dtypes=(None, np.int64))
def update_scale(call: Call) -> tuple[Array, ...]:
    scale, steps, found = call.inputs
    if found:
        return scale * call.attributes["backoff"], np.zeros_like(steps)
    if steps + 1 < call.attributes["interval"]:
        return scale, steps + 1
    grown = scale * call.attributes["growth"]
    limits = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
    top = limits.get(call.dtype.name if call.dtype is not None else "unknown", np.inf)
    return (grown if np.abs(grown) <= top and np.isfinite(grown) else scale), np.zeros_like(steps)
