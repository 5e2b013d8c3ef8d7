"""Autocast: inside a block, operands get the dtype that suits the op, by the op's class in the op set.

| class | level O1 | level O2 |
|---|---|---|
| allow (products, convolutions, attention) | the 16-bit dtype | the 16-bit dtype |
| deny (sums, exponentials, losses, norms) | float32 | float32 |
| promote (arithmetic of several operands) | the widest operand's | the 16-bit dtype |
| neutral | as they come | as they come |

Only float32 and 16-bit floats are changed; float64 stays. An op that a device cannot run in the 16-bit
dtype without the CPU's help stays in float32. Conversions are ordinary ops, so gradients come back in the
dtype of what they belong to. Blocks are of one thread, and of the device they name; the innermost one for
a device counts.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Literal

import numpy.typing as npt

from device_api import _core, dtypes
from device_api.amp.support import supported
from device_api.errors import AttributeValueError, DTypeError, UnsupportedOp
from device_api.ops._table import BY_NAME
from device_api.ops.fallback import fallback
from device_api.ops.op_registry import all_specs, spec_of
from device_api.opset.spec import OpSpec
from device_api.runtime.devices import DeviceLike, resolve

Level = Literal["O1", "O2"]
_HALVES = {dtypes.FLOAT16, dtypes.BFLOAT16}
_CASTABLE = _HALVES | {dtypes.FLOAT32}
_COPY = BY_NAME["copy"].id


class _Region:
    """What one block does to ops: the dtype code to cast to, or 0 to leave the operands alone."""

    def __init__(self, device: _core.Device, code: int, level: Level) -> None:
        self.code = code
        classes = {
            "allow": code,
            "deny": dtypes.FLOAT32,
            "promote": code if level == "O2" else 0,
            "neutral": 0,
        }
        self.classes = classes
        self.targets = [self._target(spec) for spec in all_specs()]
        self.tried = _tried_ops.setdefault((device, code), {})

    def target(self, op: int) -> int:
        """The dtype code for an op by its number, a custom op newer than the block included."""
        return self.targets[op] if op < len(self.targets) else self._target(spec_of(op))

    def _target(self, spec: OpSpec) -> int:
        """A comparison gives no float: in fewer bits it would only answer another question."""
        return self.classes[spec.amp] if any(each.type != "bool" for each in spec.outputs) else 0


# For each device and 16-bit dtype, the ops that were tried and whether the device ran them by itself.
_tried_ops: dict[tuple[_core.Device, int], dict[int, bool]] = {}


class _Thread(threading.local):
    def __init__(self) -> None:
        self.regions: dict[_core.Device, _Region | None] = {}


_thread = _Thread()


class autocast(ContextDecorator):
    """A block, or a function, in which a device computes in a 16-bit float where that serves.

    `dtype` is float16 or bfloat16, `level` "O1" or "O2" as the module describes. `enabled=False` makes a
    block without casts inside another. Raises `DTypeError` for another dtype and for one that the device
    does not compute in, `AttributeValueError` for another level.
    """

    def __init__(
        self,
        device: DeviceLike | None = None,
        dtype: npt.DTypeLike = "bfloat16",
        level: Level = "O1",
        *,
        enabled: bool = True,
    ) -> None:
        self._device = resolve(device)
        self._code = dtypes.code(dtype)
        self._level = level
        self._enabled = enabled
        self._before: list[tuple[bool, _Region | None]] = []
        if level not in ("O1", "O2"):
            raise AttributeValueError(
                "not a level of mixed precision", subject=repr(level), remedy='Use "O1" or "O2".',
                argument="level", value=level,
            )  # fmt: skip
        name = dtypes.NAMES[self._code]
        if self._code not in _HALVES:
            raise DTypeError(
                "autocast computes in 16 bits",
                subject=name,
                remedy="Use float16 or bfloat16.",
                dtypes=(name,),
            )
        if enabled and not supported(self._device, self._code):
            raise DTypeError(
                f"{self._device} does not compute in {name}",
                remedy="Ask da.amp.is_float16_supported and is_bfloat16_supported, or pass enabled=False.",
                dtypes=(name,),
            )

    def __enter__(self) -> None:
        region = _Region(self._device, self._code, self._level) if self._enabled else None
        before = _thread.regions.get(self._device)
        _thread.regions[self._device] = region
        self._before.append((_core.set_autocast(_any_region()), before))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        casting, before = self._before.pop()
        _thread.regions[self._device] = before
        _core.set_autocast(casting)

    def _recreate_cm(self) -> autocast:
        # A decorated function may run in several threads at once: each call gets its own stack.
        return type(self)(self._device, dtypes.from_code(self._code), self._level, enabled=self._enabled)


def _any_region() -> bool:
    return any(each is not None for each in _thread.regions.values())


def is_autocast_enabled(device: DeviceLike | None = None) -> bool:
    """Whether this thread is in a block that casts for a device."""
    return _thread.regions.get(resolve(device)) is not None


def operands(
    op: int, inputs: tuple[Any, ...], attributes: tuple[Any, ...], device: _core.Device | None
) -> tuple[Any, ...]:
    """The hook of dispatch: the inputs in the dtype that the region of their device has for the op."""
    place = next((each.device for each in inputs if isinstance(each, _core.Tensor)), device)
    region = None if place is None else _thread.regions.get(place)
    if region is None:
        return inputs
    target = region.target(op)
    if target == 0:
        return inputs
    changed = tuple(_cast(each, target) for each in inputs)
    if target == region.code and not region.tried.get(op):
        if op not in region.tried:
            region.tried[op] = _runs(op, changed, attributes, device)
        if not region.tried[op]:
            return tuple(_cast(each, dtypes.FLOAT32) for each in inputs)
    return changed


def _cast(value: Any, code: int) -> Any:
    if isinstance(value, _core.Tensor) and value.dtype_code != code and value.dtype_code in _CASTABLE:
        return _core.dispatch(_COPY, (value,), (dtypes.from_code(code),))
    return value


def _runs(op: int, inputs: tuple[Any, ...], attributes: tuple[Any, ...], device: _core.Device | None) -> bool:
    """Whether the device runs an op on these operands by itself. Other errors are the call's own to raise."""
    recording = _core.set_grad_enabled(False)
    try:
        with fallback("error"):
            _core.dispatch(op, inputs, attributes, None, device)
    except UnsupportedOp:
        return False
    except Exception:
        return True
    finally:
        _core.set_grad_enabled(recording)
    return True
