"""Custom ops that the plugin under test declares in C, where nobody has said what is right.

Calls are generated: operands of many shapes, of which the op's shape function chooses. What such an op must
give is what its own kernel gives on plain contiguous operands; every layout, in place, a second launch, other
memory and the guards around it must not change that. This proves that a kernel agrees with itself and with
its shape function. Values are proved by a case of `conformance.custom`, which stands before all this.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.layout import OUTPUT_POISON
from conformance.oracle import has_oracle
from conformance.oracle.precision import widen
from conformance.oracle.registry import Call, Expected, oracle
from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes
from conformance.target import Target
from conformance.trial import Declined, Operand, Trial
from conformance.trial_launch import Launch
from device_api.errors import AttributeValueError, ShapeError
from device_api.ops import declared
from device_api.ops.op_registry import custom_specs
from device_api.ops.shape_support import TensorSpec
from device_api.ops.shapes import RULES
from device_api.opset.spec import Attribute, Input, OpSpec

Shape = tuple[int, ...]

SHAPES: tuple[Shape, ...] = (
    (5,),
    (3, 4),
    (2, 3, 4),
    (4, 4),
    (4, 3),
    (),
    (1,),
    (7,),
    (2, 3, 4, 5),
    (0,),
    (0, 3),
)
MOST_TRIED = 600
MOST_KEPT = 10
_OTHER_POISON = OUTPUT_POISON ^ 0xFF

_targets: dict[str, Target] = {}


def prepare(target: Target) -> None:
    """Makes the ops that a started plugin declares known to the suite. Raises what the declarations raise."""
    declared.declare(target.plugin)
    for spec in custom_specs():
        if declared.is_declared(spec.name) and not has_oracle(spec.name):
            oracle(spec.name)(partial(_own_answer, spec))
            makes(spec.name)(partial(_generated, spec))
            _targets[spec.name] = target


def judges_itself(name: str) -> bool:
    """Whether the op's own kernel is all that says what it must give."""
    return name in _targets


# --- what is right ------------------------------------------------------------------------------------------


def results_of(spec: OpSpec, inputs: Sequence[Any], attributes: Any) -> list[TensorSpec]:
    """Shapes and dtypes of the results, by the op's rule. Raises `ShapeError`, `AttributeValueError`."""
    told = [None if x is None else TensorSpec(x.shape, dtypes.code(x.dtype)) for x in inputs]
    return RULES[spec.shape](spec, told, attributes)


def _own_answer(spec: OpSpec, call: Call) -> list[Expected]:
    """What the kernel gives on contiguous operands, into memory that holds other bytes than a trial's."""
    target = _targets[spec.name]
    wanted = [
        Expected(np.zeros(shape), dtypes.from_code(code))
        for shape, code in results_of(spec, call.inputs, call.attributes)
    ]
    claim = next(each for each in target.claims if each.op == spec.name and _takes(spec, each.dtypes, call))
    operands = tuple(None if x is None else Operand(np.ascontiguousarray(x)) for x in call.inputs)
    trial = Trial(spec, claim, operands, call.attributes, dtype=call.dtype)
    with ExitStack() as stack:
        launch = Launch(target, trial, wanted, stack)
        for placed in launch.outputs:
            launch.memory_of(placed).write(np.full(placed.storage.size, _OTHER_POISON, np.uint8))
        try:
            launch.run()
        except Declined:
            return wanted  # The trial that asks is declined as well, before anything is compared.
        return [Expected(widen(made), made.dtype) for made in launch.results()]


def _takes(spec: OpSpec, masks: Sequence[int], call: Call) -> bool:
    bound = {
        each.type: dtypes.code(x.dtype)
        for each, x in zip(_flat(spec, len(call.inputs)), call.inputs, strict=True)
        if x is not None
    }
    return all(
        name not in bound or mask >> bound[name] & 1
        for (name, _), mask in zip(spec.types, masks, strict=False)
    )


def _flat(spec: OpSpec, count: int) -> list[Input]:
    """The input that each of `count` operands belongs to."""
    return [spec.inputs[min(place, len(spec.inputs) - 1)] for place in range(count)]


# --- on what it is tried ------------------------------------------------------------------------------------


def _generated(spec: OpSpec, draw: Draw, name: str) -> Iterator[Sample]:
    """Calls that the shape function takes, of as many different shapes as there are."""
    kept = 0
    for attributes in attribute_sets(spec.attributes, draw.dtype):
        for shapes in _shapes(spec, draw):
            sample = Sample(tuple(_drawn(spec, shapes, draw)), attributes)
            defaults = {each.name: each.default for each in spec.attributes}
            if kept == MOST_KEPT or not accepted(spec, sample.inputs, {**defaults, **attributes}):
                continue
            kept += 1
            yield sample


def accepted(spec: OpSpec, inputs: Sequence[Any], attributes: Any) -> bool:
    """Whether the shape function takes a call. Any error of it but a refusal of the shapes is raised."""
    try:
        results_of(spec, inputs, attributes)
    except (ShapeError, AttributeValueError):
        return False
    return True


def _drawn(spec: OpSpec, shapes: Sequence[Shape | None], draw: Draw) -> Iterator[Any]:
    for each, shape in zip(_flat(spec, len(shapes)), shapes, strict=True):
        kind = each.type if each.type in dtypes.CODES_BY_NAME else None
        if shape is None:
            yield None
        elif kind is None:
            yield draw.normal(*shape)
        elif kind == "bool":
            yield draw.mask(*shape)
        else:
            yield Draw(draw.rng, dtypes.from_code(dtypes.CODES_BY_NAME[kind])).share(*shape)


def shape_tuples(spec: OpSpec, rng: np.random.Generator) -> Iterator[tuple[Shape | None, ...]]:
    """Shapes of the operands: all alike first, then all others, a sample of them where there are many."""
    fixed = sum(not each.variadic for each in spec.inputs)
    count = fixed + (2 if fixed < len(spec.inputs) else 0)
    yield from (tuple([shape] * count) for shape in SHAPES)
    if count * np.log(len(SHAPES)) <= np.log(MOST_TRIED * 4):
        yield from itertools.product(SHAPES, repeat=count)
        return
    for _ in range(MOST_TRIED):
        yield tuple(SHAPES[place] for place in rng.integers(0, len(SHAPES), count))


def _shapes(spec: OpSpec, draw: Draw) -> Iterator[tuple[Shape | None, ...]]:
    """As `shape_tuples`, for a gradient those of its forward op first, and with operands absent."""
    optional = [place for place, each in enumerate(spec.inputs) if each.optional]
    seen: set[tuple[Shape | None, ...]] = set()
    found = itertools.chain(_of_forward(spec, draw), shape_tuples(spec, np.random.default_rng(0)))
    for shapes in itertools.islice(found, MOST_TRIED):
        without = tuple(None if place in optional else shape for place, shape in enumerate(shapes))
        for each in dict.fromkeys((shapes, without)):
            if each not in seen:
                seen.add(each)
                yield each


def _of_forward(spec: OpSpec, draw: Draw) -> Iterator[tuple[Shape | None, ...]]:
    """A gradient op takes gradients of the outputs, the outputs and the inputs of the op that names it; of a
    list of outputs only the gradients, at the end."""
    for forward in custom_specs():
        if declared.gradient_of(forward.name) != spec.name:
            continue
        for sample in _generated(forward, draw, forward.name):
            defaults = {each.name: each.default for each in forward.attributes}
            outputs = [
                shape for shape, _ in results_of(forward, sample.inputs, {**defaults, **sample.attributes})
            ]
            inputs = [None if x is None else x.shape for x in sample.inputs]
            fixed = sum(not each.variadic for each in forward.outputs)
            yield (*outputs[:fixed], *outputs[:fixed], *inputs, *outputs[fixed:])


_CANDIDATES: dict[str, tuple[Any, ...]] = {
    "int": (1, 2), "axis": (0, -1), "axes": ((0,), (-1,)), "ints": ((1,), (1, 1)), "shape": ((2, 3), (5,)),
    "float": (0.5,), "bool": (True, False), "scalar": (1,), "string": ("",),
}  # fmt: skip


def attribute_sets(attributes: Iterable[Attribute], dtype: np.dtype[Any]) -> Iterator[dict[str, Any]]:
    """Values of the attributes that have no default."""
    needed = [each for each in attributes if each.required]
    choices = [_CANDIDATES.get(each.kind, (dtype,)) for each in needed]
    for values in itertools.product(*choices):
        yield {each.name: value for each, value in zip(needed, values, strict=True)}
