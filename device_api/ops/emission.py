"""One native kernel and its operands: layouts made to fit, then recorded as steps.

Operands are folded to the fewest dimensions; inputs a kernel cannot walk are copied to row-major order first;
what is deeper than the device takes is cut into slices. Only when `supports` agrees is anything recorded.
Which kernel to try, and what to do when none fits, is the builder's decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from device_api import _core
from device_api.ops import folding
from device_api.ops.assembly import RecordedStep, operand_of
from device_api.ops.attributes import Packed
from device_api.ops.selection import IN_PLACE, IN_PLACE_PAIRS, STRIDED_INPUTS, max_rank
from device_api.ops.symbols import Ref
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec

# Trailing dimensions that kernels tell apart, as (of inputs, of outputs). The dimensions before them are
# walked together and fold. Elementwise ops keep none; an op that is in neither group is never folded.
_KEPT_AXES: dict[str, tuple[int, int]] = {
    **{f"reduce_{name}": (1, 0) for name in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")},
    "scan_sum": (1, 1),
    "scan_prod": (1, 1),
    "argsort_last": (1, 1),
    "batch_matmul": (2, 2),
}
MAX_SLICES = 65536


class Workshop(Protocol):
    """What emission needs of the builder."""

    device: _core.Device
    steps: list[RecordedStep]

    def packed(self, ref: Ref) -> Ref:
        """The same elements in a row-major temporary."""


def kept_axes(spec: OpSpec) -> tuple[int, int] | None:
    """How many trailing axes a kernel of the op tells apart, or None when its operands are not folded."""
    return (0, 0) if spec.elementwise or spec.name == "copy" else _KEPT_AXES.get(spec.name)


def emit_kernel(
    workshop: Workshop,
    kernel: _core.Kernel,
    spec: OpSpec,
    inputs: Sequence[Ref | None],
    outputs: Sequence[Ref],
    attributes: Packed,
    scalar: tuple[int, int, int] | None = None,
) -> bool:
    """Records the launches of one kernel that write `outputs` (row-major temporaries).

    False, with nothing recorded, when the kernel does not take these operands after all.
    """
    mark = len(workshop.steps)
    kept = kept_axes(spec)
    limit = max_rank(workshop.device)
    present = [ref for ref in inputs if ref is not None]
    if not kernel.flags & STRIDED_INPUTS:
        present = [ref if ref.layout.is_contiguous else workshop.packed(ref) for ref in present]
    leading = 0
    layouts = [ref.layout for ref in (*present, *outputs)]
    if kept is not None:
        trailing = [kept[0]] * len(present) + [kept[1]] * len(outputs)
        layouts = folding.fold(layouts, trailing)
        leading = folding.excess(layouts, limit)
        if leading and spec.name != "copy":
            present = [ref if ref.layout.is_contiguous else workshop.packed(ref) for ref in present]
            layouts = folding.fold([ref.layout for ref in (*present, *outputs)], trailing)
            leading = folding.excess(layouts, limit)
        if leading and kept == (0, 0):
            layouts = _small_first(layouts, leading)
    elif folding.excess(layouts, limit):
        del workshop.steps[mark:]
        return False
    if leading and folding.slice_count(layouts, leading) > MAX_SLICES:
        del workshop.steps[mark:]
        return False
    template = [None if ref is None else present.pop(0) for ref in inputs]
    in_place = _in_place(spec, kernel, len(inputs), len(outputs))
    for part in folding.slices(layouts, leading) if leading else [layouts]:
        rest = list(part)
        sources = [None if ref is None else ref.viewed(rest.pop(0)) for ref in template]
        targets = [ref.viewed(rest.pop(0)) for ref in outputs]
        if kernel.has_supports and not _supports(workshop.device, kernel, sources, targets, attributes):
            del workshop.steps[mark:]
            return False
        workshop.steps.append(
            RecordedStep(
                kernel.index,
                sources,
                targets,
                attributes[0],
                attributes[1],
                scalar,
                in_place=in_place,
            )
        )
    return True


def _in_place(spec: OpSpec, kernel: _core.Kernel, inputs: int, outputs: int) -> frozenset[tuple[int, int]]:
    """Positions (output, input) that a kernel on so many operands takes as exactly one memory."""
    pairs = spec.in_place if kernel.flags & IN_PLACE_PAIRS else ()
    any_input = range(inputs) if kernel.flags & IN_PLACE and outputs == 1 else ()
    return frozenset((*pairs, *((0, place) for place in any_input)))


def _small_first(layouts: Sequence[Layout], leading: int) -> list[Layout]:
    """Moves the smallest dimensions to the front, all operands alike: slicing them gives few slices."""
    order = sorted(range(len(layouts[0].shape)), key=lambda axis: layouts[0].shape[axis])
    chosen = sorted(order[:leading])
    axes = [*chosen, *(axis for axis in range(len(layouts[0].shape)) if axis not in chosen)]
    return [layout.permute(axes) for layout in layouts]


def _supports(
    device: _core.Device,
    kernel: _core.Kernel,
    sources: Sequence[Ref | None],
    targets: Sequence[Ref],
    attributes: Packed,
) -> bool:
    return device.supports(
        kernel.index,
        [None if ref is None else operand_of(ref, i) for i, ref in enumerate(sources)],
        [operand_of(ref, len(sources) + i) for i, ref in enumerate(targets)],
        attributes[0],
        attributes[1],
    )
