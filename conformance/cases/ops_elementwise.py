"""Groups for ops that work element by element: unary, binary, comparison, bitwise, logical, and where."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.cases.ops_common import (
    DETERMINISTIC,
    IN_PLACE,
    STRIDED,
    STRIDED_INPUTS,
    STRIDED_OUTPUTS,
    THREADS,
    Check,
    Group,
    Kernel,
    Shape,
    check_repeats,
    check_threads,
    group,
    threads_group,
)
from conformance.inputs import pairs, random_values, special_values, spread
from conformance.oracle import complex_special
from conformance.trial import Operand, failure

SHAPES: tuple[Shape, ...] = (
    (), (1,), (7,), (1, 1), (3, 5), (1, 6), (6, 1), (2, 1, 4), (2, 3, 4), (1, 3, 1, 5), (2, 3, 2, 4),
    (2, 1, 3, 2, 2), (2, 2, 1, 3, 1, 2), (1, 2, 1, 2, 1, 2, 3),
)  # fmt: skip
SIZES = (*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 129, 257, 1025)
LARGE = 65_537
# Large strided launches cost the oracle more than the kernel: one dtype of each width will do.
_LARGE_DTYPES = {"bool", "float16", "float32", "complex64"}


def operands(kernel: Kernel, rng: np.random.Generator, shape: Shape) -> list[Operand]:
    """Contiguous random inputs of one shape."""
    count = len(kernel.spec.inputs)
    return [
        Operand(random_values(rng, kernel.spec.name, kernel.input_dtype(number), shape))
        for number in range(count)
    ]


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    check.run(check.kernel.trial(*operands(check.kernel, rng, (3, 5))))


def shapes(check: Check, rng: np.random.Generator) -> None:
    """Ranks 0 to 7, axes of size one in every place."""
    for shape in SHAPES:
        check.run(check.kernel.trial(*operands(check.kernel, rng, shape)))


def sizes(check: Check, rng: np.random.Generator) -> None:
    """Lengths around vector widths, aligned and not; guard bands show a write past the end."""
    for size in SIZES:
        inputs = operands(check.kernel, rng, (size,))
        check.run(check.kernel.trial(*inputs))
        if size in (1, 9, 17, 33, 129):
            shifted = [Operand(o.values, "offset") for o in inputs]
            check.run(check.kernel.trial(*shifted, output_layout="offset"))


def values(check: Check, rng: np.random.Generator) -> None:
    """Many random elements: accuracy, and sizes at which kernels use several threads."""
    check.run(check.kernel.trial(*operands(check.kernel, rng, (2000 if _is_slow(check.kernel) else LARGE,))))


def _is_slow(kernel: Kernel) -> bool:
    """Whether the oracle takes long for an element."""
    return kernel.spec.name in ("erf", "erfc") and kernel.dtype == np.float64


def special(check: Check, rng: np.random.Generator) -> None:
    """NaN, infinities, zeros, subnormals and extremes in every lane; all pairs of them for two inputs."""
    kernel = check.kernel
    for arrays in special_inputs(kernel, rng):
        check.run(kernel.trial(*(Operand(array) for array in arrays)))


def special_complex(check: Check, rng: np.random.Generator) -> None:
    """Zeros, infinities and NaN in both parts give what the array API standard says of each part of the
    result, signs of zero included, wherever it says something."""
    kernel = check.kernel
    given = spread(complex_special.points(kernel.dtype))
    trial = kernel.trial(Operand(given))
    outputs = check.run(trial)
    if not outputs:
        return
    tolerance = kernel.spec.ulp[kernel.dtype.name]
    answers = [complex_special.answer(kernel.spec.name, complex(z)) for z in given]
    for place, (got, want) in enumerate(zip(outputs[0], answers, strict=True)):
        if want is not None and not (want[0].fits(got.real, tolerance) and want[1].fits(got.imag, tolerance)):
            raise failure(
                trial,
                f"{kernel.spec.name}({given[place]}) gave {got}, expected real part {want[0]} and imaginary "
                f"part {want[1]}, by {trial.describe()}",
                index=place,
            )


def special_inputs(kernel: Kernel, rng: np.random.Generator) -> Sequence[Sequence[Any]]:
    count = len(kernel.spec.inputs)
    if kernel.spec.name == "where":
        left, right = pairs(special_values(kernel.dtype))
        return [(rng.integers(0, 2, left.size).astype(np.bool_), left, right)]
    special_set = special_values(kernel.dtype)
    if count == 1:
        return [(spread(special_set),)]
    if kernel.dtype.kind == "c":
        special_set = special_set[rng.permutation(special_set.size)[:24]]
    if sum(not each.optional for each in kernel.spec.inputs) > 2:
        return [[in_any_order(each.name, special_set, rng) for each in kernel.spec.inputs]]
    arrays = [pairs(special_set)]
    if kernel.spec.name == "pow" and kernel.dtype.kind == "c":
        arrays.append(_integer_powers(kernel, rng))
    return arrays


def in_any_order(name: str, values: Any, rng: np.random.Generator) -> Any:
    """The special values of one operand. Steps are counted from one: there are no others."""
    counts = (values >= 1) & (values == np.rint(values)) & np.isfinite(values)
    found = values[rng.permutation(values.size)]
    return np.resize(rng.permutation(values[counts]), values.size) if name == "step" else found


def _integer_powers(kernel: Kernel, rng: np.random.Generator) -> tuple[Any, Any]:
    """Complex numbers near the unit circle to powers that kernels make by multiplication."""
    exponents = np.array([*range(-9, 17), 2.5, -0.5])
    angles, sizes = rng.uniform(-np.pi, np.pi, exponents.size), rng.uniform(0.9, 1.1, exponents.size)
    return (sizes * np.exp(1j * angles)).astype(kernel.dtype), exponents.astype(kernel.dtype)


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Inputs transposed, stepped, backwards, padded, alone and together, with poison in the gaps."""
    kernel = check.kernel
    for shape, layout in [
        *itertools.product(((4, 5), (2, 3, 4)), STRIDED),
        ((33,), "stepped"),
        ((), "offset"),
    ]:
        inputs = operands(kernel, rng, shape)
        strided = [Operand(o.values, layout) for o in inputs]
        check.run(kernel.trial(*strided))
        if len(inputs) > 1 and shape == (4, 5):
            for number in range(len(inputs)):
                one = [strided[i] if i == number else inputs[i] for i in range(len(inputs))]
                check.run(kernel.trial(*one))


def _broadcast(check: Check, rng: np.random.Generator, chosen: Sequence[int]) -> None:
    """Stride 0 on every set of axes of the chosen inputs."""
    kernel = check.kernel
    for shape in ((3, 5), (2, 3, 4), (17,)):
        axes = range(len(shape))
        for axis_set in (s for n in range(1, len(shape) + 1) for s in itertools.combinations(axes, n)):
            inputs = operands(kernel, rng, shape)
            for number in chosen:
                stored = tuple(1 if axis in axis_set else size for axis, size in enumerate(shape))
                small = random_values(rng, kernel.spec.name, kernel.input_dtype(number), stored)
                inputs[number] = Operand(np.broadcast_to(small, shape), broadcast=axis_set)
            check.run(kernel.trial(*inputs))


def broadcast_left(check: Check, rng: np.random.Generator) -> None:
    """The first input repeated along every set of axes, by stride 0."""
    _broadcast(check, rng, (0,))


def broadcast_right(check: Check, rng: np.random.Generator) -> None:
    """The last input repeated along every set of axes, by stride 0; beside a transposed one too."""
    _broadcast(check, rng, (len(check.kernel.spec.inputs) - 1,))
    kernel = check.kernel
    for axis, shape in itertools.product((0, 1), ((70, 45), (45, 70))):
        inputs = [Operand(o.values, "transposed") for o in operands(kernel, rng, shape)]
        stored = tuple(1 if place == axis else size for place, size in enumerate(shape))
        small = random_values(rng, kernel.spec.name, kernel.input_dtype(len(inputs) - 1), stored)
        inputs[-1] = Operand(np.broadcast_to(small, shape), broadcast=(axis,))
        check.run(kernel.trial(*inputs))


def broadcast_both(check: Check, rng: np.random.Generator) -> None:
    """All inputs repeated along the same axes, by stride 0."""
    _broadcast(check, rng, range(len(check.kernel.spec.inputs)))


def large_layouts(check: Check, rng: np.random.Generator) -> None:
    """Strided operands and outputs at sizes that kernels cut into tiles and share out among threads."""
    kernel = check.kernel
    strided = (kernel.claim.flags & STRIDED_OUTPUTS) == STRIDED_OUTPUTS
    for shape, layout, output in (
        ((181, 367), "transposed", "contiguous"),
        ((129, 97), "transposed", "contiguous"),
        ((3, 151, 149), "rotated", "stepped"),
        ((61, 1, 2, 541), "mixed", "negative"),
    ):
        inputs = [Operand(o.values, layout) for o in operands(kernel, rng, shape)]
        check.run(kernel.trial(*inputs, output_layout=output if strided else "contiguous"))
    repeated: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
        ((257, 259), (0,)),
        ((257, 259), (1,)),
        ((257, 259), (0, 1)),
        ((3, 2, 4300), (1,)),
        ((3, 2, 4300), (0, 2)),
        ((2, 2, 3, 2, 700), (0, 2, 4)),
    )
    for sizes, axes in repeated:
        inputs = operands(kernel, rng, sizes)
        stored = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
        small = random_values(rng, kernel.spec.name, kernel.input_dtype(len(inputs) - 1), stored)
        inputs[-1] = Operand(np.broadcast_to(small, sizes), broadcast=axes)
        check.run(kernel.trial(*inputs))


def output_layouts(check: Check, rng: np.random.Generator) -> None:
    """Outputs of every layout; nothing between their elements may be written."""
    for layout in STRIDED:
        inputs = operands(check.kernel, rng, (4, 5))
        check.run(check.kernel.trial(*inputs, output_layout=layout))
        check.run(check.kernel.trial(*operands(check.kernel, rng, (2, 3, 4)), output_layout=layout))


def both_layouts(check: Check, rng: np.random.Generator) -> None:
    """Strided inputs and strided outputs at once, in different orders."""
    for left, right in itertools.product(STRIDED, repeat=2):
        inputs = [Operand(o.values, left) for o in operands(check.kernel, rng, (3, 5))]
        check.run(check.kernel.trial(*inputs, output_layout=right))


def in_place(check: Check, rng: np.random.Generator) -> None:
    """The output in the memory of each input of its dtype."""
    kernel = check.kernel
    both = STRIDED_INPUTS | STRIDED_OUTPUTS
    strided = (kernel.claim.flags & both) == both
    for shape, number in itertools.product(((7,), (3, 5), (257,)), range(len(kernel.spec.inputs))):
        inputs = operands(kernel, rng, shape)
        want = kernel.trial(*inputs).expectation()[0]
        if want.dtype != inputs[number].values.dtype:
            continue
        for layout in ("contiguous", "offset", *(("transposed", "mixed") if strided else ())):
            placed = [Operand(o.values, layout) for o in inputs]
            check.run(kernel.trial(*placed, in_place=((0, number),)))


def same_input(check: Check, rng: np.random.Generator) -> None:
    """One tensor given as every input of its dtype."""
    kernel = check.kernel
    for shape in ((9,), (3, 5)):
        inputs = operands(kernel, rng, shape)
        shared = [inputs[-1] if o.values.dtype == inputs[-1].values.dtype else o for o in inputs]
        check.run(kernel.trial(*shared))


def prepared(check: Check, rng: np.random.Generator) -> None:
    """One prepared state launched three times, with the deterministic flag of the context too."""
    for deterministic in (False, True):
        inputs = operands(check.kernel, rng, (3, 7))
        check.run(check.kernel.trial(*inputs, launches=3, deterministic=deterministic))


def repeats(check: Check, rng: np.random.Generator) -> None:
    """Two launches on the same inputs give the same bits."""
    check_repeats(check, check.kernel.trial(*operands(check.kernel, rng, (1025,))))


def threads(check: Check, rng: np.random.Generator) -> None:
    """Four threads launch the kernel at once, each on its own memory."""
    kernel = check.kernel
    check_threads(check, [kernel.trial(*operands(kernel, rng, (1025,))) for _ in range(THREADS)])


def all_codes(check: Check, rng: np.random.Generator) -> None:
    """All 65,536 bit patterns."""
    codes = np.arange(1 << 16, dtype=np.uint16).view(check.kernel.dtype)
    check.run(check.kernel.trial(Operand(codes)))


def groups(kernel: Kernel) -> list[Group]:
    """The groups of an elementwise kernel."""
    inputs = len(kernel.spec.inputs)
    chosen = [
        group("claim", claim),
        group("shapes", shapes),
        group("sizes", sizes),
        group("values", values),
        group("special", special),
        group("prepared", prepared, quick=False),
        group("layouts", layouts, STRIDED_INPUTS),
        group("broadcast_left", broadcast_left, STRIDED_INPUTS),
        group("output_layouts", output_layouts, STRIDED_OUTPUTS),
        group("both_layouts", both_layouts, STRIDED_INPUTS | STRIDED_OUTPUTS, quick=False),
        group("repeats", repeats, DETERMINISTIC, quick=False),
        *threads_group(kernel, threads),
    ]
    if any(kernel.input_dtype(i) == _output_dtype(kernel) for i in range(inputs)):
        chosen.append(group("in_place", in_place, IN_PLACE))
    if inputs > 1:
        chosen.append(group("broadcast_right", broadcast_right, STRIDED_INPUTS))
        chosen.append(group("broadcast_both", broadcast_both, STRIDED_INPUTS, quick=False))
        chosen.append(group("same_input", same_input, quick=False))
    if kernel.dtype.kind == "c" and kernel.spec.name in complex_special.OPS:
        chosen.append(group("special_complex", special_complex))
    if kernel.dtype.name in _LARGE_DTYPES and not _is_slow(kernel):
        chosen.append(group("large_layouts", large_layouts, STRIDED_INPUTS, quick=False))
    if inputs == 1 and kernel.dtype.name in ("float16", "bfloat16"):
        chosen.append(group("all_codes", all_codes, quick=False))
    return chosen


def _output_dtype(kernel: Kernel) -> np.dtype[Any]:
    """The dtype of the output, from the op's entry."""
    kind = kernel.spec.outputs[0].type
    if kind.startswith("real("):
        real = {"complex64": "float32", "complex128": "float64"}
        return np.dtype(real.get(kernel.dtype.name, kernel.dtype))
    return kernel.dtypes[kind] if kind in kernel.dtypes else np.dtype(kind)
