"""Walks the graph backwards: from gradients of results to gradients of what they were computed from.

Nodes run once, after everything that used their outputs, found by counting uses; there is no recursion, so a
graph may be as deep as memory allows. Rules come from the op set and run as ordinary ops, recorded only when
the caller wants to differentiate again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from device_api import _core
from device_api.autograd.graph import Edge, Node, edge_of
from device_api.autograd.rules import input_gradients
from device_api.errors import GradientError
from device_api.ops import _functions as F

Tensors = _core.Tensor | Sequence[_core.Tensor]
Gradients = _core.Tensor | Sequence[_core.Tensor | None] | None


def backward(
    tensor: _core.Tensor,
    gradient: _core.Tensor | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Adds to `.grad` of every leaf the gradient of a tensor with respect to it.

    `gradient` has the tensor's shape and is 1 by default, for a tensor of one element. The graph's saved
    values are released unless `retain_graph` (which `create_graph` implies) keeps them. Raises
    `GradientError` when the tensor does not require a gradient, when the graph was released before, when a
    saved value was overwritten, and for an op without a rule.
    """
    pairs = [(edge_of(_root(tensor)), _seed(tensor, gradient))]
    _Pass(create_graph, create_graph if retain_graph is None else retain_graph).run(pairs, None)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Gradients = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[_core.Tensor | None, ...]:
    """The gradients of outputs (summed) with respect to each input, which may be any tensor of the graph.

    `.grad` stays as it is. An input that the outputs do not depend on is an error, or None with
    `allow_unused`. Raises `GradientError` as `backward` does.
    """
    results = _several(outputs)
    targets = _several(inputs)
    seeds = list(grad_outputs) if isinstance(grad_outputs, list | tuple) else [grad_outputs] * 1
    if len(seeds) == 1 and seeds[0] is None:
        seeds = [None] * len(results)
    if len(seeds) != len(results):
        raise GradientError(
            "grad needs one gradient for each output", subject=f"{len(seeds)} for {len(results)} outputs"
        )
    for each in targets:
        if not each.requires_grad:
            raise GradientError(
                "grad with respect to a tensor that does not require one",
                subject=f"a {each.dtype.name} tensor of shape {each.shape}",
                remedy="Set requires_grad before it is used.",
            )
    wanted = [edge_of(each) for each in targets]
    pairs = [(edge_of(_root(each)), _seed(each, seed)) for each, seed in zip(results, seeds, strict=True)]
    walk = _Pass(create_graph, create_graph if retain_graph is None else retain_graph)
    captured = walk.run(pairs, wanted)
    if not allow_unused:
        for place, value in enumerate(captured):
            if value is None:
                raise GradientError(
                    f"input {place} has no part in the outputs",
                    why="no path of recorded operations leads from one to the other",
                    remedy="Pass allow_unused=True to get None for it.",
                )
    return tuple(captured)


class _Pass:
    """One walk. `pending` holds, for each node, the gradients of its outputs that have arrived."""

    def __init__(self, create_graph: bool, retain_graph: bool) -> None:
        self.create_graph = create_graph
        self.retain_graph = retain_graph
        self.pending: dict[int, list[_core.Tensor | None]] = {}
        self.captured: dict[tuple[int, int], _core.Tensor] = {}
        self.taken: dict[int, list[tuple[int, int]]] = {}

    def run(
        self, pairs: list[tuple[Edge, _core.Tensor]], wanted: list[Edge] | None
    ) -> list[_core.Tensor | None]:
        """Walks from the pairs of edge and gradient to all leaves, or to the edges that are wanted."""
        nodes, uses = _reachable([edge for edge, _ in pairs])
        capture = None if wanted is None else {edge.key for edge in wanted}
        useful = None if capture is None else _leading_to(nodes, capture)
        previous = _core.set_grad_enabled(self.create_graph)
        # A gradient has the dtype of what it belongs to: rules run as the forward pass has decided.
        casting = _core.set_autocast(False)
        try:
            for edge, gradient in pairs:
                self.take(gradient)
                self.deliver(edge, gradient, capture)
            ready = deque(node for node in nodes if uses[id(node)] == 0)
            while ready:
                node = ready.popleft()
                self.visit(node, capture, useful)
                for source in (edge.node for edge in node.edges if edge is not None):
                    if source is not None:
                        uses[id(source)] -= 1
                        if uses[id(source)] == 0:
                            ready.append(source)
        finally:
            _core.set_grad_enabled(previous)
            _core.set_autocast(casting)
        return [] if wanted is None else [self.captured.get(edge.key) for edge in wanted]

    def visit(self, node: Node, capture: set[tuple[int, int]] | None, useful: set[int] | None) -> None:
        """Runs one node's rules, if a gradient arrived and somebody wants what follows."""
        gradients = self.pending.pop(id(node), None)
        if gradients is None or (useful is not None and id(node) not in useful):
            return
        places = [
            place
            for place, edge in enumerate(node.edges)
            if edge is not None and _wanted(edge, capture, useful)
        ]
        for place, gradient in input_gradients(node, gradients, places, self.create_graph):
            edge = node.edges[place]
            if edge is not None:
                self.deliver(edge, gradient, capture)
        if not self.retain_graph:
            node.free()

    def deliver(self, edge: Edge, gradient: _core.Tensor, capture: set[tuple[int, int]] | None) -> None:
        """Adds a gradient to what has arrived for an edge."""
        if capture is not None and edge.key in capture:
            known = self.captured.get(edge.key)
            self.captured[edge.key] = gradient if known is None else F.add(known, gradient)
        if edge.node is not None:
            arrived = self.pending.setdefault(id(edge.node), [None] * edge.node.results)
            known = arrived[edge.output]
            arrived[edge.output] = gradient if known is None else F.add(known, gradient)
        elif capture is None and edge.leaf is not None:
            self.accumulate(edge.leaf, gradient)

    def accumulate(self, leaf: _core.Tensor, gradient: _core.Tensor) -> None:
        """Adds to a leaf's `.grad`, which gets memory of its own: rules may give views of what they got."""
        if leaf.grad is not None:
            leaf.grad = F.add(leaf.grad, gradient)
            return
        if not gradient.is_contiguous or self.is_taken(gradient):
            gradient = F.copy(gradient)
        self.take(gradient)
        leaf.grad = gradient

    def take(self, tensor: _core.Tensor) -> None:
        """Notes that somebody else holds this memory."""
        spans = self.taken.setdefault(_core.data_handle(tensor), [])
        spans.append((tensor.byte_offset, tensor.byte_offset + tensor.nbytes))

    def is_taken(self, tensor: _core.Tensor) -> bool:
        """Whether a contiguous tensor shares memory with one that was noted."""
        start, stop = tensor.byte_offset, tensor.byte_offset + tensor.nbytes
        return any(low < stop and start < high for low, high in self.taken.get(_core.data_handle(tensor), ()))


def _wanted(edge: Edge, capture: set[tuple[int, int]] | None, useful: set[int] | None) -> bool:
    if capture is None or edge.key in capture:
        return True
    return edge.node is not None and useful is not None and id(edge.node) in useful


def _reachable(roots: list[Edge]) -> tuple[list[Node], dict[int, int]]:
    """Every node that the roots depend on, and how many recorded inputs each node's outputs serve as."""
    uses: dict[int, int] = {}
    nodes: list[Node] = []
    stack = [edge.node for edge in roots if edge.node is not None]
    for node in stack:
        uses.setdefault(id(node), 0)
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        nodes.append(node)
        for edge in node.edges:
            if edge is not None and edge.node is not None:
                uses[id(edge.node)] = uses.get(id(edge.node), 0) + 1
                stack.append(edge.node)
    return nodes, uses


def _leading_to(nodes: list[Node], capture: set[tuple[int, int]]) -> set[int]:
    """The nodes from which a wanted edge can be reached, found from the wanted edges upwards."""
    users: dict[int, list[Node]] = {}
    useful: set[int] = set()
    stack: list[Node] = []
    for node in nodes:
        for edge in node.edges:
            if edge is None:
                continue
            if edge.key in capture:
                stack.append(node)
            if edge.node is not None:
                users.setdefault(id(edge.node), []).append(node)
    while stack:
        node = stack.pop()
        if id(node) not in useful:
            useful.add(id(node))
            stack.extend(users.get(id(node), ()))
    return useful


def _several(tensors: Tensors) -> list[_core.Tensor]:
    return [tensors] if isinstance(tensors, _core.Tensor) else list(tensors)


def _root(tensor: _core.Tensor) -> _core.Tensor:
    if not tensor.requires_grad:
        raise GradientError(
            "there is nothing to differentiate",
            subject=f"a {tensor.dtype.name} tensor of shape {tensor.shape}",
            why="it does not require a gradient: no input did, or it was made under no_grad",
            remedy="Set requires_grad on the inputs before the computation.",
        )
    return tensor


def _seed(tensor: _core.Tensor, gradient: Any) -> _core.Tensor:
    if gradient is None:
        if tensor.size != 1:
            raise GradientError(
                "a gradient must be given",
                subject=f"a tensor of shape {tensor.shape}",
                why="only a tensor of one element has an obvious one, which is 1",
                remedy="Pass a gradient of the same shape, or reduce the tensor first.",
            )
        with_recording = _core.set_grad_enabled(False)
        try:
            return F.full_like(tensor, 1.0)
        finally:
            _core.set_grad_enabled(with_recording)
    if not isinstance(gradient, _core.Tensor) or gradient.shape != tensor.shape:
        raise GradientError(
            "a gradient must have the shape of its tensor",
            subject=f"{getattr(gradient, 'shape', gradient)} for {tensor.shape}",
        )
    if gradient.device != tensor.device:
        raise GradientError(
            "a gradient must be on the device of its tensor",
            subject=f"{gradient.device.name} and {tensor.device.name}",
        )
    return gradient if gradient.dtype == tensor.dtype else F.astype(gradient, tensor.dtype)
