"""What each op of the op set is on a device, by dtype: native, python, decomposed, view or unsupported.

A native or Python kernel is a fact that can be looked up. A composition is tried: the op is planned for small
symbolic operands with fallback forbidden, because a rule holds only where every op it uses does. Nothing is
run and no memory of the device is touched.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from device_api import _core, dtypes
from device_api.errors import (
    AttributeValueError,
    DeviceApiError,
    DTypeError,
    ShapeError,
    UnsupportedOp,
)
from device_api.ops import fallback, python_kernels, selection
from device_api.ops._table import OPS
from device_api.ops.builder import Builder
from device_api.ops.symbols import Ref, Storage
from device_api.ops.views import Layout
from device_api.opset.spec import Attribute, OpSpec

NATIVE, PYTHON, DECOMPOSED, VIEW, UNSUPPORTED = "native", "python", "decomposed", "view", "unsupported"

# Shapes for the operands: all alike first, then every mixture. The first that suits an op is used.
_SHAPES: tuple[tuple[int, ...], ...] = ((2, 2), (2,), (), (2, 2, 2), (2, 2, 2, 2), (4,))
_MOST_MIXED = 3


def implementations(device: _core.Device) -> dict[str, dict[str, str]]:
    """For each op, the dtypes of its first type variable that the device holds, and what the op is for each.

    An op without a type variable has one entry, under the dtype of its first input or output.
    """
    held = selection.held_dtypes(device)
    return {
        spec.name: {dtypes.NAMES[code]: _of(device, spec, code) for code in _codes(spec, held)}
        for spec in OPS
    }


def _codes(spec: OpSpec, held: frozenset[int]) -> list[int]:
    if spec.types:
        return sorted(spec.types[0][1] & held)
    fixed = [each.type for each in spec.inputs] + [each.type for each in spec.outputs]
    return [code for code, name in dtypes.NAMES.items() if name == fixed[0]]


def _of(device: _core.Device, spec: OpSpec, code: int) -> str:
    if spec.level == "view":
        return VIEW
    bound = {spec.types[0][0]: code} if spec.types else {}
    if not fallback.is_denied(spec.name, device) and any(selection.candidates(device, spec, bound)):
        return NATIVE
    if python_kernels.find(spec.name, device.type) is not None:
        return PYTHON
    return DECOMPOSED if spec.has_decomposition and composes(device, spec, code) else UNSUPPORTED


def composes(device: _core.Device, spec: OpSpec, code: int) -> bool:
    """Whether the op's composition can be planned on the device for a dtype, without the CPU's help."""
    with fallback.fallback("error"):
        for shapes, attributes in itertools.product(_shapes(spec), _attributes(spec, code)):
            builder = Builder(device)
            try:
                builder.lower(spec, _operands(builder, device, spec, code, shapes), attributes)
            except (UnsupportedOp, DTypeError):
                return False
            except (ShapeError, AttributeValueError, TypeError):
                continue  # these operands do not suit the op; the next may
            except DeviceApiError:
                return False
            return True
    return False


def _shapes(spec: OpSpec) -> Iterator[tuple[tuple[int, ...], ...]]:
    count = len(spec.inputs)
    yield from ((shape,) * count for shape in _SHAPES)
    if 1 < count <= _MOST_MIXED:
        yield from itertools.product(_SHAPES, repeat=count)


def _operands(
    builder: Builder, device: _core.Device, spec: OpSpec, code: int, shapes: tuple[tuple[int, ...], ...]
) -> list[Any]:
    """A symbolic input for each; optional ones are left out. A second type variable that cannot have the
    dtype has the first that it can."""
    held = selection.held_dtypes(device)
    own = {name: code if code in codes else min(codes & held or codes) for name, codes in spec.types}
    own.update({name: number for number, name in dtypes.NAMES.items()})
    operands: list[Any] = []
    for index, (each, shape) in enumerate(zip(spec.inputs, shapes, strict=True)):
        ref = Ref(builder, Storage("input", index), own[each.type], Layout.contiguous(shape))
        operands.append(None if each.optional else ref)
    return operands


def _attributes(spec: OpSpec, code: int) -> Iterator[dict[str, Any]]:
    """Values for the attributes: defaults, and a few guesses for those that have none."""
    choices = [_guesses(each, code) if _guessed(spec, each) else [each.default] for each in spec.attributes]
    for values in itertools.product(*choices):
        yield {each.name: value for each, value in zip(spec.attributes, values, strict=True)}


def _guessed(spec: OpSpec, attribute: Attribute) -> bool:
    # Without inputs it is the attribute that says which dtype is meant.
    return attribute.required or (attribute.kind == "dtype" and not spec.inputs)


def _guesses(attribute: Attribute, code: int) -> list[Any]:
    if attribute.choices:
        return [attribute.choices[0][1]]
    guesses: dict[str, list[Any]] = {
        "int": [1, 0, 2],
        "axis": [0],
        "bool": [False],
        "float": [1.0],
        "scalar": [1],
        "dtype": [dtypes.from_code(code)],
        "axes": [(0,), (0, 1), (1, 0)],
        "shape": [(2, 2), (4,)],
        "ints": [(1, 1), (0, 0), (2, 2), (1,)],
        "string": [""],
    }
    return guesses[attribute.kind]
