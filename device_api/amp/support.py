"""Whether a device computes in a 16-bit float, answered by letting it: what a table claims may be wrong,
what ran is not. The CPU's help does not count."""

from __future__ import annotations

from device_api import _core, dtypes
from device_api.ops import _functions as F
from device_api.ops.fallback import fallback
from device_api.runtime.devices import DeviceLike, resolve

_answers: dict[tuple[_core.Device, int], bool] = {}


def is_float16_supported(device: DeviceLike | None = None) -> bool:
    """Whether products and sums of float16 run on a device. Never raises: what cannot be opened supports
    nothing."""
    return supported(device, dtypes.FLOAT16)


def is_bfloat16_supported(device: DeviceLike | None = None) -> bool:
    """Whether products and sums of bfloat16 run on a device. Never raises: what cannot be opened supports
    nothing."""
    return supported(device, dtypes.BFLOAT16)


def supported(device: DeviceLike | None, code: int) -> bool:
    """Whether a device computes in a dtype, by trial; the answer is kept."""
    try:
        place = resolve(device)
    except Exception:
        return False
    if (place, code) not in _answers:
        _answers[place, code] = _tried(place, code)
    return _answers[place, code]


def _tried(device: _core.Device, code: int) -> bool:
    recording, casting = _core.set_grad_enabled(False), _core.set_autocast(False)
    try:
        with fallback("error"):
            dtype = dtypes.from_code(code)
            x = F.full(2.0, shape=(2, 2), dtype=dtype, device=device)
            y = F.add(F.matmul(x, x), x)
            return (
                y.dtype == dtype
                and F.astype(y, dtypes.from_code(dtypes.FLOAT32)).tolist() == [[10.0] * 2] * 2
            )
    except Exception:
        # Whatever a plugin does here, the answer to the question is no.
        return False
    finally:
        _core.set_grad_enabled(recording)
        _core.set_autocast(casting)
