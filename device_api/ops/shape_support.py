"""What shape rules are made of: a tensor's shape and dtype as two numbers, broadcasting, axes, the
limits every result must keep, and errors that name op, argument, shapes and rule. It knows no op by
name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from device_api import dtypes
from device_api.errors import AttributeValueError, ShapeError
from device_api.ops.views import normalize_axes, normalize_axis
from device_api.opset.spec import OpSpec

MAX_RANK = 32
_MAX_BYTES = 2**63 - 1


class TensorSpec(NamedTuple):
    """A shape and a dtype code."""

    shape: tuple[int, ...]
    dtype: int


Inputs = Sequence[TensorSpec | None]
Attributes = Mapping[str, Any]
Rule = Callable[[OpSpec, Inputs, Attributes], list[TensorSpec]]


MOST_IN_LIST = 1 << 16  # results of one call


def shape_error(
    op: OpSpec,
    why: str,
    shapes: Sequence[Sequence[int]],
    argument: str | None = None,
    remedy: str | None = None,
) -> ShapeError:
    """A `ShapeError` that names the op, the shapes and the rule they break."""
    tuples = tuple(tuple(shape) for shape in shapes)
    return ShapeError(
        f"{op.name} got shapes that do not fit",
        subject=" and ".join(str(shape) for shape in tuples),
        why=why,
        remedy=remedy,
        op=op.name,
        argument=argument,
        shapes=tuples,
    )


def value_error(op: OpSpec, argument: str, value: object, why: str) -> AttributeValueError:
    """An `AttributeValueError` that names the op, the attribute and what it must be."""
    return AttributeValueError(
        f"{op.name} cannot take {argument}",
        subject=repr(value),
        why=why,
        op=op.name,
        argument=argument,
        value=value,
    )


def broadcast(op: OpSpec, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape several shapes stretch to: compared from the right, sizes agree or are 1."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, start=rank - len(shape)):
            if size != 1 and size != result[place]:
                if result[place] != 1:
                    raise shape_error(
                        op,
                        f"sizes {result[place]} and {size} meet in dimension {place}, and neither is 1",
                        shapes,
                    )
                result[place] = size
    return tuple(result)


def check_limits(op: OpSpec, outputs: list[TensorSpec]) -> list[TensorSpec]:
    """Every result's rank, sizes and bytes lie within what a device can be told."""
    for shape, dtype in outputs:
        if len(shape) > MAX_RANK:
            raise shape_error(
                op, f"the result would have {len(shape)} dimensions, the limit is {MAX_RANK}", [shape]
            )
        if any(size < 0 for size in shape):
            raise shape_error(op, "a size is negative", [shape])
        # Zero-size results too: their strides are products of the other sizes.
        if math.prod(size or 1 for size in shape) * dtypes.ITEM_SIZES[dtype] > _MAX_BYTES:
            raise shape_error(op, f"the result would need more than {_MAX_BYTES} bytes", [shape])
    return outputs


def given(inputs: Inputs) -> list[TensorSpec]:
    """The inputs that are there."""
    return [each for each in inputs if each is not None]


def first(inputs: Inputs) -> TensorSpec:
    """The first input, which every op that uses this has."""
    spec = inputs[0]
    if spec is None:
        raise TypeError("the first input is required")
    return spec


def second(inputs: Inputs) -> TensorSpec:
    """The second input, which every op that uses this has."""
    spec = inputs[1]
    if spec is None:
        raise TypeError("the second input is required")
    return spec


def axis_of(op: OpSpec, axis: int, ndim: int) -> int:
    """One axis counted from the front; `AxisError` when out of range."""
    return normalize_axis(axis, ndim, op.name)


def axes_of(op: OpSpec, axis: Sequence[int] | int | None, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, ascending; None means all. `AxisError` when out of range or repeated."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(normalize_axes((axis,) if isinstance(axis, int) else axis, ndim, op.name)))


def without(shape: tuple[int, ...], axes: Sequence[int], keepdims: bool = False) -> tuple[int, ...]:
    """A shape after its axes were reduced."""
    if keepdims:
        return tuple(1 if place in axes else size for place, size in enumerate(shape))
    return tuple(size for place, size in enumerate(shape) if place not in axes)


def dtype_of(op: OpSpec, inputs: Inputs, attributes: Attributes, output: int = 0) -> int:
    """The dtype of a result: fixed, a variable's, its real part's, or what the attribute `dtype` says."""
    declared = op.outputs[min(output, len(op.outputs) - 1)].type
    if declared in dtypes.CODES_BY_NAME:
        return dtypes.CODES_BY_NAME[declared]
    variable = declared.removeprefix("real(").removesuffix(")")
    requested = attributes.get("dtype")
    if requested is not None and declared == variable:
        return allowed_dtype(op, requested, variable)
    bound = bound_dtype(op, inputs, variable)
    if bound is None:
        specs = given(inputs)
        bound = specs[0].dtype if specs else dtypes.default_code(float)
    return real_dtype(bound) if declared != variable else bound


def list_length(op: OpSpec, inputs: Inputs, attributes: Attributes) -> int | None:
    """How many tensors the list at the end of the outputs has, where the op's entry says so. Raises
    `AttributeValueError` when that would leave a call without a result, is negative or absurdly large."""
    name = op.outputs[-1].length
    if not name:
        return None
    fixed = sum(not each.variadic for each in op.inputs)
    length = attributes[name] if name in attributes else len(inputs) - fixed
    least = 1 if len(op.outputs) == 1 else 0
    if not least <= length <= MOST_IN_LIST:
        raise AttributeValueError(
            f"{op.name} cannot give a list of {length} tensors",
            why=f"the list {op.outputs[-1].name} has from {least} to {MOST_IN_LIST}",
            remedy=f"Pass another {name}.",
            op=op.name,
            argument=name,
            value=length,
        )
    return int(length)


def bound_dtype(op: OpSpec, inputs: Inputs, variable: str) -> int | None:
    """The dtype of the first input that a variable types, if there is one."""
    for place, spec in enumerate(inputs):
        declared = op.inputs[min(place, len(op.inputs) - 1)]
        if spec is not None and declared.type == variable:
            return spec.dtype
    return None


def real_dtype(code: int) -> int:
    """The dtype of the parts of a complex dtype; any other dtype itself."""
    return {dtypes.COMPLEX64: dtypes.FLOAT32, dtypes.COMPLEX128: dtypes.FLOAT64}.get(code, code)


def allowed_dtype(op: OpSpec, requested: Any, variable: str) -> int:
    """The code of a requested dtype, if the op can give it."""
    code = requested if isinstance(requested, int) else dtypes.code(requested)
    if code not in op.allowed(variable):
        raise value_error(
            op, "dtype", dtypes.NAMES[code], f"it gives {', '.join(dtypes.names(op.allowed(variable)))}"
        )
    return code
