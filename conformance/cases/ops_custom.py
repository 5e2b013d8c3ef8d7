"""Cases of custom ops beyond those of every composite: what a plugin's declarations must keep, and gradients.

An op for which nobody has said what is right is judged by itself (`conformance.declared`): its kernels get
the groups of every composite, and the case `reference` says that no more than that is proved.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, Measure, NotSupported, QualityWarning, require
from conformance.cases import ops_composite
from conformance.cases.ops_claims import NO_ORACLE
from conformance.cases.ops_common import Check, Group, Kernel
from conformance.declared import MOST_TRIED, attribute_sets, results_of, shape_tuples
from conformance.differences import slope
from conformance.framework import device_of, on_device_only, precise_dtype, run_op, to_device
from conformance.samples import Draw, Sample, has_samples, samples
from conformance.target import Target
from device_api.autograd import grad
from device_api.errors import AttributeValueError, DeviceApiError, ShapeError
from device_api.ops import declared
from device_api.ops.op_registry import custom_specs
from device_api.opset.spec import OpSpec

# Steps of differences, and how far a gradient may be off them, by the precision of the device.
_STEPS = {"float64": (2.0**-10, 1e-7), "float32": (2.0**-4, 1e-2)}
_DIRECTIONS = 2
_THREADS = 2


def cases(target: Target) -> list[Case]:
    """The cases of the ops that the plugin declares, and of gradients of all that have calls to try."""
    claimed = {claim.op for claim in target.claims}
    made = []
    for spec in custom_specs():
        if declared.is_declared(spec.name):
            made.append(
                Case(
                    f"ops.{spec.name}.declared",
                    partial(_declared, spec),
                    f"The declaration of {spec.name}: it is served, and its shape function is one.",
                )
            )
        if spec.gradient and spec.name in claimed and has_samples(spec.name):
            made.append(
                Case(
                    f"ops.{spec.name}.gradient",
                    partial(_gradient, spec),
                    f"The gradient of {spec.name} against differences of its own results.",
                )
            )
    return made


def groups(kernel: Kernel) -> list[Group]:
    """The groups of a kernel of an op that is judged by itself."""
    try:
        found = samples(kernel.spec.name, Draw(np.random.default_rng(0), kernel.dtype))
    except DeviceApiError as error:
        return [_shapeless(error)]
    if not found:
        return [NO_ORACLE]
    return [
        *(each for each in ops_composite.groups_of_samples(kernel) if each.name != "special"),
        Group("reference", _values, description="Somebody says what the op gives."),
    ]


def _shapeless(error: DeviceApiError) -> Group:
    def body(check: Check, rng: np.random.Generator) -> None:
        raise Failure(f"the shape function of {check.kernel.spec.name} cannot be asked: {error}")

    return Group("claim", body, description="The shape function takes or refuses shapes, and does not fail.")


def _values(check: Check, rng: np.random.Generator) -> None:
    raise QualityWarning(
        f"the kernel of {check.kernel.spec.name} agrees with itself, and nobody says whether its values are "
        "right: write a case with conformance.custom and import it with --import"
    )


def _declared(spec: OpSpec, target: Target, rng: np.random.Generator) -> None:
    table = target.interface("custom_op")
    lists = [_listed(target, table) for _ in range(2)]
    require(lists[0] == lists[1], "custom_op.list gives another list at the second call")
    with ThreadPoolExecutor(_THREADS) as pool:
        for shapes in itertools.islice(shape_tuples(spec, rng), MOST_TRIED):
            _check_answer(spec, shapes, pool)
    if not any(claim.op == spec.name for claim in target.claims):
        raise QualityWarning(f"{spec.name} is declared, and no kernel of this device serves it")


def _listed(target: Target, table: Any) -> tuple[int, int, int]:
    ffi = target.ffi
    out = ffi.new("da_custom_op_list *")
    out.struct_size = ffi.sizeof("da_custom_op_list")
    target.expect(table.list(out), "custom_op.list")
    return int(ffi.cast("uintptr_t", out.first)), int(out.count), int(out.stride)


def _check_answer(spec: OpSpec, shapes: Sequence[Any], pool: ThreadPoolExecutor) -> None:
    """The shape function takes or refuses these shapes, and says the same on every thread."""
    first = next(iter(spec.types), (None, frozenset({dtypes.FLOAT32})))
    dtype = dtypes.from_code(min(first[1]))
    inputs = [np.empty(shape, dtype) for shape in shapes]
    defaults = {each.name: each.default for each in spec.attributes}
    attributes = {**defaults, **next(attribute_sets(spec.attributes, dtype))}

    def ask(_: int) -> Any:
        try:
            return results_of(spec, inputs, attributes)
        except (ShapeError, AttributeValueError) as error:
            return str(error)
        except DeviceApiError as error:
            raise Failure(f"the shape function of {spec.name}, asked for {shapes}: {error}") from error

    answers = list(pool.map(ask, range(_THREADS)))
    require(all(each == answers[0] for each in answers), f"{spec.name} gives several answers for {shapes}")


# --- gradients ----------------------------------------------------------------------------------------------


def _gradient(spec: OpSpec, target: Target, rng: np.random.Generator) -> Measure:
    dtype = precise_dtype(target)
    if spec.types and dtypes.code(dtype) not in spec.allowed(spec.types[0][0]):
        raise NotSupported(f"{spec.name} does not take {dtype.name}")
    measure = Measure(op=spec.name, dtype=dtype.name)
    for sample in samples(spec.name, Draw(rng, dtype, moderate=True)):
        places = [i for i, x in enumerate(sample.inputs) if x is not None and x.dtype.kind == "f" and x.size]
        if places:
            with on_device_only(f"the gradient of {spec.name}({sample})"):
                _check(spec, target, rng, sample, places, dtype)
            measure.launches += 1
    if not measure.launches:
        raise NotSupported(f"no call of {spec.name} has a floating operand with elements")
    return measure


def _check(
    spec: OpSpec,
    target: Target,
    rng: np.random.Generator,
    sample: Sample,
    places: Sequence[int],
    dtype: np.dtype[Any],
) -> None:
    device = device_of(target)

    def outputs(moved: Sequence[Any], differentiable: bool = False) -> tuple[list[Any], list[Any]]:
        values = dict(zip(places, moved, strict=True))
        tensors = [
            None if x is None else to_device(values.get(i, x), device, differentiable and i in values)
            for i, x in enumerate(sample.inputs)
        ]
        return tensors, run_op(spec, tensors, sample, device)

    point = [np.asarray(sample.inputs[i]) for i in places]
    tensors, results = outputs(point, True)
    cotangents = [rng.uniform(0.25, 1, x.shape).astype(x.dtype) if x.requires_grad else None for x in results]
    seeds = [None if c is None else to_device(c, device) for c in cotangents]
    chosen = [(x, c) for x, c in zip(results, seeds, strict=True) if c is not None]
    wanted = [tensors[i] for i in places]
    found = grad([x for x, _ in chosen], wanted, [c for _, c in chosen], allow_unused=True)

    def value(moved: Sequence[Any]) -> float:
        made = [each.numpy().astype(np.float64) for each in outputs([x.astype(dtype) for x in moved])[1]]
        return float(sum((c * v).sum() for c, v in zip(cotangents, made, strict=True) if c is not None))

    step, tolerance = _STEPS[dtype.name]
    for _ in range(_DIRECTIONS):
        direction = [rng.uniform(0.25, 1, x.shape) * rng.choice((-1, 1), x.shape) for x in point]
        # An operand without a gradient is taken to be a constant, and is not moved.
        direction = [d * (g is not None) for d, g in zip(direction, found, strict=True)]
        want = slope(value, point, direction, step)
        slopes = [0.0 if g is None else g.numpy().astype(np.float64) for g in found]
        parts = [g * d for g, d in zip(slopes, direction, strict=True)]
        got, size = (float(sum(part.sum() for part in each)) for each in (parts, map(np.abs, parts)))
        if not abs(got - want) <= tolerance * max(size, abs(want), 1.0):
            raise Failure(
                f"the gradient of {spec.name}({sample}) along a direction is {got:.9g}, differences of its "
                f"own results give {want:.9g}",
                {"got": got, "expected": want, "op": spec.name, "sample": str(sample)},
            )
