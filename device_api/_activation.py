"""Puts the layers together: tells the native core who plans, who records gradients and what tensors can do.

Imported by the package when its first public function is asked for, and by nothing else. Only here do the
boxes of the package meet; none of them knows this module.
"""

from __future__ import annotations

from device_api import _core
from device_api.amp import casting
from device_api.autograd import backward, recipe, record_move
from device_api.ops import declared, python_kernels
from device_api.ops._table import BY_NAME, OPS
from device_api.ops.planning import plan
from device_api.runtime.devices import when_ready
from device_api.tensor import conversion
from device_api.tensor.methods import SURFACE
from device_api.tensor.operands import coerce

# Python's operators and the ops they run. `+x` is a copy of x.
_OPERATORS = {
    **{
        name: name
        for name in (
            "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "matmul",
            "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
            "negative", "abs", "bitwise_invert",
            "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        )
    },
    "positive": "copy",
}  # fmt: skip

_core.set_op_names({spec.id: spec.name for spec in OPS})
_core.set_operators({operator: BY_NAME[op].id for operator, op in _OPERATORS.items()})
_core.set_surface({**SURFACE, "backward": backward})
_core.set_autocast_hook(casting.operands)
conversion.set_move_hook(record_move)
_core.set_hooks(plan=plan, record=_core.Recorder(recipe), coerce=coerce)
python_kernels.provide("cpu", "reference_cpu.long_tail")
when_ready(declared.declare)
