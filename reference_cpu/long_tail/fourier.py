"""Fourier transforms without a scale, by NumPy's pocketfft."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def fourier(x: Array, *, axes: tuple[int, ...], inverse: bool) -> Array:
    """The transform of complex numbers along some axes."""
    if inverse:
        return np.asarray(np.fft.ifftn(x, axes=axes, norm="forward"))
    return np.asarray(np.fft.fftn(x, axes=axes, norm="backward"))


def fourier_real(x: Array, *, axis: int) -> Array:
    """The first half of the transform of real numbers."""
    return np.asarray(np.fft.rfft(x, axis=axis, norm="backward"))


def fourier_hermitian(x: Array, *, n: int, axis: int) -> Array:
    """The inverse transform to n real numbers."""
    return np.asarray(np.fft.irfft(x, n, axis=axis, norm="forward"))
