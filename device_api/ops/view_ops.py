"""View ops in a plan: each becomes another layout of the same memory, and no step at all.

One function per op of level "view" turns attributes, which the shape rules have checked, into a layout. Only
reshape may need memory of its own, when no strides describe what was asked for. Which ops are views is the
op set's word; a view op without an entry here is a mistake that a test finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from device_api.errors import AttributeValueError
from device_api.ops.shapes import TensorSpec
from device_api.ops.symbols import Ref
from device_api.ops.views import Layout, normalize_axes
from device_api.opset.spec import OpSpec

Change = Callable[[Layout, Mapping[str, Any], tuple[int, ...]], Layout | None]


class Packer(Protocol):
    """What a reshape that needs a copy asks of the builder."""

    def packed(self, ref: Ref) -> Ref:
        """The same elements in a row-major temporary."""


def apply(
    packer: Packer,
    spec: OpSpec,
    refs: Sequence[Ref | None],
    attributes: Mapping[str, Any],
    outputs: Sequence[TensorSpec],
) -> list[Ref]:
    """The result of a view op."""
    ref = refs[0]
    if ref is None:
        raise TypeError(f"{spec.name} needs its tensor")
    shape = outputs[0].shape
    if attributes.get("copy"):
        ref = packer.packed(ref)
    layout = CHANGES[spec.name](ref.layout, attributes, shape)
    if layout is None:
        if attributes.get("copy") is False:
            raise AttributeValueError(
                f"{spec.name} cannot avoid a copy",
                subject=f"shape {ref.shape} with strides {ref.strides} to {shape}",
                remedy="Leave copy out, or pass a contiguous tensor.",
                op=spec.name,
                argument="copy",
                value=False,
            )
        layout = Layout.contiguous(shape)
        ref = packer.packed(ref)
    return [ref.viewed(layout)]


def _reshape(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout | None:
    return layout.reshape(shape)


def _permute_dims(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    return layout.permute(normalize_axes(attributes["axes"], len(layout.shape)))


def _matrix_transpose(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    ndim = len(layout.shape)
    return layout.permute((*range(ndim - 2), ndim - 1, ndim - 2))


def _broadcast_to(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    return layout.broadcast(shape)


def _expand_dims(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    return layout.expand(normalize_axes(attributes["axis"], len(shape)))


def _squeeze(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    axes = attributes["axis"]
    ndim = len(layout.shape)
    return layout.squeeze(range(ndim) if axes is None else normalize_axes(axes, ndim))


def _flip(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    axes = attributes["axis"]
    ndim = len(layout.shape)
    return layout.flip(range(ndim) if axes is None else normalize_axes(axes, ndim))


def _slice(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    for axis, (start, step) in enumerate(zip(attributes["start"], attributes["step"], strict=True)):
        layout = layout.slice(axis, start, shape[axis], step)
    return layout


def _window_view(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    strides = list(layout.strides)
    inner = []
    axes = normalize_axes(attributes["axes"], len(strides))
    for place, axis in enumerate(axes):
        inner.append(strides[axis] * attributes["dilation"][place])
        strides[axis] *= attributes["step"][place]
    return Layout(shape, (*strides, *inner), layout.offset)


def _diagonal(layout: Layout, attributes: Mapping[str, Any], shape: tuple[int, ...]) -> Layout:
    ndim = len(layout.shape)
    return layout.diagonal(ndim - 2, ndim - 1, attributes["offset"])


CHANGES: dict[str, Change] = {
    "reshape": _reshape,
    "permute_dims": _permute_dims,
    "matrix_transpose": _matrix_transpose,
    "broadcast_to": _broadcast_to,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "flip": _flip,
    "slice": _slice,
    "window_view": _window_view,
    "diagonal": _diagonal,
}
