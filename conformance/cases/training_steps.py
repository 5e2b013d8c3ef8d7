"""Optimiser steps, mixed precision, and a whole training run, each beside the same in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, Measure, NotSupported, case, require
from conformance.framework import device_of, holds, on_device_only, precise_dtype, run_op, to_device
from conformance.oracle import values_of
from conformance.samples import Sample
from conformance.samples.training import COUNTED, OPTIMISERS, first_state
from conformance.target import Target
from device_api.autograd import grad
from device_api.ops import _functions as F
from device_api.ops._table import BY_NAME

Array = Any
STEPS = 6
# How far parameters may drift from the oracle's over the steps, relative to the largest of them.
DRIFT = {"float64": 1e-11, "float32": 2e-4}


def optimiser_cases() -> Iterator[Case]:
    """`training.optimiser.OP`: several steps of each optimiser."""
    for op in OPTIMISERS:
        text = (
            f"Six steps of {op} follow the oracle, parameter and state, for each variant of its attributes."
        )
        yield Case(f"training.optimiser.{op}", partial(_optimiser, op), text)


def _optimiser(op: str, target: Target, rng: np.random.Generator) -> Measure:
    spec, device, dtype = BY_NAME[op], device_of(target), precise_dtype(target)
    measure = Measure(op=op, dtype=dtype.name)
    for attributes in OPTIMISERS[op]:
        full = {**{a.name: a.default for a in spec.attributes}, **attributes}
        parameter = rng.normal(size=(3, 5)).astype(dtype)
        rate = np.asarray(0.0625, dtype)
        wanted = [x.astype(np.longdouble) for x in (parameter, *first_state(op, parameter))]
        got = [to_device(x, device) for x in (parameter, *first_state(op, parameter))]
        for number in range(1, STEPS + 1):
            gradient = rng.normal(size=(3, 5)).astype(dtype)
            extra = [np.asarray(number, dtype)] if op in COUNTED else []
            operands = [wanted[0], gradient, *wanted[1:], *extra, rate]
            wanted = values_of(spec, [x.astype(np.longdouble) for x in operands], full)
            tensors = [
                got[0],
                to_device(gradient, device),
                *got[1:],
                *(to_device(x, device) for x in (*extra, rate)),
            ]
            with on_device_only(f"step {number} of {op}({attributes})"):
                got = run_op(spec, tensors, Sample((), full), device)
            _near(f"step {number} of {op}({attributes})", [x.numpy() for x in got], wanted, dtype)
            measure.launches += 1
        measure.elements += sum(x.size for x in wanted)
    return measure


def _near(what: str, got: Sequence[Array], wanted: Sequence[Array], dtype: np.dtype[Any]) -> None:
    """Every element within the drift that rounding explains."""
    for number, (found, want) in enumerate(zip(got, wanted, strict=True)):
        off = np.abs(found.astype(np.longdouble) - want)
        limit = DRIFT[dtype.name] * max(float(np.abs(want).max(initial=0)), 1e-3)
        if not (off <= limit).all():
            place = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
            raise Failure(
                f"{what}: result {number} at {[int(i) for i in place]} is {found[place]}, the oracle has "
                f"{float(want[place]):.12g}",
                {"result": number, "got": float(found[place]), "expected": float(want[place])},
            )


# --- mixed precision ---------------------------------------------------------------------------------


def _small_dtypes(target: Target) -> list[np.dtype[Any]]:
    found = [
        dtypes.from_code(dtypes.code(name))
        for name in ("float16", "bfloat16", "float32")
        if holds(target, name)
    ]
    if not found:
        raise NotSupported("the device holds no dtype of at most 32 bits")
    return found


@case("training.amp.unscale")
def unscale(target: Target, rng: np.random.Generator) -> None:
    """Gradients are divided by the scale, and one NaN or infinity anywhere is found."""
    device, spec = device_of(target), BY_NAME["check_finite_and_unscale"]
    for dtype in _small_dtypes(target):
        for size, spoilt in (
            (1, None),
            (33, None),
            (1025, None),
            (33, np.nan),
            (33, np.inf),
            (1025, -np.inf),
        ):
            for place in (0, size // 2, size - 1):
                x = (rng.integers(-64, 64, size) * 8.0).astype(dtype)
                if spoilt is not None:
                    x[place] = spoilt
                with on_device_only(f"check_finite_and_unscale of {dtype.name}[{size}]"):
                    operands = [to_device(x, device), to_device(np.asarray(16.0, np.float32), device)]
                    out, found = run_op(spec, operands, Sample((), {}), device)
                want = x.astype(np.float64) / 16
                same = np.array_equal(out.numpy().astype(np.float64), want, equal_nan=True)
                require(same, f"{dtype.name}[{size}] with {spoilt} at {place} was not divided by its scale")
                require(
                    bool(found) == (spoilt is not None),
                    f"{spoilt} at {place} of {dtype.name}[{size}]: found is {bool(found)}",
                )


@case("training.amp.scale")
def scale(target: Target, rng: np.random.Generator) -> None:
    """The loss scale over forty steps, of which some find infinities, follows its rule and stays finite."""
    device, spec = device_of(target), BY_NAME["update_loss_scaling"]
    if not holds(target, "float32"):
        raise NotSupported("the device does not hold float32")
    attributes = {"growth": 2.0, "backoff": 0.5, "interval": 3}
    for start in (1024.0, 2.0**126):
        value, steps = start, 0
        held = [to_device(np.asarray(value, np.float32), device), to_device(np.asarray(0), device)]
        for number in range(40):
            found = bool(rng.random() < 0.15)
            with on_device_only("update_loss_scaling"):
                held = run_op(
                    spec, [*held, to_device(np.asarray(found), device)], Sample((), attributes), device
                )
            steps = 0 if found else steps + 1
            if found:
                value *= 0.5
            elif steps == 3:
                steps = 0
                value = value * 2 if value * 2 < 3.4028235e38 else value
            got = float(held[0]), int(held[1])
            require(
                got == (value, steps), f"step {number}: scale and good steps are {got}, not {(value, steps)}"
            )


@case("training.amp.skipped_step")
def skipped_step(target: Target, rng: np.random.Generator) -> None:
    """A step whose scaled gradients overflow leaves the parameters alone, by the flag on the device."""
    device = device_of(target)
    if not holds(target, "float16", "float32"):
        raise NotSupported("the device does not hold float16 and float32")
    parameter = rng.normal(size=9).astype(np.float32)
    for overflow in (False, True):
        gradient = rng.normal(size=9).astype(np.float16)
        if overflow:
            gradient[4] = np.inf
        with on_device_only("a step that may be skipped"):
            held = to_device(parameter, device)
            scale_ = to_device(np.asarray(128.0, np.float32), device)
            clean, found = run_op(
                BY_NAME["check_finite_and_unscale"],
                [to_device(gradient, device), scale_],
                Sample((), {}),
                device,
            )
            moved = F.where(found, held, held - F.astype(clean, np.float32))
        want = parameter if overflow else parameter - (gradient.astype(np.float64) / 128).astype(np.float16)
        off = np.abs(moved.numpy() - want).max()
        require(off <= 1e-6, f"with{'' if overflow else 'out'} overflow the parameters are off by {off}")


# --- a training run -----------------------------------------------------------------------------------

_LAYERS = ((2, 16), (16, 3))


def _data(rng: np.random.Generator, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Three overlapping clouds of points, and which each belongs to."""
    label = rng.integers(0, 3, 96)
    centres = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
    return (centres[label] + rng.normal(size=(96, 2)) * 0.7).astype(dtype), label


def _reference_loss(parameters: Sequence[Array], x: Array, label: Array) -> tuple[float, list[Array]]:
    """Loss and gradients of the network below, derived by hand."""
    w1, b1, w2, b2 = parameters
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    rows = np.arange(len(label))
    loss = -np.log(share[rows, label]).mean()
    slope = share.copy()
    slope[rows, label] -= 1
    slope /= len(label)
    below = (slope @ w2.T) * (1 - hidden**2)
    return float(loss), [x.T @ below, below.sum(axis=0), hidden.T @ slope, slope.sum(axis=0)]


@case("training.run.classifier")
def classifier(target: Target, rng: np.random.Generator) -> Measure:
    """Forty steps of a small network with momentum: every loss and the parameters follow NumPy, and the loss
    falls to a third."""
    device, dtype = device_of(target), precise_dtype(target)
    x, label = _data(rng, dtype)
    first = [rng.normal(size=shape) / np.sqrt(shape[0]) for shape in _LAYERS]
    start = [first[0], np.zeros(16), first[1], np.zeros(3)]
    wanted = [each.astype(dtype).astype(np.float64) for each in start]
    speeds = [np.zeros_like(each) for each in wanted]
    got = [to_device(each.astype(dtype), device, differentiable=True) for each in start]
    moving = [to_device(np.zeros(each.shape, dtype), device) for each in start]
    inputs, classes = to_device(x, device), to_device(label, device)
    rate = to_device(np.asarray(0.25, dtype), device)
    losses = []
    for number in range(40):
        want, slopes = _reference_loss(wanted, x.astype(np.float64), label)
        for place, slope in enumerate(slopes):
            speeds[place] = 0.75 * speeds[place] + slope
            wanted[place] = wanted[place] - 0.25 * speeds[place]
        with on_device_only(f"step {number} of training"):
            hidden = F.tanh(F.matmul(inputs, got[0]) + got[1])
            loss = F.cross_entropy(F.matmul(hidden, got[2]) + got[3], classes)
            found = grad([loss], got)
            for place, gradient in enumerate(found):
                assert gradient is not None
                attributes = {"momentum": 0.75, "weight_decay": 0.0, "nesterov": False}
                operands = [got[place].detach(), gradient, moving[place], rate]
                moved, moving[place] = run_op(
                    BY_NAME["momentum_step"], operands, Sample((), attributes), device
                )
                moved.requires_grad = True
                got[place] = moved
        losses.append(float(loss))
        limit = 1e-9 if dtype == np.float64 else 1e-3
        require(
            abs(losses[-1] - want) <= limit,
            f"step {number}: the loss is {losses[-1]:.10g}, NumPy's is {want:.10g}",
            step=number,
        )
    require(losses[-1] < losses[0] / 3, f"the loss fell from {losses[0]:.4g} to {losses[-1]:.4g} only")
    for place, (tensor, want_) in enumerate(zip(got, wanted, strict=True)):
        off = float(np.abs(tensor.numpy() - want_).max())
        limit = 1e-8 if dtype == np.float64 else 1e-2
        require(off <= limit, f"after 40 steps parameter {place} is off by {off:.3g}")
    return Measure(op="momentum_step", dtype=dtype.name, launches=40 * len(got))
