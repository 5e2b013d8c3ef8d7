"""What a recorded call keeps, in terms of the op set: which operands its gradient rules need by value.

The native core records calls as nodes; this module tells it what to keep of each op, gives kept operands
to the rules, and adds the one kind of node that is no op, a move between devices. Running rules is
rules.py's work, the order of nodes engine.py's.
"""

from __future__ import annotations

from typing import Any

from device_api import _core, dtypes
from device_api._core import Edge, Facts, Node, Saved, edge_of
from device_api.errors import GradientError
from device_api.ops._rules import GRADIENT_NEEDS
from device_api.ops._table import BY_NAME
from device_api.ops.op_registry import spec_of

__all__ = ["Edge", "Facts", "Move", "Node", "Saved", "edge_of", "input_name", "recipe", "restored"]

_DIFFERENTIABLE = dtypes.FLOATING | dtypes.COMPLEX
_MOVED_AS = BY_NAME["copy"].id  # the op with the same operands


class Move(Node):
    """A tensor that went to another device: its gradient goes back to where it came from."""

    def __init__(self, tensor: _core.Tensor, device: _core.Device) -> None:
        super().__init__(_MOVED_AS, 1, (None,), (edge_of(tensor),), device)
        self.source = tensor.device
        self.inputs = self.outputs = (_core.facts_of(tensor),)


def record_move(tensor: _core.Tensor, moved: _core.Tensor) -> None:
    """Called when a tensor that requires a gradient was copied to another device: hangs a node on the
    copy."""
    node = Move(tensor, moved.device)
    moved.requires_grad = True
    moved.node = node
    moved.output_index = 0


def input_name(op: int, place: int) -> str:
    """The name of a flat input; the tensors of a variadic one share theirs."""
    inputs = spec_of(op).inputs
    return inputs[min(place, len(inputs) - 1)].name


def recipe(op: int, count: int, places: list[int]) -> tuple[bytes, bytes]:
    """For each of `count` flat inputs and for each output, whether the gradients of the inputs in
    `places` need its value."""
    spec = spec_of(op)
    names = {input_name(op, place) for place in places}
    needed = {each for name in names for each in GRADIENT_NEEDS.get((spec.name, name), ())}
    return (
        bytes(input_name(op, place) in needed for place in range(count)),
        bytes(output.name in needed for output in spec.outputs),
    )


def restored(node: Node, saved: Any, with_history: bool) -> Any:
    """A saved operand as a rule sees it. With history, an output is again the node's result, so that what a
    rule computes from it can be differentiated."""
    if not isinstance(saved, Saved):
        return saved
    tensor = saved.tensor
    if tensor.version != saved.version:
        name = spec_of(node.op).name
        raise GradientError(
            f"the gradient of {name} needs a value that was overwritten",
            subject=f"a {tensor.dtype.name} tensor of shape {tensor.shape}",
            why=f"it is at version {tensor.version}, and version {saved.version} was recorded",
            remedy="Do not write into it before backward, or give the op a copy.",
            op=name,
        )
    if saved.output is not None and with_history and tensor.dtype_code in _DIFFERENTIABLE:
        tensor = _core.view(tensor, tensor.dtype_code, tensor.shape, tensor.strides, tensor.byte_offset)
        tensor.requires_grad = True
        tensor.node = node
        tensor.output_index = saved.output
    return tensor
