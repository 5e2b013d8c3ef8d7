"""Gradients: every differentiable op against differences of its oracle, and the second derivative likewise.

For each sample of an op a cotangent is drawn, and directions to move its operands in. The framework's
gradient times a direction must be the derivative of the oracle along it. A missing term, a factor or a sign
shows in every direction; the failure names the operand and the element that is furthest off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, Measure, NotSupported
from conformance.differences import curvature, slope
from conformance.factors import FACTORED, any_factors, factored_samples, factors
from conformance.framework import device_of, holds, on_device_only, precise_dtype, run_op, to_device
from conformance.oracle import WITHOUT_ORACLE, values_of
from conformance.samples import Draw, Sample, samples
from conformance.target import Target
from device_api.autograd import grad
from device_api.errors import GradientError
from device_api.ops._table import OPS
from device_api.opset.spec import OpSpec

Array = Any
DIRECTIONS = 2
# How far a gradient may be off, relative to the sum of the sizes of its products with a direction.
TOLERANCE = {"float64": 2e-9, "float32": 3e-4}
SECOND_TOLERANCE = {"float64": 2e-6, "float32": 1e-2}


def gradient_cases() -> Iterator[Case]:
    """`training.gradient.OP` and `training.second.OP` for every op that has a rule."""
    for spec in OPS:
        if spec.gradient:
            yield Case(
                f"training.gradient.{spec.name}",
                partial(_first, spec),
                f"The gradient of {spec.name} by {', '.join(spec.gradient)}.",
                quick=spec.public,
            )
            yield Case(
                f"training.second.{spec.name}",
                partial(_second, spec),
                f"The second derivative of {spec.name}.",
                quick=False,
            )


class Problem:
    """One sample as a function of the operands that it is differentiated by."""

    def __init__(self, spec: OpSpec, sample: Sample, rng: np.random.Generator) -> None:
        self.spec, self.sample = spec, sample
        names = [each.name for each in spec.inputs]
        # The operands of a variadic input all have its name.
        names += [names[-1]] * (len(sample.inputs) - len(names)) if names else []
        self.places = [
            i
            for i, x in enumerate(sample.inputs)
            if x is not None
            and names[i] in spec.gradient
            and x.dtype.kind in "fc"
            and (spec.name, names[i]) not in _STEPS
        ]
        self.point = [_extended(sample.inputs[i]) for i in self.places]
        # Which of several right answers is meant: the device's own, as soon as it has given one.
        self.branch: Sequence[Array] = _any_branch(spec, sample)
        outputs = self._outputs(self.point)
        # Several results: only those that a rule can have to do with, the floating ones.
        self.cotangents = [
            _away_from_zero(rng, value) if value.dtype.kind in "fc" else None for value in outputs
        ]
        if spec.name in _FIRST_ONLY:
            self.cotangents[1:] = [None] * (len(self.cotangents) - 1)

    @property
    def precision(self) -> str:
        """The real dtype of the operands."""
        own = self.sample.inputs[self.places[0]]
        assert own is not None
        return "float64" if own.dtype.name in ("float64", "complex128") else "float32"

    def _outputs(self, moved: Sequence[Array]) -> list[Array]:
        if self.spec.name in FACTORED:
            return factors(self.spec.name, moved[0], self.branch)
        dtype = self.sample.dtype
        if dtype is not None and dtype.kind in "fc":
            dtype = np.dtype(np.longdouble if dtype.kind == "f" else np.clongdouble)
        return values_of(self.spec, self._operands(moved), self.sample.attributes, dtype)

    def _operands(self, moved: Sequence[Array]) -> list[Array]:
        operands = [_extended(x) for x in self.sample.inputs]
        for place, x in zip(self.places, moved, strict=True):
            operands[place] = x
        return operands

    def value(self, moved: Sequence[Array]) -> Any:
        """The sum of the results times their cotangents: of complex numbers, the real part of the product
        with the conjugate."""
        outputs = self._outputs(moved)
        parts = [
            (np.conj(c) * v).sum().real
            for v, c in zip(outputs, self.cotangents, strict=True)
            if c is not None
        ]
        return sum(parts, np.longdouble(0))

    def directions(self, rng: np.random.Generator) -> list[Array]:
        """One for each operand; of ops of symmetric (Hermitian) matrices, such a one."""
        drawn = [_away_from_zero(rng, x) for x in self.point]
        if self.spec.name in _SYMMETRIC:
            drawn = [x + np.conj(np.swapaxes(x, -1, -2)) for x in drawn]
        return drawn


def _any_branch(spec: OpSpec, sample: Sample) -> Sequence[Array]:
    if spec.name not in FACTORED:
        return ()
    (x,) = sample.inputs
    assert x is not None
    return any_factors(spec.name, x)


def _extended(x: Any) -> Any:
    if x is None or x.dtype.kind not in "fc":
        return x
    return x.astype(np.longdouble if x.dtype.kind == "f" else np.clongdouble)


def _away_from_zero(rng: np.random.Generator, like: Array) -> Array:
    """Numbers of the kind and shape of an array, of size 1/4 to 1 and either sign."""

    def part() -> Array:
        return np.asarray(rng.uniform(0.25, 1, like.shape) * rng.choice((-1, 1), like.shape))

    return part() + 1j * part() if like.dtype.kind == "c" else part()


# Not to be moved: numbers of one kind or another, and what moves results in steps by being equal.
_STEPS = {
    ("hinge_embedding_loss", "target"),
    ("share_among_equals", "x"),
    ("share_among_equals", "extreme"),
}
_SYMMETRIC = {"cholesky", "eigvalsh", "eigh"}
# Ops whose further results have no gradient: running averages, positions.
_FIRST_ONLY = {"batch_norm_training"}


def _problems(spec: OpSpec, target: Target, rng: np.random.Generator) -> Iterator[Problem]:
    if spec.name in WITHOUT_ORACLE and spec.name not in FACTORED:
        raise NotSupported(WITHOUT_ORACLE[spec.name])
    for dtype in _dtypes(spec, target):
        draw = Draw(rng, dtype, moderate=True)
        for sample in (
            factored_samples(spec.name, draw) if spec.name in FACTORED else samples(spec.name, draw)
        ):
            problem = Problem(spec, sample, rng)
            if problem.places and all(np.isfinite(x).all() for x in problem.point):
                yield problem


def _dtypes(spec: OpSpec, target: Target) -> list[np.dtype[Any]]:
    """The most precise real and complex dtypes that the op and the device take."""
    real = precise_dtype(target)
    complex_ = np.dtype(np.complex128 if real == np.float64 else np.complex64)
    allowed = spec.allowed(spec.types[0][0])
    if spec.name in FACTORED:
        return [real]  # the phases of complex factors are free, and not just their signs
    return [d for d in (real, complex_) if dtypes.code(d) in allowed and holds(target, d.name)]


def _device_gradients(target: Target, problem: Problem, twice: Sequence[Array] | None = None) -> list[Array]:
    """The framework's gradient by each operand; with `twice`, the gradient of its product with directions."""
    device, sample = device_of(target), problem.sample
    tensors = [
        None if x is None else to_device(x, device, differentiable=i in problem.places)
        for i, x in enumerate(sample.inputs)
    ]
    wanted = [x for i in problem.places if (x := tensors[i]) is not None]
    outputs = run_op(problem.spec, tensors, sample, device)
    if problem.spec.name in FACTORED:
        problem.branch = [x.numpy() for x in outputs]
    chosen = [
        (o, c) for o, c in zip(outputs, problem.cotangents, strict=True) if c is not None and o.requires_grad
    ]
    if not chosen:
        raise Failure(f"no result of {problem.spec.name} requires a gradient")
    seeds = [to_device(c.astype(o.dtype), device) for o, c in chosen]
    results = [o for o, _ in chosen]
    found = grad(results, wanted, seeds, allow_unused=True, create_graph=twice is not None)
    if twice is not None:
        pairs = [(g, d) for g, d in zip(found, twice, strict=True) if g is not None and g.requires_grad]
        if not pairs:
            return [np.zeros(x.shape) for x in problem.point]
        seeds = [to_device(d.astype(g.dtype), device) for g, d in pairs]
        found = grad([g for g, _ in pairs], wanted, seeds, allow_unused=True)
    return [
        np.zeros(x.shape) if g is None else _extended(np.asarray(g.numpy()))
        for g, x in zip(found, problem.point, strict=True)
    ]


def _first(spec: OpSpec, target: Target, rng: np.random.Generator) -> Measure:
    measure = Measure(op=spec.name, dtype=precise_dtype(target).name)
    for problem in _problems(spec, target, rng):
        with on_device_only(f"the gradient of {spec.name}({problem.sample})"):
            found = _device_gradients(target, problem)
        for _ in range(DIRECTIONS):
            direction = problem.directions(rng)
            want = slope(problem.value, problem.point, direction)
            _judge(problem, found, direction, want, TOLERANCE, "gradient")
        measure.launches += 1
        measure.elements += sum(x.size for x in found)
    return _done(measure, spec)


def _second(spec: OpSpec, target: Target, rng: np.random.Generator) -> Measure:
    measure = Measure(op=spec.name, dtype=precise_dtype(target).name)
    for problem in _problems(spec, target, rng):
        first, second = problem.directions(rng), problem.directions(rng)
        try:
            with on_device_only(f"the second derivative of {spec.name}({problem.sample})"):
                found = _device_gradients(target, problem, first)
        except Failure as error:
            if isinstance(error.__cause__, GradientError):
                raise NotSupported(f"the rule of {spec.name} has no derivative itself: {error}") from error
            raise
        want = curvature(problem.value, problem.point, first, second)
        _judge(problem, found, second, want, SECOND_TOLERANCE, "second derivative")
        measure.launches += 1
        measure.elements += sum(x.size for x in found)
    return _done(measure, spec)


def _done(measure: Measure, spec: OpSpec) -> Measure:
    if not measure.launches:
        raise NotSupported(f"no sample of {spec.name} has a floating operand with a gradient")
    return measure


def _judge(
    problem: Problem,
    found: Sequence[Array],
    direction: Sequence[Array],
    want: Any,
    limits: dict[str, float],
    what: str,
) -> None:
    got = sum(((np.conj(g) * d).sum().real for g, d in zip(found, direction, strict=True)), np.longdouble(0))
    size = sum(
        ((np.abs(g) * np.abs(d)).sum() for g, d in zip(found, direction, strict=True)), np.longdouble(0)
    )
    allowed = limits[problem.precision] * float(max(size, abs(want), 1.0 if what != "gradient" else 1e-3))
    if np.isfinite(got) and abs(got - want) <= allowed:
        return
    where = _furthest(problem, found) if what == "gradient" else ""
    raise Failure(
        f"the {what} of {problem.spec.name}({problem.sample}) along a direction is {float(got):.9g}, "
        f"the oracle's is {float(want):.9g}{where}",
        {"got": float(got), "expected": float(want), "op": problem.spec.name, "sample": str(problem.sample)},
        {f"input{i}": x for i, x in enumerate(problem.sample.inputs) if x is not None},
    )


def _furthest(problem: Problem, found: Sequence[Array]) -> str:
    """The element whose derivative is furthest off, in words."""
    worst: tuple[float, str] = (-1.0, "")
    for number, (gradient, x) in enumerate(zip(found, problem.point, strict=True)):
        for place in list(np.ndindex(x.shape))[:64]:
            direction = [np.zeros(each.shape, np.longdouble) for each in problem.point]
            direction[number][place] = 1
            want = float(slope(problem.value, problem.point, direction))
            got = float(np.real(gradient[place]))
            off = abs(got - want)
            if not off <= worst[0]:
                name = problem.spec.inputs[min(problem.places[number], len(problem.spec.inputs) - 1)].name
                worst = off, f"; by {name}{list(place)} it is {got:.9g} instead of {want:.9g}"
    return worst[1]
