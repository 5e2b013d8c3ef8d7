"""Groups for kernels of composite ops: a vendor who offers one natively must give what the op means."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.cases.ops_common import STRIDED, STRIDED_INPUTS, Check, Group, Kernel, Shape, group
from conformance.inputs import random_values
from conformance.trial import Operand

_MATMUL: tuple[tuple[Shape, Shape], ...] = (
    ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((3, 0), (0, 2)),
)  # fmt: skip
_SHAPES: tuple[Shape, ...] = ((7,), (3, 5), (2, 3, 4), (2, 1, 3, 5), (2, 33))


def _options(kernel: Kernel, ndim: int) -> Iterator[dict[str, Any]]:
    """The attribute values that are tried for a rank: every axis and set of axes, both values of a flag."""
    spec = kernel.spec
    choices: list[list[Any]] = []
    for attribute in spec.kernel_attributes:
        if attribute.kind == "axis":
            choices.append(list(range(ndim)))
        elif attribute.kind == "axes":
            sets = (itertools.combinations(range(ndim), count) for count in range(1, ndim + 1))
            choices.append([axes for each in sets for axes in each])
        elif attribute.kind == "bool":
            choices.append([False, True])
        elif attribute.name == "k":
            choices.append([-1, 0, 2])
        else:
            choices.append([attribute.default])
    names = [attribute.name for attribute in spec.kernel_attributes]
    for values in itertools.product(*choices):
        yield dict(zip(names, values, strict=True))


def _shapes_of(kernel: Kernel, shape: Shape) -> list[Shape]:
    """Shapes of all inputs for a main shape; parameters of a normalisation have the last axis."""
    count = len(kernel.spec.inputs)
    if kernel.spec.name in ("layer_norm", "rms_norm"):
        return [shape, *([shape[-1:]] * (count - 1))]
    return [shape] * count


def _launch(check: Check, rng: np.random.Generator, shapes: list[Shape], layout: str = "contiguous") -> None:
    kernel = check.kernel
    arrays = [
        random_values(rng, kernel.spec.name, kernel.input_dtype(number), shape)
        for number, shape in enumerate(shapes)
    ]
    if kernel.spec.name == "rsqrt":
        arrays = [np.abs(array) for array in arrays]
    operands = [Operand(array, layout) for array in arrays]
    for attributes in _options(kernel, arrays[0].ndim):
        if kernel.spec.name in ("layer_norm", "rms_norm"):
            attributes["axis"] = arrays[0].ndim - 1
        output = kernel.dtypes.get("U")
        if kernel.spec.name in ("tril", "triu") and arrays[0].ndim < 2:
            continue
        check.run(kernel.trial(*operands, attributes=attributes, dtype=output))


def claim(check: Check, rng: np.random.Generator) -> None:
    """A small contiguous launch: what is claimed is there."""
    _launch(
        check,
        rng,
        [(3, 4), (4, 5)] if check.kernel.spec.name == "matmul" else _shapes_of(check.kernel, (3, 5)),
    )


def shapes(check: Check, rng: np.random.Generator) -> None:
    """Ranks 1 to 4, every axis and set of axes."""
    if check.kernel.spec.name == "matmul":
        for pair in _MATMUL:
            _launch(check, rng, list(pair))
        return
    for shape in _SHAPES:
        _launch(check, rng, _shapes_of(check.kernel, shape))


def layouts(check: Check, rng: np.random.Generator) -> None:
    """Inputs of every layout, with poison in the gaps."""
    for layout in STRIDED:
        pair: list[Shape] = [(3, 4), (4, 5)]
        _launch(
            check,
            rng,
            pair if check.kernel.spec.name == "matmul" else _shapes_of(check.kernel, (3, 5)),
            layout,
        )


def values(check: Check, rng: np.random.Generator) -> None:
    """Rows of a thousand elements: accuracy."""
    if check.kernel.spec.name == "matmul":
        _launch(check, rng, [(33, 100), (100, 17)])
        return
    _launch(check, rng, _shapes_of(check.kernel, (9, 1000)))


def groups(kernel: Kernel) -> list[Group]:
    return [
        group("claim", claim),
        group("shapes", shapes),
        group("values", values, quick=False),
        group("layouts", layouts, STRIDED_INPUTS),
    ]
