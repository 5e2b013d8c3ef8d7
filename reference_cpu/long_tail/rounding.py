"""Rounding of complex numbers, part by part; real numbers have kernels in C++."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def round(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The nearest integers, even ones of two that are equally near."""
    return np.asarray(np.round(x))
