"""The array API's Fourier transforms: `device_api.fft`.

Lengths, axes and norms are dealt with here, by cutting, padding and scaling; the transforms themselves are
three ops. Integers are transformed as default floats. Norms are "backward" (the inverse is divided by n),
"forward" (the transform is) and "ortho" (both, by the root of n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from device_api import _activation as _activation
from device_api import _core, dtypes
from device_api.errors import AttributeValueError, AxisError
from device_api.ops import _functions as F
from device_api.ops.views import normalize_axes, normalize_axis
from device_api.runtime.devices import DeviceLike
from device_api.tensor.creation import arange, zeros

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Tensor = _core.Tensor
Norm = Literal["backward", "ortho", "forward"]


def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The transform along an axis, cut or padded with zeros to n elements."""
    return _along(_complex(x), None if n is None else (n,), (axis,), norm, inverse=False)


def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `fft`."""
    return _along(_complex(x), None if n is None else (n,), (axis,), norm, inverse=True)


def fftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """The transform along several axes (all by default), cut or padded with zeros to the lengths s."""
    return _along(_complex(x), s, _axes(x, s, axes), norm, inverse=False)


def ifftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """The inverse of `fftn`."""
    return _along(_complex(x), s, _axes(x, s, axes), norm, inverse=True)


def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The first n // 2 + 1 places of the transform of n real numbers; the rest are their conjugates."""
    axis = normalize_axis(axis, x.ndim, "rfft")
    fitted = _fitted(_real(x), axis, x.shape[axis] if n is None else n)
    return _scaled(F.fourier_real(fitted, axis=axis), fitted.shape[axis], norm, inverse=False)


def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `rfft`; n real numbers, an even number of them unless given."""
    axis = normalize_axis(axis, x.ndim, "irfft")
    size = 2 * (x.shape[axis] - 1) if n is None else n
    return _scaled(_to_real(_complex(x), axis, size), size, norm, inverse=True)


def rfftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """The transform of real numbers along several axes, `rfft` along the last of them."""
    places = _axes(x, s, axes)
    made = rfft(x, n=None if s is None else s[-1], axis=places[-1], norm=norm)
    if len(places) == 1:
        return made
    return _along(made, None if s is None else s[:-1], places[:-1], norm, inverse=False)


def irfftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """The inverse of `rfftn`."""
    places = _axes(x, s, axes)
    made = _complex(x)
    if len(places) > 1:
        made = _along(made, None if s is None else s[:-1], places[:-1], norm, inverse=True)
    return irfft(made, n=None if s is None else s[-1], axis=places[-1], norm=norm)


def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The transform to n real numbers of a sequence whose second half is conjugate to the first."""
    axis = normalize_axis(axis, x.ndim, "hfft")
    size = 2 * (x.shape[axis] - 1) if n is None else n
    return _scaled(_to_real(F.conj(_complex(x)), axis, size), size, norm, inverse=False)


def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of `hfft`."""
    axis = normalize_axis(axis, x.ndim, "ihfft")
    fitted = _fitted(_real(x), axis, x.shape[axis] if n is None else n)
    return _scaled(F.conj(F.fourier_real(fitted, axis=axis)), fitted.shape[axis], norm, inverse=True)


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The frequencies of the places of a transform of n samples, d apart: zero, positive, then negative."""
    _check_count(n, "fftfreq")
    wanted = _float(dtype)
    half = (n - 1) // 2 + 1
    parts = [arange(0, half, dtype=wanted, device=device), arange(-(n // 2), 0, dtype=wanted, device=device)]
    return F.divide(F.concat(parts), n * d)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: npt.DTypeLike | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The frequencies of the places of `rfft` of n samples, d apart."""
    _check_count(n, "rfftfreq")
    return F.divide(arange(0, n // 2 + 1, dtype=_float(dtype), device=device), n * d)


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Moves frequency zero to the middle of the axes (all by default)."""
    places = _shifted_axes(x, axes)
    return F.roll(x, tuple(x.shape[axis] // 2 for axis in places), axis=places) if places else x


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Undoes `fftshift`."""
    places = _shifted_axes(x, axes)
    return F.roll(x, tuple(-(x.shape[axis] // 2) for axis in places), axis=places) if places else x


def _shifted_axes(x: Tensor, axes: int | Sequence[int] | None) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(x.ndim))
    return normalize_axes((axes,) if isinstance(axes, int) else axes, x.ndim, "fftshift")


def _axes(x: Tensor, s: Sequence[int] | None, axes: Sequence[int] | None) -> tuple[int, ...]:
    """The axes of a transform: those given, else as many of the last ones as there are lengths."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        places = tuple(range(x.ndim - count, x.ndim))
    else:
        places = tuple(axes)
    if not places or (s is not None and len(s) != len(places)):
        raise AxisError(
            "a transform needs axes, and one length for each or none",
            subject=f"axes {axes}, lengths {s}",
            op="fftn",
            ndim=x.ndim,
        )
    return normalize_axes(places, x.ndim, "fftn")


def _along(
    x: Tensor, sizes: Sequence[int] | None, axes: Sequence[int], norm: Norm, *, inverse: bool
) -> Tensor:
    places = normalize_axes(axes, x.ndim, "fft")
    for axis, size in zip(places, sizes or (), strict=False):
        x = _fitted(x, axis, size)
    count = math.prod(x.shape[axis] for axis in places)
    return _scaled(F.fourier(x, axes=tuple(sorted(places)), inverse=inverse), count, norm, inverse=inverse)


def _to_real(x: Tensor, axis: int, size: int) -> Tensor:
    if size < 1:
        raise AttributeValueError(
            "a transform has one element at least", subject=size, op="irfft", argument="n", value=size
        )
    return F.fourier_hermitian(_fitted(x, axis, size // 2 + 1), n=size, axis=axis)


def _fitted(x: Tensor, axis: int, size: int) -> Tensor:
    """x cut or padded with zeros to a size along an axis."""
    if size < 1:
        raise AttributeValueError(
            "a transform has one element at least", subject=size, op="fft", argument="n", value=size
        )
    have = x.shape[axis]
    if size < have:
        return x[(*(slice(None),) * axis, slice(0, size))]
    if size > have:
        missing = (*x.shape[:axis], size - have, *x.shape[axis + 1 :])
        return F.concat([x, zeros(missing, dtype=x.dtype, device=x.device)], axis=axis)
    return x


def _scaled(x: Tensor, count: int, norm: Norm, *, inverse: bool) -> Tensor:
    if norm not in ("backward", "ortho", "forward"):
        raise AttributeValueError(
            "no such norm",
            subject=repr(norm),
            why="norms are 'backward', 'ortho' and 'forward'",
            op="fft",
            argument="norm",
            value=norm,
        )
    if norm == "ortho":
        return F.divide(x, math.sqrt(count))
    return F.divide(x, float(count)) if (norm == "backward") == inverse else x


def _complex(x: Tensor) -> Tensor:
    if x.dtype_code in dtypes.COMPLEX:
        return x
    return F.copy(x, dtype=np.complex128 if x.dtype_code == dtypes.FLOAT64 else np.complex64)


def _real(x: Tensor) -> Tensor:
    """Real numbers that are transformed: complex ones are an error, not cut."""
    if x.dtype_code in dtypes.COMPLEX:
        raise AttributeValueError(
            "a transform of real numbers takes no complex ones",
            subject=x.dtype.name,
            remedy="Use fft.",
            op="rfft",
            argument="x",
            value=x.dtype.name,
        )
    if x.dtype_code in (dtypes.FLOAT32, dtypes.FLOAT64):
        return x
    return F.copy(x, dtype=dtypes.from_code(dtypes.default_code(float)))


def _float(dtype: npt.DTypeLike | None) -> npt.DTypeLike:
    if dtype is not None and dtypes.code(dtype) not in dtypes.FLOATING:
        raise AttributeValueError(
            "frequencies are floating", subject=str(dtype), op="fftfreq", argument="dtype", value=dtype
        )
    return float if dtype is None else dtype


def _check_count(n: int, op: str) -> None:
    if n < 1:
        raise AttributeValueError("samples are counted from one", subject=n, op=op, argument="n", value=n)
