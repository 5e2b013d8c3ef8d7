"""What each op of the op set is on a device, by dtype: native, python, decomposed, view or unsupported.

A native or Python kernel is a fact that can be looked up. A composition is tried: a sample call of the op is
planned with fallback forbidden, because a rule holds only where every op it uses does. Nothing is run and no
tensor is made.
"""

from __future__ import annotations

from typing import Any

from device_api import _core, dtypes
from device_api.cli.samples import Sample, samples
from device_api.errors import AttributeValueError, DeviceApiError, DTypeError, ShapeError, UnsupportedOp
from device_api.ops import declared, fallback, python_kernels, selection
from device_api.ops._table import OPS
from device_api.ops.builder import Builder
from device_api.ops.op_registry import custom_specs
from device_api.ops.symbols import Ref, Storage
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec

NATIVE, PYTHON, DECOMPOSED, VIEW, UNSUPPORTED = "native", "python", "decomposed", "view", "unsupported"


def implementations(device: _core.Device) -> dict[str, dict[str, str]]:
    """For each op, the dtypes of its first type variable that the device holds, and what the op is for each.

    An op without a type variable has one entry, under the dtype of its first input or output. Parts of
    compositions, which no user calls, are listed with the dtypes that the device has a kernel for.
    """
    held = selection.held_dtypes(device)
    found = {}
    for spec in (*OPS, *custom_specs()):
        called = spec.public or spec.level == "primitive"
        if called or selection.table(device).get(spec.name):
            kinds = {dtypes.NAMES[code]: _of(device, spec, code) for code in _codes(spec, held)}
            found[spec.name] = {
                name: kind for name, kind in kinds.items() if called or kind in (NATIVE, PYTHON)
            }
    return found


def custom_op_facts(device: _core.Device) -> dict[str, dict[str, Any]]:
    """What each custom op takes and gives, where it is declared ("C" by a plugin, else "Python"),
    the name of its gradient where it has one, and what it is on the device by dtype."""
    ways = implementations(device)
    return {
        spec.name: {
            "declared_in": "C" if declared.is_declared(spec.name) else "Python",
            "inputs": {each.name: each.type for each in spec.inputs},
            "outputs": {each.name: each.type + f"[{each.length}]" * each.variadic for each in spec.outputs},
            "attributes": {each.name: each.kind for each in spec.attributes},
            "differentiable": bool(spec.gradient),
            "gradient": declared.gradient_of(spec.name),
            "implementation": ways.get(spec.name, {}),
        }
        for spec in custom_specs()
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
    denied = fallback.is_denied(spec.name, device)
    if not denied and python_kernels.find(spec.name, device.type, bound, preferred=True) is not None:
        return PYTHON
    if not denied and any(selection.candidates(device, spec, bound)):
        return NATIVE
    if python_kernels.find(spec.name, device.type, bound) is not None:
        return PYTHON
    return DECOMPOSED if spec.has_decomposition and composes(device, spec, code) else UNSUPPORTED


def composes(device: _core.Device, spec: OpSpec, code: int) -> bool:
    """Whether the op's composition can be planned on the device for a dtype, without the CPU's help."""
    with fallback.fallback("error"):
        for sample in samples(spec, code):
            builder = Builder(device)
            try:
                builder.lower(spec, _operands(builder, device, spec, code, sample), sample.attributes)
            except (UnsupportedOp, DTypeError):
                return False
            except (ShapeError, AttributeValueError, TypeError):
                continue  # these operands do not suit the op; the next may
            except DeviceApiError:
                return False
            return True
    return False


def _operands(builder: Builder, device: _core.Device, spec: OpSpec, code: int, sample: Sample) -> list[Any]:
    """A symbolic tensor for each shape. A second type variable that cannot have the dtype has the first that
    it can."""
    held = selection.held_dtypes(device)
    own = {name: code if code in codes else min(codes & held or codes) for name, codes in spec.types}
    own.update({name: number for number, name in dtypes.NAMES.items()})
    operands: list[Any] = []
    for index, each in enumerate(sample.inputs):
        declared = spec.inputs[min(index, len(spec.inputs) - 1)]
        if isinstance(each, tuple):
            each = Ref(builder, Storage("input", index), own[declared.type], Layout.contiguous(each))
        operands.append(each)
    return operands
