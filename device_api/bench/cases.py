"""What is measured: every public op of the op set that computes, on a small and a large call.

The calls are made from the op set itself. An op's example is a call that is known to be right; its shapes are
enlarged until a call has about the number of elements wanted, and the planner says without any data whether
the enlarged call still is one. Convolutions have shapes as networks have them, because enlarging every axis
would give them huge windows. Nothing here runs an op.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np

from device_api import _core, dtypes
from device_api.cli.samples import Sample, samples
from device_api.errors import DeviceApiError
from device_api.ops import fallback, selection
from device_api.ops._table import OPS
from device_api.ops.builder import Builder
from device_api.ops.symbols import Ref, Storage
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec

Shape = tuple[int, ...]

SMALL, LARGE = 256, 1 << 20
# Their time grows faster than their number of elements.
STEEP = frozenset({"linear_algebra", "factorisation", "attention", "fourier"})
STEEP_LARGE = 1 << 18
# A lookup of many indices in a large table has a result far larger than both.
MOST_OUTPUT = 4
# Views cost nothing; numbers for scaling losses are a few elements.
_LEFT_OUT = frozenset({"amp"})
_SAMPLES = 12


@dataclass(frozen=True)
class Case:
    """A call: shapes of the tensors (numbers and None as they are), their dtypes, and the attributes."""

    spec: OpSpec
    dtype: str
    inputs: tuple[Any, ...]
    codes: tuple[int, ...]
    attributes: dict[str, Any]

    @property
    def name(self) -> str:
        """ "matmul float32 512x512, 512x512": what is measured, and what a comparison finds it by."""
        shapes = [each for each in self.inputs if isinstance(each, tuple)]
        if not shapes:
            shapes = [each for each in self.attributes.values() if isinstance(each, tuple)]
        return f"{self.spec.name} {self.dtype} {', '.join(map(_shape_text, shapes))}".rstrip()

    @property
    def flops(self) -> int | None:
        """Multiplications and additions of a product of matrices or a convolution; None for other ops."""
        shapes = [each for each in self.inputs if isinstance(each, tuple)]
        if self.spec.name in ("matmul", "batch_matmul", "linear", "linear_activation"):
            first, second = shapes[:2]
            columns: int = second[0] if self.spec.name.startswith("linear") else second[-1]
            return 2 * int(math.prod(first)) * columns
        if self.spec.family == "convolution" and "transpose" not in self.spec.name:
            # Stride 1, no padding: every output is one window of the weight.
            x, weight = shapes[:2]
            windows = math.prod(size - width + 1 for size, width in zip(x[2:], weight[2:], strict=True))
            return 2 * int(x[0]) * int(windows * math.prod(weight))
        return None

    def arrays(self) -> list[Any]:
        """The inputs on the host, the same for everybody: numbers around one, indices that are in range."""
        generator = np.random.default_rng(0)
        shapes = [each for each in self.inputs if isinstance(each, tuple)]
        least = min((min(shape, default=1) for shape in shapes), default=1)
        return [
            _values(generator, each, code, least, square=self.spec.family == "factorisation")
            if isinstance(each, tuple)
            else each
            for each, code in zip(self.inputs, self.codes, strict=True)
        ]


def _shape_text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _values(generator: np.random.Generator, shape: Shape, code: int, least: int, *, square: bool) -> Any:
    dtype = dtypes.from_code(code)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return generator.integers(0, max(1, min(least, 100)), shape).astype(dtype)
    values = generator.uniform(0.5, 1.5, shape)
    if square and len(shape) >= 2 and shape[-1] == shape[-2]:
        # Symmetric and far from singular: every factorisation exists.
        values = values + np.swapaxes(values, -1, -2) + 4 * shape[-1] * np.eye(shape[-1])
    return values.astype(dtype)


def select(device: _core.Device, globs: Iterable[str] = (), *, dtype: str | None = None) -> Iterator[Case]:
    """The cases of a device: ops that it runs without help of the CPU, in the order of the op set.

    `globs` are names of ops; `dtype` replaces the default, float32 or else the first that the op takes.
    """
    wanted = tuple(globs)
    for spec in OPS:
        named = any(fnmatchcase(spec.name, glob) for glob in wanted)
        if not spec.public or spec.level == "view" or (wanted and not named):
            continue
        if named or spec.family not in _LEFT_OUT:
            yield from _of(device, spec, dtype)


def _of(device: _core.Device, spec: OpSpec, dtype: str | None) -> Iterator[Case]:
    held = selection.held_dtypes(device)
    own = {name: _code(codes & held, dtype) for name, codes in spec.types}
    if None in own.values():
        return
    code = next(iter(own.values()), None) or next(k for k, v in dtypes.NAMES.items() if v == "float32")
    large = STEEP_LARGE if spec.family in STEEP else LARGE
    found: list[str] = []
    for most in (SMALL, large):
        case = _largest(device, spec, code, own, most)
        if case is not None and case.name not in found:
            found.append(case.name)
            yield case


def _code(codes: frozenset[int], dtype: str | None) -> int | None:
    by_name = {name: number for number, name in dtypes.NAMES.items()}
    if dtype is not None:
        return by_name[dtype] if by_name[dtype] in codes else None
    preferred = [by_name[name] for name in ("float32", "int32", "complex64", "bool")]
    return next((code for code in (*preferred, *sorted(codes)) if code in codes), None)


def _largest(device: _core.Device, spec: OpSpec, code: int, own: dict[str, Any], most: int) -> Case | None:
    """Of the calls that can be planned, the one that is most like matrices, and then the one with the most
    elements, up to about `most`."""
    by_name = {name: number for number, name in dtypes.NAMES.items()} | own
    candidates = []
    for place, sample in zip(range(_SAMPLES), samples(spec, code), strict=False):
        for enlarged in _enlarged(spec, sample, most):
            candidates.append((_balance(enlarged.inputs), _elements(enlarged.inputs), -place, enlarged))
    candidates.sort(key=lambda each: each[:3], reverse=True)
    for *_, enlarged in candidates:
        declared = [spec.inputs[min(i, len(spec.inputs) - 1)].type for i in range(len(enlarged.inputs))]
        codes = tuple(by_name[kind] for kind in declared)
        case = Case(spec, dtypes.NAMES[code], enlarged.inputs, codes, dict(enlarged.attributes))
        if _can_run(device, case, MOST_OUTPUT * most):
            return case
    return None


def _elements(inputs: tuple[Any, ...]) -> int:
    return sum(math.prod(each) for each in inputs if isinstance(each, tuple))


def _balance(inputs: tuple[Any, ...]) -> int:
    """Long axes of all tensors, two of each at most."""
    return sum(min(2, sum(size > 1 for size in each)) for each in inputs if isinstance(each, tuple))


def _enlarged(spec: OpSpec, sample: Sample, most: int) -> Iterator[Sample]:
    shapes = [each for each in sample.inputs if isinstance(each, tuple)]
    if spec.name.startswith("conv"):
        if len(shapes[0]) > 2:
            yield Sample(_network_shapes(sample, most), sample.attributes)
    elif not shapes:
        yield Sample(sample.inputs, _enlarged_attributes(spec, sample, most))
    elif not any(shapes):
        for inputs in _squares(sample.inputs, _side(most)):
            yield Sample(inputs, sample.attributes)
    else:
        for power in range(1, most.bit_length() + 1):
            for part in (_every_axis, _first_operand):
                inputs = part(sample.inputs, 1 << power)
                if most // 8 < _elements(inputs) <= most * len(shapes):
                    yield Sample(inputs, sample.attributes)


def _every_axis(inputs: tuple[Any, ...], factor: int) -> tuple[Any, ...]:
    """All tensors, along all axes but those of size 1."""
    return tuple(_scaled(each, factor) if isinstance(each, tuple) else each for each in inputs)


def _first_operand(inputs: tuple[Any, ...], factor: int) -> tuple[Any, ...]:
    return (*_every_axis(inputs[:1], factor), *inputs[1:])


def _scaled(shape: Shape, factor: int) -> Shape:
    return tuple(size * factor if size > 1 else size for size in shape)


def _side(most: int) -> int:
    return 1 << (most.bit_length() - 1) // 2


def _squares(inputs: tuple[Any, ...], side: int) -> Iterator[tuple[Any, ...]]:
    """An example of scalars: any of them made squares. The planner knows which must stay scalars."""
    for chosen in itertools.product((True, False), repeat=len(inputs)):
        yield tuple(
            (side, side) if square and isinstance(each, tuple) else each
            for square, each in zip(chosen, inputs, strict=True)
        )


def _enlarged_attributes(spec: OpSpec, sample: Sample, most: int) -> dict[str, Any]:
    """Of an op that only makes something: the shape of what it makes."""
    shapes = {each.name: (_side(most),) * 2 for each in spec.attributes if each.kind == "shape"}
    return {**sample.attributes, **shapes}


def _network_shapes(sample: Sample, most: int) -> tuple[Any, ...]:
    """x (n, c, size...), weight (c, c, 3...), and what belongs to the channels, as in a network's middle."""
    spatial = len(sample.inputs[0]) - 2
    channels = 8 if most == SMALL else 32
    size = max(4, round((most / (4 * channels)) ** (1 / spatial)))
    x = (1 if most == SMALL else 4, channels, *(size,) * spatial)
    weight = (channels, channels, *(3,) * spatial)
    rest = ((channels,) if isinstance(each, tuple) else each for each in sample.inputs[2:])
    return (x, weight, *rest)


def _can_run(device: _core.Device, case: Case, most: int) -> bool:
    """Whether the call can be planned on the device alone, and has at most so many elements of output."""
    with fallback.fallback("error"):
        builder = Builder(device)
        operands = [
            Ref(builder, Storage("input", place), code, Layout.contiguous(each))
            if isinstance(each, tuple)
            else each
            for place, (each, code) in enumerate(zip(case.inputs, case.codes, strict=True))
        ]
        try:
            results = builder.lower(case.spec, operands, case.attributes)
        except (DeviceApiError, TypeError, ValueError):
            return False
    return sum(result.layout.size for result in results) <= most


def call(case: Case, device: _core.Device) -> Any:
    """The call as a function without arguments, its inputs on the device."""
    operands = tuple(
        _core.from_host(device, dtypes.code(each.dtype), each.shape, each.tobytes())
        if isinstance(each, np.ndarray)
        else each
        for each in case.arrays()
    )
    attributes = tuple(case.attributes[each.name] for each in case.spec.attributes)
    return partial(_core.dispatch, case.spec.id, operands, attributes, None, device)
