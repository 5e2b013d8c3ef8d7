"""Runs the gradient rules of one recorded call: gives each rule its operands as it expects them and
fits what it returns to the input. It knows one node at a time; the order of nodes is engine.py's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from device_api import _core, dtypes
from device_api.autograd.graph import Edge, Facts, Move, Node, Saved, input_name, restored
from device_api.errors import GradientError
from device_api.ops import _functions as F
from device_api.ops._rules import GRADIENT, GRADIENT_NEEDS, GRADIENTS_TOGETHER
from device_api.ops.attributes import scalar_bytes
from device_api.ops.binding import bind_attributes
from device_api.ops.op_registry import JOINT_GRADIENTS, spec_of
from device_api.ops.promotion import bind_types
from device_api.ops.shapes import TensorSpec
from device_api.opset.spec import OpSpec
from device_api.tensor.conversion import to_device

_NUMBERS = (int, float, complex)


def input_gradients(
    node: Node, gradients: list[_core.Tensor | None], places: list[int], with_history: bool
) -> Iterator[tuple[int, _core.Tensor]]:
    """The gradient of each flat input in `places`, of the input's own shape and dtype."""
    if not places:
        return
    if node.freed:
        raise GradientError(
            f"the graph of {spec_of(node.op).name} was released by an earlier backward",
            remedy="Pass retain_graph=True to the earlier call, or compute the result again.",
            op=spec_of(node.op).name,
        )
    if isinstance(node, Move):
        if gradients[0] is not None:
            yield 0, to_device(gradients[0], node.source)
        return
    spec = spec_of(node.op)
    outputs = [restored(node, each, with_history) for each in node.outputs]
    attributes = bind_attributes(spec, node.attributes) if spec.attributes else {}
    g = spec.gathered(gradients)
    joint = JOINT_GRADIENTS.get(spec.name)
    if joint is not None:
        operands = _operands(node, input_name(node.op, places[0]), with_history)
        yield from _distributed(node, joint(g, *operands, *spec.grouped(outputs), **attributes), places)
        return
    if spec.name in GRADIENTS_TOGETHER:
        names, together = GRADIENTS_TOGETHER[spec.name]
        asked = {input_name(node.op, place): place for place in places}
        for name in asked.keys() - set(names):
            raise _without_rule(spec, name)
        operands = _operands(node, names[0], with_history)
        wanted_ones = tuple(name in asked for name in names)
        several = together(F, g, *operands, *spec.grouped(outputs), wanted=wanted_ones, **attributes)
        for name, value in zip(names, several, strict=True):
            edge = node.edges[asked[name]] if name in asked else None
            if edge is not None and value is not None:
                yield asked[name], _fitted(value, edge)
        return
    done: set[str] = set()
    for place in places:
        name = input_name(node.op, place)
        if name in done:
            continue
        done.add(name)
        rule = GRADIENT.get((spec.name, name))
        if rule is None:
            raise _without_rule(spec, name)
        operands = _operands(node, name, with_history)
        made = rule(F, g, *operands, *outputs, **attributes)
        if spec.inputs[min(place, len(spec.inputs) - 1)].variadic:
            first = len(spec.inputs) - 1
            wanted = [(first + i, each) for i, each in enumerate(made) if first + i in places]
        else:
            wanted = [(place, made)]
        for target, value in wanted:
            edge = node.edges[target]
            # None: the input has no influence on the result, only its shape or dtype had.
            if edge is not None and value is not None:
                yield target, _fitted(value, edge)


def _without_rule(spec: OpSpec, name: str) -> GradientError:
    return GradientError(
        f"{spec.name} has no gradient with respect to {name}",
        remedy="Detach that input, or run the op under no_grad.",
        op=spec.name,
        argument=name,
    )


def _distributed(node: Node, made: tuple[Any, ...], places: list[int]) -> Iterator[tuple[int, _core.Tensor]]:
    """What a rule for all inputs gave, input by input; a list input has a list of gradients."""
    spec = spec_of(node.op)
    fixed = sum(not each.variadic for each in spec.inputs)
    flat = [*made[:fixed], *(made[fixed] or () if fixed < len(spec.inputs) else ())]
    for place in places:
        edge = node.edges[place]
        value = flat[place] if place < len(flat) else None
        if edge is not None and value is not None:
            yield place, _fitted(value, edge)


def _operands(node: Node, name: str, with_history: bool) -> list[Any]:
    """The inputs as a rule takes them: a variadic input as one list, a needed Python number as a tensor."""
    spec = spec_of(node.op)
    needed = GRADIENT_NEEDS[spec.name, name]
    flat = [
        _number(node, place, each)
        if isinstance(each, _NUMBERS) and input_name(node.op, place) in needed
        else restored(node, each, with_history)
        for place, each in enumerate(node.inputs)
    ]
    fixed = sum(not each.variadic for each in spec.inputs)
    return flat[:fixed] + ([flat[fixed:]] if fixed < len(spec.inputs) else [])


def _fitted(value: _core.Tensor, edge: Edge) -> _core.Tensor:
    """A rule's result summed down over broadcast axes and converted to the input's dtype."""
    if value.shape != edge.shape:
        if value.ndim < len(edge.shape):
            value = F.broadcast_to(value, edge.shape)
        value = F.sum_to(value, shape=edge.shape)
    if value.dtype != edge.dtype:
        value = F.astype(value, edge.dtype)
    return value


def _number(node: Node, place: int, value: bool | int | float | complex) -> _core.Tensor:
    """A Python operand as a tensor of the dtype it was promoted to."""
    spec = spec_of(node.op)
    declared = spec.inputs[min(place, len(spec.inputs) - 1)].type
    if declared == spec.outputs[0].type:
        result = node.outputs[0]
        code = dtypes.code((result.tensor if isinstance(result, Saved) else result).dtype)
    else:
        code = _promoted(node, place)
    return _constant(node.device, code, scalar_bytes(value, code))


def _promoted(node: Node, place: int) -> int:
    """The dtype code that promotion gave to an operand."""
    spec = spec_of(node.op)
    specs: list[Any] = []
    for each in node.inputs:
        known = each.tensor if isinstance(each, Saved) else each
        is_tensor = isinstance(known, (_core.Tensor, Facts))
        specs.append(TensorSpec(known.shape, dtypes.code(known.dtype)) if is_tensor else known)
    code = bind_types(spec, specs).inputs[place]
    if code is None:
        raise TypeError(f"{spec.name} has no operand {place}")
    return code


@lru_cache(maxsize=256)
def _constant(device: _core.Device, code: int, data: bytes) -> _core.Tensor:
    return _core.from_host(device, code, (), data)
