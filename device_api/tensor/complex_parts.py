"""The parts of numbers, for real ones too: programs that work for both ask without looking at the dtype.

The ops are those of complex tensors; here stands what a real number's parts are.
"""

from __future__ import annotations

from device_api import _core, dtypes
from device_api.ops import _functions as F
from device_api.ops._functions import TensorLike
from device_api.tensor.conversion import write

_REAL = dtypes.REAL | dtypes.BOOL


def real(x: TensorLike, /, *, out: _core.Tensor | None = None) -> _core.Tensor:
    """The real part of each element; a tensor of real numbers is its own."""
    if isinstance(x, _core.Tensor) and x.dtype_code in _REAL:
        return _into(x, out)
    return F.real(x, out=out)


def imag(x: TensorLike, /, *, out: _core.Tensor | None = None) -> _core.Tensor:
    """The imaginary part of each element; zeros for real numbers."""
    if isinstance(x, _core.Tensor) and x.dtype_code in _REAL:
        return _into(F.full_like(x, 0), out)
    return F.imag(x, out=out)


def _into(x: _core.Tensor, out: _core.Tensor | None) -> _core.Tensor:
    if out is None:
        return x
    write(x, out)
    return out
