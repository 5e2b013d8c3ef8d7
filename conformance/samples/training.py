"""Samples of optimiser steps and of what mixed precision needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.samples.draw import Array, Draw, Sample
from conformance.samples.table import makes

# Of each optimiser: what it keeps beside the parameter, and the variants of its attributes.
_STATES: dict[str, tuple[str, ...]] = {
    "sgd_step": (),
    "momentum_step": ("velocity",),
    "adam_step": ("mean", "variance"),
    "adamw_step": ("mean", "variance"),
    "adagrad_step": ("accumulator",),
    "rmsprop_step": ("square_mean", "average", "velocity"),
    "adadelta_step": ("square_mean", "step_mean"),
    "adamax_step": ("mean", "greatest"),
    "nadam_step": ("mean", "variance", "momentum_product"),
    "lamb_step": ("mean", "variance"),
    "lion_step": ("mean",),
}
COUNTED = frozenset({"adam_step", "adamw_step", "adamax_step", "nadam_step", "lamb_step"})
OPTIMISERS: dict[str, tuple[dict[str, Any], ...]] = {
    "sgd_step": ({}, {"weight_decay": 0.25}),
    "momentum_step": ({}, {"nesterov": True}, {"momentum": 0.5, "weight_decay": 0.25}),
    "adam_step": ({}, {"beta1": 0.75, "beta2": 0.875, "weight_decay": 0.25, "epsilon": 0.125}),
    "adamw_step": ({}, {"beta1": 0.75, "beta2": 0.875, "weight_decay": 0.25}),
    "adagrad_step": ({}, {"epsilon": 0.125, "weight_decay": 0.25}),
    "rmsprop_step": ({}, {"centered": True, "momentum": 0.5}, {"decay": 0.75, "weight_decay": 0.25}),
    "adadelta_step": ({}, {"decay": 0.75, "weight_decay": 0.25}),
    "adamax_step": ({}, {"beta1": 0.75, "weight_decay": 0.25}),
    "nadam_step": ({}, {"momentum_decay": 0.25, "weight_decay": 0.25}),
    "lamb_step": ({}, {"weight_decay": 0.25}),
    "lion_step": ({}, {"beta1": 0.5, "beta2": 0.75, "weight_decay": 0.25}),
}


def state_names(op: str) -> tuple[str, ...]:
    """What an optimiser keeps from step to step, in the order of its operands and of its further results."""
    return _STATES[op]


def first_state(op: str, parameter: Array) -> list[Array]:
    """The state before the first step."""
    return [
        np.ones_like(parameter) if n == "momentum_product" else np.zeros_like(parameter) for n in _STATES[op]
    ]


@makes(*OPTIMISERS)
def step(d: Draw, op: str) -> Iterator[Sample]:
    for attributes in OPTIMISERS[op]:
        for shape in ((7,), (3, 5)):
            yield _step(d, op, shape, attributes)


@makes(*OPTIMISERS, large=True)
def large_step(d: Draw, op: str) -> Iterator[Sample]:
    yield _step(d, op, (40_001,), OPTIMISERS[op][-1])


def _step(d: Draw, op: str, shape: tuple[int, ...], attributes: dict[str, Any]) -> Sample:
    state = [
        d.normal(*shape) if n in ("velocity", "mean", "average") else d.positive(*shape) for n in _STATES[op]
    ]
    if op == "nadam_step":
        state[2] = d.share(*shape)
    if op == "rmsprop_step":
        # A mean of squares is no less than the square of the mean.
        state[0] = (state[1] * state[1] + state[0]).astype(d.dtype)
    count = (d.number(3.0),) if op in COUNTED else ()
    return Sample((d.normal(*shape), d.normal(*shape), *state, *count, d.number(0.125)), attributes)


@makes("check_finite_and_unscale")
def unscale(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((), (7,), (2, 3)):
        yield Sample((d.normal(*shape), np.asarray(8.0, np.float32)))
    for spoilt in (np.nan, np.inf, -np.inf):
        for place in (0, 3, 6):
            x = d.normal(7)
            x[place] = spoilt
            yield Sample((x, np.asarray(8.0, np.float32)))


@makes("update_loss_scaling")
def update_scale(d: Draw, op: str) -> Iterator[Sample]:
    for steps, found in ((0, False), (3, False), (4, False), (3, True), (4, True)):
        yield Sample((d.number(512.0), np.asarray(steps), np.asarray(found)), {"interval": 5})
    greatest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
    top = d.number(greatest.get(d.dtype.name, 1.7976931348623157e308))
    yield Sample((top, np.asarray(4), np.asarray(False)), {"interval": 5, "growth": 4.0, "backoff": 0.25})
