"""Oracle of the batched matrix product. Its error is measured against the product of absolute values."""

from __future__ import annotations

import math

import numpy as np

from conformance.oracle.precision import is_half, widen
from conformance.oracle.reduction import summed
from conformance.oracle.registry import Array, Call, Expected, oracle


@oracle("batch_matmul")
def batch_matmul(call: Call) -> list[Expected]:
    return [product(*call.inputs)]


def product(x1: Array, x2: Array) -> Expected:
    """(..., m, k) x (..., k, n); integers wrap."""
    if x1.dtype.kind in "iu":
        return Expected(np.asarray(np.matmul(x1, x2)), x1.dtype)
    left, right = widen(x1), widen(x2)
    values = np.asarray(np.matmul(left, right))
    magnitude = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    extra = 0.0 if is_half(x1.dtype) else 2 * math.sqrt(x1.shape[-1])
    return summed(values, magnitude, x1.dtype, extra)
