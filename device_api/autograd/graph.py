"""The graph of recorded operations: what a call keeps so that its gradient can be computed later.

A node is one call. It knows where each input came from, and keeps the values that the op's gradient rules
need, and only those: of other operands it keeps shape and dtype. Results do not own their node's saved values
through themselves: an output that a rule needs is saved as an alias without history, so that there are no
cycles. This module records; running rules is engine.py's work.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from device_api import _core, dtypes
from device_api.errors import GradientError
from device_api.ops._rules import GRADIENT_NEEDS
from device_api.ops._table import BY_NAME
from device_api.ops.op_registry import spec_of
from device_api.opset.spec import OpSpec

_MOVED_AS = BY_NAME["copy"]  # the op with the same operands
_DIFFERENTIABLE = dtypes.FLOATING | dtypes.COMPLEX


class Facts:
    """What a rule may ask of an operand whose value it does not need."""

    __slots__ = ("dtype", "ndim", "shape", "size")

    def __init__(self, tensor: _core.Tensor) -> None:
        self.shape: tuple[int, ...] = tensor.shape
        self.dtype: np.dtype[Any] = tensor.dtype
        self.ndim = tensor.ndim
        self.size = tensor.size


class Saved(NamedTuple):
    """A tensor kept for a rule, with the version its storage had."""

    tensor: _core.Tensor
    version: int
    output: int | None


class Edge(NamedTuple):
    """Where an input came from: an output of a node, or a leaf. `shape` and `dtype` are the input's."""

    node: Node | None
    output: int
    leaf: _core.Tensor | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def key(self) -> tuple[int, int]:
        """Tells tensors apart; valid as long as the edge lives."""
        return (id(self.node), self.output) if self.node is not None else (id(self.leaf), -1)


class Node:
    """One recorded call. `edges` has one entry per flat input, None where no gradient flows."""

    __slots__ = ("__weakref__", "attributes", "device", "edges", "freed", "inputs", "outputs", "spec")

    def __init__(
        self,
        spec: OpSpec,
        attributes: tuple[Any, ...],
        edges: tuple[Edge | None, ...],
        device: _core.Device,
    ) -> None:
        self.spec = spec
        self.attributes = attributes
        self.edges = edges
        self.device = device
        self.inputs: list[Any] = []
        self.outputs: list[Saved | Facts] = []
        self.freed = False

    def input_name(self, place: int) -> str:
        """The name of a flat input; the tensors of a variadic one share theirs."""
        return self.spec.inputs[min(place, len(self.spec.inputs) - 1)].name

    def free(self) -> None:
        """Lets go of the saved values: the rules cannot run any more."""
        self.inputs = []
        self.outputs = []
        self.freed = True

    def __repr__(self) -> str:
        return f"<{self.spec.name} node>"


class Move(Node):
    """A tensor that went to another device: its gradient goes back to where it came from."""

    __slots__ = ("source",)

    def __init__(self, tensor: _core.Tensor, device: _core.Device) -> None:
        super().__init__(_MOVED_AS, (None,), (edge_of(tensor),), device)
        self.source = tensor.device
        self.inputs = [Facts(tensor)]
        self.outputs = [Facts(tensor)]


def record_move(tensor: _core.Tensor, moved: _core.Tensor) -> None:
    """Called when a tensor that requires a gradient was copied to another device: hangs a node on the
    copy."""
    node = Move(tensor, moved.device)
    moved.requires_grad = True
    moved.node = node
    moved.output_index = 0


def edge_of(tensor: _core.Tensor) -> Edge:
    """The place of a tensor in the graph."""
    node = tensor.node
    leaf = tensor if node is None else None
    return Edge(node, tensor.output_index if node is not None else 0, leaf, tensor.shape, tensor.dtype)


def record(
    op: int, inputs: tuple[Any, ...], attributes: tuple[Any, ...], outputs: tuple[_core.Tensor, ...]
) -> None:
    """Called by dispatch after an op ran on an input that requires a gradient: hangs a node on its outputs.

    An output that is an input itself (a conversion to the dtype it has) keeps the history it has.
    """
    spec = spec_of(op)
    held = {id(each) for each in inputs}
    fresh = [
        place
        for place, tensor in enumerate(outputs)
        if tensor.dtype_code in _DIFFERENTIABLE and id(tensor) not in held
    ]
    if not fresh:
        return
    edges = tuple(
        edge_of(each) if isinstance(each, _core.Tensor) and each.requires_grad else None for each in inputs
    )
    node = Node(spec, attributes, edges, outputs[0].device)
    differentiated = frozenset(node.input_name(place) for place, edge in enumerate(edges) if edge is not None)
    needed = _needed(op, differentiated)
    node.inputs = [
        _kept(each, node.input_name(place) in needed) if isinstance(each, _core.Tensor) else each
        for place, each in enumerate(inputs)
    ]
    for place, (declared, tensor) in enumerate(zip(spec.outputs, outputs, strict=True)):
        if declared.name in needed:
            node.outputs.append(Saved(_alias(tensor), tensor.version, place))
        else:
            node.outputs.append(Facts(tensor))
    for place in fresh:
        tensor = outputs[place]
        tensor.requires_grad = True
        tensor.node = node
        tensor.output_index = place


@cache
def _needed(op: int, differentiated: frozenset[str]) -> frozenset[str]:
    """The operands whose values the rules for these inputs need."""
    spec = spec_of(op)
    rules = (GRADIENT_NEEDS.get((spec.name, name), ()) for name in differentiated)
    return frozenset(name for names in rules for name in names)


def _kept(tensor: _core.Tensor, by_value: bool) -> Saved | Facts:
    return Saved(tensor, tensor.version, None) if by_value else Facts(tensor)


def _alias(tensor: _core.Tensor) -> _core.Tensor:
    """The same memory without history."""
    return _core.view(tensor, tensor.dtype_code, tensor.shape, tensor.strides, tensor.byte_offset)


def restored(node: Node, saved: Any, with_history: bool) -> Any:
    """A saved operand as a rule sees it. With history, an output is again the node's result, so that what a
    rule computes from it can be differentiated."""
    if not isinstance(saved, Saved):
        return saved
    tensor = saved.tensor
    if tensor.version != saved.version:
        raise GradientError(
            f"the gradient of {node.spec.name} needs a value that was overwritten",
            subject=f"a {tensor.dtype.name} tensor of shape {tensor.shape}",
            why=f"it is at version {tensor.version}, and version {saved.version} was recorded",
            remedy="Do not write into it before backward, or give the op a copy.",
            op=node.spec.name,
        )
    if saved.output is not None and with_history and tensor.dtype_code in _DIFFERENTIABLE:
        tensor = _alias(tensor)
        tensor.requires_grad = True
        tensor.node = node
        tensor.output_index = saved.output
    return tensor
