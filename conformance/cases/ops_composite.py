"""Groups for kernels of composite ops: a vendor who offers one natively must give what the op means.

What is launched comes from the samples of the op. An op that works element by element gets the groups of
such primitives besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.cases import ops_elementwise
from conformance.cases.ops_common import (
    DETERMINISTIC,
    IN_PLACE,
    IN_PLACE_PAIRS,
    STRIDED,
    STRIDED_INPUTS,
    STRIDED_OUTPUTS,
    Check,
    Group,
    Kernel,
    check_refuses_index,
    check_repeats,
    group,
    same_bits,
)
from conformance.compare import FORMATS
from conformance.samples import Draw, Sample, has_large_samples, has_samples, large_samples, samples
from conformance.trial import Operand, Trial, failure

# Beyond this many samples, layouts are tried on some of them.
MANY = 12
LARGE = 40_001  # elements, more than a thread takes at once
# Ops whose second operand holds positions along the axis of the first.
_BY_POSITION = ("take", "take_along_axis")


def _trial(kernel: Kernel, sample: Sample, layout: str = "contiguous", **options: Any) -> Trial:
    """A sample as a launch. What the host would broadcast for an op of elements is broadcast here."""
    arrays = [
        None if x is None else x.astype(kernel.input_dtype(number), copy=False)
        for number, x in enumerate(sample.inputs)
    ]
    operands = [None if x is None else Operand(x, layout) for x in arrays]
    if kernel.spec.elementwise:
        shape = np.broadcast_shapes(*(x.shape for x in arrays if x is not None))
        operands = [None if x is None else _stretched(kernel, x, shape, layout) for x in arrays]
    dtype = kernel.dtypes.get("U") if any(o.type == "U" for o in kernel.spec.outputs) else sample.dtype
    return kernel.trial(*operands, attributes=sample.attributes, dtype=dtype, shape=_shape(sample), **options)


def _shape(sample: Sample) -> tuple[int, ...]:
    return tuple(sample.attributes.get("shape") or ())


def _stretched(kernel: Kernel, x: Any, shape: tuple[int, ...], layout: str) -> Operand:
    if x.shape == shape:
        return Operand(x, layout)
    wide = np.broadcast_to(x, shape)
    if not kernel.claim.has(STRIDED_INPUTS):
        return Operand(wide.copy(), layout)
    padded = (1,) * (len(shape) - x.ndim) + x.shape
    axes = tuple(axis for axis, size in enumerate(padded) if size == 1 and shape[axis] != 1)
    return Operand(wide, layout, axes)


def _samples(check: Check, rng: np.random.Generator) -> list[Sample]:
    return samples(check.kernel.spec.name, Draw(rng, check.kernel.dtype))


def _some(found: list[Sample]) -> list[Sample]:
    """A few samples from all over the list."""
    return found[:: -(-len(found) // MANY)]


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    for sample in _samples(check, rng):
        check.run(_trial(check.kernel, sample))
        if check.measure.launches:
            return


def every_sample(check: Check, rng: np.random.Generator) -> None:
    """Every variant of the op: ranks, axes, attributes, operands that are absent."""
    for sample in _samples(check, rng):
        check.run(_trial(check.kernel, sample))
        check.run(_trial(check.kernel, sample, "offset", output_layout="offset"))


def large(check: Check, rng: np.random.Generator) -> None:
    """Sizes at which kernels block, use vectors and several threads."""
    for sample in large_samples(check.kernel.spec.name, Draw(rng, check.kernel.dtype)):
        check.run(_trial(check.kernel, sample))


def special(check: Check, rng: np.random.Generator) -> None:
    """One NaN or infinity in each floating operand spoils what depends on it and nothing else."""
    for sample in _some(_samples(check, rng)):
        for number, value in itertools.product(range(len(sample.inputs)), (np.nan, np.inf, -np.inf)):
            spoilt = _spoilt(sample, number, value, rng)
            if spoilt is not None:
                check.run(_trial(check.kernel, spoilt))


def _spoilt(sample: Sample, number: int, value: float, rng: np.random.Generator) -> Sample | None:
    x = sample.inputs[number]
    if x is None or x.dtype.name not in FORMATS or x.dtype.kind == "c" or not x.size:
        return None
    changed = x.copy()
    changed.reshape(-1)[rng.integers(x.size)] = value
    inputs = (*sample.inputs[:number], changed, *sample.inputs[number + 1 :])
    return Sample(inputs, sample.attributes, sample.dtype)


def out_of_range(check: Check, rng: np.random.Generator) -> None:
    """A position outside the axis is OUT_OF_RANGE, wherever it stands, and the device stays usable."""
    draw = Draw(rng, check.kernel.dtype)
    small, large = samples(check.kernel.spec.name, draw), large_samples(check.kernel.spec.name, draw)
    for sample in (*small, *large[:1]):
        trial = _trial(check.kernel, sample)
        if not check.run(trial):
            continue
        assert trial.inputs[0] is not None
        size = trial.inputs[0].values.shape[sample.attributes["axis"]]
        for bad, place in itertools.product((size, -size - 1, 2**31, -(2**63), 2**63 - 1), (0, -1)):
            check_refuses_index(check, trial, place, bad)


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Operands of every layout, together and each alone, with poison in the gaps."""
    kernel = check.kernel
    for sample, layout in itertools.product(_some(_samples(check, rng)), STRIDED):
        whole = _trial(kernel, sample, layout)
        check.run(whole)
        plain = _trial(kernel, sample)
        for number in range(1, len(whole.inputs)):
            mixed = [whole.inputs[i] if i == number else plain.inputs[i] for i in range(len(plain.inputs))]
            check.run(replace(plain, inputs=tuple(mixed)))


def output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for sample, layout in itertools.product(_some(_samples(check, rng)), STRIDED):
        check.run(_trial(check.kernel, sample, output_layout=layout))


def in_place(check: Check, rng: np.random.Generator) -> None:
    """Output 0 in the memory of each operand of its dtype and shape."""
    for sample in _some(_samples(check, rng)):
        trial = _trial(check.kernel, sample)
        want = trial.expectation()[0]
        for number, operand in enumerate(trial.inputs):
            if operand is None or operand.broadcast:
                continue
            if (operand.values.dtype, operand.values.shape) == (want.dtype, want.values.shape):
                check.run(replace(trial, in_place=((0, number),)))


def in_place_pairs(check: Check, rng: np.random.Generator) -> None:
    """Outputs in the memory of the inputs that they replace, each alone and all at once, give what they give
    in memory of their own."""
    for trial in _trials(check, rng):
        pairs = _pairs(trial)
        if not pairs:
            continue
        first, *others = _placements(check.kernel, trial, {number for _, number in pairs})
        _check_in_place(check, first, list(dict.fromkeys((*((pair,) for pair in pairs), pairs))))
        for placed in others:
            _check_in_place(check, placed, [pairs])


def _check_in_place(check: Check, trial: Trial, choices: list[tuple[tuple[int, int], ...]]) -> None:
    """The trial with each choice of pairs in place; a deterministic kernel gives the bits that it gives
    without."""
    apart = check.run(trial)
    for chosen in choices if apart else ():
        within = replace(trial, in_place=chosen)
        found = check.run(within)
        if not check.kernel.claim.has(DETERMINISTIC):
            continue
        for number, (a, b) in enumerate(zip(apart, found, strict=bool(found))):
            if not same_bits(np.ascontiguousarray(a), np.ascontiguousarray(b)):
                raise failure(
                    within, f"output {number} differs from that out of place, by {within.describe()}"
                )


def _trials(check: Check, rng: np.random.Generator) -> list[Trial]:
    """Small calls, and for one dtype one at which kernels use blocks and threads; elements of any values
    where an op has no samples."""
    kernel = check.kernel
    large = kernel.dtype.name == "float32"
    if not has_samples(kernel.spec.name):
        shapes = ((7,), (3, 5), *(((LARGE,),) if large else ()))
        return [kernel.trial(*ops_elementwise.operands(kernel, rng, shape)) for shape in shapes]
    found = _some(_samples(check, rng))
    if large:
        found += large_samples(kernel.spec.name, Draw(rng, kernel.dtype))[:1]
    return [_trial(kernel, sample) for sample in found]


def _pairs(trial: Trial) -> tuple[tuple[int, int], ...]:
    """The pairs of the op whose input is there with the output's dtype and shape."""
    wanted, found = trial.expectation(), []
    for output, number in trial.spec.in_place:
        operand, want = trial.inputs[number], wanted[output]
        if operand is None or operand.broadcast:
            continue
        if (operand.values.dtype, operand.values.shape) == (want.dtype, want.values.shape):
            found.append((output, number))
    return tuple(found)


def _placements(kernel: Kernel, trial: Trial, replaced: set[int]) -> Iterator[Trial]:
    """The trial, and with layouts that the kernel takes: of inputs that are replaced, and of the others."""
    layouts = [("contiguous", "contiguous"), ("offset", "offset")]
    if kernel.claim.has(STRIDED_INPUTS):
        layouts.append(("contiguous", "transposed"))
        if kernel.claim.has(STRIDED_OUTPUTS):
            layouts.append(("stepped", "mixed"))
    for own, others in layouts:
        inputs = (
            None if x is None else replace(x, layout=own if number in replaced else others)
            for number, x in enumerate(trial.inputs)
        )
        yield replace(trial, inputs=tuple(inputs))


def prepared(check: Check, rng: np.random.Generator) -> None:
    """One prepared state launched three times, with the deterministic flag of the context too."""
    for sample, deterministic in itertools.product(_some(_samples(check, rng)), (False, True)):
        check.run(_trial(check.kernel, sample, launches=3, deterministic=deterministic))


def repeats(check: Check, rng: np.random.Generator) -> None:
    """Two launches on the same inputs give the same bits."""
    kernel = check.kernel
    draw = Draw(rng, kernel.dtype)
    found = large_samples(kernel.spec.name, draw)[:2] or _some(samples(kernel.spec.name, draw))
    for sample in found:
        check_repeats(check, _trial(kernel, sample))


def _own(kernel: Kernel) -> Iterator[Group]:
    yield group("samples", every_sample)
    yield group("special", special, quick=False)
    if kernel.spec.name in _BY_POSITION:
        yield group("out_of_range", out_of_range)
    if has_large_samples(kernel.spec.name):
        yield group("large", large, quick=False)


def pair_groups(kernel: Kernel) -> list[Group]:
    """The group of outputs that replace inputs: for ops of several outputs, and where a kernel claims it. One
    output that may lie on any input needs no pair."""
    wanted = len(kernel.spec.outputs) > 1 or kernel.claim.has(IN_PLACE_PAIRS)
    chosen = [group("in_place_pairs", in_place_pairs, IN_PLACE_PAIRS)]
    return chosen if kernel.spec.in_place and wanted else []


def groups(kernel: Kernel) -> list[Group]:
    """The groups of a composite op's kernel."""
    spec = kernel.spec
    plain = spec.elementwise and all(each.type == "T" and not each.optional for each in spec.inputs)
    if plain and len(spec.outputs) == 1 and not any(a.required for a in spec.attributes):
        own = [each for each in _own(kernel) if each.name == "samples"]
        return [*ops_elementwise.groups(kernel), *own]
    return groups_of_samples(kernel)


def groups_of_samples(kernel: Kernel) -> list[Group]:
    """The groups that need nothing but samples."""
    return [
        group("claim", claim),
        *_own(kernel),
        group("layouts", layouts, STRIDED_INPUTS),
        group("output_layouts", output_layouts, STRIDED_OUTPUTS),
        group("in_place", in_place, IN_PLACE),
        group("prepared", prepared, quick=False),
        group("repeats", repeats, DETERMINISTIC, quick=False),
    ]
